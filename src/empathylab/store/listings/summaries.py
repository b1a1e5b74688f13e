"""How much each respondent replied and each study was rated, counted by the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, case, func, select

from empathylab.store.lab import Lab
from empathylab.store.listings.kept_counts import kept_counts
from empathylab.store.ratings import named_study
from empathylab.store.schema import (
    arms,
    raters,
    ratings,
    respondents,
    responses,
    situation_sets,
    situations,
    studies,
)
from empathylab.store.studies.records import real_people


def replies_by_set(lab: Lab) -> pl.DataFrame:
    """How many replies each respondent gave to each set, to how many situations."""
    return kept_counts(lab, "replies", lambda: _replies_by_set(lab))


def _replies_by_set(lab: Lab) -> pl.DataFrame:
    # By numbers, which an index holds; names come afterwards. Two versions of a set may hold the
    # same situation, which counts once.
    counted = (
        select(
            responses.c.respondent_id,
            situations.c.situation_set_id,
            func.count().label("responses"),
            func.sum(case((responses.c.outcome == "valid", 1), else_=0)).label("usable"),
            func.count(responses.c.situation_id.distinct()).label("situations"),
            func.min(responses.c.situation_id).label("first"),
        )
        .join(situations, situations.c.id == responses.c.situation_id)
        .group_by(responses.c.respondent_id, situations.c.situation_set_id)
        .subquery()
    )
    query = (
        select(
            respondents.c.name.label("respondent"),
            situation_sets.c.name.label("set"),
            *(counted.c[name] for name in ("responses", "usable", "situations", "first")),
        )
        .select_from(counted)
        .join(respondents, respondents.c.id == counted.c.respondent_id)
        .join(situation_sets, situation_sets.c.id == counted.c.situation_set_id)
        .order_by(counted.c.first, respondents.c.name)
    )
    found = lab.frame(query)
    groups = found.group_by("respondent", "set", maintain_order=True).agg(
        pl.col("responses", "usable", "situations").cast(pl.Int64).sum(), pl.len().alias("versions")
    )
    several = groups.filter(pl.col("versions") > 1)["set"].unique().to_list()
    if several:
        keys = (
            _replied(respondents.c.name.label("respondent"), situation_sets.c.name.label("set"))
            .add_columns(func.count(situations.c.key.distinct()).label("keys"))
            .where(situation_sets.c.name.in_(several))
            .group_by(respondents.c.name, situation_sets.c.name)
        )
        groups = groups.join(
            lab.frame(keys), on=["respondent", "set"], how="left", maintain_order="left"
        ).with_columns(situations=pl.coalesce("keys", "situations"))
    return groups.select("respondent", "set", "responses", "usable", "situations")


def _replied(*columns: ColumnElement[Any]) -> Any:
    return (
        select(*columns)
        .select_from(responses)
        .join(respondents, respondents.c.id == responses.c.respondent_id)
        .join(situations, situations.c.id == responses.c.situation_id)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id)
    )


def replied_situations(lab: Lab, *rules: ColumnElement[bool]) -> pl.DataFrame:
    """The situations with replies that meet the rules: one row each, `ids` in every version."""
    query = (
        select(situation_sets.c.name.label("set"), situations.c.key, situations.c.id)
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id)
        .where(
            select(responses.c.id)
            .join(respondents, respondents.c.id == responses.c.respondent_id)
            .where(responses.c.situation_id == situations.c.id, *rules)
            .exists()
        )
        .order_by(situations.c.id)
    )
    return lab.frame(query).group_by("set", "key", maintain_order=True).agg(ids="id")


@dataclass(frozen=True, slots=True)
class RatingCounts:
    """How much of a study there is."""

    arms: int
    raters: int
    ratings: int


def rating_counts(lab: Lab, study: str) -> RatingCounts:
    """The study's arms and raters with ratings, and the ratings."""
    # Counted rater by rater: PostgreSQL underestimates how many raters a study has, and would
    # count all ratings of the lab again for each.
    own = select(func.count()).where(ratings.c.rater_id == raters.c.id).scalar_subquery()
    by_rater = (
        select(own.label("count"))
        .select_from(raters)
        .join(studies, studies.c.id == raters.c.study_id)
        .where(named_study(study), real_people())
        .subquery()
    )
    counts = select(func.count(), func.sum(by_rater.c.count)).where(by_rater.c.count > 0)
    rated = (
        select(ratings.c.id)
        .join(raters, raters.c.id == ratings.c.rater_id)
        .where(ratings.c.arm_id == arms.c.id, real_people())
        .exists()
    )
    named = (
        select(arms.c.name)
        .join(studies, studies.c.id == arms.c.study_id)
        .where(named_study(study), rated)
    )
    unnamed = _rated(study, respondents.c.name).where(ratings.c.arm_id.is_(None)).distinct()
    with lab.reading() as connection:
        people, given = connection.execute(counts).one()
        names = {*connection.execute(named).scalars(), *connection.execute(unnamed).scalars()}
    return RatingCounts(len(names), int(people), int(given or 0))


def count_raters(lab: Lab, study: str) -> int:
    """How many raters the study has, with ratings or without."""
    query = (
        select(func.count())
        .select_from(raters)
        .join(studies, studies.c.id == raters.c.study_id)
        .where(named_study(study), real_people())
    )
    with lab.reading() as connection:
        return int(connection.execute(query).scalar_one())


def arms_rated(lab: Lab, study: str) -> pl.DataFrame:
    """By arm and dimension, how many raters and situations, in the order of the first rating."""
    arm = func.coalesce(arms.c.name, respondents.c.name)
    query = (
        _rated(
            study,
            arm.label("arm"),
            ratings.c.dimension,
            func.count(ratings.c.rater_id.distinct()).label("raters"),
            func.count(situations.c.key.distinct()).label("situations"),
        )
        .group_by(arm, ratings.c.dimension)
        .order_by(func.min(ratings.c.id))
    )
    return kept_counts(lab, f"arms of {study}", lambda: lab.frame(query))


def labels_given(lab: Lab, study: str) -> pl.DataFrame:
    """By arm, dimension and label, how many ratings, in the order of the first one."""
    arm = func.coalesce(arms.c.name, respondents.c.name)
    query = (
        _rated(
            study,
            arm.label("arm"),
            ratings.c.dimension,
            ratings.c.label,
            func.count().label("count"),
        )
        .where(ratings.c.label.is_not(None))
        .group_by(arm, ratings.c.dimension, ratings.c.label)
        .order_by(func.min(ratings.c.id))
    )
    return kept_counts(lab, f"labels of {study}", lambda: lab.frame(query))


def rated_situations(lab: Lab, study: str) -> pl.DataFrame:
    """The sets and situations that the study's raters saw, in the order of the first rating."""
    query = (
        _rated(study, situation_sets.c.name.label("set"), situations.c.key.label("situation"))
        .join(situation_sets, situation_sets.c.id == situations.c.situation_set_id)
        .group_by(situation_sets.c.name, situations.c.key)
        .order_by(func.min(ratings.c.id))
    )
    return kept_counts(lab, f"situations of {study}", lambda: lab.frame(query))


def _rated(study: str, *columns: ColumnElement[Any]) -> Any:
    return (
        select(*columns)
        .select_from(ratings)
        .join(raters, raters.c.id == ratings.c.rater_id)
        .join(studies, studies.c.id == raters.c.study_id)
        .join(responses, responses.c.id == ratings.c.response_id)
        .join(respondents, respondents.c.id == responses.c.respondent_id)
        .join(situations, situations.c.id == responses.c.situation_id)
        .join(arms, arms.c.id == ratings.c.arm_id, isouter=True)
        .where(named_study(study), real_people())
    )
