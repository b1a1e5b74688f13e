"""The Bayesian counterpart of the arms' mixed models: posteriors, their priors, and conclusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.scales import StudyScales
from empathylab.analysis.results import Conclusion, Kind, Unit
from empathylab.analysis.text.names import first_capital, name_of, was
from empathylab.analysis.text.numbers import number, p_value, signed
from empathylab.stats.arms import Estimate
from empathylab.stats.bayes import (
    Posterior,
    Priors,
    marginal_probabilities,
    reweighted,
    sample_posterior,
)
from empathylab.stats.bayes.ordinal import Draws
from empathylab.stats.mixed import Clmm

_SURE = 0.975
"""The posterior probability of a direction from which an arm counts as better or worse."""
_EQUIVALENT = 0.95
_FACTORS = (0.5, 2.0)
_FEWEST = 100
"""Effective draws below which reweighting cannot say what other priors would give."""


@dataclass(frozen=True, slots=True)
class OtherPriors:
    """The effect under priors of another width; None where the draws cannot show it."""

    factor: float
    effect: Estimate | None


@dataclass(frozen=True, slots=True)
class ArmPosterior:
    """What is known of an arm's difference from the reference after the ratings."""

    arm: str
    effect: Estimate
    """Log-odds: posterior median and central 95% interval."""
    better: float
    """The posterior probability that the arm is rated higher."""
    difference: Estimate
    """Over all raters and situations, in the unit of the study's comparison."""
    unit: Unit
    equivalent: float | None
    """The posterior probability that the difference lies within the margin, where one is given."""
    likelihood: Estimate
    """The effect by maximum likelihood, with the interval of its t test."""
    other_priors: tuple[OtherPriors, ...]

    @property
    def kind(self) -> Kind:
        if max(self.better, 1 - self.better) > _SURE:
            return "better" if self.better > 0.5 else "worse"
        certain = self.equivalent is not None and self.equivalent > _EQUIVALENT
        return "equivalent" if certain else "inconclusive"


@dataclass(frozen=True, slots=True)
class BayesModel:
    """The posterior of one dimension's model, in numbers."""

    dimension: str
    formula: str
    reference: str
    priors: Priors
    arms: tuple[ArmPosterior, ...]
    spread: Mapping[str, Estimate] = field(hash=False)
    """Standard deviations of the random effects."""
    n: int
    draws: int
    chains: int
    rhat: float
    effective_draws: float
    divergences: int
    reliable: bool

    def conclusions(self) -> tuple[Conclusion, ...]:
        """A sentence for each arm; none is concluded from draws that cannot be trusted."""
        return tuple(
            Conclusion(
                kind=arm.kind if self.reliable else "inconclusive",
                sentence=_sentence(self, arm) if self.reliable else _refusal(self, arm),
                subject=arm.arm,
                reference=self.reference,
                dimension=self.dimension,
                subset="all",
                **picked(arm.effect, "estimate low high"),
                unit="log-odds",
                n=self.n,
                model=f"Bayesian cumulative link mixed model: {self.formula}",
                basis=f"{self.draws:,} draws of {self.chains} chains",
            )
            for arm in self.arms
        )

    def methods(self) -> str:
        """How the posterior was drawn, ready for a paper's methods section."""
        priors = self.priors
        return (
            f"Ratings of {self.dimension} were also analysed with a Bayesian cumulative link mixed "
            f"model (logit link) of the formula {self.formula}, by NUTS in NumPyro "
            f"({self.chains} chains, {self.draws:,} draws after warm-up; largest R-hat "
            f"{number(self.rhat, 3)}, smallest effective sample size "
            f"{number(self.effective_draws, 0)}, {self.divergences} divergences). Priors in "
            f"log-odds: Normal(0, {priors.effect_sd:g}) for effects, half-normal "
            f"({priors.spread_sd:g}) for standard deviations, LKJ({priors.correlation:g}) for "
            "correlations; Dirichlet(1) for the reference's category probabilities."
        )


def bayes_models(
    models: Iterable[DimensionModel], scales: StudyScales, margins: Mapping[str, float]
) -> tuple[BayesModel, ...]:
    """The posterior of every ordinal model of the arms; of the others there is none."""
    posteriors = []
    for fitted in models:
        if fitted.by_valence or not isinstance(fitted.model, Clmm):
            continue
        posterior = sample_posterior(fitted.model.design)
        margin = margins.get(fitted.dimension)
        posteriors.append(_model(fitted, fitted.model, posterior, scales, margin))
    return tuple(posteriors)


def _model(
    fitted: DimensionModel,
    model: Clmm,
    posterior: Posterior,
    scales: StudyScales,
    margin: float | None,
) -> BayesModel:
    reference, *arms = model.design.factors["arm"]
    shares = marginal_probabilities(posterior, model.design, "arm")
    values, unit = _values(model, scales, fitted.dimension)
    scores = shares @ values
    others = [reweighted(posterior, posterior.priors.scaled(factor)) for factor in _FACTORS]
    contrasts = []
    for place, arm in enumerate(arms, start=1):
        effect = posterior.effects[f"arm{arm}"]
        difference = scores[:, place] - scores[:, 0]
        test = fitted.tests.get(f"arm{arm}") or model.coefficients[f"arm{arm}"]
        contrasts.append(
            ArmPosterior(
                arm=arm,
                effect=_estimate(effect),
                better=float(np.mean(effect > 0)),
                difference=_estimate(difference),
                unit=unit,
                equivalent=None if margin is None else float(np.mean(abs(difference) < margin)),
                likelihood=Estimate(test.estimate, test.low, test.high),
                other_priors=tuple(
                    OtherPriors(
                        factor,
                        Estimate(*(other.quantile(effect, at) for at in (0.5, 0.025, 0.975)))
                        if other.effective_draws >= _FEWEST
                        else None,
                    )
                    for factor, other in zip(_FACTORS, others, strict=True)
                ),
            )
        )
    return BayesModel(
        dimension=fitted.dimension,
        formula=model.formula,
        reference=reference,
        priors=posterior.priors,
        arms=tuple(contrasts),
        spread={name: _estimate(draws) for name, draws in posterior.spread.items()},
        n=model.n,
        draws=posterior.draws,
        chains=posterior.chains,
        rhat=posterior.rhat,
        effective_draws=posterior.effective_draws,
        divergences=posterior.divergences,
        reliable=posterior.reliable,
    )


def _values(model: Clmm, scales: StudyScales, dimension: str) -> tuple[Draws, Unit]:
    """What each category counts: its value, or 100 where it is a good one."""
    points = np.array([float(level) for level in model.levels])
    if dimension in scales.by_mean:
        return points, "points"
    scale = scales.counted[dimension]
    good = scale.values[-1] if scale.good_from is None else scale.good_from
    return np.where(points >= good, 100.0, 0.0), "percentage points"


def _estimate(draws: Draws) -> Estimate:
    median, low, high = np.quantile(draws, (0.5, 0.025, 0.975))
    return Estimate(float(median), float(low), float(high))


def _span(estimate: Estimate, digits: int) -> str:
    ends = f"[{number(estimate.low, digits)}, {number(estimate.high, digits)}]"
    return f"{signed(estimate.estimate, digits)} {ends}"


def _sentence(model: BayesModel, arm: ArmPosterior) -> str:
    direction = "higher" if arm.better >= 0.5 else "lower"
    sure = max(arm.better, 1 - arm.better)
    text = (
        f"{was(arm.arm)} rated {direction} than {name_of(model.reference)} on {model.dimension} "
        f"with posterior probability {_probability(sure)}: log-odds {_span(arm.effect, 3)}, "
        f"difference {_span(arm.difference, 2 if arm.unit == 'points' else 1)} {arm.unit} (median "
        "and 95% credible interval)"
    )
    if arm.equivalent is not None:
        text += f"; within the margin with probability {_probability(arm.equivalent)}"
    text += f". Maximum likelihood gives {_span(arm.likelihood, 3)}. "
    half, double = arm.other_priors
    text += f"With priors half as wide {_other(half)}, twice as wide {_other(double)}."
    return first_capital(text)


def _other(priors: OtherPriors) -> str:
    return (
        "cannot be estimated from these draws" if priors.effect is None else _span(priors.effect, 3)
    )


def _probability(value: float) -> str:
    return "> .999" if value > 0.999 else p_value(value)


def _refusal(model: BayesModel, arm: ArmPosterior) -> str:
    return (
        f"No Bayesian conclusion about {name_of(arm.arm)} and {name_of(model.reference)} on "
        f"{model.dimension}: after {model.draws:,} draws the chains cannot be trusted (largest "
        f"R-hat {number(model.rhat, 3)}, below 1.01 needed; smallest effective sample size "
        f"{number(model.effective_draws, 0)}, 400 needed; {model.divergences} divergences, 0 "
        f"needed). Use the likelihood fit, {_span(arm.likelihood, 3)}, or collect more ratings of "
        "each rater and situation."
    )


def bayes_document(models: Iterable[BayesModel]) -> list[dict[str, Any]]:
    """The posteriors as JSON holds them."""
    documents = []
    for model in models:
        row = json_value(model)
        for arm, cells in zip(model.arms, row["arms"], strict=True):
            cells["kind"] = arm.kind if model.reliable else "inconclusive"
        row["conclusions"] = [str(conclusion) for conclusion in model.conclusions()]
        documents.append(row)
    return documents
