"""The lab's contents as frames, one row per thing, with names in place of numbers."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Connection, Select, case, func, select, true

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
from empathylab.store.schema.joins import RESPONSES, SITUATION
from empathylab.store.studies.embargo import written_openly


def runs_frame(lab: Lab, only: Collection[int] | None = None) -> pl.DataFrame:
    """Runs with their settings, counts, own tokens and cost; the one used last comes last.

    `only` names the runs to read.
    """
    totals = (
        answer_totals(
            func.sum(answers.c.attempts).label("attempts"),
            func.min(answers.c.answered_at).label("first_answer_at"),
            func.max(answers.c.answered_at).label("last_answer_at"),
            func.max(answers.c.reported_model).label("reported_model"),
        )
        .where(true() if only is None else answers.c.run_id.in_(only))
        .subquery()
    )
    query = (
        select(
            runs.c.id.label("run"),
            runs.c.protocol,
            respondents.c.name.label("respondent"),
            *runs.c["settings", "planned", "software", "started_at", "finished_at"],
            *runs.c["name", "pinned_at"],
            *(column for column in totals.c if column.key != "run_id"),
        )
        .select_from(runs.join(respondents).outerjoin(totals, totals.c.run_id == runs.c.id))
        .where(true() if only is None else runs.c.id.in_(only))
        .order_by(runs.c.last_used_at.nulls_first(), runs.c.id)
    )
    unknown = pl.col("unpriced") > 0
    return (
        lab.frame(query)
        .with_columns(cost=pl.when(~unknown).then(pl.col("cost").fill_null(0.0)))
        .drop("unpriced")
    )


def answer_totals(*more: ColumnElement[Any]) -> Select[Any]:
    """By run, how many answers it has, and what it used; with further columns at the end.

    Answers taken over from another run cost nothing. `unpriced` counts those of unknown cost.
    """
    own = answers.c.reused_from.is_(None)
    used = answers.c["prompt_tokens", "completion_tokens", "cost"]
    return select(
        answers.c.run_id,
        func.count().label("answered"),
        func.count(answers.c.reused_from).label("reused"),
        *(func.sum(case((own, column), else_=0)).label(column.name) for column in used),
        func.sum(case((own & answers.c.cost.is_(None), 1), else_=0)).label("unpriced"),
        *more,
    ).group_by(answers.c.run_id)


def outcomes_frame(lab: Lab) -> pl.DataFrame:
    """How many answers of each run had which outcome, for which reason."""
    columns = answers.c["outcome", "reason"]
    query = (
        select(answers.c.run_id.label("run"), *columns, func.count().label("count"))
        .group_by(answers.c.run_id, *columns)
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
    return lab.frame(unanswered_requests(failures.c.run_id.label("run"), failures.c.kind))


def unanswered_requests(*groups: ColumnElement[Any]) -> Select[Any]:
    """How many requests got no answer and still have none, and why, by these columns."""
    answered = select(answers.c.id).where(
        answers.c.run_id == failures.c.run_id, answers.c.key == failures.c.key
    )
    return (
        select(
            *groups,
            func.count(failures.c.key.distinct()).label("count"),
            func.max(failures.c.message).label("message"),
        )
        .where(~answered.exists())
        .group_by(*groups)
        .order_by(*groups)
    )


def scales_frame(lab: Lab) -> pl.DataFrame:
    """The scales of the lab, with their definitions as JSON."""
    with lab.reading() as connection:
        return scale_table(connection)


def scale_table(connection: Connection) -> pl.DataFrame:
    """The same scales, in an open transaction."""
    query = select(
        scales.c.id.label("scale_row"),
        scales.c.name.label("scale"),
        *scales.c["version", "fingerprint", "definition"],
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
    """Responses with the situations they reply to; with rules, those that meet all of them.

    What participants of a study wrote is there once it is closed.
    """
    query = (
        select(
            responses.c.id.label("response"),
            answers.c.run_id.label("run"),
            respondents.c.name.label("respondent"),
            respondents.c.kind,
            *SITUATION,
            *situations.c["emotion", "valence", "topic", "title"],
            situations.c.text.label("situation_text"),
            situations.c.utterance,
            *responses.c["sample", "prompt", "text", "outcome", "reason"],
        )
        .select_from(RESPONSES.outerjoin(answers))
        .where(*rules)
        .order_by(situations.c.id, respondents.c.name, responses.c.sample, responses.c.id)
    )
    with lab.reading() as connection:
        shown = written_openly(connection)
    return lab.frame(query.where(shown))


def situation_sets_frame(lab: Lab) -> pl.DataFrame:
    """The sets of the lab, with how many situations each holds."""
    query = (
        select(
            situation_sets.c.name.label("set"),
            *situation_sets.c["version", "title", "licence", "validated", "fingerprint"],
            func.count(situations.c.id).label("situations"),
            func.count(situations.c.emotion.distinct()).label("emotions"),
        )
        .select_from(situation_sets.outerjoin(situations))
        .group_by(situation_sets.c.id)
        .order_by(situation_sets.c.name, situation_sets.c.version)
    )
    return lab.frame(query)
