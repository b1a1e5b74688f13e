"""Whole tables of the lab for exports: names in place of numbers, in a fixed order.

Administrations are in `store.administrations`; what raters answered is exported with their study.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Connection, ScalarSelect, Table, func, select

from empathylab.store.administrations import KIND, RESPONDENT, with_respondents
from empathylab.store.frames import read_frame
from empathylab.store.schema import (
    answers,
    imports,
    respondents,
    responses,
    situation_sets,
    situations,
)
from empathylab.store.schema.joins import RESPONSES
from empathylab.store.studies.embargo import written_openly


def set_table(connection: Connection) -> pl.DataFrame:
    """The sets of situations."""
    sets = situation_sets.c
    query = select(
        sets.name.label("set"),
        sets.version.label("set_version"),
        *sets["title", "language", "licence", "validated", "description"],
        _counted(situations, situations.c.situation_set_id == sets.id).label("situations"),
    ).order_by(sets.id)
    return read_frame(connection, query)


def situation_table(connection: Connection) -> pl.DataFrame:
    """The situations of every set."""
    columns = situations.c
    query = (
        select(
            situation_sets.c.name.label("set"),
            situation_sets.c.version.label("set_version"),
            columns.key.label("situation"),
            *columns["text", "emotion", "valence", "factor", "topic", "utterance"],
            *columns["counterpart", "title", "context"],
        )
        .select_from(situations.join(situation_sets))
        .order_by(columns.id)
    )
    return read_frame(connection, query)


def respondent_table(connection: Connection) -> pl.DataFrame:
    """Who answered, and how much the lab has of each."""
    columns = respondents.c
    query = select(
        columns.name.label("respondent"),
        columns.kind,
        _counted(responses, responses.c.respondent_id == columns.id).label("responses"),
    ).order_by(columns.id)
    known = read_frame(connection, query)
    who: Any = (RESPONDENT.label("respondent"), KIND.label("kind"))
    answered = with_respondents(select(*who))
    counted = read_frame(connection, answered).group_by("respondent", "kind").len("administrations")
    # People whom a study measured have no row of their own until someone writes or is imported.
    both = known.join(
        counted, on=["respondent", "kind"], how="full", coalesce=True, maintain_order="left"
    )
    counts = pl.col("responses", "administrations").fill_null(0).cast(pl.Int64)
    return both.with_columns(counts)


def response_table(connection: Connection) -> pl.DataFrame:
    """Every response, usable or not, in the order in which analyses read them.

    What participants of a study wrote is there once it is closed.
    """
    columns = responses.c
    query = select(
        situations.c.id.label("place"),
        columns.id.label("response"),
        answers.c.run_id.label("run"),
        respondents.c.name.label("respondent"),
        respondents.c.kind,
        situation_sets.c.name.label("set"),
        situation_sets.c.version.label("set_version"),
        situations.c.key.label("situation"),
        *columns["sample", "prompt", "text", "outcome", "reason"],
        *answers.c["finish_reason", "reported_model", "prompt_tokens", "completion_tokens"],
        answers.c.latency.label("seconds"),
        answers.c.answered_at,
        imports.c.source.label("imported_from"),
    ).select_from(RESPONSES.outerjoin(answers).outerjoin(imports))
    frame = read_frame(connection, query.where(written_openly(connection)))
    # Databases sort names by rules of their own.
    return frame.sort("place", "respondent", "sample", "response").drop("place")


def import_table(connection: Connection) -> pl.DataFrame:
    """Which files brought what."""
    columns = imports.c
    query = select(
        columns.kind, columns.source.label("imported_from"), columns.fingerprint
    ).order_by(columns.id)
    return read_frame(connection, query)


def _counted(table: Table, rule: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(rule).scalar_subquery()
