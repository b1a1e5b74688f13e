"""Judges by study, with how much they have judged."""

from __future__ import annotations

import polars as pl
from sqlalchemy import Connection, case, func, select

from empathylab.store.judgements import RUBRIC
from empathylab.store.lab import Lab
from empathylab.store.listings.pages import Listing, read_page
from empathylab.store.schema import (
    answers,
    judgements,
    raters,
    ratings,
    respondents,
    responses,
    runs,
    situation_sets,
    situations,
    studies,
)
from empathylab.store.studies.embargo import openly
from empathylab.store.studies.records import real_people

_JUDGED = judgements.join(answers).join(runs).join(respondents)


def list_judges(connection: Connection, *, offset: int = 0, limit: int = 50) -> Listing:
    """One row per judge and study; those without a study judged the replies to a set."""
    query = (
        select(
            respondents.c.name.label("judge"),
            judgements.c.study_id.label("study"),
            studies.c.name.label("study_name"),
            studies.c.status,
            func.count().label("judgements"),
            func.sum(case((judgements.c.outcome == "valid", 0), else_=1)).label("unusable"),
        )
        .select_from(_JUDGED.outerjoin(studies))
        .group_by(respondents.c.name, judgements.c.study_id, studies.c.name, studies.c.status)
        .order_by(respondents.c.name, judgements.c.study_id)
    )
    return read_page(connection, query, offset=offset, limit=limit)


def list_judgements(
    connection: Connection, response: int, *, offset: int = 0, limit: int = 50
) -> Listing:
    """Judges' ratings of one response, as far as no open study hides them."""
    query = (
        select(
            respondents.c.name.label("judge"),
            studies.c.name.label("study_name"),
            *judgements.c["dimension", "label", "said", "outcome", "reason", "repeat"],
            func.coalesce(judgements.c.expected, judgements.c.value).label("value"),
            judgements.c.answer_id.label("answer"),
        )
        .select_from(_JUDGED.outerjoin(studies))
        .where(judgements.c.response_id == response, openly(judgements))
        .order_by(judgements.c.id)
    )
    return read_page(connection, query, offset=offset, limit=limit)


def rated_values(lab: Lab, study: int) -> pl.DataFrame:
    """The study's ratings without texts: response, dimension, rater, rater_kind, rating."""
    query = (
        select(
            ratings.c.response_id.label("response"),
            ratings.c.dimension,
            raters.c.name.label("rater"),
            raters.c.kind.label("rater_kind"),
            ratings.c.value.label("rating"),
        )
        .select_from(ratings.join(raters))
        .where(raters.c.study_id == study, real_people())
    )
    return lab.frame(query)


def judged_values(lab: Lab, study: int) -> pl.DataFrame:
    """Judgements of the study without texts, as `chosen_judgements` takes them."""
    order, used = judgements.c.order_index.label("order"), runs.c.last_used_at.label("used_at")
    query = (
        select(
            respondents.c.name.label("judge"),
            judgements.c.study_id.label("study"),
            situation_sets.c.name.label("set"),
            situations.c.id.label("place"),
            judgements.c.response_id.label("response"),
            *judgements.c["dimension", "value", "expected", "setup", "repeat", "added_at"],
            order,
            used,
        )
        .select_from(_JUDGED)
        .join(responses, responses.c.id == judgements.c.response_id)
        .join(situations)
        .join(situation_sets)
        .where(judgements.c.study_id == study, runs.c.protocol != RUBRIC, openly(judgements, study))
        .order_by(judgements.c.id)
    )
    return lab.frame(query)
