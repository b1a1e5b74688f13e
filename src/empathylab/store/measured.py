"""When things were measured, and with which versions of scales and situations."""

from __future__ import annotations

import polars as pl
from sqlalchemy import func, select

from empathylab.store.lab import Lab
from empathylab.store.rated import ratings_frame
from empathylab.store.schema import (
    administrations,
    answers,
    raters,
    ratings,
    responses,
    runs,
    scales,
    situation_sets,
    situations,
)


def administration_moments(lab: Lab) -> pl.DataFrame:
    """By administration: when it was answered, and when its run began.

    An answer taken over from an earlier run keeps the moment at which it was given. What was
    imported has the moment at which it came into the lab, and no run.
    """
    table = administrations
    return lab.frame(
        select(
            table.c.id.label("administration"),
            func.coalesce(
                answers.c.answered_at, table.c.added_at, type_=table.c.added_at.type
            ).label("measured_at"),
            answers.c.answered_at,
            runs.c.started_at.label("run_started_at"),
            answers.c.reused_from.is_not(None).label("taken_over"),
            situations.c.text.label("situation_text"),
        )
        .join(answers, answers.c.id == table.c.answer_id, isouter=True)
        .join(runs, runs.c.id == answers.c.run_id, isouter=True)
        .join(situations, situations.c.id == table.c.situation_id, isouter=True)
    )


def response_moments(lab: Lab) -> pl.DataFrame:
    """By response: when it was written, as `administration_moments` counts it."""
    table = responses
    return lab.frame(
        select(
            table.c.id.label("response"),
            func.coalesce(
                answers.c.answered_at, table.c.added_at, type_=table.c.added_at.type
            ).label("measured_at"),
            answers.c.answered_at,
            runs.c.started_at.label("run_started_at"),
            answers.c.reused_from.is_not(None).label("taken_over"),
        )
        .join(answers, answers.c.id == table.c.answer_id, isouter=True)
        .join(runs, runs.c.id == answers.c.run_id, isouter=True)
    )


def dated_ratings(lab: Lab, study: str) -> pl.DataFrame:
    """The study's ratings by people, with `rated_at`; null where a file did not tell."""
    given = ratings_frame(lab, study).filter(rater_kind="person")
    dates = lab.frame(
        select(
            raters.c.name.label("rater"),
            ratings.c.response_id.label("response"),
            ratings.c.dimension,
            ratings.c.rated_at,
        )
        .join(raters, raters.c.id == ratings.c.rater_id)
        .where(ratings.c.response_id.in_(given["response"].unique().to_list()))
    )
    key = ["rater", "response", "dimension"]
    return given.join(dates.unique(key), on=key, how="left", maintain_order="left")


def scale_versions(lab: Lab) -> pl.DataFrame:
    """By `scale_row`: the scale's name, version and fingerprint."""
    return lab.frame(
        select(
            scales.c.id.label("scale_row"),
            scales.c.name.label("scale"),
            scales.c.version,
            scales.c.fingerprint,
        ).order_by(scales.c.id)
    )


def set_versions(lab: Lab) -> pl.DataFrame:
    """The lab's sets of situations: name, version and fingerprint."""
    return lab.frame(
        select(
            situation_sets.c.name.label("set"),
            situation_sets.c.version,
            situation_sets.c.fingerprint,
        ).order_by(situation_sets.c.name, situation_sets.c.version)
    )
