"""A running study's rows as frames, read with as few and as narrow queries as there can be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
)

from empathylab.store import schema
from empathylab.store.schema.statements import Rows, newest_rows
from empathylab.store.studies.records import real_people

_slots, _pages = schema.slots, schema.page_answers


def declined_slot() -> ColumnElement[bool]:
    """Whether someone arrived and declined to take part."""
    return (_slots.c.status == "arrived") & (_slots.c.outcome == "no-consent")


def state_counts(
    connection: Connection, study: int, *, unseen: datetime, claimed_since: datetime | None
) -> pl.DataFrame:
    """How many came, by world, arm, state, outcome, review and the block they were shown last.

    The state is the status, but `late` for people who hold a slot and were not seen since `unseen`
    or took it before `claimed_since`, and `gone` or `reading` for those who have none yet.
    """
    silent = _slots.c.seen_at < unseen
    late = silent if claimed_since is None else silent | (_slots.c.claimed_at < claimed_since)
    arrived = (_slots.c.status == "arrived") & _slots.c.outcome.is_(None)
    state = case(
        ((_slots.c.status == "live") & late, literal("late")),
        (declined_slot(), literal("declined")),
        (arrived & silent, literal("gone")),
        (arrived, literal("reading")),
        else_=_slots.c.status,
    ).label("state")
    columns = [*_slots.c["world", "arm"], state, *_slots.c["outcome", "review", "shown_step"]]
    query = (
        select(*columns, func.count().label("count"))
        .where(_slots.c.study_id == study)
        .group_by(*columns)
    )
    names = ("world", "arm", "state", "outcome", "review", "step")
    return _frame(connection, query, {**dict.fromkeys(names, pl.String), "count": pl.Int64})


def arrival_hours(connection: Connection, study: int, first: str) -> dict[datetime, int]:
    """By hour, in UTC, how many people came who have answered the first page."""
    at: ColumnElement[Any] = cast(_slots.c.arrived_at, Text)
    if connection.dialect.name == "postgresql":
        at = func.to_char(func.timezone("UTC", _slots.c.arrived_at), "YYYY-MM-DD HH24")
    hour = func.substr(at, 1, 13).label("hour")
    query = (
        select(hour, func.count().label("count"))
        .where(
            _slots.c.study_id == study,
            _slots.c.world == "person",
            or_(
                _slots.c.status != "arrived",
                _slots.c.outcome.is_not(None),
                _slots.c.shown_step != first,
            ),
        )
        .group_by(hour)
        .order_by(hour)
    )
    return {
        datetime.strptime(row.hour, "%Y-%m-%d %H").replace(tzinfo=UTC): int(row[1])
        for row in connection.execute(query)
    }


def held_traits(
    connection: Connection, study: int, *, unseen: datetime, claimed_since: datetime | None
) -> list[dict[str, str]]:
    """What quotas go by, of all people whose slots count."""
    query = select(_slots.c.traits).where(_counts(study, unseen, claimed_since))
    return [dict(item) for item in connection.execute(query).scalars()]


def held_slot_numbers(
    connection: Connection, study: int, *, unseen: datetime, claimed_since: datetime | None
) -> set[tuple[str | None, int | None]]:
    """Arm and number of the slots of all people whose slots count."""
    query = select(_slots.c.arm, _slots.c.slot).where(_counts(study, unseen, claimed_since))
    return {(row.arm, row.slot) for row in connection.execute(query)}


def latest_times(connection: Connection, study: int, limit: int) -> pl.DataFrame:
    """Of the pages that people answered last, which it was and how many seconds it took."""
    seconds = _pages.c.timing["seconds"].as_float()
    # The sum keeps the database from gathering all pages of all people before it takes the last.
    query = (
        select(_pages.c.step, seconds)
        .where((_pages.c.place_id + 0).in_(_people(study)))
        .order_by(_pages.c.id.desc())
        .limit(limit)
    )
    return _long_frame(connection, query, {"step": pl.String, "seconds": pl.Float64})


def page_counts(connection: Connection, study: int) -> dict[str, int]:
    """By page, how many people answered it."""
    if connection.dialect.name == "sqlite":
        return _page_counts_by_way(connection, study)
    query = (
        select(_pages.c.step, func.count())
        .where(_pages.c.place_id.in_(_people(study)))
        .group_by(_pages.c.step)
    )
    return {step: int(count) for step, count in connection.execute(query)}


def _page_counts_by_way(connection: Connection, study: int) -> dict[str, int]:
    """The same where groups are made by sorting, which takes long for all pages of all people.

    The index is sorted by person, so each person's pages are read without sorting; and most
    people have answered the same.
    """
    way = func.group_concat(_pages.c.step).label("way")
    ways = select(way).where(_pages.c.place_id.in_(_people(study))).group_by(_pages.c.place_id)
    inner = ways.subquery()
    query = select(inner.c.way, func.count()).group_by(inner.c.way)
    counted: Counter[str] = Counter()
    for steps, count in connection.execute(query):
        for step in steps.split(","):
            counted[step] += count
    return dict(counted)


def answer_counts(
    connection: Connection, study: int, steps: Sequence[str]
) -> list[tuple[str, Any, int]]:
    """Of these pages, how many people gave which answer."""
    if not steps:
        return []
    given = cast(_pages.c.given, Text)
    query = (
        select(_pages.c.step, given, func.count())
        .where(_pages.c.place_id.in_(_people(study)), _pages.c.step.in_(steps))
        .group_by(_pages.c.step, given)
    )
    return [(step, json.loads(text), count) for step, text, count in connection.execute(query)]


def scale_answers(connection: Connection, study: int, steps: Sequence[str]) -> pl.DataFrame:
    """What people who hold or finished a slot gave to a scale's pages: slot, arm, JSON."""
    query = (
        select(_pages.c.place_id, _slots.c.arm, cast(_pages.c.given, Text))
        .select_from(_pages.join(_slots))
        .where(
            _slots.c.study_id == study,
            _slots.c.world == "person",
            _slots.c.arm.is_not(None),
            _slots.c.status.in_(("live", "finished")),
            _pages.c.step.in_(steps),
        )
    )
    return _long_frame(connection, query, {"place": pl.Int64, "arm": pl.String, "given": pl.String})


def rating_counts(connection: Connection, study: int) -> Rows:
    """How often each value was given, by arm and dimension: to be shown of a closed study only."""
    raters, table, arms = schema.raters, schema.ratings, schema.arms
    given = table.c["dimension", "value", "label"]
    real = select(raters.c.id).where(raters.c.study_id == study, real_people())
    query = (
        select(arms.c.name.label("arm"), *given, func.count().label("times"))
        .join(arms, arms.c.id == table.c.arm_id)
        .where(table.c.rater_id.in_(real))
        .group_by(arms.c.name, *given)
    )
    return connection.execute(query.order_by(table.c.dimension, arms.c.name, table.c.value)).all()


def rated_rows(connection: Connection, study: int) -> Rows:
    """Every rating by people who were not excluded: to be shown of a closed study only."""
    raters, table, arms = schema.raters, schema.ratings, schema.arms
    responses, situations = schema.responses, schema.situations
    query = (
        select(
            raters.c.name.label("person"),
            arms.c.name.label("arm"),
            situations.c.key.label("situation"),
            *table.c["dimension", "value", "label", "seconds", "rated_at"],
        )
        .select_from(table.join(raters).join(responses).join(situations))
        .join(arms, arms.c.id == table.c.arm_id)
        .where(raters.c.study_id == study, real_people())
        .order_by(table.c.id)
    )
    return connection.execute(query).all()


def listed_slots(
    connection: Connection,
    study: int,
    *,
    world: str | None,
    status: str | None,
    review: str | None,
    key: str,
    limit: int,
    offset: int,
) -> tuple[int, Rows]:
    """How many slots there are of this kind, and some of them, newest first.

    `key` is the beginning of a person's key; the review `none` is finished work without one.
    """
    wanted: list[ColumnElement[bool]] = [_slots.c.study_id == study]
    if world:
        wanted.append(_slots.c.world == world)
    if status:
        wanted.append(declined_slot() if status == "declined" else _slots.c.status == status)
    if review == "none":
        wanted += [_slots.c.review.is_(None), _slots.c.outcome == "completed"]
    elif review:
        wanted.append(_slots.c.review == review)
    if key:
        wanted.append(_slots.c.person.startswith(key, autoescape=True))
    answered = select(func.count()).where(_pages.c.place_id == _slots.c.id).scalar_subquery()
    query = select(_slots, answered.label("answered"), _last_answer()).where(*wanted)
    return newest_rows(connection, query, _slots, limit=limit, offset=offset)


def _last_answer() -> ColumnElement[Any]:
    """When the holder of a slot answered last."""
    latest = select(func.max(_pages.c.answered_at)).where(_pages.c.place_id == _slots.c.id)
    return latest.scalar_subquery().label("last_answer")


def finish_times(connection: Connection, study: int) -> list[float]:
    """Of each person who completed the study, the seconds from arrival to the last answer."""
    query = select(_slots.c.arrived_at, _last_answer()).where(
        _slots.c.study_id == study,
        _slots.c.world == "person",
        _slots.c.outcome == "completed",
    )
    rows = connection.execute(query)
    return [(last - arrived).total_seconds() for arrived, last in rows if last is not None]


def pages_by_slot(
    connection: Connection, slots: Sequence[int], checks: Sequence[str]
) -> dict[int, list[Any]]:
    """By slot, the pages that were answered with their times; what was given only of checks."""
    given = case((_pages.c.step.in_(checks), _pages.c.given), else_=None).label("given")
    query = select(*_pages.c["place_id", "step", "answered_at", "timing"], given)
    pages: dict[int, list[Any]] = {}
    rows = connection.execute(query.where(_pages.c.place_id.in_(slots)).order_by(_pages.c.id))
    for row in rows:
        pages.setdefault(row.place_id, []).append(row)
    return pages


def person_pages(connection: Connection, slot: int) -> Rows:
    """All pages that the holder of a slot answered, in that order."""
    query = select(_pages).where(_pages.c.place_id == slot).order_by(_pages.c.id)
    return connection.execute(query).all()


def listed_comments(
    connection: Connection, study: int, steps: Sequence[str], *, limit: int, offset: int
) -> tuple[int, Rows]:
    """How many people wrote words on these pages, and some of them, newest first."""
    comment = _pages.c.given["comment"].as_string()
    query = (
        select(_slots.c.person, _pages.c.answered_at, comment.label("text"))
        .select_from(_pages.join(_slots))
        .where(
            _slots.c.study_id == study,
            _slots.c.world == "person",
            _pages.c.step.in_(steps),
            comment.is_not(None),
            comment != "",
        )
    )
    return newest_rows(connection, query, _pages, limit=limit, offset=offset)


def listed_audit(
    connection: Connection, study: int, *, limit: int, offset: int
) -> tuple[int, Rows]:
    """How much is on record of what researchers did, and some of it, newest first."""
    table = schema.audit
    query = select(table).where(table.c.study_id == study)
    return newest_rows(connection, query, table, limit=limit, offset=offset)


def platform_state(connection: Connection, study: int, person: str) -> Any:
    """What the platform last said of the person's submission, and when; None where unknown."""
    table = schema.people
    query = select(*table.c["platform", "state", "state_at"]).where(
        table.c.study_id == study, table.c.person == person
    )
    return connection.execute(query).one_or_none()


def _counts(study: int, unseen: datetime, claimed_since: datetime | None) -> ColumnElement[bool]:
    """Whether a slot belongs to a person who has finished or is still taking part."""
    live = (_slots.c.status == "live") & (_slots.c.seen_at >= unseen)
    if claimed_since is not None:
        live = live & (_slots.c.claimed_at >= claimed_since)
    return and_(
        _slots.c.study_id == study,
        _slots.c.world == "person",
        or_(_slots.c.status == "finished", live),
    )


def _people(study: int) -> Select[tuple[int]]:
    return select(_slots.c.id).where(_slots.c.study_id == study, _slots.c.world == "person")


def _long_frame(
    connection: Connection, query: Select[Any], kinds: dict[str, type[pl.DataType]]
) -> pl.DataFrame:
    """The rows of a query whose texts have one line each, fetched as one text per column.

    Tens of thousands of rows as objects of their own make Python look through all its memory.
    """
    rows = query.subquery()
    texts = [func.coalesce(cast(column, Text), "") for column in rows.c]
    (count, *columns) = connection.execute(
        select(func.count(), *(func.aggregate_strings(text, "\n") for text in texts))
    ).one()
    return pl.DataFrame(
        [
            pl.Series(name, text.split("\n") if count else [], pl.String).cast(kind, strict=False)
            for (name, kind), text in zip(kinds.items(), columns, strict=True)
        ]
    )


def _frame(
    connection: Connection, query: Select[Any], kinds: dict[str, type[pl.DataType]]
) -> pl.DataFrame:
    """The rows, column by column, which is several times faster than row by row."""
    rows = connection.execute(query).all()
    columns = zip(*rows, strict=True) if rows else ((),) * len(kinds)
    return pl.DataFrame(
        [
            pl.Series(name, column, dtype=kind)
            for (name, kind), column in zip(kinds.items(), columns, strict=True)
        ]
    )
