"""A file's study in the lab: its scale, its raters, their ratings and questionnaires."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import Connection, select, update

from empathylab.errors import InputError
from empathylab.scales import Scale, find_scale, score
from empathylab.situations.sources.released import RatedStudy, Rater, Rating
from empathylab.store import schema
from empathylab.store.imports.changes import ImportCounts, compare_rows, delete_rows
from empathylab.store.imports.responses import ReplyKey, ResponseImport
from empathylab.store.inserts import add_item_answers, add_scale, hash_of, insert_returning_ids, now
from empathylab.store.studies.arms import add_arms, add_raters, add_study

RatingKey = tuple[int, int, str]
_RATED = ("value", "label", "seconds", "rated_at")
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
    arms = _arms(connection, study_id, study.ratings)
    raters, ids = _store_raters(connection, number, study_id, study.raters)
    days = {rater.name: _midnight(rater.day) for rater in study.raters}
    told = _Ratings(connection, number, study_id, ids, arms, days).store(study.ratings, replies)
    _drop_idle(connection, study_id, [rater.name for rater in study.raters])
    fresh = _without_answers(connection, study.raters, ids)
    notes += _store_answers(connection, number, fresh, ids, scales)
    given = {
        (item.name, name): [float(value) for value in values]
        for item in fresh
        for name, values in item.answers.items()
    }
    answered = compare_rows(answers, given, "questionnaires")[3]
    elsewhere = sum(len(rater.answers) for rater in study.raters) - len(given)
    return [
        raters,
        told,
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
    held = connection.execute(select(table).where(table.c.name == study.name)).first()
    if held is not None and set(held.protocol) <= _PROTOCOL:
        merged = _merged(held.protocol, protocol)
        if merged is not None and merged != held.protocol:
            connection.execute(
                update(table)
                .where(table.c.id == held.id)
                .values(protocol=merged, protocol_hash=hash_of(merged))
            )
        protocol = merged or protocol
    return add_study(connection, study.name, study.title, protocol, status="closed")


def _merged(held: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any] | None:
    """Both files' dimensions; None where their points have other names, or one has degrees."""
    found = {dimension["name"]: dimension for dimension in held["dimensions"]}
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
    design = "within" if "within" in (held["design"], new["design"]) else "between"
    asked = {key: item[key] for item in (held, new) for key in ("replies",) if key in item}
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
        told = {**details, **rater.details}
        took = seconds if rater.seconds is None else rater.seconds
        rows.append({"name": rater.name, "kind": rater.kind, "details": told, "seconds": took})
    old = {name: known[name] for name in known if name in before}
    new = {row["name"]: (row["details"], row["seconds"]) for row in rows}
    for name in new:
        if name in known:
            old.setdefault(name, known[name])
    return compare_rows(old, new, "raters")[3], add_raters(connection, study, rows)


def _drop_idle(connection: Connection, study: int, named: Iterable[str]) -> None:
    """Takes away raters who have no rating left and whom the file no longer names."""
    table, ratings = schema.raters, schema.ratings
    rated = select(ratings.c.id).where(ratings.c.rater_id == table.c.id).exists()
    query = select(table.c.id, table.c.name).where(table.c.study_id == study, ~rated)
    kept = set(named)
    gone = [row.id for row in connection.execute(query) if row.name not in kept]
    delete_rows(connection, table, gone)


class _Ratings:
    """Stores a file's ratings; a rating stays with the response that its rater read."""

    def __init__(
        self,
        connection: Connection,
        number: int,
        study: int,
        raters: Mapping[str, int],
        arms: Mapping[str, int],
        days: Mapping[str, datetime | None],
    ) -> None:
        self.connection, self.number = connection, number
        self.raters, self.arms, self.days = raters, arms, days
        table, people = schema.ratings, schema.raters
        responses, situations = schema.responses, schema.situations
        respondents = schema.respondents
        query = (
            select(
                table,
                situations.c.key,
                respondents.c.name.label("respondent"),
                responses.c.sample,
            )
            .join(people, people.c.id == table.c.rater_id)
            .join(responses, responses.c.id == table.c.response_id)
            .join(situations, situations.c.id == responses.c.situation_id)
            .join(respondents, respondents.c.id == responses.c.respondent_id)
            .where(people.c.study_id == study)
        )
        self.held: dict[RatingKey, Any] = {}
        self.others: dict[RatingKey, Any] = {}
        self.read: dict[tuple[int, str, ReplyKey], int] = {}
        for row in connection.execute(query):
            mine = row.import_id == number
            (self.held if mine else self.others)[row.rater_id, row.response_id, row.dimension] = row
            place = (row.key, row.respondent, row.sample)
            self.read[row.rater_id, row.dimension, place] = row.response_id

    def store(self, ratings: Iterable[Rating], replies: ResponseImport) -> ImportCounts:
        """Adds, changes and removes; gives how many of each."""
        newest = replies.responses()
        rows: dict[RatingKey, dict[str, Any]] = {}
        shared = 0
        for rating in ratings:
            key = self._key(rating, newest, replies.source)
            if key in self.others:
                self._refuse_other_value(rating, self.others[key], replies.source)
                shared += 1
            else:
                rows[key] = self._row(rating, key)
        old = {k: tuple(getattr(row, f) for f in _RATED) for k, row in self.held.items()}
        new = {k: tuple(row[f] for f in _RATED) for k, row in rows.items()}
        added, changed, removed, told = compare_rows(old, new, "ratings")
        table = schema.ratings
        for key in changed:
            values = dict(zip(_RATED, new[key], strict=True))
            self.connection.execute(
                update(table).where(table.c.id == self.held[key].id).values(**values)
            )
        delete_rows(self.connection, table, [self.held[key].id for key in removed])
        insert_returning_ids(self.connection, table, [rows[key] for key in added])
        return ImportCounts(
            "ratings", told.added, told.changed, told.removed, told.unchanged + shared
        )

    def _key(self, rating: Rating, newest: Mapping[ReplyKey, int], source: str) -> RatingKey:
        rater = self.raters[rating.rater]
        place = (rating.situation, rating.respondent, rating.sample)
        response = self.read.get((rater, rating.dimension, place)) or newest.get(place)
        if response is None:
            raise InputError(
                f"the lab holds no usable response of {rating.respondent!r} to the situation "
                f"{rating.situation!r}" + (f", sample {rating.sample}" if rating.sample else ""),
                where=f"{source}, rating of {rating.rater}",
                remedy="Import the response, or fix the names or the empty reply.",
            )
        return rater, response, rating.dimension

    def _row(self, rating: Rating, key: RatingKey) -> dict[str, Any]:
        return {
            "rater_id": key[0],
            "response_id": key[1],
            "arm_id": self.arms[rating.respondent],
            "dimension": rating.dimension,
            "value": rating.value,
            "label": rating.label,
            "seconds": rating.seconds,
            "rated_at": self.days[rating.rater],
            "import_id": self.number,
        }

    def _refuse_other_value(self, rating: Rating, held: Any, source: str) -> None:
        if held.value != rating.value:
            raise InputError(
                f"another file of this study has {held.value:g} for the same rater and reply "
                f"(situation {rating.situation!r}, {rating.respondent})",
                where=f"{source}, rating of {rating.rater}",
                got=f"{rating.value:g}",
                remedy="Fix one of the files, or give another --study.",
            )


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _without_answers(
    connection: Connection, raters: Iterable[Rater], ids: Mapping[str, int]
) -> list[Rater]:
    """Those raters whose questionnaires no other file brought."""
    table = schema.administrations
    query = select(table.c.rater_id).where(table.c.rater_id.is_not(None))
    answered = set(connection.execute(query).scalars())
    return [rater for rater in raters if ids[rater.name] not in answered]


def stored_answers(
    connection: Connection, kind: str, source: str
) -> dict[tuple[str, str], list[float]]:
    """The questionnaires that this source brought before, by rater and scale."""
    table, imports = schema.administrations, schema.imports
    items, raters, scales = schema.item_answers, schema.raters, schema.scales
    query = (
        select(raters.c.name, scales.c.name.label("scale"), items.c.value)
        .join(table, table.c.id == items.c.administration_id)
        .join(imports, imports.c.id == table.c.import_id)
        .join(raters, raters.c.id == table.c.rater_id)
        .join(scales, scales.c.id == table.c.scale_id)
        .where(imports.c.kind == kind, imports.c.source == source)
        .order_by(items.c.administration_id, items.c.item)
    )
    held: dict[tuple[str, str], list[float]] = {}
    for row in connection.execute(query):
        held.setdefault((row.name, row.scale), []).append(row.value)
    return held


def _arms(connection: Connection, study: int, ratings: Iterable[Rating]) -> dict[str, int]:
    names = list(dict.fromkeys(rating.respondent for rating in ratings))
    table = schema.respondents
    known = {
        row.name: int(row.id)
        for row in connection.execute(select(table.c.name, table.c.id))
        if row.name in names
    }
    return add_arms(connection, study, {name: known[name] for name in names if name in known})


def _store_answers(
    connection: Connection,
    number: int,
    raters: Iterable[Rater],
    ids: Mapping[str, int],
    scales: Mapping[str, Scale],
) -> Iterable[str]:
    """Adds the raters' own questionnaires, and gives what does not add up.

    Those that the same source brought before are gone already.
    """
    answered = [(rater, name) for rater in raters for name in rater.answers]
    chosen = {name: _scale(scales, name) for _, name in answered}
    rows = [
        {
            "respondent_id": None,
            "rater_id": ids[one.name],
            "scale_id": add_scale(connection, chosen[name]),
            "situation_id": None,
            "answer_id": None,
            "phase": "default",
            "counterpart": False,
            "mode": "imported",
            "order_index": 0,
            "item_order": list(range(1, chosen[name].items + 1)),
            "repeat": 0,
            "outcome": "valid",
            "reason": None,
            "subject": one.name,
            "added_at": now(),
            "import_id": number,
        }
        for one, name in answered
    ]
    numbers = insert_returning_ids(connection, schema.administrations, rows)
    values = [dict(enumerate(one.answers[name], start=1)) for one, name in answered]
    add_item_answers(connection, zip(numbers, values, strict=True))
    return _totals_that_differ(answered, chosen)


def _scale(scales: Mapping[str, Scale], name: str) -> Scale:
    found = find_scale(name, scales.values())
    if found is None:
        raise InputError(
            "the lab does not know the raters' scale", got=name, remedy="Import the scale first."
        )
    return found


def _totals_that_differ(
    answered: Iterable[tuple[Rater, str]], scales: Mapping[str, Scale]
) -> Iterable[str]:
    wrong: dict[str, list[str]] = {}
    for rater, name in answered:
        if name in rater.stated:
            values = dict(enumerate(rater.answers[name], start=1))
            total = score(scales[name], values)[-1].value
            if total != rater.stated[name]:
                wrong.setdefault(name, []).append(rater.name)
    for name, names in wrong.items():
        yield (
            f"the stated {scales[name].name} total of {len(names)} raters is not the one that "
            f"their answers give (first: {names[0]}); the answers count."
        )
