"""Ratings and raters as frames, for analysis: names in place of numbers, one row per thing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, and_, func, or_, select

from empathylab.errors import InputError, UnknownName
from empathylab.scales.score_frames import score_frame
from empathylab.situations.sources.released import Dimension
from empathylab.store.lab import Lab
from empathylab.store.queries import scales_by_row, scales_frame
from empathylab.store.schema import (
    administrations,
    arms,
    item_answers,
    raters,
    ratings,
    respondents,
    responses,
    scales,
    situations,
    studies,
)
from empathylab.store.schema.joins import RATED, RATINGS, SITUATION
from empathylab.store.studies.records import real_people


@dataclass(frozen=True, slots=True)
class Study:
    """A study of the lab, as far as an analysis needs it."""

    name: str
    """Of the newest version; an older one is called `NAME@VERSION`."""
    title: str
    design: str
    """`between` or `within` subjects."""
    dimensions: tuple[Dimension, ...]
    status: str
    exclusions: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """Rules declared before the launch, as `stats.raters.exclusions` reads them."""
    margins: Mapping[str, float] = field(default_factory=dict, hash=False)
    """By dimension, the smallest difference between arms that matters, where declared."""
    looks: Mapping[str, Any] | None = field(default=None, hash=False)
    """Looks before the study is closed, where declared: ratings, at, spending."""


def lab_studies(lab: Lab) -> dict[str, Study]:
    """The lab's studies by name, in the order in which they came."""
    with lab.reading() as connection:
        rows = connection.execute(select(studies).order_by(studies.c.id)).all()
    newest = {row.name: row.version for row in sorted(rows, key=lambda row: int(row.version))}
    found = [study_from_row(row, newest[row.name]) for row in rows]
    return {item.name: item for item in found}


def study_from_row(row: Any, newest: int | None = None) -> Study:
    """The study in that row; `newest` is the newest version of it, if not its own."""
    # A study that the lab ran has its words in several languages; the first is the one to report.
    first = (row.protocol.get("languages") or ("",))[0]
    dimensions = tuple(
        Dimension(
            dimension["name"],
            # A slider has no points; its values are those of the labels on it.
            () if dimension.get("input") == "slider" else tuple(map(float, dimension["values"])),
            tuple(
                label.get(first, "") if isinstance(label, dict) else label
                for label in dimension["labels"]
            ),
            _in_language(dimension.get("question"), first),
            (float(dimension["values"][0]), float(dimension["values"][-1]))
            if dimension.get("input")
            else None,
        )
        for dimension in row.protocol.get("dimensions", ())
    )
    design = row.protocol.get("design", "between")
    name = row.name if newest in (None, row.version) else f"{row.name}@{row.version}"
    declared = tuple(row.protocol.get("exclusions") or ())
    margins = {
        dimension["name"]: float(dimension["margin"])
        for dimension in row.protocol.get("dimensions", ())
        if dimension.get("margin") is not None
    }
    looks = row.protocol.get("looks")
    return Study(name, row.title, design, dimensions, row.status, declared, margins, looks)


def _in_language(text: Any, language: str) -> str | None:
    return text.get(language) if isinstance(text, dict) else text


def named_study(study: str) -> ColumnElement[bool]:
    """The rule for the study of that name: its newest version, unless the name gives one."""
    name, _, version = study.rpartition("@")
    newest = select(func.max(studies.c.version)).where(studies.c.name == study).scalar_subquery()
    rule = and_(studies.c.name == study, studies.c.version == newest)
    if name and version.isdecimal():
        rule = or_(rule, and_(studies.c.name == name, studies.c.version == int(version)))
    return rule


def lab_study(lab: Lab, name: str | None) -> Study:
    """The study of that name; without a name the only one there is."""
    found = lab_studies(lab)
    if not found:
        raise InputError(
            "the lab has no rated study",
            remedy="Run `empathylab data import welivita CSV` or `empathylab data import ratings "
            "CSV`.",
        )
    if name is None:
        if len(found) > 1:
            raise InputError(
                "the lab has several studies",
                got=", ".join(found),
                remedy="Name one with --study.",
            )
        return next(iter(found.values()))
    if name not in found:
        raise UnknownName("study", name, found)
    return found[name]


def ratings_frame(lab: Lab, study: str) -> pl.DataFrame:
    """The study's ratings, with what was rated and by whom.

    Simulated raters, test visits and excluded raters are left out, here and below.
    """
    query = (
        select(
            raters.c.name.label("rater"),
            raters.c.kind.label("rater_kind"),
            arms.c.name.label("arm"),
            respondents.c.name.label("respondent"),
            *SITUATION,
            *situations.c["emotion", "valence", "topic"],
            responses.c.id.label("response"),
            *responses.c["sample", "text"],
            ratings.c.dimension,
            ratings.c.value.label("rating"),
            *ratings.c["label", "seconds"],
        )
        .select_from(RATINGS)
        .where(named_study(study), real_people())
        .order_by(ratings.c.id)
    )
    return lab.frame(query).with_columns(arm=pl.coalesce("arm", "respondent"))


def collection_frame(lab: Lab, study: str) -> pl.DataFrame:
    """By arm, how many people rated it, how often, and the days of the first and last rating."""
    query = (
        select(
            func.coalesce(arms.c.name, respondents.c.name).label("arm"),
            raters.c.id.label("rater"),
            ratings.c.rated_at,
        )
        .select_from(RATED)
        .where(named_study(study), real_people(), raters.c.kind == "person")
        .order_by(ratings.c.id)
    )
    day = pl.col("rated_at").dt.date()
    return (
        lab.frame(query)
        .group_by("arm", maintain_order=True)
        .agg(
            pl.col("rater").n_unique().alias("raters"),
            pl.len().alias("ratings"),
            day.min().alias("first"),
            day.max().alias("last"),
        )
    )


def arms_frame(lab: Lab, study: str) -> pl.DataFrame:
    """The study's arms in its own order, with the kind of respondent and when they were rated.

    Respondents that were rated without an arm stand after them, by name.
    """
    of_study = (
        select(arms.c.name.label("arm"), respondents.c.kind)
        .select_from(arms.join(studies).outerjoin(respondents))
        .where(named_study(study))
        .order_by(arms.c.id)
    )
    listed = lab.frame(of_study)
    kinds = lab.frame(select(respondents.c.name.label("arm"), respondents.c.kind))
    rated = collection_frame(lab, study)
    others = rated.select("arm").join(listed, on="arm", how="anti").sort("arm")
    both = pl.concat([listed, others.join(kinds, on="arm", how="left")], how="vertical_relaxed")
    return both.join(rated, on="arm", how="left", maintain_order="left")


def arm_authors(lab: Lab, study: str) -> dict[str, str]:
    """The respondent behind each of the study's arms."""
    query = (
        select(arms.c.name, respondents.c.name.label("respondent"))
        .select_from(arms.join(studies).join(respondents))
        .where(named_study(study))
        .order_by(arms.c.id)
    )
    return dict(lab.frame(query).iter_rows())


def raters_frame(lab: Lab, study: str) -> pl.DataFrame:
    """The study's raters: their time, what is known about them, and their scales' totals.

    `arm` is the arm they rated, null where they rated several. What is known (age, country …) and
    totals (`teq` …) become columns of their own.
    """
    query = (
        select(
            raters.c.name.label("rater"),
            *raters.c["kind", "seconds", "details"],
            func.min(arms.c.name).label("arm"),
            func.count(arms.c.name.distinct()).label("arms"),
            func.count(ratings.c.id).label("ratings"),
        )
        .select_from(raters.join(studies).outerjoin(ratings))
        .outerjoin(arms, arms.c.id == ratings.c.arm_id)
        .where(named_study(study), real_people())
        .group_by(raters.c.id)
        .order_by(raters.c.id)
    )
    frame = lab.frame(query)
    alone = pl.when(pl.col("arms") == 1).then(pl.col("arm"))
    frame = frame.with_columns(arm=alone).drop("arms")
    details = [json.loads(text) for text in frame["details"]]
    names = dict.fromkeys(
        name for item in details for name in item if name not in (*frame.columns, "marks")
    )
    columns = [_column(name, [item.get(name) for item in details]) for name in names]
    frame = frame.drop("details").with_columns(columns)
    for scale, totals in _totals(lab, rater_answers_frame(lab, study)).items():
        frame = frame.join(totals.rename({"score": scale}), on="rater", how="left")
    return frame


def _totals(lab: Lab, answers: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """By scale, the total of each rater who answered it in full."""
    known = scales_by_row(scales_frame(lab))
    of = answers.select("administration", "rater", "scale").unique(maintain_order=True)
    scores = score_frame(answers, known).filter(subscale="total")
    totals = of.join(scores, on="administration", maintain_order="left")
    return {
        str(name): group.select("rater", "score").unique("rater", keep="last")
        for (name,), group in totals.group_by("scale", maintain_order=True)
    }


PREFERENCE = "preference"
"""The question under which a comparison of two replies is stored."""

# What platforms and people write in place of an answer.
NOT_STATED = {"", "na", "n/a", "none", "unknown", "prefer not to say", "rather not say"} | {
    "data_expired",
    "consent_revoked",
}


def _column(name: str, values: list[Any]) -> pl.Series:
    """Numbers where all known values are numbers, else texts."""
    stated = [
        None if value is None or str(value).strip().lower() in NOT_STATED else value
        for value in values
    ]
    if all(isinstance(value, int | float) for value in stated if value is not None):
        return pl.Series(name, stated, pl.Float64, strict=False)
    texts = [None if value is None else str(value) for value in stated]
    return pl.Series(name, texts, pl.String)


def comparisons_of(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rater's comparisons of two replies, from the details stored about the rater."""
    return [
        answer
        for answer in (details.get("marks") or {}).get("answers", ())
        if len(answer["arms"]) == 2 and answer["question"] == PREFERENCE
    ]


def preferences_frame(lab: Lab, study: str) -> pl.DataFrame:
    """Which of two replies people preferred: one row per comparison, in the order of the raters.

    `first` and `second` are the arms in the order in which they were shown.
    """
    query = (
        select(raters.c.name.label("rater"), raters.c.details)
        .select_from(raters.join(studies))
        .where(named_study(study), real_people())
        .order_by(raters.c.id)
    )
    rows = [
        (
            rater,
            answer["block"],
            answer["position"],
            answer["situation"],
            *answer["arms"],
            answer["value"],
        )
        for rater, details in lab.frame(query).iter_rows()
        for answer in comparisons_of(json.loads(details))
    ]
    names = ("rater", "block", "position", "situation", "first", "second", "outcome")
    schema = {name: pl.Int64 if name == "position" else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row")


def is_unrated(lab: Lab, study: str) -> bool:
    """Whether no person has rated anything in the study."""
    return ratings_frame(lab, study).filter(rater_kind="person").is_empty()


def rater_answers_frame(lab: Lab, study: str) -> pl.DataFrame:
    """Every item answer that the study's raters gave about themselves, as given."""
    query = (
        select(
            raters.c.name.label("rater"),
            scales.c.id.label("scale_row"),
            scales.c.name.label("scale"),
            administrations.c.id.label("administration"),
            *item_answers.c["item", "value"],
        )
        .select_from(item_answers.join(administrations).join(scales).join(raters).join(studies))
        .where(named_study(study), real_people(), administrations.c.outcome == "valid")
        .order_by(raters.c.id, scales.c.id, item_answers.c.item)
    )
    return lab.frame(query)
