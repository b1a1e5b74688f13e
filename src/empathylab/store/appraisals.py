"""Administrations and their answers as frames, all or of one respondent or scale."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection, Select, Text, cast, func, select

from empathylab.scales import Scale, scale_from_dict
from empathylab.store.answered import KIND, RESPONDENT, SUBJECT, with_who_answered
from empathylab.store.frames import read_frame
from empathylab.store.lab import Lab
from empathylab.store.schema import (
    administrations,
    answers,
    item_answers,
    runs,
    scales,
    situation_sets,
    situations,
)


@dataclass(frozen=True, slots=True)
class Appraisals:
    """What was answered, by whom and when."""

    administrations: pl.DataFrame
    """One row each, valid or not, with respondent, kind, scale, phase and situation by name."""
    answers: pl.DataFrame
    """One row per item answer of a valid administration."""
    scales: dict[int, Scale]
    """By `scale_row` of the administrations."""


def read_appraisals(
    lab: Lab, *, respondent: str | None = None, scale: str | None = None
) -> Appraisals:
    """All administrations with their answers, read as one consistent state."""

    def narrowed(query: Select[Any]) -> Select[Any]:
        if respondent is not None:
            query = query.where(RESPONDENT.in_([respondent]))
        return query if scale is None else query.where(scales.c.name == scale)

    with lab.reading() as connection:
        asked = read_frame(connection, narrowed(_ADMINISTRATIONS))
        given = _read_answers(connection, narrowed(_VALID))
        rows = asked["scale_row"].unique().to_list()
        query = select(scales.c.id, scales.c.definition).where(scales.c.id.in_(rows))
        definitions = connection.execute(query).all()
    return Appraisals(
        asked, given, {row.id: scale_from_dict(_table(row.definition)) for row in definitions}
    )


def _read_answers(connection: Connection, valid: Select[Any]) -> pl.DataFrame:
    """The answers; each administration's come as one text, much faster than row by row."""
    table = item_answers.c
    if connection.dialect.name == "postgresql":
        answer = cast(table.item, Text) + ":" + cast(table.value, Text)
        joined = func.string_agg(answer, ",")
    else:
        # Seventeen digits give every value back exactly; a cast would give fifteen.
        joined = func.group_concat(func.printf("%d:%!.17g", table.item, table.value), ",")
    query = (
        select(table.administration_id.label("administration"), joined.label("answers"))
        .where(table.administration_id.in_(valid))
        .group_by(table.administration_id)
    )
    rows = connection.execute(query).all()
    schema = {"administration": pl.Int64, "answers": pl.String}
    parts = pl.col("answers").str.split_exact(":", 1)
    return (
        pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
        .with_columns(pl.col("answers").str.split(","))
        .explode("answers")
        .select(
            "administration",
            item=parts.struct.field("field_0").cast(pl.Int64),
            value=parts.struct.field("field_1").cast(pl.Float64),
        )
    )


def _table(definition: Any) -> Any:
    return json.loads(definition) if isinstance(definition, str) else definition


_ADMINISTRATIONS = (
    with_who_answered(
        select(
            administrations.c.id.label("administration"),
            answers.c.run_id.label("run"),
            runs.c.last_used_at.label("run_used_at"),
            RESPONDENT.label("respondent"),
            KIND.label("kind"),
            administrations.c.scale_id.label("scale_row"),
            scales.c.name.label("scale"),
            administrations.c.phase,
            administrations.c.counterpart,
            situation_sets.c.name.label("set"),
            situations.c.key.label("situation"),
            situations.c.emotion,
            situations.c.factor,
            administrations.c.order_index,
            administrations.c.repeat,
            SUBJECT.label("subject"),
            administrations.c.outcome,
            administrations.c.reason,
        )
    )
    .join(scales, scales.c.id == administrations.c.scale_id)
    .join(situations, situations.c.id == administrations.c.situation_id, isouter=True)
    .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id, isouter=True)
    .join(answers, answers.c.id == administrations.c.answer_id, isouter=True)
    .join(runs, runs.c.id == answers.c.run_id, isouter=True)
    # Answers arrive in any order; tables and charts follow the situations' own.
    .order_by(
        administrations.c.respondent_id.nulls_last(),
        situations.c.id.nulls_first(),
        administrations.c.order_index,
        administrations.c.repeat,
        administrations.c.id,
    )
)

_VALID = (
    with_who_answered(select(administrations.c.id))
    .join(scales, scales.c.id == administrations.c.scale_id)
    .where(administrations.c.outcome == "valid")
)


def read_positions(lab: Lab) -> pl.DataFrame:
    """Where each item stood on the page: `administration`, `item` and `position`, from 1."""
    table = administrations.c
    query = select(table.id.label("administration"), cast(table.item_order, Text).label("order"))
    shown = lab.frame(query)
    # Few orders are shared by many administrations, so each is taken apart once.
    orders = shown["order"].unique().to_list()
    places = pl.DataFrame(
        [
            (order, item, position)
            for order in orders
            for position, item in enumerate(json.loads(order), start=1)
        ],
        schema={"order": pl.String, "item": pl.Int64, "position": pl.Int64},
        orient="row",
    )
    return shown.join(places, on="order").drop("order")
