"""The lab's contents as frames, one row per thing, with names in place of numbers."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Connection, case, func, select, true

from empathylab.scales import Scale, scale_from_dict
from empathylab.store.frames import read_frame
from empathylab.store.lab import Lab
from empathylab.store.schema import (
    answers,
    failures,
    respondents,
    responses,
    runs,
    scales,
    situation_sets,
    situations,
)


def runs_frame(lab: Lab, only: Collection[int] | None = None) -> pl.DataFrame:
    """Runs with their settings, counts, own tokens and cost; the one used last comes last.

    `only` names the runs to read.
    """
    wanted = true() if only is None else answers.c.run_id.in_(only)
    totals = (
        select(
            answers.c.run_id,
            func.count().label("answered"),
            func.count(answers.c.reused_from).label("reused"),
            func.sum(_own(answers.c.prompt_tokens)).label("prompt_tokens"),
            func.sum(_own(answers.c.completion_tokens)).label("completion_tokens"),
            func.sum(_own(answers.c.cost)).label("cost"),
            func.sum(
                case((answers.c.reused_from.is_(None) & answers.c.cost.is_(None), 1), else_=0)
            ).label("unpriced"),
            func.sum(answers.c.attempts).label("attempts"),
            func.min(answers.c.answered_at).label("first_answer_at"),
            func.max(answers.c.answered_at).label("last_answer_at"),
            func.max(answers.c.reported_model).label("reported_model"),
        )
        .where(wanted)
        .group_by(answers.c.run_id)
        .subquery()
    )
    query = (
        select(
            runs.c.id.label("run"),
            runs.c.protocol,
            respondents.c.name.label("respondent"),
            runs.c.settings,
            runs.c.planned,
            runs.c.software,
            runs.c.started_at,
            runs.c.finished_at,
            runs.c.name,
            runs.c.pinned_at,
            *(column for column in totals.c if column.key != "run_id"),
        )
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .join(totals, totals.c.run_id == runs.c.id, isouter=True)
        .where(true() if only is None else runs.c.id.in_(only))
        .order_by(runs.c.last_used_at.nulls_first(), runs.c.id)
    )
    unknown = pl.col("unpriced") > 0
    return (
        lab.frame(query)
        .with_columns(cost=pl.when(~unknown).then(pl.col("cost").fill_null(0.0)))
        .drop("unpriced")
    )


def _own(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """What this run itself used: answers taken over from another cost nothing."""
    return case((answers.c.reused_from.is_(None), column), else_=0)


def outcomes_frame(lab: Lab) -> pl.DataFrame:
    """How many answers of each run had which outcome, for which reason."""
    query = (
        select(
            answers.c.run_id.label("run"),
            answers.c.outcome,
            answers.c.reason,
            func.count().label("count"),
        )
        .group_by(answers.c.run_id, answers.c.outcome, answers.c.reason)
        .order_by(answers.c.run_id, func.count().desc(), answers.c.outcome, answers.c.reason)
    )
    return lab.frame(query)


def usable_requests(lab: Lab, chosen: Collection[int]) -> tuple[int, int]:
    """How many requests these runs planned, and how many got a usable answer.

    A request that was asked again counts once.
    """
    asked = select(answers.c.run_id, answers.c.key, answers.c.outcome).where(
        answers.c.run_id.in_(list(chosen))
    )
    planned = select(func.sum(runs.c.planned)).where(runs.c.id.in_(list(chosen)))
    with lab.reading() as connection:
        rows = connection.execute(asked).all()
        missing = int(connection.execute(planned).scalar() or 0) - len(rows)
    first = [(row.run_id, row.key.partition("/retry-")[0], row.outcome) for row in rows]
    requests = {(run, key) for run, key, _ in first}
    usable = {(run, key) for run, key, outcome in first if outcome == "valid"}
    return len(requests) + max(0, missing), len(usable)


def failures_frame(lab: Lab) -> pl.DataFrame:
    """Requests that got no answer and still have none, by run and kind."""
    answered = (
        select(answers.c.id)
        .where(answers.c.run_id == failures.c.run_id, answers.c.key == failures.c.key)
        .exists()
    )
    query = (
        select(
            failures.c.run_id.label("run"),
            failures.c.kind,
            func.count(failures.c.key.distinct()).label("count"),
            func.max(failures.c.message).label("message"),
        )
        .where(~answered)
        .group_by(failures.c.run_id, failures.c.kind)
        .order_by(failures.c.run_id, failures.c.kind)
    )
    return lab.frame(query)


def scales_frame(lab: Lab) -> pl.DataFrame:
    """The scales of the lab, with their definitions as JSON."""
    with lab.reading() as connection:
        return scale_table(connection)


def scale_table(connection: Connection) -> pl.DataFrame:
    """The same scales, in an open transaction."""
    query = select(
        scales.c.id.label("scale_row"),
        scales.c.name.label("scale"),
        scales.c.version,
        scales.c.fingerprint,
        scales.c.definition,
    ).order_by(scales.c.id)
    return read_frame(connection, query)


def scales_by_row(definitions: pl.DataFrame) -> dict[int, Scale]:
    """The scales of such a frame by `scale_row`."""
    return {
        row["scale_row"]: scale_from_dict(
            json.loads(row["definition"]), where=f"scale {row['scale']} of the lab"
        )
        for row in definitions.iter_rows(named=True)
    }


def responses_frame(lab: Lab, *rules: ColumnElement[bool]) -> pl.DataFrame:
    """Responses with the situations they reply to; with rules, those that meet all of them."""
    query = (
        select(
            responses.c.id.label("response"),
            answers.c.run_id.label("run"),
            respondents.c.name.label("respondent"),
            respondents.c.kind,
            situation_sets.c.name.label("set"),
            situations.c.key.label("situation"),
            situations.c.emotion,
            situations.c.valence,
            situations.c.topic,
            situations.c.title,
            situations.c.text.label("situation_text"),
            situations.c.utterance,
            responses.c.sample,
            responses.c.prompt,
            responses.c.text,
            responses.c.outcome,
            responses.c.reason,
        )
        .join(respondents, respondents.c.id == responses.c.respondent_id)
        .join(situations, situations.c.id == responses.c.situation_id)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id)
        .join(answers, answers.c.id == responses.c.answer_id, isouter=True)
        .where(*rules)
        .order_by(situations.c.id, respondents.c.name, responses.c.sample, responses.c.id)
    )
    return lab.frame(query)


def situation_sets_frame(lab: Lab) -> pl.DataFrame:
    """The sets of the lab, with how many situations each holds."""
    query = (
        select(
            situation_sets.c.name.label("set"),
            situation_sets.c.version,
            situation_sets.c.title,
            situation_sets.c.licence,
            situation_sets.c.validated,
            situation_sets.c.fingerprint,
            func.count(situations.c.id).label("situations"),
            func.count(situations.c.emotion.distinct()).label("emotions"),
        )
        .join(situations, situations.c.situation_set_id == situation_sets.c.id, isouter=True)
        .group_by(situation_sets.c.id)
        .order_by(situation_sets.c.name, situation_sets.c.version)
    )
    return lab.frame(query)
