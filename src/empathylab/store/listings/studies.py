"""Studies, and the raters and ratings of closed ones."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from empathylab.store.listings.pages import Listing, Row, equal_where_given, first_row, read_page
from empathylab.store.ratings import comparisons_of
from empathylab.store.schema import (
    arms,
    raters,
    ratings,
    respondents,
    responses,
    situations,
    studies,
)
from empathylab.store.schema.joins import RATINGS, SITUATION
from empathylab.store.studies.records import real_people

_SIDES = ("first", "second")
# The rule stands in the queries, too: a study may be opened again while its pages are read.
_CLOSED: ColumnElement[bool] = studies.c.status == "closed"


def list_studies(connection: Connection, *, offset: int = 0, limit: int = 50) -> Listing:
    """Studies with their status, the newest first."""
    query = _studies().order_by(studies.c.id.desc())
    return read_page(connection, query, offset=offset, limit=limit)


def find_study(connection: Connection, study: int) -> Row | None:
    """One study, with what it asked."""
    query = _studies(studies.c.protocol).where(studies.c.id == study)
    return first_row(connection, query)


def _studies(*more: Any) -> Select[Any]:
    columns = studies.c["name", "version", "title", "status", "launched_at", "closed_at"]
    return select(studies.c.id.label("study"), *columns, *more)


def list_raters(connection: Connection, study: int, *, offset: int = 0, limit: int = 50) -> Listing:
    """The raters of a closed study, with how much they rated and compared."""
    query = (
        select(
            raters.c.id.label("rater_id"),
            raters.c.name.label("rater"),
            *raters.c["kind", "seconds", "details"],
        )
        .select_from(raters.join(studies))
        .where(raters.c.study_id == study, _CLOSED, real_people())
        .order_by(raters.c.id)
    )
    listing = read_page(connection, query, offset=offset, limit=limit)
    rated = _rated(connection, [row["rater_id"] for row in listing.rows])
    none = {"ratings": 0, "mean": None, "arm": None}
    rows = [
        {
            **row,
            **rated.get(row["rater_id"], none),
            "comparisons": len(comparisons_of(row["details"])),
        }
        for row in listing.rows
    ]
    return Listing(rows, listing.total)


def list_comparisons(
    connection: Connection,
    study: int,
    *,
    rater: int | None = None,
    offset: int = 0,
    limit: int = 50,
) -> Listing:
    """Which of two replies the raters of a closed study chose, a row per comparison."""
    query = (
        select(raters.c.id, raters.c.name, raters.c.details)
        .select_from(raters.join(studies))
        .where(raters.c.study_id == study, _CLOSED, real_people())
        .where(*equal_where_given({raters.c.id: rater}))
        .order_by(raters.c.id)
    )
    rows = [
        {
            "rater_id": number,
            "rater": name,
            "situation": answer["situation"],
            "first": answer["arms"][0],
            "second": answer["arms"][1],
            "chosen": dict(zip(_SIDES, answer["arms"], strict=True)).get(
                answer["value"], "neither"
            ),
        }
        for number, name, details in connection.execute(query)
        for answer in comparisons_of(details)
    ]
    return Listing(rows[offset : offset + limit], len(rows))


def _rated(connection: Connection, chosen: list[int]) -> dict[int, dict[str, Any]]:
    query = (
        select(
            ratings.c.rater_id,
            func.count().label("ratings"),
            func.avg(ratings.c.value).label("mean"),
            func.min(arms.c.name).label("arm"),
            func.count(arms.c.name.distinct()).label("arms"),
        )
        .join(arms, arms.c.id == ratings.c.arm_id, isouter=True)
        .where(ratings.c.rater_id.in_(chosen))
        .group_by(ratings.c.rater_id)
    )
    rated = {}
    for row in connection.execute(query).mappings():
        arm = row["arm"] if row["arms"] == 1 else "several" if row["arms"] else None
        rated[int(row["rater_id"])] = {"ratings": row["ratings"], "mean": row["mean"], "arm": arm}
    return rated


def find_rater(connection: Connection, rater: int) -> Row | None:
    """One rater of a closed study."""
    query = (
        select(
            raters.c.id.label("rater_id"),
            raters.c.name.label("rater"),
            *raters.c["kind", "details", "seconds"],
            raters.c.study_id.label("study"),
            studies.c.name.label("study_name"),
        )
        .select_from(raters.join(studies))
        .where(raters.c.id == rater, _CLOSED, real_people())
    )
    return first_row(connection, query)


def list_ratings(
    connection: Connection,
    *,
    study: int | None = None,
    rater: int | None = None,
    response: int | None = None,
    dimension: str = "",
    offset: int = 0,
    limit: int = 50,
) -> Listing:
    """Ratings of closed studies, with what was rated."""
    chosen = {
        raters.c.study_id: study,
        ratings.c.rater_id: rater,
        ratings.c.response_id: response,
        ratings.c.dimension: dimension,
    }
    query = (
        select(
            ratings.c.id.label("rating_id"),
            raters.c.id.label("rater_id"),
            raters.c.name.label("rater"),
            raters.c.study_id.label("study"),
            studies.c.name.label("study_name"),
            func.coalesce(arms.c.name, respondents.c.name).label("arm"),
            *SITUATION,
            situations.c.id.label("situation_id"),
            situations.c.emotion,
            *ratings.c["dimension", "value", "label", "seconds"],
            responses.c.id.label("response"),
            responses.c.text,
        )
        .select_from(RATINGS)
        .where(_CLOSED, real_people(), *equal_where_given(chosen))
        .order_by(ratings.c.id)
    )
    return read_page(connection, query, offset=offset, limit=limit)
