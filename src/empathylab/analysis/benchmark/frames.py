"""People's and judges' ratings of a study and of respondents compared with it, row by row."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

import polars as pl

from empathylab.analysis.judges.frames import JudgedRatings
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
"""Human ratings of a respondent that are needed to calibrate on it, or to measure it."""
MOST_POINTS = 11
"""With more values a rating is a degree, and the proportion of the highest is not estimated."""
IMPORTED = {
    "judge": pl.String,
    "response": pl.Int64,
    "respondent": pl.String,
    "predicted": pl.Float64,
    "predicted_top": pl.Float64,
}
PREDICTIONS = {"response": pl.Int64, "predicted": pl.Float64, "predicted_top": pl.Float64}
REPLIES = {
    "response": pl.Int64,
    "respondent": pl.String,
    "situation": pl.String,
    "emotion": pl.String,
    "valence": pl.String,
    "text": pl.String,
}


@dataclass(frozen=True, slots=True)
class ReferenceRatings:
    """A study's ratings by people on one dimension, with which respondents are compared."""

    study: JudgedStudy
    dimension: Dimension
    design: str
    people: pl.DataFrame
    """response, respondent, situation, emotion, valence, text, rater, rating, top."""
    arms: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """From each of `respondents` to its arm, and to who wrote the replies: one who took part in two
    arms (asked in two ways, say) counts as two."""
    imported: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=IMPORTED))
    """judge, response, respondent, predicted, predicted_top: models' ratings in the study."""

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
            respondent
            for respondent in self.respondents
            if respondent != writer and self.writer(respondent) == writer
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


def reference_ratings(lab: Lab, study: str, dimension: str | None = None) -> ReferenceRatings:
    """People's ratings of the study on that dimension, its first where none is named.

    Raises InputError where no person has rated: then there is nothing to compare with.
    """
    chosen = lab_study(lab, study)
    where = f"study {chosen.name}"
    known = {dimension.name: dimension for dimension in chosen.dimensions}
    if dimension is not None and dimension not in known:
        raise UnknownName("dimension", dimension, known, where=where)
    everybody = ratings_frame(lab, chosen.name)
    rated = everybody.filter(rater_kind="person")
    if rated.is_empty():
        raise InputError(
            "no person has rated the study's responses, so no respondent can be compared with it",
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
    predicted = everybody.filter(rater_kind="model", dimension=asked.name)
    judged = judged_study(lab, chosen.name)
    return ReferenceRatings(judged, asked, chosen.design, people, arms, _imported(predicted, top))


def table_reference(
    judged: JudgedRatings, judge: str, dimension: str | None = None
) -> tuple[ReferenceRatings, pl.DataFrame]:
    """The human ratings of a table on that dimension, its first where none is named, and the
    ratings of the judge."""
    rated = judged.people["dimension"].unique(maintain_order=True).to_list()
    if dimension is not None and dimension not in rated:
        raise UnknownName("dimension", dimension, rated)
    name = dimension or str(rated[0])
    numbers = judged.responses.with_columns(
        number=pl.col("response").rank("dense").cast(pl.Int64)
    ).drop("words")
    people = judged.people.filter(dimension=name).join(
        numbers, on="response", how="left", maintain_order="left"
    )
    values = judged.scales.get(name) or tuple(sorted(set(people["rating"].to_list())))
    few = len(values) <= MOST_POINTS
    top = max(values)
    rows = people.select(
        *("respondent", "situation", "emotion", "valence", "text", "rater"),
        response="number",
        rating="rating",
        top=(pl.col("rating") == top).cast(pl.Float64),
    ).select(*REPLIES, "rater", "rating", "top")
    ratings = judged.judges.filter(judge=judge, dimension=name).join(
        numbers.select("response", "number"), on="response", how="left"
    )
    predicted = ratings.group_by("number", maintain_order=True).agg(
        predicted=pl.coalesce("expected", "rating").mean(),
        predicted_top=(pl.col("rating") == top).cast(pl.Float64).mean(),
    )
    study = JudgedStudy(row=0, name="the table", version=1, protocol={})
    asked = Dimension(name, tuple(values) if few else ())
    return ReferenceRatings(study, asked, "table", rows), predicted.rename({"number": "response"})


def _imported(ratings: pl.DataFrame, top: float) -> pl.DataFrame:
    """The ratings of models that rated in the study; their mean where there are several."""
    value = pl.col("rating").cast(pl.Float64)
    rows = ratings.select(
        *("response", "respondent"),
        judge=pl.col("rater").cast(pl.String),
        predicted=value,
        predicted_top=(value == top).cast(pl.Float64),
    )
    means = rows.group_by("judge", "response", "respondent", maintain_order=True).agg(
        pl.col("predicted", "predicted_top").mean()
    )
    return means.select(pl.col(name).cast(kind) for name, kind in IMPORTED.items())


def measured_replies(
    lab: Lab, reference: ReferenceRatings, respondent: str, prompt: str | None
) -> tuple[JudgedResponse, ...]:
    """One reply of the respondent to each of the study's situations, as far as it replied.

    The one that the study showed or people rated, else the newest to the prompt.
    """
    writer = reference.writer(respondent)
    shown = [
        study_response
        for study_response in study_responses(lab, reference.study.row)
        if study_response.respondent == writer
    ]
    newest = new_respondent_responses(lab, reference.study.row, respondent, prompt=prompt)
    return _measured(reference, respondent, shown, newest)


def every_measured_reply(
    lab: Lab, reference: ReferenceRatings, prompt: str, respondents: Collection[str]
) -> dict[str, tuple[JudgedResponse, ...]]:
    """`measured_replies` of each of these respondents, from one reading of the lab."""
    shown: dict[str, list[JudgedResponse]] = {}
    whole = study_responses(lab, reference.study.row)
    for item in whole:
        shown.setdefault(item.respondent, []).append(item)
    newest: dict[str, list[JudgedResponse]] = {}
    for entry in responses_to_prompt(lab, whole, prompt):
        newest.setdefault(entry.respondent, []).append(entry)
    return {
        name: _measured(
            reference, name, shown.get(reference.writer(name), []), newest.get(name, [])
        )
        for name in respondents
    }


def _measured(
    reference: ReferenceRatings,
    respondent: str,
    shown: Sequence[JudgedResponse],
    newest: Sequence[JudgedResponse],
) -> tuple[JudgedResponse, ...]:
    if respondent != reference.writer(respondent):
        # Of one of a respondent's arms, what was rated in it: the rest belongs to no known arm.
        rated = set(reference.people.filter(respondent=respondent)["response"])
        return tuple(
            replace(item, respondent=respondent) for item in shown if item.response in rated
        )
    responses = {(item.set, item.situation): item for item in (*newest, *shown)}
    return tuple(responses.values())


def replies_frame(replies: Sequence[JudgedResponse]) -> pl.DataFrame:
    """The replies, a row each."""
    rows = [
        {
            "response": reply.response,
            "respondent": reply.respondent,
            "situation": f"{reply.set}/{reply.situation.id}",
            "emotion": reply.situation.emotion,
            "valence": reply.situation.valence,
            "text": reply.text,
        }
        for reply in replies
    ]
    return pl.DataFrame(rows, REPLIES)


@dataclass(slots=True)
class Judgements:
    """All ratings by judges of a study's responses and of replies to the same prompt, read once."""

    reference: ReferenceRatings
    frame: pl.DataFrame
    """With all setups, on the dimension, with `predicted` and `predicted_top`."""
    several: bool
    """Whether any judge was asked with several setups."""
    _whole: pl.DataFrame | None = None

    @classmethod
    def read(cls, lab: Lab, reference: ReferenceRatings) -> Judgements:
        frame = all_judgements(lab, reference.study.name).filter(dimension=reference.dimension.name)
        shares = [_share(text, reference.top_label) for text in frame["probabilities"]]
        top = (pl.col("value") == reference.top).cast(pl.Float64)
        frame = frame.with_columns(
            predicted=pl.coalesce("expected", "value"),
            predicted_top=pl.coalesce(pl.Series("share", shares, pl.Float64), top),
        )
        ways = frame.group_by("judge", "set").agg(pl.col("setup").n_unique())
        return cls(reference, frame, bool((ways["setup"] > 1).any()))

    def predicted(
        self, judges: Collection[str] | None = None, replies: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """Each judge's rating of each response (`predicted`) and probability of the highest point
        (`predicted_top`): means over orders and repeats, of the judge's distribution where it is
        known.

        Of a judge that was asked with several setups, the one that covers most of what people rated
        and of `replies`; `ways` counts them. Models whose ratings came with the study are judges,
        too, unless the lab has asked one of that name itself.
        """
        rows = self._predicted(replies)
        return rows if judges is None else rows.filter(pl.col("judge").is_in(list(judges)))

    def days(self, judges: Collection[str], replies: pl.DataFrame) -> tuple[date, date] | None:
        """The days of these judges' first and last judgement of the replies; None without any."""
        rows = self.frame.filter(
            pl.col("judge").is_in(list(judges)), pl.col("response").is_in(replies["response"])
        )
        first, last = rows["added_at"].min(), rows["added_at"].max()
        if not isinstance(first, datetime) or not isinstance(last, datetime):
            return None
        return first.date(), last.date()

    def _predicted(self, replies: pl.DataFrame | None) -> pl.DataFrame:
        if self.several:
            return self._chosen(replies)
        # With one setup there is nothing to choose, whatever the replies.
        if self._whole is None:
            self._whole = self._chosen(replies)
        return self._whole

    def _chosen(self, replies: pl.DataFrame | None) -> pl.DataFrame:
        asked = [
            person["response"].unique().to_list()
            for person in (self.reference.people, replies)
            if person is not None
        ]
        frame = chosen_judgements(self.frame, asked).filter(pl.col("value").is_not_null())
        means = frame.group_by("judge", "response", maintain_order=True).agg(
            pl.col("predicted", "predicted_top").mean(), pl.col("ways").max().cast(pl.Int64)
        )
        known = frame["judge"].unique().to_list()
        brought = self.reference.imported.filter(~pl.col("judge").is_in(known))
        also = brought.select(
            "judge", "response", "predicted", "predicted_top", ways=pl.lit(1, pl.Int64)
        )
        return pl.concat([means, also], how="vertical_relaxed")


def _share(text: str | None, label: str | None) -> float | None:
    if text is None or label is None:
        return None
    shares = json.loads(text)
    return None if not shares else shares.get(label)


def beside(
    reference: ReferenceRatings, replies: pl.DataFrame, predicted: pl.DataFrame
) -> pl.DataFrame:
    """People's ratings and the unrated replies, each with the judge's rating.

    `replies` are those of the respondent to be measured.
    """
    unrated = replies.join(reference.people, on="response", how="anti")
    rows = pl.concat([reference.people, unrated], how="diagonal")
    return rows.join(
        predicted.select(*PREDICTIONS), on="response", how="left", maintain_order="left"
    )
