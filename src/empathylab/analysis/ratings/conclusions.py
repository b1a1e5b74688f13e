"""Conclusions about rated arms: better, worse, equivalent or inconclusive, with their numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

from empathylab.analysis.json_values import picked
from empathylab.analysis.ratings.design import RatingsDesign
from empathylab.analysis.ratings.differences import Comparison
from empathylab.analysis.ratings.looks import Look
from empathylab.analysis.ratings.mixed_models import doubtful
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.scales import Margins, StudyScales
from empathylab.analysis.ratings.sentences import (
    conclusion_sentence,
    few_raters,
    few_replies,
    model_caveats,
    small_effect,
    small_sample,
    unequal_effects,
)
from empathylab.analysis.results import ALPHA, Conclusion, Kind, Unit
from empathylab.analysis.text.apa import counted, interval
from empathylab.analysis.text.names import first_capital, was
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.arms import ArmComparison, Estimate
from empathylab.stats.arms.means import MeanComparison
from empathylab.stats.corrections import holm
from empathylab.stats.equivalence import Equivalence
from empathylab.stats.t_tests import TTest, t_margin

MANY = 1000
"""Degrees of freedom from which t is normal."""
_CONFOUNDED = ("arm_with_one_rater", "arm_with_one_situation")
"""Why nothing separates the arm from a rater or from a situation."""


def conclusions(
    comparisons: Sequence[Comparison],
    models: Sequence[DimensionModel],
    design: RatingsDesign,
    margins: Margins,
    scales: StudyScales,
    look: Look | None = None,
) -> tuple[Conclusion, ...]:
    """Per dimension and arm the mixed model's conclusion, then that of the clustered test.

    The conclusions over all situations come first, those by valence after them.
    """
    main = [item for item in comparisons if item.kind == "all"]
    by_dimension = {model.dimension: model for model in models if not model.by_valence}
    written: list[Conclusion] = []
    for item in main:
        fitted = by_dimension.get(item.dimension)
        written += _main(item, fitted, design, margins.get(item.dimension), scales, look)
    # Where all situations have one valence, that would say the same again.
    whole = {(item.dimension, item.arm): item.n for item in main}
    written += [
        _of_test(item, design, margins.get(item.dimension), look)
        for item in comparisons
        if item.kind == "valence" and item.n < whole[item.dimension, item.arm]
    ]
    return tuple(written)


def _main(
    comparison: Comparison,
    fitted: DimensionModel | None,
    design: RatingsDesign,
    margin: float | None,
    scales: StudyScales,
    look: Look | None,
) -> Iterator[Conclusion]:
    test = _of_test(comparison, design, margin, look)
    tested = None if fitted is None else _tested(fitted, comparison.arm)
    if comparison.problem is not None and comparison.problem.code in _CONFOUNDED:
        yield test
        return
    few = few_replies(design)
    if fitted is None or fitted.model is None or tested is None or few:
        if not math.isfinite(comparison.p):
            yield test
            return
        why = few or "the mixed model gives no estimate for this arm"
        reason = why if fitted is None or fitted.model else f"no mixed model: {fitted.problem}"
        caveat = f"This rests on the clustered test alone; {reason.rstrip('.')}."
        yield dataclasses.replace(test, caveats=(caveat, *test.caveats))
        return
    effect, p_adjusted = tested
    unit: Unit = "log-odds" if fitted.kind == "clmm" else "points"
    estimate = Estimate(effect.estimate, effect.low, effect.high)
    if look is not None:
        estimate = _at_level(effect.estimate, effect.se, effect.df, look.alpha)
    equivalence = comparison.equivalence(margin)
    kind = _kind(estimate.estimate, p_adjusted, equivalence, look)
    by = f"mixed model, t({number(effect.df)})" if effect.df < MANY else "mixed model"
    yield Conclusion(
        kind=kind,
        sentence=conclusion_sentence(
            *(comparison, kind, estimate, unit, effect.p, p_adjusted, equivalence),
            by="; ".join([by, *few_raters(comparison, design), *([str(look)] if look else [])]),
            look=look,
        ),
        subject=comparison.arm,
        reference=comparison.reference,
        dimension=comparison.dimension,
        subset=comparison.subset,
        **picked(estimate, "estimate low high"),
        unit=unit,
        p=effect.p,
        p_adjusted=p_adjusted,
        n=fitted.model.n,
        model=f"{fitted.name}: {fitted.model.formula}",
        basis=_basis(fitted.model.n, design) + _simulated(fitted, comparison.arm),
        caveats=(
            *small_sample(comparison, design),
            *unequal_effects(fitted, comparison.arm, scales),
            *model_caveats(fitted, design),
            *(() if margin is not None else small_effect(fitted, effect.estimate, kind)),
        ),
    )
    yield test


def descriptions(
    counted_arms: ArmComparison, means: Sequence[MeanComparison], scales: StudyScales
) -> tuple[Conclusion, ...]:
    """How a single arm was rated, a conclusion per dimension; nothing is compared."""
    rows: list[tuple[str, str, Estimate, Unit, str, int, int]] = [
        (
            count.dimension,
            count.arm,
            Estimate(*(100 * end for end in count.good_share)),
            "percentage points",
            (
                f"{counted_arms.scales[count.dimension].good_label} in "
                f"{number(100 * count.good_share.estimate, 1)}% of ratings"
            ),
            count.n,
            count.raters,
        )
        for count in counted_arms.counts
        if count.kind == "all" and count.dimension not in scales.by_mean
    ]
    rows += [
        (
            of.dimension,
            mean.arm,
            mean.mean,
            "points",
            number(mean.mean.estimate, 2),
            mean.n,
            mean.raters,
        )
        for of in means
        for mean in of.means
        if mean.kind == "all"
    ]
    return tuple(
        Conclusion(
            kind="descriptive",
            sentence=first_capital(
                f"{was(arm)} rated {value} on {dimension} "
                f"({interval(estimate, 1 if unit == 'percentage points' else 2)}, "
                f"{_given(n, raters)}); there is no other arm to compare."
            ),
            subject=arm,
            dimension=dimension,
            subset="all",
            **picked(estimate, "estimate low high"),
            unit=unit,
            n=n,
            basis=_given(n, raters),
        )
        for dimension, arm, estimate, unit, value, n, raters in rows
    )


def _tested(fitted: DimensionModel, arm: str) -> tuple[TTest, float] | None:
    """The test of the arm with its adjusted p; None where it must not be reported."""
    name, model = f"arm{arm}", fitted.model
    if model is None or name not in fitted.tests or name in doubtful(model):
        return None
    arms = [model.design.names[place] for place in model.design.terms["arm"]]
    adjusted = dict(zip(arms, holm([fitted.tests[arm].p for arm in arms]), strict=True))
    return fitted.tests[name], float(adjusted[name])


def _of_test(
    test: Comparison, design: RatingsDesign, margin: float | None, look: Look | None = None
) -> Conclusion:
    # CR2 holds its level with few raters; with few of them an arm's estimate still is their taste.
    known = math.isfinite(test.p)
    caveats = small_sample(test, design) if known else ()
    equivalence = test.equivalence(margin)
    kind: Kind = "inconclusive"
    difference = test.difference
    if known:
        kind = _kind(test.difference.estimate, test.p_adjusted, equivalence, look)
        if look is not None:
            difference = _at_level(test.difference.estimate, test.se, test.df, look.alpha)
    if test.unit == "percentage points":
        difference = _possible(difference)
    sentence = conclusion_sentence(
        *(test, kind, difference, test.unit, test.p, test.p_adjusted, equivalence),
        by="; ".join([f"clustered by {design.clusters}", *few_raters(test, design)]),
        look=look,
    )
    return Conclusion(
        kind=kind,
        sentence=sentence,
        subject=test.arm,
        reference=test.reference,
        dimension=test.dimension,
        subset=test.subset,
        **picked(difference, "estimate low high"),
        unit=test.unit,
        p=test.p,
        p_adjusted=test.p_adjusted,
        n=test.n,
        model=f"cluster-robust t test, {design.clusters_text} as clusters",
        basis=_given(test.n, test.raters),
        caveats=caveats,
    )


def _possible(difference: Estimate) -> Estimate:
    """The difference of two percentages with an interval that ends where differences do."""
    low, high = max(difference.low, -100.0), min(difference.high, 100.0)
    return Estimate(difference.estimate, low, high)


def _at_level(estimate: float, se: float, df: float, alpha: float) -> Estimate:
    """The interval whose end touches zero where p is alpha."""
    reach = t_margin(df, 1 - alpha) * se
    return Estimate(estimate, estimate - reach, estimate + reach)


def _kind(
    estimate: float, p: float, equivalence: Equivalence | None, look: Look | None = None
) -> Kind:
    if p < (ALPHA if look is None else look.alpha):
        return "better" if estimate > 0 else "worse"
    return "equivalent" if equivalence is not None and equivalence.equivalent else "inconclusive"


def _given(n: int, raters: int) -> str:
    return f"{counted(n, 'rating')} by {counted(raters, 'rater')}"


def _basis(n: int, design: RatingsDesign) -> str:
    per_reply = number(design.ratings_per_reply, 1).removesuffix(".0")
    return (
        f"{_given(n, design.raters)}; "
        f"{counted(design.situations, 'situation')}, {per_reply} "
        f"{'rating' if per_reply == '1' else 'ratings'} per reply"
    )


def _simulated(fitted: DimensionModel, arm: str) -> str:
    """The bootstrap's interval, where there is one."""
    bootstrap = fitted.bootstrap
    if bootstrap is None or f"arm{arm}" not in bootstrap.intervals:
        return ""
    simulated = bootstrap.intervals[f"arm{arm}"]
    studies = counted(
        bootstrap.replications - bootstrap.failed, "simulated study", "simulated studies"
    )
    ends = f"[{signed(simulated.low, 3)}, {signed(simulated.high, 3)}]"
    return f"; parametric bootstrap 95% CI {ends} from {studies}"


def contract(conclusion: Conclusion) -> dict[str, Any]:
    """A conclusion as `--json` holds it."""
    document = conclusion.to_dict()
    names = ("dimension", "reference", "subset", "estimate", "low", "high", "p", "p_adjusted")
    return {
        "kind": document["kind"],
        "arm": document["subject"],
        **{name: document[name] for name in names},
        "scale": document["unit"],
        **{name: document[name] for name in ("model", "basis", "caveats", "sentence")},
    }
