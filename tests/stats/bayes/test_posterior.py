"""The posterior of the ordinal model: against quadrature, and against other priors sampled anew."""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import expit, logit

from empathylab.analysis.ratings import from_table
from empathylab.errors import MissingExtra
from empathylab.stats.bayes import (
    Posterior,
    Priors,
    marginal_probabilities,
    reweighted,
    sample_posterior,
)
from empathylab.stats.bayes.ordinal import posterior_sampler, run_sampler
from empathylab.stats.mixed.design import MixedDesign, read_design
from tests.stats.mixed.rated_frames import between, crossed

# JAX warns of its own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
SLOW = os.environ.get("EMPATHYLAB_CALIBRATION", "")


def design_of(frame: pl.DataFrame, formula: str) -> MixedDesign:
    return read_design(frame, formula, reference={"arm": "a"}, ordinal=True)


def by_quadrature(counts: np.ndarray[Any, Any], priors: Priors) -> tuple[float, float]:
    """Mean and SD of the effect without random effects, by summing over a grid."""
    shares = np.linspace(0.005, 0.995, 120)
    effects = np.linspace(-2, 2.5, 181)
    weights = np.zeros(len(effects))
    for first, second in itertools.product(shares, shares):
        if first + second > 0.999:
            continue  # a uniform Dirichlet prior: every pair of shares counts alike
        cuts = logit([first, first + second])
        below = expit(cuts[:, None] - effects)
        arm = np.array([below[0], below[1] - below[0], 1 - below[1]])
        fixed = counts[0] @ np.log([first, second, 1 - first - second])
        logs = fixed + counts[1] @ np.log(arm)
        weights += np.exp(logs - largest_log(counts))
    weights *= stats.norm.pdf(effects, scale=priors.effect_sd)
    weights /= weights.sum()
    mean = float(weights @ effects)
    return mean, float(np.sqrt(weights @ (effects - mean) ** 2))


def largest_log(counts: np.ndarray[Any, Any]) -> float:
    """About the largest log-likelihood, so that exp does not underflow."""
    totals = counts.sum(axis=1, keepdims=True)
    return float(np.sum(counts * np.log(counts / totals)))


@pytest.mark.slow
def test_the_posterior_without_random_effects_is_that_of_quadrature() -> None:
    counts = np.array([[14, 16, 10], [8, 12, 20]])
    rows = [
        {"arm": "ab"[arm], "rating": category + 1}
        for (arm, category), count in np.ndenumerate(counts)
        for _ in range(count)
    ]
    priors = Priors(effect_sd=0.5)
    design = design_of(pl.DataFrame(rows), "rating ~ arm")
    posterior = sample_posterior(design, priors, seed=2, warmup=500, draws=2000, chains=1)
    effect = posterior.effects["armb"]
    mean, sd = by_quadrature(counts, priors)
    assert effect.mean() == pytest.approx(mean, abs=0.03)
    assert effect.std() == pytest.approx(sd, abs=0.02)
    assert posterior.reliable
    # Other priors, without sampling again: what quadrature gives with them.
    for factor in (0.5, 2.0):
        other = reweighted(posterior, priors.scaled(factor))
        mean, sd = by_quadrature(counts, other.priors)
        assert other.weights @ effect == pytest.approx(mean, abs=0.04)
        low, high = other.quantile(effect, 0.025), other.quantile(effect, 0.975)
        assert high - low == pytest.approx(2 * 1.96 * sd, rel=0.1)
        assert 100 < other.effective_draws < posterior.draws
    shares = marginal_probabilities(posterior, design, "arm")
    assert shares.sum(axis=2) == pytest.approx(1)
    assert shares[:, 0, 0] == pytest.approx(expit(posterior.cuts[:, 0]))
    assert shares[:, 1, 2] == pytest.approx(1 - expit(posterior.cuts[:, 1] - effect))


@pytest.mark.slow
def test_conclusions_priors_and_agreement_with_the_likelihood_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Posterior] = []

    def recording(design: MixedDesign) -> Posterior:
        drawn.append(sample_posterior(design, warmup=300, draws=250))
        return drawn[-1]

    monkeypatch.setattr("empathylab.analysis.ratings.bayes.sample_posterior", recording)
    frame = between(8, seed=5, effect=1.5, sd=(0.6, 0.3))
    result = from_table(frame, reference="a", bayes=True, margin=5)
    [model] = result.bayes
    [arm] = model.arms
    assert arm.kind == "better"
    assert arm.better > 0.999
    # The prior pulls the estimate to 0 by a little, and the interval's width stays.
    assert arm.effect.estimate == pytest.approx(arm.likelihood.estimate, rel=0.1)
    width = arm.likelihood.high - arm.likelihood.low
    assert arm.effect.high - arm.effect.low == pytest.approx(width, rel=0.2)
    half, double = (other.effect for other in arm.other_priors)
    assert half is not None
    assert double is not None
    assert half.estimate < arm.effect.estimate < double.estimate + 0.02
    assert arm.unit == "percentage points"
    observed = frame.group_by("arm").agg((pl.col("rating") == 3).mean()).sort("arm")["rating"]
    assert arm.difference.estimate == pytest.approx(100 * (observed[1] - observed[0]), abs=5)
    assert arm.equivalent is not None
    assert arm.equivalent < 0.01
    document = result.to_dict()["bayes"][0]
    assert document["priors"]["effect_sd"] == 1.5
    assert document["arms"][0]["kind"] == "better"
    assert "with posterior probability > .999" in result.summary()
    assert "half-normal (1) for standard deviations" in " ".join(result.paragraphs())
    # Draws are added until chains agree; where they do not, nothing is concluded from them.
    assert model.reliable
    assert model.draws > 1000
    assert len(np.unique(drawn[0].effects["armb"])) > 0.9 * model.draws  # no batch comes twice
    [refused] = dataclasses.replace(model, reliable=False, rhat=1.05).conclusions()
    assert refused.kind == "inconclusive"
    assert refused.sentence.startswith("No Bayesian conclusion about b and a on rating: after ")
    assert "R-hat 1.050, below 1.01 needed" in refused.sentence
    assert "Use the likelihood fit, +" in refused.sentence


def test_without_numpyro_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numpyro.infer", None)
    design = design_of(crossed(4, 4, seed=1), "rating ~ arm")
    with pytest.raises(MissingExtra, match=r"Run: pip install 'empathylab\[bayes\]'"):
        sample_posterior(design)


@pytest.mark.skipif(not SLOW, reason="minutes: set EMPATHYLAB_CALIBRATION to a number of studies")
def test_simulation_based_calibration() -> None:
    """Talts et al. (2018): ranks of the true values among the draws are uniform."""
    studies, kept = int(SLOW or 0), 99
    priors = Priors()
    design = design_of(crossed(12, 8, seed=1), "rating ~ arm + (1|rater) + (1|situation)")
    sampler = posterior_sampler(design, priors, warmup=400, draws=5 * kept, chains=1)
    generator = np.random.default_rng(20261116)
    ranks: dict[str, list[int]] = {"effect": [], "cut": [], "rater": [], "situation": []}
    for study in range(studies):
        shares = generator.dirichlet([priors.category] * 3)
        cuts = logit(np.clip(np.cumsum(shares)[:-1], 1e-6, 1 - 1e-6))
        effect = generator.normal(0, priors.effect_sd)
        latent = design.x[:, 0] * effect + generator.logistic(size=design.n)
        spread = {}
        for group in design.groups:
            spread[group.name] = abs(generator.normal(0, priors.spread_sd))
            latent += spread[group.name] * generator.normal(size=len(group.levels))[group.codes]
        rated = dataclasses.replace(design, y=(latent[:, None] > cuts).sum(axis=1))
        posterior = run_sampler(sampler, rated, priors, seed=study)
        drawn = {
            "effect": (posterior.effects["armb"], effect),
            "cut": (posterior.cuts[:, 0], cuts[0]),
            **{name: (posterior.spread[name], value) for name, value in spread.items()},
        }
        for name, (draws, true) in drawn.items():
            ranks[name].append(int(np.sum(draws[::5] < true)))
    for name, found in ranks.items():
        counts, _ = np.histogram(found, bins=10, range=(0, kept + 1))
        print(name, counts, stats.chisquare(counts))  # noqa: T201
        assert stats.chisquare(counts).pvalue > 0.001, f"{name}: {counts}"
