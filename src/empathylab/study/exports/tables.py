"""The tables of an exported study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy import Connection

from empathylab.scales import Scale
from empathylab.store.studies.records import find_study
from empathylab.study.admin.embargo import hidden_blocks
from empathylab.study.design.definition import FollowUp, Study
from empathylab.study.exports.scale_tables import scale_scores
from empathylab.study.exports.source import StudySource, written
from empathylab.study.exports.specs import ALWAYS, RATERS, TABLES
from empathylab.study.session.admissions import FIRST_PARTICIPANT

TELLING = ("arm", "respondent", "response", "author", "reply_outcome")
"""The columns of what raters did that say which arm it belongs to."""
RESULTS = ("rating", "label")
"""The columns of ratings that say how a response was rated."""
FIRST = "first_"
"""Before the names of columns of the study that a follow-up follows."""
_NO_RESULTS = ("default", "before")
"""The phases of scales that are no outcomes."""


@dataclass(frozen=True, slots=True)
class StudyTables:
    """A study's tables by name, and what its raters' columns are."""

    tables: Mapping[str, pl.DataFrame] = field(hash=False)
    details: tuple[str, ...]
    """Columns of `raters` with what raters or their platform said about them."""
    scores: Mapping[str, tuple[Scale, str, str]] = field(hash=False)
    """Columns of `raters` that hold scores: the scale, the subscale, the phase."""
    study: Study | None
    """Its definition; None where the lab has ratings only."""


def study_tables(connection: Connection, row: Any, *, blind: bool) -> StudyTables:
    """The tables of the study in that row; `blind` ones tell nothing of its results.

    To leave out arms alone would not do: where one arm takes people, everybody knows theirs.
    """
    source = StudySource(connection, row, blind=blind)
    tables = {item.name: item.read(source) for item in TABLES}
    tables["raters"], details, scores = _with_details(tables["raters"], source)
    if blind:
        tables |= _blinded(tables, scores, source.study)
    elif source.study is not None and source.study.follow_up is not None:
        tables["raters"] = _with_first_part(connection, tables["raters"], source.study.follow_up)
    shown = {name: table for name, table in tables.items() if table.height or name in ALWAYS}
    return StudyTables(shown, details, scores, source.study)


def _with_details(
    raters: pl.DataFrame, source: StudySource
) -> tuple[pl.DataFrame, tuple[str, ...], dict[str, tuple[Scale, str, str]]]:
    """The raters with columns for what is known about them, and for their scores."""
    names = raters["rater"].to_list()
    details = source.rater_details()
    scores, columns = scale_scores(source)
    keys = dict.fromkeys(key for item in details.values() for key in item)
    fresh = tuple(key for key in keys if key not in RATERS.names)
    frame = raters.with_columns(
        *(_typed_column(key, [details.get(name, {}).get(key) for name in names]) for key in fresh),
        *(
            pl.Series(key, [scores.get((name, key)) for name in names], pl.Float64)
            for key in columns
            if key not in fresh
        ),
    )
    return frame, fresh, columns


def _with_first_part(
    connection: Connection, raters: pl.DataFrame, follow_up: FollowUp
) -> pl.DataFrame:
    """The raters of a follow-up with their columns of the first study, once that is closed."""
    name, _, version = follow_up.study.partition("@")
    first = find_study(connection, name, int(version) if version else None)
    if FIRST_PARTICIPANT not in raters.columns or first is None or first.status != "closed":
        return raters
    known = study_tables(connection, first, blind=False).tables["raters"]
    known = known.rename(lambda column: f"{FIRST}{column}")
    return raters.join(
        known,
        left_on=FIRST_PARTICIPANT,
        right_on=f"{FIRST}rater",
        how="left",
        maintain_order="left",
    )


def _blinded(
    tables: Mapping[str, pl.DataFrame],
    scores: Mapping[str, tuple[Scale, str, str]],
    study: Study | None,
) -> dict[str, pl.DataFrame]:
    """The tables without results, and without what identifies a participant's arm.

    Rows are sorted by rater: their order in the lab follows the responses, which follow the arms.
    """
    blocks = (
        []
        if study is None
        else [study.block(hidden_block) for hidden_block in hidden_blocks(study)]
    )
    # A scale in another phase may be asked after the replies, too.
    late = {block.uses_scale for block in blocks if not block.is_outcome}
    own_columns = [column.name for block in blocks for column in block.columns("")]
    after = [
        column
        for column, (scale, _, phase) in scores.items()
        if phase not in _NO_RESULTS or scale.id in late
    ]
    hidden = (*TELLING, *RESULTS, *own_columns, *after)
    changed = {
        name: tables[name].drop(hidden, strict=False).with_columns(_in_minutes(tables[name]))
        for name in ("ratings", "ratings_of_excluded", "raters", "partial_answers", "pages")
    }
    changed = {name: frame.sort("rater", maintain_order=True) for name, frame in changed.items()}
    for name in ("ratings", "ratings_of_excluded"):
        keys = [
            item for item in ("rater", "set", "situation", "dimension") if item in changed[name]
        ]
        changed[name] = changed[name].sort(keys)
    changed["scale_answers"] = tables["scale_answers"].filter(
        pl.col("phase").is_in(_NO_RESULTS), ~pl.col("scale").is_in([item for item in late if item])
    )
    for name in ("written_replies", "answers", "preferences", "live_turns"):
        changed[name] = tables[name].clear()
    changed["arms"] = tables["arms"].drop("raters", "ratings", "first", "last")
    return changed


def _in_minutes(table: pl.DataFrame) -> list[pl.Expr]:
    times = ("seconds", "browser_seconds", "away_seconds")
    return [(pl.col(time) / 60).round() * 60 for time in times if time in table.columns]


def _typed_column(name: str, values: list[Any]) -> pl.Series:
    """Numbers where all known values are numbers, else texts."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return pl.Series(
            name, [None if value is None else float(value) for value in values], pl.Float64
        )
    return pl.Series(
        name, [None if value is None else written(value) for value in values], pl.String
    )
