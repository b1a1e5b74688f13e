"""Likelihoods on the latent scale and their derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from empathylab.errors import UnknownName
from empathylab.stats.mixed.ordinal.likelihood import Likelihood
from empathylab.stats.mixed.ordinal.links import LINKS, Array, Link, find_link

LOWER, UPPER = np.array([-0.7]), np.array([1.1])
ETA = np.linspace(-3, 3, 13)
SIDES = [(None, UPPER), (LOWER, UPPER), (LOWER, None)]


def log_p(link: Link, lower: Array | None, upper: Array | None, eta: Array) -> Array:
    below = link.cdf(upper - eta) if upper is not None else np.ones(len(eta))
    return np.asarray(np.log(below - (link.cdf(lower - eta) if lower is not None else 0)))


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize(("lower", "upper"), SIDES)
def test_score_and_weight_are_slopes_of_the_likelihood(
    link: Link, lower: Array | None, upper: Array | None
) -> None:
    step = 1e-4
    here, ahead, behind = (log_p(link, lower, upper, ETA + d) for d in (0, step, -step))
    found = link.slopes(lower, upper, ETA)
    assert found.log_likelihood == pytest.approx(here.sum(), abs=1e-12)
    assert found.score == pytest.approx((behind - ahead) / (2 * step), abs=1e-7)
    assert found.weight == pytest.approx((2 * here - ahead - behind) / step**2, abs=1e-5)


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize(("lower", "upper"), SIDES)
def test_thresholds_change_score_and_weight_as_differences_say(
    link: Link, lower: Array | None, upper: Array | None
) -> None:
    step = 1e-5
    found = link.derivatives(lower, upper, ETA)
    if upper is not None:
        ahead, behind = (link.slopes(lower, upper + d, ETA) for d in (step, -step))
        assert found.sa == pytest.approx((ahead.score - behind.score) / (2 * step), abs=1e-8)
        assert found.wa == pytest.approx((ahead.weight - behind.weight) / (2 * step), abs=1e-8)
    if lower is not None:
        ahead, behind = (link.slopes(lower + d, upper, ETA) for d in (step, -step))
        assert found.sb == pytest.approx((ahead.score - behind.score) / (2 * step), abs=1e-8)
        assert found.wb == pytest.approx((ahead.weight - behind.weight) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_an_extreme_rating_keeps_its_digits(link: Link) -> None:
    # The mirrored rating is as likely, whichever tail it lies in.
    far = np.array([25.0])
    right = link.slopes(LOWER, UPPER, far)
    left = link.slopes(-UPPER, -LOWER, -far)
    assert right.log_likelihood == pytest.approx(left.log_likelihood, rel=1e-12)
    assert right.score == pytest.approx(-left.score, rel=1e-9)


def test_the_logistic_likelihood_of_a_middle_category_by_hand() -> None:
    # F(log 3) − F(−log 3) = 3/4 − 1/4.
    third = np.array([math.log(3)])
    found = LINKS["logit"].slopes(-third, third, np.zeros(1))
    assert found.log_likelihood == pytest.approx(math.log(0.5))
    assert found.score == pytest.approx([0])
    assert found.weight == pytest.approx([2 * 3 / 16])


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_sums_over_thresholds_hold_for_any_number_of_categories(link: Link) -> None:
    generator = np.random.default_rng(5)
    y = np.concatenate([np.arange(7), generator.integers(0, 7, 60)])
    ratings = Likelihood(y, 7, link)
    thresholds, eta = np.linspace(-2, 2, 6), generator.normal(size=len(y))
    found = ratings.changes(thresholds, eta).sums
    for number in range(6):
        shift = np.zeros(6)
        shift[number] = 1e-5
        ahead, behind = (ratings.slopes(thresholds + d, eta) for d in (shift, -shift))
        slope = (ahead.log_likelihood - behind.log_likelihood) / 2e-5
        assert found.first[number] == pytest.approx(slope, abs=1e-6)


def test_an_unknown_link_brings_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="Known: logit, probit"):
        find_link("cauchit")
