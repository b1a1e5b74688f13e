"""Runs, and every request and answer of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from empathylab.store.listings.pages import (
    MOST_CHOICES,
    Listing,
    Row,
    equal_where_given,
    first_row,
    read_page,
    read_rows,
    values_of,
)
from empathylab.store.queries import answer_totals, unanswered_requests
from empathylab.store.schema import (
    administrations,
    answers,
    conversations,
    failures,
    judgements,
    preferences,
    respondents,
    responses,
    runs,
    turns,
)
from empathylab.store.schema.statements import count_rows

_SNIPPET = 200


def list_runs(
    connection: Connection,
    *,
    protocol: str = "",
    respondent: str = "",
    offset: int = 0,
    limit: int = 25,
) -> Listing:
    """Runs with settings, progress and cost, the one used last first."""
    chosen = equal_where_given({runs.c.protocol: protocol, respondents.c.name: respondent})
    query = _runs().where(*chosen)
    listing = read_page(connection, query, offset=offset, limit=limit)
    totals = _totals(connection, [int(row["run"]) for row in listing.rows])
    return Listing([{**row, **totals[row["run"]]} for row in listing.rows], listing.total)


def run_choices(connection: Connection) -> list[Row]:
    """The runs used last, without what they hold, for a list to choose from."""
    return read_rows(connection, _runs().limit(MOST_CHOICES))


def run_protocols(connection: Connection) -> list[str]:
    """The protocols of the lab's runs."""
    return values_of(connection, select(runs.c.protocol).distinct().order_by(runs.c.protocol))


def run_respondents(connection: Connection) -> list[str]:
    """The respondents that were asked."""
    asked = select(runs.c.respondent_id)
    query = select(respondents.c.name).where(respondents.c.id.in_(asked))
    return values_of(connection, query.order_by(respondents.c.name))


def find_run(connection: Connection, run: int) -> Row | None:
    """One run, as in the list."""
    row = first_row(connection, _runs().where(runs.c.id == run))
    return None if row is None else {**row, **_totals(connection, [run])[run]}


def _runs() -> Select[Any]:
    return (
        select(
            runs.c.id.label("run"),
            respondents.c.name.label("respondent"),
            *runs.c["protocol", "settings", "planned", "software", "started_at", "finished_at"],
            *runs.c["name", "pinned_at"],
        )
        .select_from(runs.join(respondents))
        .order_by(runs.c.last_used_at.desc().nulls_last(), runs.c.id.desc())
    )


def _totals(connection: Connection, chosen: Collection[int]) -> dict[int, dict[str, Any]]:
    """What the runs have so far."""
    usable = func.sum(case((answers.c.outcome == "valid", 1), else_=0)).label("usable")
    query = answer_totals(usable, func.max(answers.c.answered_at).label("last_answer_at"))
    names = ("answered", "usable", "reused", "prompt_tokens", "completion_tokens")
    empty = {**dict.fromkeys(names, 0), "cost": 0.0, "last_answer_at": None}
    by_run: dict[int, dict[str, Any]] = dict.fromkeys(chosen, empty)
    for row in connection.execute(query.where(answers.c.run_id.in_(chosen))).mappings():
        totals = dict(row)
        run, unpriced = totals.pop("run_id"), totals.pop("unpriced")
        by_run[run] = totals | {"cost": None if unpriced else float(totals["cost"] or 0)}
    return by_run


def run_outcomes(connection: Connection, run: int) -> list[Row]:
    """How many answers of the run had which outcome, and why, the most frequent first."""
    query = (
        select(answers.c.outcome, answers.c.reason, func.count().label("count"))
        .where(answers.c.run_id == run)
        .group_by(answers.c.outcome, answers.c.reason)
        .order_by(func.count().desc(), answers.c.outcome, answers.c.reason)
        .limit(200)
    )
    return read_rows(connection, query)


def run_failures(connection: Connection, run: int) -> list[Row]:
    """Requests of the run that got no answer and still have none, by kind."""
    query = unanswered_requests(failures.c.kind).where(failures.c.run_id == run)
    return read_rows(connection, query)


def list_answers(
    connection: Connection,
    run: int,
    *,
    outcome: str = "",
    offset: int = 0,
    limit: int = 50,
    whole: bool = False,
) -> Listing:
    """The run's answers by key, with the beginning of each text; with `whole`, all of it."""
    query = (
        select(
            answers.c.id.label("answer"),
            *answers.c["key", "outcome", "reason", "prompt_tokens", "completion_tokens", "cost"],
            *answers.c["latency", "answered_at"],
            _text(answers.c.text, whole).label("text"),
        )
        .where(answers.c.run_id == run, *equal_where_given({answers.c.outcome: outcome}))
        .order_by(answers.c.key)
    )
    return read_page(connection, query, offset=offset, limit=limit)


def list_shared_answers(
    connection: Connection,
    first: int,
    second: int,
    *,
    offset: int = 0,
    limit: int = 50,
    whole: bool = False,
) -> Listing:
    """Requests that both runs have an answer to, those with different outcomes first."""
    one, other = answers.alias("one"), answers.alias("other")
    sides = [
        column.label(f"{name}_{column.name}")
        for name, side in (("first", one), ("second", other))
        for column in (*side.c["id", "outcome"], _text(side.c.text, whole).label("text"))
    ]
    query = (
        select(one.c.key, *sides)
        .select_from(one.join(other, other.c.key == one.c.key))
        .where(one.c.run_id == first, other.c.run_id == second)
        .order_by(case((one.c.outcome == other.c.outcome, 1), else_=0), one.c.key)
    )
    return read_page(connection, query, offset=offset, limit=limit)


def _text(column: ColumnElement[str], whole: bool) -> ColumnElement[str]:
    return column if whole else func.substr(column, 1, _SNIPPET)


def find_answer(connection: Connection, answer: int) -> Row | None:
    """One answer with its request, whole, and what was made of it."""
    query = (
        select(
            answers,
            *runs.c["protocol", "settings"],
            respondents.c.name.label("respondent"),
            responses.c.id.label("response"),
            responses.c.situation_id.label("situation"),
            administrations.c.id.label("administration"),
            turns.c.conversation_id.label("conversation"),
            func.coalesce(judgements.c.response_id, preferences.c.first_response_id).label(
                "judged"
            ),
            preferences.c.second_response_id.label("second_judged"),
        )
        .select_from(answers.join(runs).join(respondents))
        .outerjoin(responses, responses.c.answer_id == answers.c.id)
        .outerjoin(administrations, administrations.c.answer_id == answers.c.id)
        .outerjoin(turns, turns.c.answer_id == answers.c.id)
        .outerjoin(judgements, judgements.c.answer_id == answers.c.id)
        .outerjoin(preferences, preferences.c.answer_id == answers.c.id)
        .where(answers.c.id == answer)
    )
    row = first_row(connection, query)
    return row and {**row, **_neighbours(connection, row["run_id"], row["key"])}


def _neighbours(connection: Connection, run: int, key: str) -> dict[str, int | None]:
    same = select(answers.c.id).where(answers.c.run_id == run)
    before = same.where(answers.c.key < key).order_by(answers.c.key.desc()).limit(1)
    after = same.where(answers.c.key > key).order_by(answers.c.key).limit(1)
    return {
        "before": connection.execute(before).scalar(),
        "after": connection.execute(after).scalar(),
    }


def run_conversations(connection: Connection, run: int) -> int:
    """How many conversations the run holds."""
    return count_rows(connection, conversations, conversations.c.run_id == run)
