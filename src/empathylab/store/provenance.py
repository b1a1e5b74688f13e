"""When things were measured, and with which versions of scales and situations."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Select, Table, func, select, union

from empathylab.store.lab import Lab
from empathylab.store.queries import scales_frame, situation_sets_frame
from empathylab.store.ratings import ratings_frame
from empathylab.store.schema import (
    administrations,
    answers,
    imports,
    raters,
    ratings,
    responses,
    runs,
    situation_sets,
    situations,
)


def administration_times(lab: Lab) -> pl.DataFrame:
    """By administration: when it was answered, and when its run began.

    An answer reused from an earlier run keeps the time at which it was given. An imported one has
    the time of its import, and no run.
    """
    text = situations.c.text.label("situation_text")
    query = _moments("administration", administrations, text)
    rule = situations.c.id == administrations.c.situation_id
    return lab.frame(query.join(situations, rule, isouter=True))


def response_times(lab: Lab) -> pl.DataFrame:
    """By response: when it was written, as `administration_times` counts it."""
    return lab.frame(_moments("response", responses))


def _moments(name: str, table: Table, *more: ColumnElement[Any]) -> Select[Any]:
    added = table.c.added_at
    return select(
        table.c.id.label(name),
        func.coalesce(answers.c.answered_at, added, type_=added.type).label("measured_at"),
        answers.c.answered_at,
        runs.c.started_at.label("run_started_at"),
        answers.c.reused_from.is_not(None).label("taken_over"),
        *more,
    ).select_from(table.outerjoin(answers).outerjoin(runs))


def dated_ratings(lab: Lab, study: str) -> pl.DataFrame:
    """The study's ratings by people, with `rated_at`, `prompt` and `situation_text`.

    `rated_at` and `prompt`, the template of the reply, are null where they are not recorded.
    """
    given = ratings_frame(lab, study).filter(rater_kind="person")
    dates = lab.frame(
        select(
            raters.c.name.label("rater"),
            ratings.c.response_id.label("response"),
            *ratings.c["dimension", "rated_at"],
            responses.c.prompt,
            situations.c.text.label("situation_text"),
        )
        .select_from(ratings.join(raters).join(responses).join(situations))
        .where(ratings.c.response_id.in_(given["response"].unique().to_list()))
    )
    key = ["rater", "response", "dimension"]
    return given.join(dates.unique(key), on=key, how="left", maintain_order="left")


def scale_versions(lab: Lab) -> pl.DataFrame:
    """By `scale_row`: the scale's name, version and fingerprint."""
    return scales_frame(lab).drop("definition")


def set_versions(lab: Lab) -> pl.DataFrame:
    """The lab's sets of situations: name, version and fingerprint."""
    return situation_sets_frame(lab).select("set", "version", "fingerprint")


def used_situation_sets(lab: Lab) -> pl.DataFrame:
    """The sets with replies or answers to scales: set, version, licence, situations used."""
    replied = select(responses.c.situation_id)
    evoked = select(administrations.c.situation_id).where(
        administrations.c.situation_id.is_not(None)
    )
    used = union(replied, evoked).subquery()
    query = (
        select(
            situation_sets.c.name.label("set"),
            *situation_sets.c["version", "licence"],
            func.count().label("situations"),
        )
        .select_from(situation_sets.join(situations))
        .join(used, used.c.situation_id == situations.c.id)
        .group_by(situation_sets.c.id)
        .order_by(situation_sets.c.id)
    )
    return lab.frame(query)


def imported_files(lab: Lab) -> pl.DataFrame:
    """The files that were imported: kind, source, when, and a summary as JSON."""
    columns = imports.c["kind", "source", "added_at", "summary"]
    return lab.frame(select(*columns).order_by(imports.c.id))
