"""How much each respondent replied and each study was rated, counted by the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, case, func, select, true

from empathylab.store.lab import Lab
from empathylab.store.listings.stored_counts import stored_counts
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
from empathylab.store.schema.joins import RATED, RATINGS, RESPONSES, SITUATION
from empathylab.store.studies.embargo import NOT_CLOSED
from empathylab.store.studies.records import real_people

_ARM = func.coalesce(arms.c.name, respondents.c.name).label("arm")


def replies_by_set(lab: Lab) -> pl.DataFrame:
    """How many replies each respondent gave to each set, to how many situations."""
    return stored_counts(lab, "replies", lambda: _replies_by_set(lab))


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
        .select_from(responses.join(situations))
        .group_by(responses.c.respondent_id, situations.c.situation_set_id)
        .subquery()
    )
    query = (
        select(
            respondents.c.name.label("respondent"),
            situation_sets.c.name.label("set"),
            *counted.c["responses", "usable", "situations", "first"],
        )
        .select_from(counted)
        .join(respondents, respondents.c.id == counted.c.respondent_id)
        .join(situation_sets, situation_sets.c.id == counted.c.situation_set_id)
        .order_by(counted.c.first, respondents.c.name)
    )
    groups = (
        lab.frame(query)
        .group_by("respondent", "set", maintain_order=True)
        .agg(
            pl.col("responses", "usable", "situations").cast(pl.Int64).sum(),
            pl.len().alias("versions"),
        )
    )
    with_versions = groups.filter(pl.col("versions") > 1)["set"].unique().to_list()
    if with_versions:
        keys = (
            select(
                respondents.c.name.label("respondent"),
                situation_sets.c.name.label("set"),
                func.count(situations.c.key.distinct()).label("keys"),
            )
            .select_from(RESPONSES)
            .where(situation_sets.c.name.in_(with_versions))
            .group_by(respondents.c.name, situation_sets.c.name)
        )
        groups = groups.join(
            lab.frame(keys), on=["respondent", "set"], how="left", maintain_order="left"
        ).with_columns(situations=pl.coalesce("keys", "situations"))
    return groups.select("respondent", "set", "responses", "usable", "situations")


def replied_situations(lab: Lab, *rules: ColumnElement[bool]) -> pl.DataFrame:
    """The situations with replies that meet the rules: one row each, `ids` in every version."""
    query = (
        select(situation_sets.c.name.label("set"), *situations.c["key", "id"])
        .select_from(situations.join(situation_sets))
        .where(
            select(responses.c.id)
            .select_from(responses.join(respondents))
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
    """The study's arms and raters with ratings, and the ratings; of an open study, all arms."""
    # Counted rater by rater: PostgreSQL underestimates how many raters a study has, and would
    # count all ratings of the lab again for each.
    own = select(func.count()).where(ratings.c.rater_id == raters.c.id).scalar_subquery()
    by_rater = (
        select(own.label("count"))
        .select_from(raters.join(studies))
        .where(named_study(study), real_people())
        .subquery()
    )
    counts = select(func.count(), func.sum(by_rater.c.count)).where(by_rater.c.count > 0)
    rated = (
        select(ratings.c.id)
        .select_from(ratings.join(raters))
        .where(ratings.c.arm_id == arms.c.id, real_people())
        .exists()
    )
    named = (
        select(arms.c.name)
        .select_from(arms.join(studies))
        .where(named_study(study), rated | NOT_CLOSED)
    )
    unnamed = (
        select(respondents.c.name)
        .select_from(RATED)
        .where(named_study(study), real_people(), ratings.c.arm_id.is_(None))
        .distinct()
    )
    with lab.reading() as connection:
        people, given = connection.execute(counts).one()
        names = {*connection.execute(named).scalars(), *connection.execute(unnamed).scalars()}
    return RatingCounts(len(names), int(people), int(given or 0))


def count_raters(lab: Lab, study: str) -> int:
    """How many raters the study has, with ratings or without."""
    query = (
        select(func.count())
        .select_from(raters.join(studies))
        .where(named_study(study), real_people())
    )
    with lab.reading() as connection:
        return int(connection.execute(query).scalar_one())


def study_arms(lab: Lab, study: str) -> list[str]:
    """The names of the study's arms in the order of its file, with ratings or without."""
    query = select(arms.c.name).select_from(arms.join(studies)).where(named_study(study))
    with lab.reading() as connection:
        return list(connection.execute(query.order_by(arms.c.id)).scalars())


def arms_rated(lab: Lab, study: str) -> pl.DataFrame:
    """By arm and dimension, how many raters and situations, in the order of the first rating."""
    return _count_rated(
        lab,
        study,
        "arms",
        [_ARM, ratings.c.dimension],
        func.count(ratings.c.rater_id.distinct()).label("raters"),
        func.count(situations.c.key.distinct()).label("situations"),
    )


def labels_given(lab: Lab, study: str) -> pl.DataFrame:
    """By arm, dimension and label, how many ratings, in the order of the first one."""
    groups = [_ARM, *ratings.c["dimension", "label"]]
    count = func.count().label("count")
    return _count_rated(lab, study, "labels", groups, count, rule=ratings.c.label.is_not(None))


def rated_situations(lab: Lab, study: str) -> pl.DataFrame:
    """The sets and situations that the study's raters saw, in the order of the first rating."""
    return _count_rated(lab, study, "situations", SITUATION)


def _count_rated(
    lab: Lab,
    study: str,
    name: str,
    groups: Sequence[ColumnElement[Any]],
    *counts: ColumnElement[Any],
    rule: ColumnElement[bool] | None = None,
) -> pl.DataFrame:
    """The counts of the study's ratings by these columns, in the order of the first rating."""
    query = (
        select(*groups, *counts)
        .select_from(RATINGS)
        .where(named_study(study), real_people(), true() if rule is None else rule)
        .group_by(*groups)
        .order_by(func.min(ratings.c.id))
    )
    return stored_counts(lab, f"{name} of {study}", lambda: lab.frame(query))
