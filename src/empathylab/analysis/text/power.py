"""Answers about the size of a study, in words."""

from __future__ import annotations

from empathylab.analysis.text.apa import bounded, counted, interval
from empathylab.analysis.text.numbers import number, percent
from empathylab.stats.arms import Estimate
from empathylab.stats.power.analytic import ChiSquarePower, RatersNeeded, TwoSharesPower
from empathylab.stats.power.simulation import SimulatedPower


def chi_square_sentence(test: ChiSquarePower) -> str:
    """What a chi-square test of this size can show."""
    return (
        f"A chi-square test with {counted(test.df, 'degree')} of freedom on "
        f"{counted(test.n, 'independent observation')} in total detects an effect of w = "
        f"{number(test.w, 3)} with a power of {number(100 * test.power)}% at α = "
        f"{bounded(test.alpha)}."
    )


def two_shares_sentence(test: TwoSharesPower) -> str:
    """What a comparison of two proportions of this size can show."""
    return (
        f"With {counted(test.n, 'independent rating')} per arm, a difference between "
        f"{percent(test.share)} and {percent(test.share_reference)} good ratings is found with a "
        f"power of {number(100 * test.power)}% at α = {bounded(test.alpha)}."
    )


def raters_sentence(needed: RatersNeeded) -> str:
    """How many raters that makes, and why more than it seems."""
    text = (
        f"That takes {counted(needed.raters, 'rater')} per arm with "
        f"{counted(needed.ratings_per_rater, 'rating')} each "
        f"({number(needed.ratings, 0)} ratings per arm)"
    )
    if needed.design_effect <= 1:
        return f"{text}."
    return (
        f"{text}: ratings by the same rater are similar (ICC = {bounded(needed.icc)}), so each "
        f"counts for less, with a design effect of {number(needed.design_effect, 2)}."
    )


def simulation_sentences(result: SimulatedPower) -> str:
    """How often the tests reject in the simulated studies."""
    plan = result.plan
    between = plan.design == "between"
    fitted = result.simulations - result.failed
    simulated = counted(fitted, "simulated study", "simulated studies")
    what = (
        f"{counted(plan.raters, 'rater')}{' per arm' if between else ''} with "
        f"{counted(plan.ratings_per_rater, 'rating')} each"
        f"{'' if between else ', split over both arms'}, "
        f"raters' SD {number(plan.rater_sd, 2)}, situations' SD {number(plan.situation_sd, 2)}"
    )
    if plan.odds_ratio == 1:
        first = (
            f"Where the arms do not differ ({what}), the mixed model rejects in "
            f"{_share(result.mixed_model)} of {simulated}; {bounded(result.alpha)} would be right."
        )
    else:
        first = (
            f"An odds ratio of {number(plan.odds_ratio, 2)} ({what}) is found by the mixed model "
            f"in {_share(result.mixed_model)} of {simulated}, at α = {bounded(result.alpha)}."
        )
    others = (
        f"A cluster-robust test rejects in {_share(result.clustered)}, the plain chi-square, "
        f"which treats ratings as independent, in {_share(result.chi_square)}."
    )
    limits = (
        "The simulation assumes that raters do not differ in how they respond to the arm, and that "
        "replies of one arm do not differ beyond their situations; otherwise power is lower."
    )
    sentences = [first, others, limits]
    if result.failed:
        sentences.append(
            f"{counted(result.failed, 'study', 'studies')} had no model that converged and "
            f"{'does' if result.failed == 1 else 'do'} not count."
        )
    return " ".join(sentences)


def _share(estimate: Estimate) -> str:
    return f"{number(100 * estimate.estimate)}% ({interval(estimate, times=100)})"
