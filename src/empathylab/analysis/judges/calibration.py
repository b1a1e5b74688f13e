"""Judges validated against human ratings: a card for each judge and dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np
import polars as pl

from empathylab.analysis.judges.biases import emotion_biases, judge_biases, same_over_orders
from empathylab.analysis.judges.cards import JudgeCard, Perspective, Stability
from empathylab.analysis.judges.choices import choice_agreement
from empathylab.analysis.judges.families import families_of
from empathylab.analysis.judges.frames import JudgedRatings
from empathylab.errors import InputError
from empathylab.stats.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    pair_agreements,
    rating_table,
    spearman,
)
from empathylab.stats.arrays import Array
from empathylab.stats.clusters.robust import cluster_codes, clustered_mean
from empathylab.stats.estimates import Estimate
from empathylab.stats.judges.annotators import AlternativeAnnotatorTest, alternative_annotator_test
from empathylab.stats.judges.calibration import (
    CalibrationCurve,
    CalibrationScores,
    calibration_curve,
    calibration_scores,
    confusion,
    ordinal_map,
)

PeopleAre = Literal["experts", "skilled", "crowd"]
EPSILON: dict[PeopleAre, float] = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""What Calderon, Reichart and Dror (2025) advise, by what the people replaced would have cost."""
MOST_POINTS = 11
"""Above so many values a rating is a degree, and is not tabled value by value."""
_FEW_PEOPLE = 10
_FEWEST_SHARED = 10
"""Responses that two raters must share before their kappa counts."""
_JUDGE = "\x00judge"
"""The judge's name among the raters, which no person can bear."""


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """How judges are validated against human ratings."""

    people_are: PeopleAre = "crowd"
    compared_with: Perspective | None = None
    """Whose ratings these are; None for what the ratings say of themselves."""
    epsilon: float | None = None
    """None for the value that is advised for these people."""
    families: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    """By judge the respondents of its own family; by their names where it is not given."""
    panels: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    """By judge that is several together, who they are: their families are its own, unless one is
    given for it."""
    min_shared: int = 30
    """Responses a person must share with the judge and another person to be tested."""
    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95

    @property
    def chosen_epsilon(self) -> float:
        return EPSILON[self.people_are] if self.epsilon is None else self.epsilon


def calibrate(judged: JudgedRatings, plan: CalibrationPlan | None = None) -> tuple[JudgeCard, ...]:
    """A card for each judge and dimension that people rated, in the judges' order.

    The judge's value of a response is the median of its repeats, brought to the nearest point of
    the scale; where it gives a distribution over the points, or several repeats, biases and the
    calibration map take its mean. Agreement is with the median of people's ratings, the test with
    each person. Where fewer than ten people rated, biases compare with their mean and hold for
    these people; else ratings of one person may be correlated, and they hold for people like them.
    Raises InputError where no judge rated or compared anything that people rated.
    """
    asked = plan or CalibrationPlan()
    if not 0 <= asked.chosen_epsilon <= 1:
        raise InputError(
            "ε must be between 0 and 1",
            got=asked.epsilon,
            remedy="Use 0.2 for experts, 0.15 for skilled raters and 0.1 for crowd workers.",
        )
    if not judged.judge_names:
        raise InputError(
            "no judge has rated these responses",
            where=f"study {judged.study}" if judged.study else None,
            remedy="Run: empathylab judge MODEL --study NAME",
        )
    cards = [
        card
        for judge in judged.judge_names
        for dimension in judged.dimensions
        if (card := _card(judged, judge, dimension, asked)) is not None
    ]
    if not cards:
        raise InputError(
            "no calibration is possible: no response was rated by both people and a judge",
            got=f"judges {', '.join(judged.judge_names)}",
            remedy="Let the judge rate responses that people rated, on the same dimension.",
        )
    return tuple(cards)


@dataclass(frozen=True, slots=True)
class _Shared:
    """One judge on one dimension."""

    people: pl.DataFrame
    """People's ratings of what the judge rated, with the judge's `value` and `expected`, and what
    is known of the response."""
    replies: pl.DataFrame
    """One row for each response: the median and mean of people beside the judge's."""
    asked: pl.DataFrame
    """The judge's single answers."""
    compared: pl.DataFrame
    points: tuple[float, ...]


def _card(
    judged: JudgedRatings, judge: str, dimension: str, plan: CalibrationPlan
) -> JudgeCard | None:
    own = _shared(judged, judge, dimension)
    if own.replies.is_empty() and own.compared.is_empty():
        return None
    respondents = own.replies["respondent"].drop_nulls().unique(maintain_order=True).to_list()
    everybody = dict.fromkeys([*respondents, *own.compared["first"], *own.compared["second"]])
    members = plan.panels.get(judge, ())
    # A family given for the panel replaces those derived from its members' names.
    judges = (judge,) if judge in plan.families or not members else members
    families = families_of(judges, everybody, plan.families)
    relatives = list(dict.fromkeys(name for names in families.values() for name in names))
    test, untested = _tested(own, plan)
    within, within_low = _within(own.replies, plan)
    constant = _constant_passes(own, test, plan)
    values = own.replies["people"], own.replies["value"]
    few = own.people["rater"].n_unique() < _FEW_PEOPLE
    # Few people are all there are: nothing is said of others like them.
    no_rater = pl.lit(None, dtype=pl.String)
    single = own.people.with_columns(rater=no_rater) if few else own.people
    biases = judge_biases(single, own.asked, own.compared, relatives, confidence=plan.confidence)
    kappas = _pair_kappas(own)
    sure, n = plan.confidence, len(own.replies)
    # Judgements of replies to one situation may be correlated.
    situations = own.replies["situation"].cast(pl.String).rank("dense")
    kappa = partial(cohen_kappa, *values, weights="quadratic", clusters=situations, confidence=sure)
    return JudgeCard(
        judge=judge,
        dimension=dimension,
        n=n,
        n_ratings=len(own.people),
        n_situations=own.replies["situation"].n_unique(),
        n_people=own.people["rater"].n_unique(),
        respondents=tuple(respondents),
        weighted_kappa=kappa(spacing="values"),
        weighted_kappa_ranks=kappa(spacing="ranks"),
        spearman=spearman(
            own.replies["people"], own.replies["expected"], clusters=situations, confidence=sure
        ),
        spearman_within=within,
        spearman_within_low=within_low,
        people_kappa=kappas[0],
        judge_person_kappa=kappas[1],
        people_are=plan.people_are,
        epsilon=plan.chosen_epsilon,
        alt_test=test,
        constant_passes=constant,
        over_constant=None if constant is None else _over_constant(single, plan),
        untested=untested,
        biases=biases,
        emotions=emotion_biases(single, confidence=plan.confidence),
        stability=_stability(own.asked, plan),
        same_over_orders=same_over_orders(own.compared),
        confusion=confusion(own.people, prediction="value") if own.points and n else None,
        curve=_curve(_averaged(own.people) if few else own.people, plan),
        map=ordinal_map(own.people, prediction="expected") if n else None,
        scores=_scores(single, plan),
        points=own.points,
        preferences=choice_agreement(
            own.compared,
            judged.people.filter(dimension=dimension),
            judged.responses,
            confidence=sure,
        ),
        compared_with=plan.compared_with or judged.compared_with,
        members=tuple(members),
        own_families=tuple(
            (member, names) for member, names in families.items() if names and member != judge
        ),
    )


def _shared(judged: JudgedRatings, judge: str, dimension: str) -> _Shared:
    asked = judged.judges.filter(judge=judge, dimension=dimension)
    people = judged.people.filter(dimension=dimension)
    points = _points(judged.scales.get(dimension, ()), people["rating"], asked["rating"])
    mean = pl.coalesce("expected", "rating").mean()
    values = asked.group_by("response", maintain_order=True).agg(
        value=pl.col("rating").median(), expected=mean
    )
    values = values.with_columns(value=_nearest(values["value"], points))
    known = judged.responses
    rows = people.join(values, on="response", how="inner", maintain_order="left").join(
        known, on="response", how="left", maintain_order="left"
    )
    replies = rows.group_by("response", maintain_order=True).agg(
        pl.col("rating").median().alias("people"),
        pl.col("value", "expected", "situation", "respondent").first(),
    )
    compared = judged.comparisons.filter(judge=judge, dimension=dimension)
    answers = asked.join(known.select("response", "situation"), on="response", how="left")
    return _Shared(rows, replies, answers, compared, points)


def _points(named: Sequence[float], *rated: pl.Series) -> tuple[float, ...]:
    """The points of the scale, as named or as they occur; none where there are too many."""
    seen = pl.concat([item.rename("") for item in rated]).drop_nulls().unique()
    points = sorted({*named, *seen.to_list()})
    return tuple(points) if len(points) <= MOST_POINTS else ()


def _nearest(values: pl.Series, points: Sequence[float]) -> pl.Series:
    """Each value brought to the nearest point, the lower of two."""
    if not points or values.is_empty():
        return values
    distance = np.abs(values.to_numpy()[:, None] - np.asarray(points))
    return pl.Series(values.name, np.asarray(points)[distance.argmin(axis=1)])


def _averaged(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each response, people's mean for the rating and null for the rater."""
    others = pl.exclude("response", "rating", "rater").first()
    return rows.group_by("response", maintain_order=True).agg(
        pl.col("rating").mean(), others, rater=pl.lit(None, dtype=pl.String)
    )


def _tested(own: _Shared, plan: CalibrationPlan) -> tuple[AlternativeAnnotatorTest | None, str]:
    """The alternative annotator test, and why it gives no verdict where it does not."""
    if own.replies.is_empty():
        return None, "it compared replies, and rated none that people rated"
    several = own.people.group_by("response").agg(pl.col("rater").n_unique())
    if several["rater"].max() == 1:
        return None, (
            "only one person rated each response, so the judge cannot be compared with one person "
            "and the others"
        )
    test = _against_people(own, own.replies["value"], plan)
    if test.comparisons:
        return test, ""
    return test, (
        f"n too small: nobody shares {plan.min_shared} responses with the judge and another person"
    )


def _against_people(
    own: _Shared, values: pl.Series, plan: CalibrationPlan
) -> AlternativeAnnotatorTest:
    """The test of these values of the judge, one for each response."""
    judge = own.replies.select(
        "response", rater=pl.lit(_JUDGE), rating=values.cast(pl.Float64).alias("rating")
    )
    return alternative_annotator_test(
        pl.concat([own.people.select("response", "rater", "rating"), judge]),
        _JUDGE,
        situation="response",
        epsilon=plan.chosen_epsilon,
        min_situations=plan.min_shared,
        resamples=plan.resamples,
        seed=plan.seed,
        confidence=plan.confidence,
    )


def _constant_passes(
    own: _Shared, test: AlternativeAnnotatorTest | None, plan: CalibrationPlan
) -> bool | None:
    """Whether a judge that always gives people's most common rating would pass; None untested."""
    if test is None or not test.comparisons:
        return None
    same = pl.Series("value", [_most_common(own.people)] * len(own.replies), pl.Float64)
    return _against_people(own, same, replace(plan, resamples=0)).passes


def _over_constant(people: pl.DataFrame, plan: CalibrationPlan) -> Estimate:
    """How much nearer the judge is to single ratings than always their most common value."""
    of_constant = (pl.col("rating") - _most_common(people)) ** 2
    of_judge = (pl.col("rating") - pl.col("value")) ** 2
    clusters = [cluster_codes(people[column]) for column in ("rater", "situation")]
    values = people.select(gain=of_constant - of_judge)["gain"].to_numpy()
    return clustered_mean(values, clusters, plan.confidence)


def _most_common(people: pl.DataFrame) -> float:
    """The rating that people give most often, the lowest of several."""
    return float(people["rating"].mode().to_numpy().min())


def _within(replies: pl.DataFrame, plan: CalibrationPlan) -> tuple[float, float]:
    """Spearman's correlation among replies of one respondent, and the lower end of its interval.

    The mean over respondents; the interval is on the mean of Fisher's z.
    """
    known = replies.drop_nulls(["respondent"])
    if known["respondent"].n_unique() < 2:
        return math.nan, math.nan
    correlations = np.array(
        [
            (one.estimate, one.n)
            for _, rows in known.group_by("respondent", maintain_order=True)
            if not math.isnan((one := spearman(rows["people"], rows["expected"])).estimate)
        ]
    ).reshape(-1, 2)
    if not len(correlations):
        return math.nan, math.nan
    r, n = correlations.T
    return float(np.average(r, weights=n)), _pooled_low(r[n > 3], n[n > 3] - 3, plan.confidence)


def _pooled_low(r: Array, weights: Array, confidence: float) -> float:
    """The lower end for correlations taken together, each with Bonett and Wright's variance."""
    if not len(r):
        return math.nan
    z = np.arctanh(np.clip(r, -0.999, 0.999))
    se = math.sqrt(float((weights * (1 + r**2 / 2)).sum())) / float(weights.sum())
    margin = NormalDist().inv_cdf((1 + confidence) / 2) * se
    return math.tanh(float(np.average(z, weights=weights)) - margin)


def _pair_kappas(own: _Shared) -> tuple[float, float]:
    """The mean weighted kappa of two people, and of the judge with one person."""
    if own.replies.is_empty():
        return math.nan, math.nan
    judge = own.replies.select("response", rater=pl.lit(_JUDGE), rating="value")
    frame = pl.concat([own.people.select("response", "rater", "rating"), judge])
    table = rating_table(frame, situation="response")
    pairs = pair_agreements(table, min_shared=_FEWEST_SHARED)
    kappas: dict[bool, list[float]] = {False: [], True: []}
    for pair in pairs:
        if not math.isnan(kappa := pair.weighted_kappa.estimate):
            kappas[_JUDGE in (pair.rater_a, pair.rater_b)].append(kappa)
    people, with_judge = (float(np.mean(kept)) if kept else math.nan for kept in kappas.values())
    return people, with_judge


def _stability(asked: pl.DataFrame, plan: CalibrationPlan) -> Stability | None:
    counted = asked.group_by("response", maintain_order=True).agg(
        n=pl.len(), different=pl.col("rating").n_unique(), spread=pl.col("rating").var()
    )
    again = counted.filter(pl.col("n") > 1)
    if again.is_empty():
        return None
    repeated = asked.join(again.select("response"), on="response", how="semi")
    alpha = krippendorff_alpha(
        repeated,
        situation="response",
        rater="repeat",
        resamples=plan.resamples,
        seed=plan.seed,
        confidence=plan.confidence,
    )
    degrees = again["n"] - 1
    pooled = float((again["spread"] * degrees).sum()) / float(degrees.sum())
    return Stability(
        alpha=alpha,
        same=float((again["different"].to_numpy() == 1).mean()),
        sd=math.sqrt(pooled),
        responses=len(again),
        repeats=float(np.mean(again["n"].to_numpy())),
        turned=repeated["turned"].drop_nulls().n_unique() > 1,
    )


def _curve(rows: pl.DataFrame, plan: CalibrationPlan) -> CalibrationCurve | None:
    if rows.is_empty():
        return None
    return calibration_curve(rows, prediction="expected", confidence=plan.confidence)


def _scores(rows: pl.DataFrame, plan: CalibrationPlan) -> CalibrationScores | None:
    """None where there is too little to leave anything out."""
    if rows["situation"].n_unique() < 2 or rows["rating"].n_unique() < 2:
        return None
    return calibration_scores(
        rows, prediction="expected", seed=plan.seed, confidence=plan.confidence
    )
