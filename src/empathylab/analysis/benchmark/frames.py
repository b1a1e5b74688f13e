"""People's ratings and judges' of a study and of those measured against it, row by row."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab
from empathylab.store.judged_responses import (
    JudgedResponse,
    JudgedStudy,
    judged_study,
    new_respondent_responses,
    responses_to_prompt,
    study_responses,
)
from empathylab.store.judgements import all_judgements, chosen_judgements
from empathylab.store.ratings import lab_study, ratings_frame

FEWEST_RATINGS = 10
"""By people, of a respondent, before they count: to calibrate on, or to be measured by."""
MOST_POINTS = 11
"""Above so many values a rating is a degree, and no share of the highest is told."""
IMPORTED = {
    "judge": pl.String,
    "response": pl.Int64,
    "respondent": pl.String,
    "told": pl.Float64,
    "told_top": pl.Float64,
}
TOLD = {"response": pl.Int64, "told": pl.Float64, "told_top": pl.Float64}
REPLIES = {
    "response": pl.Int64,
    "respondent": pl.String,
    "situation": pl.String,
    "emotion": pl.String,
    "valence": pl.String,
    "text": pl.String,
}


@dataclass(frozen=True, slots=True)
class Ground:
    """What respondents are measured on: a study's ratings by people on one dimension."""

    study: JudgedStudy
    dimension: Dimension
    design: str
    people: pl.DataFrame
    """response, respondent, situation, emotion, valence, text, rater, rating, top."""
    arms: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """From each of `respondents` to its arm, and to who wrote the replies: one who took part in two
    arms (asked in two ways, say) counts as two."""
    imported: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=IMPORTED))
    """judge, response, respondent, told, told_top: ratings by models that came with the study."""

    @property
    def imported_judges(self) -> tuple[str, ...]:
        """Models whose ratings came with the study; they cannot be asked for more."""
        return tuple(self.imported["judge"].unique(maintain_order=True))

    def arm(self, respondent: str) -> str:
        return self.arms.get(respondent, (respondent, ""))[0]

    def writer(self, respondent: str) -> str:
        return self.arms.get(respondent, ("", respondent))[1]

    def arms_of(self, writer: str) -> tuple[str, ...]:
        """Those among `respondents` whose replies are by that one, under another name."""
        return tuple(
            one for one in self.respondents if one != writer and self.writer(one) == writer
        )

    @property
    def respondents(self) -> tuple[str, ...]:
        """Those with enough ratings by people, in their order."""
        counts = self.people.group_by("respondent", maintain_order=True).len()
        enough = counts.filter(pl.col("len") >= FEWEST_RATINGS)
        return tuple(enough["respondent"].to_list())

    @property
    def top(self) -> float:
        """The highest point of the scale."""
        return max(self.dimension.values or self.people["rating"].to_list())

    @property
    def lowest(self) -> float:
        return min(self.dimension.values or self.people["rating"].to_list())

    @property
    def top_label(self) -> str | None:
        """What the highest point is called; None where ratings are degrees."""
        values, labels = self.dimension.values, self.dimension.labels
        if not 2 <= len(values) <= MOST_POINTS:
            return None
        named = labels[values.index(self.top)] if len(labels) == len(values) else ""
        return named or f"{self.top:g}"


def study_ground(lab: Lab, study: str, dimension: str | None = None) -> Ground:
    """People's ratings of the study on that dimension, its first where none is named.

    Raises InputError where no person has rated: then nothing can be held against them.
    """
    chosen = lab_study(lab, study)
    where = f"study {chosen.name}"
    known = {one.name: one for one in chosen.dimensions}
    if dimension is not None and dimension not in known:
        raise UnknownName("dimension", dimension, known, where=where)
    everybody = ratings_frame(lab, chosen.name)
    rated = everybody.filter(rater_kind="person")
    if rated.is_empty():
        raise InputError(
            "no person has rated the study's responses, so nobody can be measured against it",
            where=where,
            remedy="Let people rate, or name another study.",
        )
    asked = known[dimension] if dimension else chosen.dimensions[0]
    rows = rated.filter(dimension=asked.name)
    if rows.is_empty():
        raise InputError(
            f"no person has rated {asked.name}",
            where=where,
            got=", ".join(rated["dimension"].unique(maintain_order=True)),
            remedy="Name another dimension with --dimension.",
        )
    top = max(asked.values or rows["rating"].to_list())
    several = pl.col("arm").n_unique().over("respondent") > 1
    who = pl.when(several).then(pl.format("{} ({})", "respondent", "arm")).otherwise("respondent")
    rows = rows.with_columns(who=who)
    people = rows.select(
        *("response", "emotion", "valence", "text", "rater"),
        respondent="who",
        situation=pl.concat_str("set", "situation", separator="/"),
        rating=pl.col("rating").cast(pl.Float64),
        top=(pl.col("rating") == top).cast(pl.Float64),
    ).cast({"rater": pl.String})
    names = rows.select("who", "arm", "respondent").unique("who", maintain_order=True)
    arms = {name: (arm, writer) for name, arm, writer in names.iter_rows()}
    told = everybody.filter(rater_kind="model", dimension=asked.name)
    found = judged_study(lab, chosen.name)
    return Ground(found, asked, chosen.design, people, arms, _imported(told, top))


def _imported(ratings: pl.DataFrame, top: float) -> pl.DataFrame:
    """What models said that rated in the study, their mean where they did so more than once."""
    value = pl.col("rating").cast(pl.Float64)
    rows = ratings.select(
        *("response", "respondent"),
        judge=pl.col("rater").cast(pl.String),
        told=value,
        told_top=(value == top).cast(pl.Float64),
    )
    means = rows.group_by("judge", "response", "respondent", maintain_order=True).agg(
        pl.col("told", "told_top").mean()
    )
    return means.select(pl.col(name).cast(kind) for name, kind in IMPORTED.items())


def measured_replies(
    lab: Lab, ground: Ground, respondent: str, prompt: str | None
) -> tuple[JudgedResponse, ...]:
    """One reply of the respondent to each of the study's situations, as far as it replied.

    The one that the study showed or people rated, else the newest to the prompt.
    """
    writer = ground.writer(respondent)
    shown = [one for one in study_responses(lab, ground.study.row) if one.respondent == writer]
    newest = new_respondent_responses(lab, ground.study.row, respondent, prompt=prompt)
    return _measured(ground, respondent, shown, newest)


def every_measured_reply(
    lab: Lab, ground: Ground, prompt: str, respondents: Collection[str]
) -> dict[str, tuple[JudgedResponse, ...]]:
    """`measured_replies` of each of these respondents, from one reading of the lab."""
    shown: dict[str, list[JudgedResponse]] = {}
    whole = study_responses(lab, ground.study.row)
    for one in whole:
        shown.setdefault(one.respondent, []).append(one)
    newest: dict[str, list[JudgedResponse]] = {}
    for one in responses_to_prompt(lab, whole, prompt):
        newest.setdefault(one.respondent, []).append(one)
    return {
        name: _measured(ground, name, shown.get(ground.writer(name), []), newest.get(name, []))
        for name in respondents
    }


def _measured(
    ground: Ground,
    respondent: str,
    shown: Sequence[JudgedResponse],
    newest: Sequence[JudgedResponse],
) -> tuple[JudgedResponse, ...]:
    if respondent != ground.writer(respondent):
        # Of one of a respondent's arms, what was rated in it: nothing tells whose the rest is.
        rated = set(ground.people.filter(respondent=respondent)["response"])
        return tuple(replace(one, respondent=respondent) for one in shown if one.response in rated)
    found = {(one.set, one.situation): one for one in (*newest, *shown)}
    return tuple(found.values())


def replies_frame(replies: Sequence[JudgedResponse]) -> pl.DataFrame:
    """The replies, a row each."""
    rows = [
        {
            "response": one.response,
            "respondent": one.respondent,
            "situation": f"{one.set}/{one.situation.id}",
            "emotion": one.situation.emotion,
            "valence": one.situation.valence,
            "text": one.text,
        }
        for one in replies
    ]
    return pl.DataFrame(rows, REPLIES)


def told_by(
    lab: Lab,
    ground: Ground,
    judges: Collection[str] | None = None,
    replies: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """What each judge says of each response: `told`, the rating, and `told_top`, the chance that it
    is the highest point; means over orders and repeats, of the judge's distribution where it is
    known.

    Of a judge that was asked in several ways, by that which holds the most of what people rated and
    of `replies`; `ways` counts them. Models whose ratings came with the study are judges, too,
    unless the lab has asked one of that name itself.
    """
    return Judgements.read(lab, ground).told(judges, replies)


@dataclass(slots=True)
class Judgements:
    """All that judges said of a study's responses and of replies like them, read once."""

    ground: Ground
    frame: pl.DataFrame
    """Of all ways of asking, on the ground's dimension, with `told` and `told_top`."""
    several: bool
    """Whether any judge was asked in several ways."""
    _whole: pl.DataFrame | None = None

    @classmethod
    def read(cls, lab: Lab, ground: Ground) -> Judgements:
        frame = all_judgements(lab, ground.study.name).filter(dimension=ground.dimension.name)
        shares = [_share(text, ground.top_label) for text in frame["probabilities"]]
        top = (pl.col("value") == ground.top).cast(pl.Float64)
        frame = frame.with_columns(
            told=pl.coalesce("expected", "value"),
            told_top=pl.coalesce(pl.Series("share", shares, pl.Float64), top),
        )
        ways = frame.group_by("judge", "set").agg(pl.col("setup").n_unique())
        return cls(ground, frame, bool((ways["setup"] > 1).any()))

    def told(
        self, judges: Collection[str] | None = None, replies: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """As in `told_by`."""
        found = self._told(replies)
        return found if judges is None else found.filter(pl.col("judge").is_in(list(judges)))

    def days(self, judges: Collection[str], replies: pl.DataFrame) -> tuple[date, date] | None:
        """The days of these judges' first and last judgement of the replies; None without any."""
        rows = self.frame.filter(
            pl.col("judge").is_in(list(judges)), pl.col("response").is_in(replies["response"])
        )
        first, last = rows["added_at"].min(), rows["added_at"].max()
        if not isinstance(first, datetime) or not isinstance(last, datetime):
            return None
        return first.date(), last.date()

    def _told(self, replies: pl.DataFrame | None) -> pl.DataFrame:
        if self.several:
            return self._chosen(replies)
        # Asked in one way there is nothing to choose, whatever the replies.
        if self._whole is None:
            self._whole = self._chosen(replies)
        return self._whole

    def _chosen(self, replies: pl.DataFrame | None) -> pl.DataFrame:
        asked = [
            one["response"].unique().to_list()
            for one in (self.ground.people, replies)
            if one is not None
        ]
        frame = chosen_judgements(self.frame, asked).filter(pl.col("value").is_not_null())
        means = frame.group_by("judge", "response", maintain_order=True).agg(
            pl.col("told", "told_top").mean(), pl.col("ways").max().cast(pl.Int64)
        )
        known = frame["judge"].unique().to_list()
        brought = self.ground.imported.filter(~pl.col("judge").is_in(known))
        also = brought.select("judge", "response", "told", "told_top", ways=pl.lit(1, pl.Int64))
        return pl.concat([means, also], how="vertical_relaxed")


def _share(text: str | None, label: str | None) -> float | None:
    if text is None or label is None:
        return None
    found = json.loads(text)
    return None if not found else found.get(label)


def beside(ground: Ground, replies: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """People's ratings and the unrated replies, each with what the judge says of it.

    `replies` are those of the respondent to be measured.
    """
    unrated = replies.join(ground.people, on="response", how="anti")
    rows = pl.concat([ground.people, unrated], how="diagonal")
    return rows.join(told.select(*TOLD), on="response", how="left", maintain_order="left")
