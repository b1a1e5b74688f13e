"""Studies and what each of them brings: arms, raters, ratings and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

import polars as pl

from empathylab.export.source import LabSource
from empathylab.export.tables.columns import flag, text, whole
from empathylab.situations.sources.released import Dimension
from empathylab.study.archives.packing import day_of
from empathylab.study.exports import columns as of_study
from empathylab.study.exports.dictionary import MEANINGS
from empathylab.table_specs import ColumnSpec, ColumnType, TableSpec, polars_type

TOLD_STUDY = "study_told"
"""What a rater told under the name `study`, which here is the study's."""
_STUDY = text("study", "The study's name; an older version of it is called NAME@VERSION")
_VALUES = {"valence": "positive; negative", "phase": "default; evoked", "day": "YYYY-MM-DD"}
_TYPES = {polars_type(name): name for name in get_args(ColumnType)}


def _studies(source: LabSource) -> pl.DataFrame:
    rows = [
        {
            "study": part.name,
            "version": part.row.version,
            "title": part.row.title,
            "design": part.design,
            "status": part.row.status,
            "results_hidden": part.blind,
            "dimensions": json.dumps([_written(one) for one in part.rated]),
            "protocol_hash": part.row.protocol_hash,
            "launched": day_of(part.row.launched_at),
            "closed": day_of(part.row.closed_at),
        }
        for part in source.studies
    ]
    return STUDIES.frame(rows)


def _written(one: Dimension) -> dict[str, Any]:
    return {
        "name": one.name,
        "values": list(one.values),
        "labels": list(one.labels or ()),
        "question": one.question,
    }


def _of_studies(name: str, meaning: str, types: Mapping[str, Any]) -> TableSpec[LabSource]:
    """The table of every study, one after the other; columns of any study are there for all."""
    meanings = MEANINGS["ratings" if "ratings" in name else name]
    columns = tuple(
        ColumnSpec(column, _TYPES[kind], meanings[column], _VALUES.get(column))
        for column, kind in types.items()
    )

    def query(source: LabSource) -> pl.DataFrame:
        empty = spec.frame([])
        frames = [empty]
        for part in source.studies:
            frame = part.found.tables.get(name, empty.drop("study"))
            if "study" in frame.columns:
                frame = frame.rename({"study": TOLD_STUDY})
            frames.append(frame.select(pl.lit(part.name).alias("study"), pl.all()))
        return pl.concat(frames, how="diagonal_relaxed")

    spec = TableSpec[LabSource](name, meaning, (_STUDY, *columns), query)
    return spec


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
        text("launched", "The day it began; empty where it was imported", values="YYYY-MM-DD"),
        text("closed", "The day it was closed", values="YYYY-MM-DD"),
    ),
    _studies,
)

STUDY_TABLES = (
    _of_studies("arms", "The conditions of the studies", of_study.ARMS),
    _of_studies("raters", "All participants of a study, under pseudonyms", of_study.RATERS),
    _of_studies(
        "ratings", "One rater's value for one response on one dimension each", of_study.RATINGS
    ),
    _of_studies(
        "ratings_of_excluded", "Ratings by raters whom a researcher excluded", of_study.RATINGS
    ),
    _of_studies(
        "scale_answers",
        "Raters' answers to the items of scales, about themselves",
        of_study.SCALE_ANSWERS,
    ),
    _of_studies("written_replies", "Replies that raters wrote themselves", of_study.WRITTEN),
    _of_studies("pages", "The time that raters spent on each page", of_study.PAGES),
    _of_studies("attention", "Raters' answers to attention checks", of_study.ATTENTION),
    _of_studies("comments", "Raters' answers to questions for comments", of_study.COMMENTS),
    _of_studies("partial_answers", "Answers of participants who did not finish", of_study.PARTIAL),
)
"""Tables that each study brings, here with the study's name in front."""
