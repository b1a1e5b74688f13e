"""The whole lab as long-form tables: one row per thing, people only, nobody's identity."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy import Connection, select

from empathylab.analysis.appraisal.self_reports import last_used_runs
from empathylab.analysis.run_selection import selected_runs
from empathylab.scales import Scale, scale_from_dict
from empathylab.scales.score_frames import score_frame
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab, runs_frame
from empathylab.store.export_frames import (
    administration_table,
    import_table,
    item_answer_table,
    respondent_table,
    response_table,
    scale_definitions,
    set_table,
    situation_table,
)
from empathylab.store.judged_replies import shown_under_way
from empathylab.store.judgements import lab_judgements, lab_preferences
from empathylab.store.rated import study_of
from empathylab.store.schema import studies
from empathylab.study.admin.embargo import RUNNING
from empathylab.study.archives.packing import day_of
from empathylab.study.exports import columns as export_columns
from empathylab.study.exports.columns import FLAG, NUMBER, TEXT, WHOLE, Types, framed
from empathylab.study.exports.folders import dimensions_of
from empathylab.study.exports.tables import StudyTables, study_tables
from empathylab.style import features

STUDY_TABLES: Mapping[str, Types] = {
    "arms": export_columns.ARMS,
    "raters": export_columns.RATERS,
    "ratings": export_columns.RATINGS,
    "ratings_of_excluded": export_columns.RATINGS,
    "scale_answers": export_columns.SCALE_ANSWERS,
    "written_replies": export_columns.WRITTEN,
    "pages": export_columns.PAGES,
    "attention": export_columns.ATTENTION,
    "comments": export_columns.COMMENTS,
    "partial_answers": export_columns.PARTIAL,
}
"""What comes of each study, from the export of studies; here with the study's name in front."""
TOLD_STUDY = "study_told"
"""What a rater told under the name `study`, which here is the study's."""
_STUDIES: Types = {
    "study": TEXT,
    "version": WHOLE,
    "title": TEXT,
    "design": TEXT,
    "status": TEXT,
    "results_hidden": FLAG,
    "dimensions": TEXT,
    "protocol_hash": TEXT,
    "launched": TEXT,
    "closed": TEXT,
}
_SCALES: Types = {
    "scale": TEXT,
    "scale_version": WHOLE,
    "name": TEXT,
    "items": WHOLE,
    "minimum": NUMBER,
    "maximum": NUMBER,
    "reversed": TEXT,
    "rule": TEXT,
    "subscales": TEXT,
    "has_total": FLAG,
    "citation": TEXT,
    "licence": TEXT,
    "fingerprint": TEXT,
}
_SCORE_COLUMNS = (
    "administration",
    "respondent",
    "kind",
    "scale",
    "phase",
    "counterpart",
    "set",
    "situation",
    "emotion",
    "factor",
    "subject",
    "subscale",
    "score",
    "counted",
)


@dataclass(frozen=True, slots=True)
class StudyPart:
    """What one study brings to the tables."""

    name: str
    number: int
    launched: bool
    blind: bool
    """Whether its results are left out, because it still takes people."""
    found: StudyTables
    dimensions: tuple[Dimension, ...]


@dataclass(frozen=True, slots=True)
class LabTables:
    """The lab's tables by name, and the studies in them."""

    tables: Mapping[str, pl.DataFrame] = field(hash=False)
    parts: tuple[StudyPart, ...]

    @property
    def blind(self) -> tuple[str, ...]:
        """The studies whose results are left out."""
        return tuple(one.name for one in self.parts if one.blind)


def lab_tables(lab: Lab) -> LabTables:
    """Every table, also those without rows; simulated raters and test visits are in none.

    Of a study that still takes people, how responses were rated, and in which arm, is left out, and
    so is whatever judges said of responses that it shows.
    """
    runs = runs_frame(lab)
    shown = selected_runs(runs)["run"].to_list()
    judged = _in_order(lab_judgements(lab).drop("text"), "probabilities")
    preferred = _in_order(lab_preferences(lab), "probabilities")
    shown_now = shown_under_way(lab)
    with lab.reading() as connection:
        definitions = scale_definitions(connection)
        scales = _scales(definitions)
        responses = _counted_responses(response_table(connection), shown)
        asked = _counted_administrations(administration_table(connection))
        items = item_answer_table(connection)
        head, parts = _studies(connection)
        blind = [one.name for one in parts if one.blind]
        tables = {
            "situation_sets": set_table(connection),
            "situations": situation_table(connection),
            "respondents": respondent_table(connection),
            "responses": responses,
            "style": _style(responses),
            "scales": _scale_rows(definitions, scales),
            "administrations": asked.drop("run_used_at", "scale_row"),
            "item_answers": items,
            "scores": _scores(asked, items, scales),
            "studies": head,
            **{name: _joined(name, parts) for name in STUDY_TABLES},
            "judgements": _told(judged, ["response"], shown_now, blind),
            "preferences": _told(
                preferred, ["first_response", "second_response"], shown_now, blind
            ),
            "runs": _timed(runs),
            "imports": import_table(connection),
        }
    # What is no number is missing: JSON has no sign for it.
    numbers = pl.col(pl.Float64).fill_nan(None)
    return LabTables(
        {name: frame.with_columns(numbers) for name, frame in tables.items()}, tuple(parts)
    )


def _counted_responses(frame: pl.DataFrame, shown: Sequence[int]) -> pl.DataFrame:
    of_last_run = pl.col("run").is_null() | pl.col("run").is_in(shown)
    return frame.with_columns(counted=of_last_run & (pl.col("outcome") == "valid"))


def _counted_administrations(frame: pl.DataFrame) -> pl.DataFrame:
    last = last_used_runs(frame).select("administration", used=True)
    joined = frame.join(last, on="administration", how="left", maintain_order="left")
    valid = pl.col("outcome") == "valid"
    used = pl.col("used").fill_null(False)
    return joined.with_columns(used=used, counted=used & valid)


def _style(responses: pl.DataFrame) -> pl.DataFrame:
    """The features of each usable response, whether analyses count it or not."""
    usable = responses.filter(outcome="valid")
    counted = features(usable).drop("respondent", "situation", "sample")
    who = usable.select("response", "respondent", "set", "situation", "sample")
    return pl.concat([who, counted], how="horizontal")


def _scales(definitions: pl.DataFrame) -> dict[int, Scale]:
    return {
        row["scale_row"]: scale_from_dict(
            json.loads(row["definition"]), where=f"scale {row['scale']} of the lab"
        )
        for row in definitions.iter_rows(named=True)
    }


def _scale_rows(definitions: pl.DataFrame, scales: Mapping[int, Scale]) -> pl.DataFrame:
    """Their structure; the wording belongs to others and stays in the lab."""
    rows = []
    for row in definitions.iter_rows(named=True):
        one = scales[row["scale_row"]]
        rows.append(
            {
                "scale": one.id,
                "scale_version": one.version,
                "name": one.name,
                "items": one.items,
                "minimum": one.minimum,
                "maximum": one.maximum,
                "reversed": json.dumps(sorted(one.reversed)),
                "rule": one.rule,
                "subscales": json.dumps({part.id: list(part.items) for part in one.subscales}),
                "has_total": one.total,
                "citation": one.citation,
                "licence": one.licence,
                "fingerprint": row["fingerprint"],
            }
        )
    return framed(rows, _SCALES)


def _scores(asked: pl.DataFrame, items: pl.DataFrame, scales: Mapping[int, Scale]) -> pl.DataFrame:
    valid = asked.filter(outcome="valid")
    answers = items.join(valid.select("administration", "scale_row"), on="administration")
    found = score_frame(answers, scales)
    joined = valid.join(found, on="administration", maintain_order="left_right")
    return joined.select(_SCORE_COLUMNS)


def _studies(connection: Connection) -> tuple[pl.DataFrame, list[StudyPart]]:
    rows = connection.execute(select(studies).order_by(studies.c.id)).all()
    newest = {row.name: row.version for row in sorted(rows, key=lambda row: int(row.version))}
    heads: list[dict[str, Any]] = []
    parts = []
    for row in rows:
        one = study_of(row, newest[row.name])
        blind = row.status in RUNNING
        found = study_tables(connection, row, blind=blind)
        launched = row.launched_at is not None
        parts.append(StudyPart(one.name, int(row.id), launched, blind, found, dimensions_of(row)))
        heads.append(
            {
                "study": one.name,
                "version": row.version,
                "title": row.title,
                "design": one.design,
                "status": row.status,
                "results_hidden": blind,
                "dimensions": json.dumps([_written(point) for point in one.dimensions]),
                "protocol_hash": row.protocol_hash,
                "launched": day_of(row.launched_at),
                "closed": day_of(row.closed_at),
            }
        )
    return framed(heads, _STUDIES), parts


def _written(one: Dimension) -> dict[str, Any]:
    return {
        "name": one.name,
        "values": list(one.values),
        "labels": list(one.labels or ()),
        "question": one.question,
    }


def _joined(name: str, parts: Sequence[StudyPart]) -> pl.DataFrame:
    """The table of every study, one after the other; columns of any study are there for all."""
    empty = framed([], STUDY_TABLES[name])
    frames = [empty.select(pl.lit(None, TEXT).alias("study"), pl.all())]
    for part in parts:
        frame = part.found.tables.get(name, empty)
        if "study" in frame.columns:
            frame = frame.rename({"study": TOLD_STUDY})
        frames.append(frame.select(pl.lit(part.name).alias("study"), pl.all()))
    return pl.concat(frames, how="diagonal_relaxed")


def _told(
    frame: pl.DataFrame, responses: Sequence[str], shown: Collection[int], blind: Sequence[str]
) -> pl.DataFrame:
    """Without what was said of a response that a running study shows, or for such a study."""
    about = pl.any_horizontal(pl.col(name).is_in(list(shown)) for name in responses)
    asked = pl.col("study").is_in(blind).fill_null(value=False)
    return frame.filter(~(about | asked))


def _timed(runs: pl.DataFrame) -> pl.DataFrame:
    """The moments as text, which every format writes alike."""
    moments = pl.col(pl.Datetime("us", "UTC")).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    # An endpoint's address may hold a password.
    settings = pl.col("settings").str.replace_all(r"://[^/@\s\"]+@", "://")
    return _in_order(runs.with_columns(moments, settings), "settings")


def _in_order(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """The column's JSON objects with their keys sorted: databases keep them in different orders."""
    texts = [
        None if text is None else json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        for text in frame[column]
    ]
    return frame.with_columns(pl.Series(column, texts, pl.String))
