"""Runs, and every request and answer of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from empathylab.store.listings.pages import Listing, Row, first_row, read_page, values_of
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
    shown_responses,
    turns,
)
from empathylab.store.schema import arms as arms_table
from empathylab.store.schema import studies as studies_table

_SNIPPET = 200
_OPEN = ("open", "paused")


def list_runs(
    connection: Connection,
    *,
    protocol: str = "",
    respondent: str = "",
    offset: int = 0,
    limit: int = 25,
) -> Listing:
    """Runs with settings, progress and cost, the one used last first."""
    query = _runs()
    if protocol:
        query = query.where(runs.c.protocol == protocol)
    if respondent:
        query = query.where(respondents.c.name == respondent)
    listing = read_page(connection, query, offset=offset, limit=limit)
    totals = _totals(connection, [int(row["run"]) for row in listing.rows])
    return Listing([{**row, **totals[row["run"]]} for row in listing.rows], listing.total)


def run_choices(connection: Connection, *, limit: int = 500) -> list[Row]:
    """The runs used last, without what they hold, for a list to choose from."""
    return [dict(row) for row in connection.execute(_runs().limit(limit)).mappings()]


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
    found = first_row(connection, _runs().where(runs.c.id == run))
    return None if found is None else {**found, **_totals(connection, [run])[run]}


def _runs() -> Select[Any]:
    columns = ("protocol", "settings", "planned", "software", "started_at", "finished_at", "name")
    return (
        select(
            runs.c.id.label("run"),
            respondents.c.name.label("respondent"),
            *(runs.c[name] for name in columns),
            runs.c.pinned_at,
        )
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .order_by(runs.c.last_used_at.desc().nulls_last(), runs.c.id.desc())
    )


def _totals(connection: Connection, chosen: Collection[int]) -> dict[int, dict[str, Any]]:
    """What the runs have so far; answers taken over from another run cost nothing."""
    own = answers.c.reused_from.is_(None)

    def total(column: Any) -> Any:
        return func.coalesce(func.sum(case((own, column), else_=0)), 0)

    query = (
        select(
            answers.c.run_id,
            func.count().label("answered"),
            func.sum(case((answers.c.outcome == "valid", 1), else_=0)).label("usable"),
            func.count(answers.c.reused_from).label("reused"),
            total(answers.c.prompt_tokens).label("prompt_tokens"),
            total(answers.c.completion_tokens).label("completion_tokens"),
            total(answers.c.cost).label("cost"),
            func.sum(case((own & answers.c.cost.is_(None), 1), else_=0)).label("unpriced"),
            func.max(answers.c.answered_at).label("last_answer_at"),
        )
        .where(answers.c.run_id.in_(chosen))
        .group_by(answers.c.run_id)
    )
    empty = {"answered": 0, "usable": 0, "reused": 0, "prompt_tokens": 0, "completion_tokens": 0}
    found: dict[int, dict[str, Any]] = {
        run: {**empty, "cost": 0.0, "last_answer_at": None} for run in chosen
    }
    for row in connection.execute(query).mappings():
        totals = dict(row)
        run, unpriced = totals.pop("run_id"), totals.pop("unpriced")
        found[run] = totals | {"cost": None if unpriced else float(totals["cost"])}
    return found


def run_outcomes(connection: Connection, run: int) -> list[Row]:
    """How many answers of the run had which outcome, and why, the most frequent first."""
    query = (
        select(answers.c.outcome, answers.c.reason, func.count().label("count"))
        .where(answers.c.run_id == run)
        .group_by(answers.c.outcome, answers.c.reason)
        .order_by(func.count().desc(), answers.c.outcome, answers.c.reason)
        .limit(200)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def run_failures(connection: Connection, run: int) -> list[Row]:
    """Requests of the run that got no answer and still have none, by kind."""
    answered = select(answers.c.id).where(
        answers.c.run_id == failures.c.run_id, answers.c.key == failures.c.key
    )
    query = (
        select(
            failures.c.kind,
            func.count(failures.c.key.distinct()).label("count"),
            func.max(failures.c.message).label("message"),
        )
        .where(failures.c.run_id == run, ~answered.exists())
        .group_by(failures.c.kind)
        .order_by(failures.c.kind)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


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
    text = answers.c.text if whole else func.substr(answers.c.text, 1, _SNIPPET)
    columns = ("key", "outcome", "reason", "prompt_tokens", "completion_tokens", "cost", "latency")
    query = (
        select(
            answers.c.id.label("answer"),
            *(answers.c[name] for name in columns),
            answers.c.answered_at,
            text.label("text"),
        )
        .where(answers.c.run_id == run)
        .order_by(answers.c.key)
    )
    if outcome:
        query = query.where(answers.c.outcome == outcome)
    return read_page(connection, query, offset=offset, limit=limit)


def find_answer(connection: Connection, answer: int) -> Row | None:
    """One answer with its request, whole, and what was made of it."""
    query = (
        select(
            answers,
            runs.c.protocol,
            runs.c.settings,
            respondents.c.name.label("respondent"),
            responses.c.id.label("response"),
            responses.c.situation_id.label("situation"),
            administrations.c.id.label("administration"),
            turns.c.conversation_id.label("conversation"),
        )
        .join(runs, runs.c.id == answers.c.run_id)
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .join(responses, responses.c.answer_id == answers.c.id, isouter=True)
        .join(administrations, administrations.c.answer_id == answers.c.id, isouter=True)
        .join(turns, turns.c.answer_id == answers.c.id, isouter=True)
        .where(answers.c.id == answer)
    )
    found = first_row(connection, query)
    if found is None:
        return None
    return {**found, **_neighbours(connection, found["run_id"], found["key"])}


def _neighbours(connection: Connection, run: int, key: str) -> dict[str, int | None]:
    same = select(answers.c.id).where(answers.c.run_id == run)
    before = same.where(answers.c.key < key).order_by(answers.c.key.desc()).limit(1)
    after = same.where(answers.c.key > key).order_by(answers.c.key).limit(1)
    return {
        "before": connection.execute(before).scalar(),
        "after": connection.execute(after).scalar(),
    }


def judges_open_study(connection: Connection, run: int) -> bool:
    """Whether a judge rated replies in this run that an open study shows to its raters.

    What it said of them is a result of the study, so it is hidden until the study is closed.
    """
    shown = (
        select(shown_responses.c.response_id)
        .join(arms_table, arms_table.c.id == shown_responses.c.arm_id)
        .join(studies_table, studies_table.c.id == arms_table.c.study_id)
        .where(studies_table.c.status.in_(_OPEN))
    )
    for table, column in (
        (judgements, judgements.c.response_id),
        (preferences, preferences.c.first_response_id),
        (preferences, preferences.c.second_response_id),
    ):
        query = (
            select(table.c.id)
            .join(answers, answers.c.id == table.c.answer_id)
            .where(answers.c.run_id == run, column.in_(shown))
            .limit(1)
        )
        if connection.execute(query).first() is not None:
            return True
    studies = (
        select(judgements.c.id)
        .join(answers, answers.c.id == judgements.c.answer_id)
        .join(studies_table, studies_table.c.id == judgements.c.study_id)
        .where(answers.c.run_id == run, studies_table.c.status.in_(_OPEN))
        .limit(1)
    )
    return connection.execute(studies).first() is not None


def run_conversations(connection: Connection, run: int) -> int:
    """How many conversations the run holds."""
    query = select(func.count()).select_from(conversations).where(conversations.c.run_id == run)
    return int(connection.execute(query).scalar_one())
