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
from empathylab.store.studies.records import real_people


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
        .select_from(judgements)
        .join(answers, answers.c.id == judgements.c.answer_id)
        .join(runs, runs.c.id == answers.c.run_id)
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .join(studies, studies.c.id == judgements.c.study_id, isouter=True)
        .group_by(respondents.c.name, judgements.c.study_id, studies.c.name, studies.c.status)
        .order_by(respondents.c.name, judgements.c.study_id)
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
        .join(raters, raters.c.id == ratings.c.rater_id)
        .where(raters.c.study_id == study, real_people())
    )
    return lab.frame(query)


def judged_values(lab: Lab, study: int) -> pl.DataFrame:
    """Judgements of the study without texts, as `chosen_judgements` takes them."""
    order, used = judgements.c.order_index.label("order"), runs.c.last_used_at.label("used_at")
    columns = ("dimension", "value", "expected", "setup", "repeat", "added_at")
    query = (
        select(
            respondents.c.name.label("judge"),
            judgements.c.study_id.label("study"),
            situation_sets.c.name.label("set"),
            situations.c.id.label("place"),
            judgements.c.response_id.label("response"),
            *(judgements.c[name] for name in columns),
            order,
            used,
        )
        .join(answers, answers.c.id == judgements.c.answer_id)
        .join(runs, runs.c.id == answers.c.run_id)
        .join(respondents, respondents.c.id == runs.c.respondent_id)
        .join(responses, responses.c.id == judgements.c.response_id)
        .join(situations, situations.c.id == responses.c.situation_id)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id)
        .where(judgements.c.study_id == study, runs.c.protocol != RUBRIC)
        .order_by(judgements.c.id)
    )
    return lab.frame(query)
