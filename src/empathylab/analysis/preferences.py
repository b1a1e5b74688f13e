"""Whose replies people prefer, from comparisons side by side in a study."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from scipy.special import expit
from scipy.stats import t

from empathylab.analysis.json_values import json_value
from empathylab.analysis.results import ALPHA, Conclusion, Kind, ModelChoice, Result
from empathylab.analysis.text.apa import counted, listed, p_text
from empathylab.analysis.text.names import name_of, owner
from empathylab.analysis.text.numbers import number, p_value, percent, signed, with_ends
from empathylab.errors import InputError
from empathylab.stats.arguments import require_columns
from empathylab.stats.corrections import holm
from empathylab.stats.estimates import Estimate
from empathylab.stats.preferences.bradley_terry import (
    BradleyTerry,
    Effect,
    Strength,
    bradley_terry,
)
from empathylab.stats.preferences.comparisons import comparisons
from empathylab.store import Lab
from empathylab.store.ratings import arm_authors, lab_study, preferences_frame
from empathylab.study.admin.embargo import require_closed

_FEW_RATERS = 20
_TWO = 2
_PRIOR = 0.5
"""Wins added each way where one side won every comparison, so that strengths are finite."""
ONE_ORDER = (
    "Every pair was always shown in the same order, so a preference for one of the two can be a "
    "preference for the reply shown first."
)


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two arms, the stronger first: what raters chose, and the difference in strength."""

    first: str
    second: str
    first_chosen: int
    second_chosen: int
    ties: int
    effect: Effect
    p: float
    p_adjusted: float

    @property
    def n(self) -> int:
        """How often the two were compared with each other."""
        return self.first_chosen + self.second_chosen + self.ties


@dataclass(frozen=True, slots=True)
class PreferencesResult(Result):
    """Bradley–Terry strengths of the arms, clustered by rater and situation."""

    fitted: BradleyTerry
    raters: int
    situations: int
    has_prior: bool
    counts: Mapping[tuple[str, str], tuple[int, int, int]] = field(hash=False)
    """By the arms in the order shown: how often the first, the second and neither was chosen."""
    study: str = ""
    title: str = "Paired comparisons"
    authors: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The respondent behind each arm, where the lab knows it."""

    @property
    def design(self) -> Mapping[str, Any]:
        """How many comparisons there are, of what."""
        return {"n": self.fitted.n, "raters": self.raters, "situations": self.situations}

    @property
    def model(self) -> ModelChoice:
        """Bradley and Terry's model."""
        return ModelChoice(
            name="Bradley–Terry with ties (Davidson) and an order effect",
            reason="each person compares several pairs, so standard errors are clustered by rater "
            "and situation",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """One for each pair of arms, the stronger first."""
        return tuple(map(self._conclusion, self.pairs))

    @property
    def basis(self) -> str:
        """How many comparisons there are, and by how many raters."""
        return f"{counted(self.fitted.n, 'comparison')} by {counted(self.raters, 'rater')}"

    @property
    def pairs(self) -> tuple[ComparedPair, ...]:
        """Each pair of arms, the stronger first."""
        names = [strength.respondent for strength in self.fitted.strengths]
        pairs = list(itertools.combinations(names, 2))
        effects = [self.fitted.difference(*pair) for pair in pairs]
        p_values = [_p(effect, self.fitted.df) for effect in effects]
        adjusted = holm(p_values)
        found = zip(pairs, effects, p_values, adjusted, strict=True)
        return tuple(
            ComparedPair(*pair, *self._chosen(*pair), effect, p, float(corrected))
            for pair, effect, p, corrected in found
        )

    def _chosen(self, first: str, second: str) -> tuple[int, int, int]:
        """How often the first, the second and neither was chosen, whichever was shown first."""
        none = (0, 0, 0)
        there, back = (self.counts.get(pair, none) for pair in ((first, second), (second, first)))
        return there[0] + back[1], there[1] + back[0], there[2] + back[2]

    @property
    def proportions(self) -> dict[str, Estimate]:
        """How often each arm is chosen, ties left out, the strongest first.

        With two arms over the other one; with several over an arm of average strength.
        """
        strengths = self.fitted.strengths
        effects: list[Effect | Strength] = list(strengths)
        if len(strengths) == _TWO:
            first, second = (strength.respondent for strength in strengths)
            effects = [self.fitted.difference(*two) for two in ((first, second), (second, first))]
        return {
            strength.respondent: proportion(effect)
            for strength, effect in zip(strengths, effects, strict=True)
        }

    @property
    def proportions_title(self) -> str:
        """What `proportions` are."""
        other = "" if len(self.fitted.strengths) == _TWO else " over an average arm"
        ties = ", ties left out" if self.fitted.tie is not None else ""
        return f"How often people chose each arm{other}{ties}"

    @property
    def order_effect(self) -> str:
        """What it does to be shown first, in a sentence; empty where this is not known."""
        order = self.fitted.order
        if order is None:
            return ""
        estimate, low, high = proportion(order)
        ties = ", ties left out" if self.fitted.tie is not None else ""
        ends = f" (95% CI {percent(low)} to {percent(high)})" if math.isfinite(low) else ""
        return (
            f"Order: of two equally strong replies, raters choose the one shown first in "
            f"{percent(estimate)} of comparisons{ties}{ends}. The results are adjusted for this."
        )

    def _conclusion(self, pair: ComparedPair) -> Conclusion:
        subject, reference, effect = pair.first, pair.second, pair.effect
        p, adjusted = pair.p, pair.p_adjusted
        better, other = name_of(subject), name_of(reference)
        first, second, tie = self.fitted.probabilities(subject, reference)
        kind: Kind = "better" if adjusted < ALPHA else "inconclusive"
        verb = "are preferred to" if kind == "better" else "are not clearly preferred to"
        ties = f" (neither in {percent(tie)})" if tie else ""
        tested = math.isfinite(p)
        corrected = f", {p_text(adjusted, 'adjusted p')}" if adjusted != p else ""
        numbers = (
            f"log odds {signed(effect.estimate, 2)}, 95% CI [{signed(effect.low, 2)}, "
            f"{signed(effect.high, 2)}], {p_text(p)}{corrected}"
            if tested
            else f"this cannot be tested, because {interval_obstacle(self.fitted, self.raters)}"
        )
        return Conclusion(
            kind=kind,
            sentence=f"Replies of {better} {verb} those of {other}: raters choose {better} in "
            f"{percent(first)} of comparisons and {other} in {percent(second)}{ties}; {numbers} "
            f"({self.basis}).",
            subject=subject,
            reference=reference,
            estimate=effect.estimate,
            low=effect.low if tested else None,
            high=effect.high if tested else None,
            unit="log-odds",
            p=p,
            p_adjusted=adjusted,
            n=self.fitted.n,
            model=self.model.name,
            basis=self.basis,
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the conclusions."""
        sentences = []
        if self.fitted.order is None:
            sentences.append(ONE_ORDER)
        if self.raters < _FEW_RATERS:
            sentences.append(f"Only {counted(self.raters, 'rater')}: intervals are rough.")
        if self.has_prior:
            sentences.append(
                "One arm or position won every comparison, or all were ties. Half a win was added "
                "each way to every pair, so strengths are finite, but closer together."
            )
        return tuple(sentences)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The strengths, and each pair of arms."""
        return {
            "strengths": pl.DataFrame(json_value(self.fitted.strengths)),
            "pairs": pl.DataFrame(self._pair_rows(), infer_schema_length=None),
        }

    def _pair_rows(self) -> list[dict[str, Any]]:
        """Each pair with its counts and numbers in one row."""
        rows = []
        for pair in self.pairs:
            row = json_value(pair)
            rows.append({"n": pair.n} | row | row.pop("effect"))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        document: dict[str, Any] = json_value(
            {
                "design": dict(self.design),
                "model": self.model.to_dict(),
                "strengths": self.fitted.strengths,
                "pairs": self._pair_rows(),
                "tie": self.fitted.tie,
                "order": self.fitted.order,
            }
        )
        return document | self.stated()


def headlines(result: PreferencesResult) -> Iterator[Conclusion]:
    """The conclusion on two arms; of several, over which others the strongest is preferred."""
    conclusions, names = result.conclusions, list(result.proportions)
    if len(names) == _TWO:
        yield from conclusions
        return
    best = [conclusion for conclusion in conclusions if conclusion.subject == names[0]]
    clear = [owner(str(item.reference)) for item in best if item.kind == "better"]
    unclear = [owner(str(item.reference)) for item in best if item.kind != "better"]
    weakest = replace(best[-1], caveats=())
    numbers = weakest.sentence.partition(": ")[2].removesuffix(".")
    if not clear:
        lead = (
            f"It is unclear whose replies of {len(names)} arms people prefer most; the strongest "
            f"is {name_of(names[0])}, the weakest {name_of(names[-1])}"
        )
    else:
        lead = (
            f"Of {len(names)} arms, replies of {name_of(names[0])} are preferred to {listed(clear)}"
        )
        lead += f", not clearly to {listed(unclear)}" if unclear else ""
    yield replace(weakest, sentence=f"{lead}: {numbers}.")


def strength_rows(result: PreferencesResult) -> list[dict[str, str]]:
    """The arms as a table shows them, the strongest first."""
    return [
        {
            "arm": strength.respondent,
            "strength": with_ends(
                strength.estimate, strength.low, strength.high, digits=2, written=signed
            ),
            "preferred": number(strength.wins, 0),
            "not preferred": number(strength.losses, 0),
            "ties": number(strength.ties, 0),
        }
        for strength in result.fitted.strengths
    ]


def pair_rows(result: PreferencesResult) -> list[dict[str, str]]:
    """The pairs of arms as a table shows them, the stronger arm first."""
    return [
        {
            "arm": pair.first,
            "compared with": pair.second,
            "comparisons": number(pair.n, 0),
            "preferred": number(pair.first_chosen, 0),
            "not preferred": number(pair.second_chosen, 0),
            "ties": number(pair.ties, 0),
            "log odds": with_ends(
                pair.effect.estimate, pair.effect.low, pair.effect.high, digits=2, written=signed
            ),
            "p": p_value(pair.p),
            "adjusted p": p_value(pair.p_adjusted),
        }
        for pair in result.pairs
    ]


def from_lab(
    lab: Lab, study: str | None = None, *, peek: str | None = None, who: str = "researcher"
) -> PreferencesResult:
    """The preferences of a closed study's raters; an open one needs a reason to `peek`."""
    rated = lab_study(lab, study)
    require_closed(lab, rated, peek=peek, who=who)
    frame = preferences_frame(lab, rated.name)
    if frame.is_empty():
        raise InputError(
            "the study has no comparisons of two replies",
            where=f"study {rated.name}",
            remedy="Add a block compare to the study file.",
        )
    return replace(
        from_table(frame),
        study=rated.name,
        title=rated.title,
        authors=arm_authors(lab, rated.name),
    )


def from_table(frame: pl.DataFrame) -> PreferencesResult:
    """The preferences in a table with rater, situation, first, second and outcome."""
    require_columns(frame, "rater", "situation", "first", "second", "outcome")
    has_prior = False
    try:
        fitted = _fit(frame, 0.0)
    except InputError:
        fitted, has_prior = _fit(frame, _PRIOR), True
    raters, situations = frame["rater"].n_unique(), frame["situation"].n_unique()
    return PreferencesResult(fitted, raters, situations, has_prior, _counts(frame))


def _counts(frame: pl.DataFrame) -> dict[tuple[str, str], tuple[int, int, int]]:
    columns = ("first", "second", "outcome")
    games = comparisons(frame.drop_nulls(columns), *columns)
    return {
        (games.names[first], games.names[second]): (int(won), int(lost), int(ties))
        for (first, second), (won, lost, ties) in zip(games.pairs, games.counts(), strict=True)
    }


def in_both_orders(frame: pl.DataFrame, first: str = "first", second: str = "second") -> bool:
    """Whether a pair was shown in both orders; else position and preference are one."""
    shown = set(frame.select(first, second).iter_rows())
    return any((right, left) in shown for left, right in shown)


def interval_obstacle(fitted: BradleyTerry, raters: int | None) -> str:
    """Why strengths without an interval have none; `raters` is None where they are not known."""
    if fitted.df < 1:
        return f"all comparisons are {'by one rater' if raters == 1 else 'of one situation'}"
    return "the comparisons do not vary"


def _fit(frame: pl.DataFrame, prior: float) -> BradleyTerry:
    return bradley_terry(
        frame,
        order_effect=in_both_orders(frame),
        rater="rater",
        situation="situation",
        prior=prior,
    )


def proportion(effect: Effect | Strength) -> Estimate:
    """How often the stronger is chosen, ties left out."""
    return Estimate(*(float(expit(end)) for end in (effect.estimate, effect.low, effect.high)))


def _p(effect: Effect, df: float) -> float:
    """NaN where the standard error is unknown."""
    if math.isnan(effect.se):
        return math.nan
    return float(2 * t.sf(abs(effect.estimate / effect.se), df))
