"""Whose replies people prefer, from comparisons side by side in a study."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from scipy.stats import t

from empathylab.analysis.json_values import json_value
from empathylab.analysis.results import ALPHA, Conclusion, Kind, ModelChoice, Result
from empathylab.analysis.text.apa import counted, p_text
from empathylab.analysis.text.numbers import percent, signed
from empathylab.errors import InputError
from empathylab.stats.arguments import require_columns
from empathylab.stats.corrections import holm
from empathylab.stats.preferences.bradley_terry import BradleyTerry, Effect, bradley_terry
from empathylab.store import Lab
from empathylab.store.ratings import lab_study, preferences_frame
from empathylab.study.admin.embargo import require_closed

_FEW_RATERS = 20
_PRIOR = 0.5
"""Wins added each way where one side won every comparison, so that strengths are finite."""
ONE_ORDER = (
    "Every pair was always shown in the same order, so a preference for one of the two can be a "
    "preference for the reply shown first."
)


@dataclass(frozen=True, slots=True)
class PreferencesResult(Result):
    """Bradley–Terry strengths of the arms, clustered by rater and situation."""

    fitted: BradleyTerry
    raters: int
    situations: int
    has_prior: bool

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
        names = [strength.respondent for strength in self.fitted.strengths]
        pairs = list(itertools.combinations(names, 2))
        effects = [self.fitted.difference(*pair) for pair in pairs]
        p_values = [_p(effect, self.fitted.df) for effect in effects]
        adjusted = holm(p_values)
        return tuple(
            self._conclusion(*pair, effect, p, float(corrected))
            for pair, effect, p, corrected in zip(pairs, effects, p_values, adjusted, strict=True)
        )

    def _conclusion(
        self, subject: str, reference: str, effect: Effect, p: float, adjusted: float
    ) -> Conclusion:
        first, second, tie = self.fitted.probabilities(subject, reference)
        kind: Kind = "better" if adjusted < ALPHA else "inconclusive"
        verb = "are preferred to" if kind == "better" else "are not clearly preferred to"
        ties = f" (neither in {percent(tie)})" if tie else ""
        basis = f"{counted(self.fitted.n, 'comparison')} by {counted(self.raters, 'rater')}"
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
            sentence=f"Replies of {subject} {verb} those of {reference}: people choose "
            f"{subject} in {percent(first)} of comparisons and {reference} in {percent(second)}"
            f"{ties}; "
            f"{numbers} ({basis}).",
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
            basis=basis,
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
        """The strengths."""
        return {"strengths": pl.DataFrame(json_value(self.fitted.strengths))}

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        document: dict[str, Any] = json_value(
            {
                "design": dict(self.design),
                "model": self.model.to_dict(),
                "strengths": self.fitted.strengths,
                "tie": self.fitted.tie,
                "order": self.fitted.order,
            }
        )
        return document | self.stated()


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
    return from_table(frame)


def from_table(frame: pl.DataFrame) -> PreferencesResult:
    """The preferences in a table with rater, situation, first, second and outcome."""
    require_columns(frame, "rater", "situation", "first", "second", "outcome")
    has_prior = False
    try:
        fitted = _fit(frame, 0.0)
    except InputError:
        fitted, has_prior = _fit(frame, _PRIOR), True
    raters, situations = frame["rater"].n_unique(), frame["situation"].n_unique()
    return PreferencesResult(fitted, raters, situations, has_prior)


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


def _p(effect: Effect, df: float) -> float:
    """NaN where the standard error is unknown."""
    if math.isnan(effect.se):
        return math.nan
    return float(2 * t.sf(abs(effect.estimate / effect.se), df))
