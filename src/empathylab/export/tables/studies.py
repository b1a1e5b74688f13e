"""Studies and what each of them brings: arms, raters, ratings and answers."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from empathylab.export.source import LabSource
from empathylab.situations.sources.released import Dimension
from empathylab.study.archives.packing import day_of
from empathylab.study.exports import specs
from empathylab.study.exports.source import StudySource
from empathylab.table_specs import TableSpec, flag, text, whole

TOLD_STUDY = "study_told"
"""What a rater said under the name `study`, which here is the study's."""
_STUDY = text("study", "The study's name; an older version of it is called NAME@VERSION")


def _studies(source: LabSource) -> pl.DataFrame:
    rows = [
        {
            "study": part.name,
            "version": part.row.version,
            "title": part.row.title,
            "design": part.design,
            "status": part.row.status,
            "results_hidden": part.blind,
            "dimensions": json.dumps([_written(item) for item in part.rated]),
            "protocol_hash": part.row.protocol_hash,
            "launched": day_of(part.row.launched_at),
            "closed": day_of(part.row.closed_at),
        }
        for part in source.studies
    ]
    return STUDIES.frame(rows)


def _written(dimension: Dimension) -> dict[str, Any]:
    return {
        "name": dimension.name,
        "values": list(dimension.values),
        "labels": list(dimension.labels or ()),
        "question": dimension.question,
    }


def _of_studies(spec: TableSpec[StudySource]) -> TableSpec[LabSource]:
    """The table of every study, one after the other; columns of any study are there for all."""

    def query(source: LabSource) -> pl.DataFrame:
        frames = [joined.frame([])]
        for part in source.studies:
            frame = part.tables.tables.get(spec.name, spec.frame([]))
            if "study" in frame.columns:
                frame = frame.rename({"study": TOLD_STUDY})
            frames.append(frame.select(pl.lit(part.name).alias("study"), pl.all()))
        return pl.concat(frames, how="diagonal_relaxed")

    joined = TableSpec[LabSource](spec.name, spec.meaning, (_STUDY, *spec.columns), query)
    return joined


STUDIES = TableSpec[LabSource](
    "studies",
    "Studies in which people rated responses",
    (
        _STUDY,
        whole("version", "The study's version"),
        text("title", "Its title"),
        text(
            "design",
            "Between subjects: a rater sees one arm; within: several",
            values="between; within",
        ),
        text("status", "Whether it recruits participants", values="draft; open; paused; closed"),
        flag(
            "results_hidden", "Whether ratings and arms are hidden because the study is not closed"
        ),
        text("dimensions", "The rating dimensions with their points and labels, as a JSON list"),
        text("protocol_hash", "A hash of the frozen protocol"),
        text("launched", "The day it began; empty if imported", values="YYYY-MM-DD"),
        text("closed", "The day it was closed", values="YYYY-MM-DD"),
    ),
    _studies,
)

STUDY_TABLES = tuple(
    _of_studies(spec)
    for spec in (
        specs.ARMS,
        specs.RATERS,
        specs.RATINGS,
        specs.RATINGS_OF_EXCLUDED,
        specs.SCALE_ANSWERS,
        specs.WRITTEN,
        specs.LIVE_TURNS,
        specs.PAGES,
        specs.ATTENTION,
        specs.COMMENTS,
        specs.PARTIAL,
    )
)
"""Tables that each study brings, here with the study's name in front."""
