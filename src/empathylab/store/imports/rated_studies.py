"""A file's study in the lab: its scale, its raters, their ratings and questionnaires."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

import polars as pl
from sqlalchemy import Connection, select

from empathylab.errors import InputError
from empathylab.scales import Scale
from empathylab.situations.sources.released import RatedStudy, Rater, Rating
from empathylab.situations.sources.rows import frames_of
from empathylab.store import schema
from empathylab.store.frames import read_frame
from empathylab.store.imports.bulk import insert_frames, loading
from empathylab.store.imports.changes import ImportCounts, compare_rows, delete_rows
from empathylab.store.imports.rater_answers import store_answers, without_answers
from empathylab.store.imports.responses import ResponseImport
from empathylab.store.inserts import hash_of
from empathylab.store.schema.statements import change_rows, ids_by, update_rows
from empathylab.store.studies.arms import add_arms, add_raters, add_study

_KEY = ["rater_id", "response_id", "dimension"]
_PLACE = ["dimension", "situation", "respondent", "sample"]
_RATED = ("value", "label", "seconds", "rated_at")
_TYPES = {
    **dict.fromkeys(("rater", "situation", "respondent", "dimension", "label"), pl.String),
    **dict.fromkeys(("value", "seconds"), pl.Float64),
    "sample": pl.Int64,
}
_PROTOCOL = {"design", "dimensions", "replies"}


def store_study(
    connection: Connection,
    number: int,
    study: RatedStudy,
    replies: ResponseImport,
    scales: Mapping[str, Scale],
    answers: Mapping[tuple[str, str], list[float]],
    notes: list[str],
) -> list[ImportCounts]:
    """Stores the study of a source, and gives what it changed: raters, ratings, questionnaires."""
    study_id = _study(connection, study)
    arms = _arms(connection, study_id, study)
    raters, ids = _store_raters(connection, number, study_id, study.raters)
    people = pl.DataFrame(
        [(rater.name, ids[rater.name], _midnight(rater.day)) for rater in study.raters],
        schema={
            "rater": pl.String,
            "rater_id": pl.Int64,
            "rated_at": pl.Datetime("us", "UTC"),
        },
        orient="row",
    )
    ratings = _Ratings(connection, number, study_id, people, arms, replies.tick).store(
        study.ratings, replies
    )
    _drop_idle(connection, study_id, [rater.name for rater in study.raters])
    fresh = without_answers(connection, study.raters, ids)
    notes += store_answers(connection, number, fresh, ids, scales)
    given = {
        (item.name, name): [float(value) for value in values]
        for item in fresh
        for name, values in item.answers.items()
    }
    answered = compare_rows(answers, given, "questionnaires")[3]
    elsewhere = sum(len(rater.answers) for rater in study.raters) - len(given)
    return [
        raters,
        ratings,
        dataclasses.replace(answered, unchanged=answered.unchanged + elsewhere),
    ]


def _study(connection: Connection, study: RatedStudy) -> int:
    """The study's id. A scale that was inferred from ratings grows with the ratings."""
    protocol: dict[str, Any] = {
        "design": study.design,
        "dimensions": [
            {
                "name": dimension.name,
                "values": list(dimension.values),
                "labels": list(dimension.labels),
            }
            | ({"question": dimension.question} if dimension.question else {})
            for dimension in study.dimensions
        ],
    }
    if study.replies:
        protocol["replies"] = dict(study.replies)
    table = schema.studies
    existing = connection.execute(select(table).where(table.c.name == study.name)).first()
    if existing is not None and set(existing.protocol) <= _PROTOCOL:
        merged = _merged(existing.protocol, protocol)
        if merged is not None and merged != existing.protocol:
            values = {"protocol": merged, "protocol_hash": hash_of(merged)}
            change_rows(connection, table, table.c.id == existing.id, **values)
        protocol = merged or protocol
    return add_study(connection, study.name, study.title, protocol, status="closed")


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any] | None:
    """Both files' dimensions; None where their points have other names, or one has degrees."""
    found = {dimension["name"]: dimension for dimension in old["dimensions"]}
    for dimension in new["dimensions"]:
        known = found.get(dimension["name"])
        if known is None:
            found[dimension["name"]] = dimension
            continue
        same_kind = bool(known["values"]) == bool(dimension["values"])
        if known["labels"] != dimension["labels"] or not same_kind:
            return None
        values = sorted({*known["values"], *dimension["values"]})
        if values and all(float(value).is_integer() for value in values):
            values = [float(value) for value in range(int(values[0]), int(values[-1]) + 1)]
        found[dimension["name"]] = {**known, **dimension, "values": values}
    design = "within" if "within" in (old["design"], new["design"]) else "between"
    asked = {key: item[key] for item in (old, new) for key in ("replies",) if key in item}
    return {"design": design, "dimensions": list(found.values()), **asked}


def _store_raters(
    connection: Connection, number: int, study: int, raters: Iterable[Rater]
) -> tuple[ImportCounts, dict[str, int]]:
    """Adds raters; what a file does not tell about a known one stays as it was."""
    table, ratings = schema.raters, schema.ratings
    known = {
        row.name: (row.details, row.seconds)
        for row in connection.execute(select(table).where(table.c.study_id == study))
    }
    own = select(table.c.name).join(ratings, ratings.c.rater_id == table.c.id)
    before = set(connection.execute(own.where(ratings.c.import_id == number)).scalars())
    rows = []
    for rater in raters:
        details, seconds = known.get(rater.name, ({}, None))
        merged = {**details, **rater.details}
        took = seconds if rater.seconds is None else rater.seconds
        rows.append({"name": rater.name, "kind": rater.kind, "details": merged, "seconds": took})
    old = {name: known[name] for name in known if name in before}
    new = {row["name"]: (row["details"], row["seconds"]) for row in rows}
    for name in new:
        if name in known:
            old.setdefault(name, known[name])
    return compare_rows(old, new, "raters")[3], add_raters(connection, study, rows)


def _drop_idle(connection: Connection, study: int, named: Iterable[str]) -> None:
    """Deletes raters who have no rating left and are no longer in the file."""
    table, ratings = schema.raters, schema.ratings
    rated = select(ratings.c.id).where(ratings.c.rater_id == table.c.id).exists()
    query = select(table.c.id, table.c.name).where(table.c.study_id == study, ~rated)
    kept = set(named)
    idle = [row.id for row in connection.execute(query) if row.name not in kept]
    delete_rows(connection, table, idle)


class _Ratings:
    """Stores a file's ratings; a rating stays with the response that its rater read."""

    def __init__(
        self,
        connection: Connection,
        number: int,
        study: int,
        raters: pl.DataFrame,
        arms: Mapping[str, int],
        tick: Callable[[int], None],
    ) -> None:
        self.connection, self.number, self.raters, self.tick = connection, number, raters, tick
        columns = {"respondent": pl.String, "arm_id": pl.Int64}
        self.arms = pl.DataFrame(list(arms.items()), schema=columns, orient="row")
        table, people = schema.ratings, schema.raters
        responses, situations = schema.responses, schema.situations
        respondents = schema.respondents
        query = (
            select(
                table.c.id,
                table.c.rater_id,
                table.c.response_id,
                table.c.dimension,
                *(table.c[name] for name in _RATED),
                table.c.import_id,
                situations.c.key.label("situation"),
                respondents.c.name.label("respondent"),
                responses.c.sample,
            )
            .join(people, people.c.id == table.c.rater_id)
            .join(responses, responses.c.id == table.c.response_id)
            .join(situations, situations.c.id == responses.c.situation_id)
            .join(respondents, respondents.c.id == responses.c.respondent_id)
            .where(people.c.study_id == study)
        )
        known = read_frame(connection, query)
        mine = (pl.col("import_id") == number).fill_null(False)
        self.read = known.select("rater_id", *_PLACE, read="response_id").unique(
            ["rater_id", *_PLACE], keep="last"
        )
        self.stored = known.filter(mine).select("id", *_KEY, *_RATED)
        self.others = known.filter(~mine).select(*_KEY, pl.col("value").alias("value_held"))

    def store(self, ratings: Sequence[Rating], replies: ResponseImport) -> ImportCounts:
        """Adds, changes and removes; gives how many of each."""
        self.kept, self.changed = [self.stored.clear()], list[pl.DataFrame]()
        self.shared = 0
        rows = self._rows(ratings, replies.responses(), replies.source)
        fresh = len(ratings) - self.stored.height - self.others.height
        with loading(self.connection, schema.ratings, fresh):
            added = sum(insert_frames(self.connection, schema.ratings, rows))
        again = pl.concat(self.kept)
        removed = self.stored.join(again, on="id", how="anti")["id"].to_list()
        delete_rows(self.connection, schema.ratings, removed)
        count = self._update(self.changed)
        same = again.height - count + self.shared
        return ImportCounts("ratings", added, count, len(removed), same)

    def _rows(
        self, ratings: Sequence[Rating], newest: pl.DataFrame, source: str
    ) -> Iterator[pl.DataFrame]:
        """The rows of the table for new ratings, part by part; others are compared and noted."""
        for part in frames_of(ratings, Rating, _TYPES):
            self.tick(part.height)
            frame = self._identified(part, newest, source)
            if self.others.height:
                both = frame.join(self.others, on=_KEY, how="inner", maintain_order="left")
                self._refuse_other_value(both, source)
                self.shared += both.height
                frame = frame.join(self.others, on=_KEY, how="anti", maintain_order="left")
            if self.stored.height:
                again = frame.join(
                    self.stored, on=_KEY, how="inner", suffix="_held", maintain_order="left"
                )
                self.kept.append(again.select(self.stored.columns))
                differ = [~pl.col(name).eq_missing(pl.col(f"{name}_held")) for name in _RATED]
                self.changed.append(again.filter(pl.any_horizontal(differ)))
                frame = frame.join(self.stored, on=_KEY, how="anti", maintain_order="left")
            yield frame.select(*_KEY, "arm_id", *_RATED, import_id=pl.lit(self.number))

    def _identified(self, part: pl.DataFrame, newest: pl.DataFrame, source: str) -> pl.DataFrame:
        """The ratings with the lab's ids of their raters, responses and arms."""
        joined = part.join(self.raters, on="rater", how="left", maintain_order="left")
        joined = joined.join(self.arms, on="respondent", how="left", maintain_order="left")
        place = ["situation", "respondent", "sample"]
        joined = joined.join(newest, on=place, how="left", maintain_order="left")
        if self.read.height:
            joined = joined.join(
                self.read, on=["rater_id", *_PLACE], how="left", maintain_order="left"
            ).with_columns(response_id=pl.coalesce("read", "response_id"))
        for row in joined.filter(pl.col("response_id").is_null()).head(1).iter_rows(named=True):
            raise InputError(
                f"the lab has no usable response of {row['respondent']!r} to the situation "
                f"{row['situation']!r}" + (f", sample {row['sample']}" if row["sample"] else ""),
                where=f"{source}, rating of {row['rater']}",
                remedy="Import the response, or fix the names or the empty reply.",
            )
        return joined

    def _update(self, changed: Sequence[pl.DataFrame]) -> int:
        rows = [row for frame in changed for row in frame.select("id", *_RATED).to_dicts()]
        update_rows(self.connection, schema.ratings, rows)
        return len(rows)

    def _refuse_other_value(self, both: pl.DataFrame, source: str) -> None:
        differ = both.filter(pl.col("value") != pl.col("value_held"))
        for row in differ.head(1).iter_rows(named=True):
            raise InputError(
                f"another file of this study has {row['value_held']:g} for the same rater and "
                f"reply (situation {row['situation']!r}, {row['respondent']})",
                where=f"{source}, rating of {row['rater']}",
                got=f"{row['value']:g}",
                remedy="Fix one of the files, or give another --study.",
            )


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _arms(connection: Connection, number: int, study: RatedStudy) -> dict[str, int]:
    """The ids of the study's arms: those whose replies were rated, in the file's order."""
    parts = [frame["respondent"] for frame in frames_of(study.ratings, Rating, _TYPES)]
    names = pl.concat(parts).unique(maintain_order=True).to_list()
    known = ids_by(connection, schema.respondents.c.name)
    return add_arms(connection, number, {name: known[name] for name in names if name in known})
