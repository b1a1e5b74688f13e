"""What the lab holds as whole tables, for exports: names in place of numbers, in a fixed order.

People whom a closed study measured are the respondent `human`, as analyses read them. What else
raters said of themselves is not here: it leaves with its study.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Connection, ScalarSelect, Table, func, select

from empathylab.store.answered import KIND, RESPONDENT, SUBJECT, with_who_answered
from empathylab.store.frames import read_frame
from empathylab.store.schema import (
    administrations,
    answers,
    imports,
    item_answers,
    respondents,
    responses,
    runs,
    scales,
    situation_sets,
    situations,
)


def set_table(connection: Connection) -> pl.DataFrame:
    """The sets of situations."""
    sets = situation_sets.c
    query = select(
        sets.name.label("set"),
        sets.version.label("set_version"),
        sets.title,
        sets.language,
        sets.licence,
        sets.validated,
        sets.description,
        _counted(situations, situations.c.situation_set_id == sets.id).label("situations"),
    ).order_by(sets.id)
    return read_frame(connection, query)


def situation_table(connection: Connection) -> pl.DataFrame:
    """The situations of every set."""
    one = situations.c
    query = (
        select(
            situation_sets.c.name.label("set"),
            situation_sets.c.version.label("set_version"),
            one.key.label("situation"),
            one.text,
            one.emotion,
            one.valence,
            one.factor,
            one.topic,
            one.utterance,
            one.counterpart,
            one.title,
            one.context,
        )
        .join(situation_sets, situation_sets.c.id == one.situation_set_id)
        .order_by(one.id)
    )
    return read_frame(connection, query)


def respondent_table(connection: Connection) -> pl.DataFrame:
    """Who answered, with how much the lab holds of each."""
    one = respondents.c
    query = select(
        one.name.label("respondent"),
        one.kind,
        _counted(responses, responses.c.respondent_id == one.id).label("responses"),
    ).order_by(one.id)
    known = read_frame(connection, query)
    who: Any = (RESPONDENT.label("respondent"), KIND.label("kind"))
    answered = with_who_answered(select(*who))
    counted = read_frame(connection, answered).group_by("respondent", "kind").len("administrations")
    # People whom a study measured have no row of their own until somebody writes or is imported.
    both = known.join(
        counted, on=["respondent", "kind"], how="full", coalesce=True, maintain_order="left"
    )
    counts = pl.col("responses", "administrations").fill_null(0).cast(pl.Int64)
    return both.with_columns(counts)


def response_table(connection: Connection) -> pl.DataFrame:
    """Every response, usable or not, in the order in which analyses read them."""
    one = responses.c
    query = (
        select(
            situations.c.id.label("place"),
            one.id.label("response"),
            answers.c.run_id.label("run"),
            respondents.c.name.label("respondent"),
            respondents.c.kind,
            situation_sets.c.name.label("set"),
            situation_sets.c.version.label("set_version"),
            situations.c.key.label("situation"),
            one.sample,
            one.prompt,
            one.text,
            one.outcome,
            one.reason,
            answers.c.finish_reason,
            answers.c.reported_model,
            answers.c.prompt_tokens,
            answers.c.completion_tokens,
            answers.c.latency.label("seconds"),
            answers.c.answered_at.label("day"),
            imports.c.source.label("imported_from"),
        )
        .join(respondents, respondents.c.id == one.respondent_id)
        .join(situations, situations.c.id == one.situation_id)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id)
        .join(answers, answers.c.id == one.answer_id, isouter=True)
        .join(imports, imports.c.id == one.import_id, isouter=True)
    )
    frame = _with_days(read_frame(connection, query))
    # Databases sort names by rules of their own.
    return frame.sort("place", "respondent", "sample", "response").drop("place")


def administration_table(connection: Connection) -> pl.DataFrame:
    """Every answering of a scale by a respondent, usable or not, as analyses read them."""
    one = administrations.c
    query = (
        with_who_answered(
            select(
                one.id.label("administration"),
                answers.c.run_id.label("run"),
                runs.c.last_used_at.label("run_used_at"),
                RESPONDENT.label("respondent"),
                KIND.label("kind"),
                one.scale_id.label("scale_row"),
                scales.c.name.label("scale"),
                scales.c.version.label("scale_version"),
                one.phase,
                one.counterpart,
                one.mode,
                situation_sets.c.name.label("set"),
                situation_sets.c.version.label("set_version"),
                situations.c.key.label("situation"),
                situations.c.emotion,
                situations.c.factor,
                one.order_index.label("order"),
                one.repeat,
                SUBJECT.label("subject"),
                one.outcome,
                one.reason,
                answers.c.answered_at.label("day"),
                imports.c.source.label("imported_from"),
            )
        )
        .join(scales, scales.c.id == one.scale_id)
        .join(situations, situations.c.id == one.situation_id, isouter=True)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id, isouter=True)
        .join(answers, answers.c.id == one.answer_id, isouter=True)
        .join(runs, runs.c.id == answers.c.run_id, isouter=True)
        .join(imports, imports.c.id == one.import_id, isouter=True)
        .order_by(
            one.respondent_id.nulls_last(),
            situations.c.id.nulls_first(),
            one.order_index,
            one.repeat,
            one.id,
        )
    )
    return _with_days(read_frame(connection, query))


_MEASURED = with_who_answered(select(administrations.c.id))


def item_answer_table(connection: Connection) -> pl.DataFrame:
    """Every answer to an item by a respondent, with the place in which the item was shown."""
    given = (
        select(
            item_answers.c.administration_id.label("administration"),
            item_answers.c.item,
            item_answers.c.value,
            item_answers.c.entropy,
        )
        .join(administrations, administrations.c.id == item_answers.c.administration_id)
        .where(administrations.c.id.in_(_MEASURED))
        .order_by(item_answers.c.administration_id, item_answers.c.item)
    )
    frame = read_frame(connection, given)
    key = ["administration", "item"]
    placed = frame.join(_positions(connection), on=key, how="left", maintain_order="left")
    return placed.select("administration", "item", "position", "value", "entropy")


def _positions(connection: Connection) -> pl.DataFrame:
    """Few orders are shared by many administrations, so each is taken apart once."""
    one = administrations.c
    query = select(one.id.label("administration"), one.item_order.label("shown"))
    shown = read_frame(connection, query.where(one.id.in_(_MEASURED)))
    places = pl.DataFrame(
        [
            (order, item, position)
            for order in shown["shown"].unique().to_list()
            for position, item in enumerate(json.loads(order), start=1)
        ],
        schema={"shown": pl.String, "item": pl.Int64, "position": pl.Int64},
        orient="row",
    )
    return shown.join(places, on="shown").drop("shown")


def scale_definitions(connection: Connection) -> pl.DataFrame:
    """The scales of the lab by `scale_row`, with their definitions as JSON."""
    one = scales.c
    query = select(
        one.id.label("scale_row"),
        one.name.label("scale"),
        one.version.label("scale_version"),
        one.fingerprint,
        one.definition,
    ).order_by(one.id)
    return read_frame(connection, query)


def import_table(connection: Connection) -> pl.DataFrame:
    """Which files brought what."""
    one = imports.c
    query = select(one.kind, one.source.label("imported_from"), one.fingerprint).order_by(one.id)
    return read_frame(connection, query)


def _counted(table: Table, rule: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(rule).scalar_subquery()


def _with_days(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("day").dt.strftime("%Y-%m-%d"))
