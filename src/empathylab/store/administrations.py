"""Administrations and their answers as frames, with the respondent who answered them.

A participant who imagines a situation in a study and answers a scale before and after is one of the
people with whom models are compared, so every analysis, report and export reads such participants
as the respondent `human`. What raters of other studies say about themselves describes the raters,
and stays with their study.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Text,
    and_,
    cast,
    func,
    literal_column,
    or_,
    select,
)

from empathylab.scales import Scale, scale_from_dict
from empathylab.store.frames import read_frame
from empathylab.store.lab import Lab
from empathylab.store.schema import (
    administrations,
    answers,
    imports,
    item_answers,
    raters,
    respondents,
    runs,
    scales,
    situation_sets,
    situations,
    studies,
)
from empathylab.store.schema.joins import SITUATION
from empathylab.store.studies.records import real_people
from empathylab.store.studies.results import HUMAN

# Written out, so that queries can group by it: PostgreSQL takes two parameters as different.
_HUMAN: ColumnElement[str] = literal_column(f"'{HUMAN}'", Text)
RESPONDENT: ColumnElement[str] = func.coalesce(respondents.c.name, _HUMAN)
"""The respondent's name."""
KIND: ColumnElement[str] = func.coalesce(respondents.c.kind, _HUMAN)
"""A model, or people."""
# Pseudonyms are drawn for one study, so the study is part of the person's name.
_PERSON = studies.c.name + "@" + cast(studies.c.version, Text) + " " + raters.c.name
SUBJECT: ColumnElement[str] = func.coalesce(administrations.c.subject, _PERSON)
"""The person, where people answered; pairs their administrations."""


_ANSWERED_BY = administrations.outerjoin(respondents).outerjoin(raters).outerjoin(studies)
ADMINISTRATIONS = (
    _ANSWERED_BY.join(scales).outerjoin(situations).outerjoin(situation_sets).outerjoin(answers)
)
"""Administrations with who answered, the scale, the situation and the model's answer."""


@dataclass(frozen=True, slots=True)
class Appraisals:
    """Administrations with their answers and scales."""

    administrations: pl.DataFrame
    """One row each, valid or not, with respondent, kind, scale, phase and situation by name."""
    answers: pl.DataFrame
    """One row per item answer of a valid administration."""
    scales: dict[int, Scale]
    """By `scale_row` of the administrations."""


def with_respondents(query: Select[Any], tables: FromClause = _ANSWERED_BY) -> Select[Any]:
    """The query of administrations, narrowed to those of respondents.

    It may select `RESPONDENT`, `KIND` and `SUBJECT`. Simulated raters, test participants, excluded
    participants and the people of a study that is not closed are left out.
    """
    return query.select_from(tables).where(
        or_(administrations.c.respondent_id.is_not(None), _measured())
    )


def _measured() -> ColumnElement[bool]:
    """The rule for participants of a closed study that asked before and after a situation."""
    evoked = administrations.alias("evoked")
    imagining = raters.alias("imagining")
    measuring = (
        select(imagining.c.study_id)
        .join(evoked, evoked.c.rater_id == imagining.c.id)
        .where(evoked.c.phase == "evoked")
    )
    return and_(
        studies.c.status == "closed",
        raters.c.kind == "person",
        real_people(),
        studies.c.id.in_(measuring),
    )


def measured_participants(lab: Lab) -> pl.DataFrame:
    """The participants of closed studies with scales: `subject`, `study`, `version` and `rater`."""
    query = with_respondents(
        select(
            SUBJECT.label("subject"),
            studies.c.name.label("study"),
            studies.c.version,
            raters.c.name.label("rater"),
        ).distinct()
    ).where(administrations.c.rater_id.is_not(None))
    return lab.frame(query.order_by("study", "version", "subject"))


def read_appraisals(lab: Lab, *, of_runs: Collection[int] | None = None) -> Appraisals:
    """All administrations with their answers, read as one consistent state."""

    def narrowed(query: Select[Any]) -> Select[Any]:
        if of_runs is None:
            return query
        own = select(answers.c.id).where(answers.c.run_id.in_(list(of_runs)))
        return query.where(administrations.c.answer_id.in_(own))

    with lab.reading() as connection:
        asked = read_frame(connection, narrowed(_administrations()))
        given = _read_answers(connection, narrowed(_VALID))
        rows = asked["scale_row"].unique().to_list()
        query = select(scales.c.id, scales.c.definition).where(scales.c.id.in_(rows))
        definitions = connection.execute(query).all()
    return Appraisals(
        asked, given, {row.id: scale_from_dict(row.definition) for row in definitions}
    )


def administration_table(connection: Connection) -> pl.DataFrame:
    """The same administrations, with where they came from."""
    query = _administrations(
        scales.c.version.label("scale_version"),
        administrations.c.mode,
        situation_sets.c.version.label("set_version"),
        answers.c.answered_at,
        imports.c.source.label("imported_from"),
    ).join(imports, imports.c.id == administrations.c.import_id, isouter=True)
    return read_frame(connection, query)


def item_answer_table(connection: Connection) -> pl.DataFrame:
    """Every item answer of those administrations, with the item's position on the page."""
    query = (
        select(
            item_answers.c.administration_id.label("administration"),
            *item_answers.c["item", "value", "entropy"],
        )
        .where(item_answers.c.administration_id.in_(_OF_RESPONDENTS))
        .order_by(item_answers.c.administration_id, item_answers.c.item)
    )
    key = ["administration", "item"]
    return read_frame(connection, query).join(
        item_positions(connection), on=key, how="left", maintain_order="left"
    )


def item_positions(connection: Connection) -> pl.DataFrame:
    """Each item's position on the page: `administration`, `item` and `position`, from 1."""
    table = administrations.c
    query = select(table.id.label("administration"), cast(table.item_order, Text).label("order"))
    wanted = query.where(table.id.in_(_OF_RESPONDENTS)).order_by(table.id)
    shown = read_frame(connection, wanted)
    # Few orders are shared by many administrations, so each is parsed once.
    positions = pl.DataFrame(
        [
            (order, item, position)
            for order in shown["order"].unique(maintain_order=True).to_list()
            for position, item in enumerate(json.loads(order), start=1)
        ],
        schema={"order": pl.String, "item": pl.Int64, "position": pl.Int64},
        orient="row",
    )
    return shown.join(positions, on="order", maintain_order="left_right").drop("order")


def read_positions(lab: Lab) -> pl.DataFrame:
    """The lab's `item_positions`."""
    with lab.reading() as connection:
        return item_positions(connection)


def _administrations(*more: ColumnElement[Any]) -> Select[Any]:
    """Respondents' administrations by name, with further columns at the end."""
    return (
        with_respondents(
            select(
                administrations.c.id.label("administration"),
                answers.c.run_id.label("run"),
                runs.c.last_used_at.label("run_used_at"),
                runs.c.pinned_at.label("run_pinned_at"),
                administrations.c.mode.label("run_mode"),
                RESPONDENT.label("respondent"),
                KIND.label("kind"),
                administrations.c.scale_id.label("scale_row"),
                scales.c.name.label("scale"),
                *administrations.c["phase", "counterpart"],
                *SITUATION,
                *situations.c["emotion", "factor"],
                *administrations.c["order_index", "repeat"],
                SUBJECT.label("subject"),
                *administrations.c["outcome", "reason"],
                *more,
            ),
            ADMINISTRATIONS.outerjoin(runs, runs.c.id == answers.c.run_id),
        )
        # Answers arrive in any order; tables and charts follow the situations' own.
        .order_by(
            administrations.c.respondent_id.nulls_last(),
            situations.c.id.nulls_first(),
            administrations.c.order_index,
            administrations.c.repeat,
            administrations.c.id,
        )
    )


_OF_RESPONDENTS = with_respondents(select(administrations.c.id))
_VALID = _OF_RESPONDENTS.join(scales, scales.c.id == administrations.c.scale_id).where(
    administrations.c.outcome == "valid"
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
        .order_by(table.administration_id)
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
