from __future__ import annotations

from empathylab.analysis.text.power import (
    chi_square_sentence,
    raters_sentence,
    simulation_sentences,
    two_shares_sentence,
)
from empathylab.stats.arms import Estimate
from empathylab.stats.power.analytic import (
    chi_square_power,
    raters_for_precision,
    two_shares_power,
)
from empathylab.stats.power.simulation import PlannedStudy, SimulatedPower


def simulated(odds_ratio: float, failed: int, design: str = "between") -> SimulatedPower:
    plan = PlannedStudy(50, 10, odds_ratio, design=design)  # type: ignore[arg-type]
    shares = (Estimate(0.06, 0.03, 0.1), Estimate(0.05, 0.03, 0.09), Estimate(0.12, 0.08, 0.17))
    return SimulatedPower(plan, 0.05, 200, failed, *shares, 1)


def test_one_degree_of_freedom_is_in_the_singular() -> None:
    text = chi_square_sentence(chi_square_power(0.3, 145))
    assert text == (
        "A chi-square test with 1 degree of freedom on 145 independent observations in total "
        "detects an effect of w = 0.300 with a power of 95.1% at α = .05."
    )


def test_two_shares_are_told_in_percent() -> None:
    text = two_shares_sentence(two_shares_power(0.65, 0.5, 100))
    assert (
        "a difference between 65% and 50% good ratings is found with a power of 57.4% at α = .05."
        in text
    )


def test_raters_are_told_with_their_design_effect() -> None:
    assert "(ICC = .10), so each counts for less, with a design effect of 1.90." in raters_sentence(
        raters_for_precision(0.05)
    )


def test_raters_who_are_not_alike_are_told_without() -> None:
    assert raters_sentence(raters_for_precision(0.05, icc=0)).endswith("(390 ratings per arm).")


def test_no_effect_is_told_as_a_false_positive_rate() -> None:
    text = simulation_sentences(simulated(1.0, failed=0))
    assert text.startswith("Where the arms do not differ (50 raters per arm with 10 ratings each")
    assert "rejects in 6.0% (95% CI [3.0, 10.0]) of 200 simulated studies; .05 would be" in text
    assert "the plain chi-square, which treats ratings as independent, in 12.0%" in text
    assert "raters do not differ in how they respond to the arm" in text


def test_studies_that_failed_are_told() -> None:
    text = simulation_sentences(simulated(1.5, failed=1, design="within"))
    assert "(50 raters with 10 ratings each, split over both arms, raters' SD" in text
    assert text.endswith("1 study had no model that converged and does not count.")
