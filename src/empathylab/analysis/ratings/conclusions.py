"""Conclusions about rated arms: better, worse, equivalent or inconclusive, with their numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.analysis.ratings.design import RatingsDesign
from empathylab.analysis.ratings.margins import Margins
from empathylab.analysis.ratings.mixed_models import doubtful
from empathylab.analysis.ratings.model import FEW_RATERS, DimensionModel, Test
from empathylab.analysis.ratings.scales import StudyScales
from empathylab.analysis.results import Conclusion, Kind, Unit
from empathylab.analysis.text.apa import counted, interval, p_text
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.arms import ArmComparison, Estimate
from empathylab.stats.arms.means import MeanComparison
from empathylab.stats.corrections import holm
from empathylab.stats.equivalence import Equivalence, equivalence_test

ALPHA = 0.05
MANY = 1000
"""Degrees of freedom from which t is normal."""
CLUSTERED = "cluster-robust t test, raters as clusters"
TWO_WAY = "cluster-robust t test, raters and replies as clusters"


@dataclass(frozen=True, slots=True)
class Comparison:
    """An arm's difference from the reference in a unit that readers know, on some situations."""

    dimension: str
    arm: str
    reference: str
    kind: str
    subset: str
    n: int
    raters: int
    difference: Estimate
    unit: Unit
    df: float
    p: float
    p_adjusted: float
    problem: str
    what: str
    """What is compared: `mean empathy`, `proportion rated Good`."""

    def equivalence(self, margin: float | None) -> Equivalence | None:
        """The test against ± the margin; None without a margin or an interval."""
        width = (self.difference.high - self.difference.low) / 2
        if margin is None or not math.isfinite(width) or width <= 0:
            return None
        from scipy.special import stdtrit

        se = width / float(stdtrit(self.df, 1 - ALPHA / 2))
        return equivalence_test(self.difference.estimate, se, margin, df=self.df, alpha=ALPHA)


def comparisons(
    counted_arms: ArmComparison, means: Sequence[MeanComparison], scales: StudyScales
) -> list[Comparison]:
    """Each arm against the reference: by mean on scales of many points, else by good ratings."""
    found = [
        Comparison(
            one.dimension,
            one.arm,
            one.reference,
            one.kind,
            one.subset,
            one.n + one.n_reference,
            one.clustered.raters,
            Estimate(*(100 * end for end in one.clustered.difference)),
            "percentage points",
            one.clustered.df,
            one.clustered.p,
            one.clustered_p_holm,
            one.clustered.note,
            f"proportion rated {counted_arms.scales[one.dimension].good_label}",
        )
        for one in counted_arms.tests
        if one.dimension not in scales.by_mean
    ]
    for of in means:
        found += [
            Comparison(
                of.dimension,
                one.arm,
                one.reference,
                one.kind,
                one.subset,
                one.n + one.n_reference,
                one.raters,
                one.difference,
                "points",
                one.df,
                one.p,
                one.p_holm,
                one.note,
                f"mean {of.dimension}",
            )
            for one in of.differences
        ]
    order = list(scales.continuous)
    return sorted(found, key=lambda one: order.index(one.dimension))


def conclusions(
    found: Sequence[Comparison],
    models: Sequence[DimensionModel],
    design: RatingsDesign,
    margins: Margins,
) -> tuple[Conclusion, ...]:
    """Per dimension and arm the mixed model's conclusion, then that of the clustered test.

    The conclusions over all situations come first, those by valence after them.
    """
    main = [one for one in found if one.kind == "all"]
    by_dimension = {one.dimension: one for one in models if not one.by_valence}
    written: list[Conclusion] = []
    for one in main:
        written += _main(one, by_dimension.get(one.dimension), design, margins.get(one.dimension))
    written += [
        _of_test(one, design, margins.get(one.dimension)) for one in found if one.kind == "valence"
    ]
    return tuple(written)


def _main(
    found: Comparison, fitted: DimensionModel | None, design: RatingsDesign, margin: float | None
) -> Iterator[Conclusion]:
    test = _of_test(found, design, margin)
    tested = None if fitted is None else _tested(fitted, found.arm)
    if fitted is None or fitted.model is None or tested is None:
        why = "the mixed model gives no estimate for this arm"
        reason = why if fitted is None or fitted.model else f"no mixed model: {fitted.problem}"
        caveat = f"This rests on the clustered test alone; {reason.rstrip('.')}."
        yield dataclasses.replace(test, caveats=(caveat, *test.caveats))
        return
    effect, p_adjusted = tested
    unit: Unit = "log-odds" if fitted.kind == "clmm" else "points"
    estimate = Estimate(effect.estimate, effect.low, effect.high)
    equivalence = found.equivalence(margin)
    kind = _kind(estimate.estimate, p_adjusted, equivalence)
    by = f"mixed model, t({number(effect.df)})" if effect.df < MANY else "mixed model"
    yield Conclusion(
        kind=kind,
        sentence=_sentence(
            *(found, kind, estimate, unit, effect.p, p_adjusted, equivalence),
            by="; ".join([by, *_few(found, design)]),
        ),
        subject=found.arm,
        reference=found.reference,
        dimension=found.dimension,
        subset=found.subset,
        estimate=estimate.estimate,
        low=estimate.low,
        high=estimate.high,
        unit=unit,
        p=effect.p,
        p_adjusted=p_adjusted,
        n=fitted.model.n,
        model=f"{fitted.name}: {fitted.model.formula}",
        basis=_basis(fitted.model.n, design),
        caveats=(
            *_small_sample(found, design),
            *unequal_effects(fitted, found.arm),
            *_model_caveats(fitted, design),
        ),
    )
    yield test


def descriptions(
    counted_arms: ArmComparison, means: Sequence[MeanComparison], scales: StudyScales
) -> tuple[Conclusion, ...]:
    """How a single arm was rated, a conclusion per dimension; nothing is compared."""
    rows: list[tuple[str, str, Estimate, Unit, str, int, int]] = [
        (
            one.dimension,
            one.arm,
            Estimate(*(100 * end for end in one.good_share)),
            "percentage points",
            (
                f"{counted_arms.scales[one.dimension].good_label} in "
                f"{number(100 * one.good_share.estimate, 1)}% of {counted(one.n, 'rating')}"
            ),
            one.n,
            one.raters,
        )
        for one in counted_arms.counts
        if one.kind == "all" and one.dimension not in scales.by_mean
    ]
    rows += [
        (of.dimension, one.arm, one.mean, "points", number(one.mean.estimate, 2), one.n, one.raters)
        for of in means
        for one in of.means
        if one.kind == "all"
    ]
    return tuple(
        Conclusion(
            kind="descriptive",
            sentence=f"{arm} was rated {value} on {dimension}; there is no other arm to compare.",
            subject=arm,
            dimension=dimension,
            subset="all",
            estimate=_finite(found.estimate),
            low=_finite(found.low),
            high=_finite(found.high),
            unit=unit,
            n=n,
            basis=f"{counted(n, 'rating')} by {counted(raters, 'rater')}",
        )
        for dimension, arm, found, unit, value, n, raters in rows
    )


def _tested(fitted: DimensionModel, arm: str) -> tuple[Test, float] | None:
    """The test of the arm with its adjusted p; None where it must not be reported."""
    name, model = f"arm{arm}", fitted.model
    if model is None or name not in fitted.tests or name in doubtful(model):
        return None
    arms = [model.design.names[place] for place in model.design.terms["arm"]]
    adjusted = dict(zip(arms, holm([fitted.tests[one].p for one in arms]), strict=True))
    return fitted.tests[name], float(adjusted[name])


def _of_test(found: Comparison, design: RatingsDesign, margin: float | None) -> Conclusion:
    # CR2 holds its level with few raters; with few of them an arm's estimate still is their taste.
    caveats = _small_sample(found, design)
    ways = "rater and reply" if design.replies_vary else "rater"
    known = math.isfinite(found.p)
    equivalence = found.equivalence(margin)
    kind: Kind = "inconclusive"
    if known:
        kind = _kind(found.difference.estimate, found.p_adjusted, equivalence)
    sentence = _sentence(
        *(found, kind, found.difference, found.unit, found.p, found.p_adjusted, equivalence),
        by="; ".join([f"clustered by {ways}", *_few(found, design)]),
    )
    return Conclusion(
        kind=kind,
        sentence=sentence,
        subject=found.arm,
        reference=found.reference,
        dimension=found.dimension,
        subset=found.subset,
        estimate=_finite(found.difference.estimate),
        low=_finite(found.difference.low),
        high=_finite(found.difference.high),
        unit=found.unit,
        p=_finite(found.p),
        p_adjusted=_finite(found.p_adjusted),
        n=found.n,
        model=TWO_WAY if design.replies_vary else CLUSTERED,
        basis=f"{counted(found.n, 'rating')} by {counted(found.raters, 'rater')}",
        caveats=caveats,
    )


def _kind(estimate: float, p: float, equivalence: Equivalence | None) -> Kind:
    if p < ALPHA:
        return "better" if estimate > 0 else "worse"
    return "equivalent" if equivalence is not None and equivalence.equivalent else "inconclusive"


def _sentence(
    found: Comparison,
    kind: Kind,
    estimate: Estimate,
    unit: Unit,
    p: float,
    p_adjusted: float,
    equivalence: Equivalence | None,
    by: str,
) -> str:
    where = "" if found.subset == "all" else f" in {found.subset} situations"
    on = f"on {found.dimension}{where}"
    if not math.isfinite(p):
        return f"{found.arm} and {found.reference} cannot be compared {on}: {found.problem}."
    digits = 2 if unit == "points" else 3 if unit == "log-odds" else 1
    size = signed(estimate.estimate, digits)
    what = f"log-odds {size}" if unit == "log-odds" else f"difference in {found.what} {size} {unit}"
    adjusted = f", {p_text(p_adjusted, 'adjusted p')}" if p_adjusted != p else ""
    numbers = f"{what}, {interval(estimate, digits)}, {p_text(p)}{adjusted} ({by})"
    if kind in ("better", "worse"):
        said = f"{found.arm} was rated {'higher' if kind == 'better' else 'lower'} than "
        said += f"{found.reference} {on}: {numbers}."
        if equivalence is not None and equivalence.equivalent:
            said += f" The difference is smaller than the margin of {_margin(found, equivalence)}."
        return said
    if kind == "equivalent" and equivalence is not None:
        return (
            f"{found.arm} and {found.reference} are equivalent {on}: the difference in "
            f"{found.what} lies within the margin of {_margin(found, equivalence)} "
            f"({_narrow(equivalence, found.unit)}, {p_text(equivalence.p, 'TOST p')}); {numbers}."
        )
    why = "no margin for equivalence was declared"
    if equivalence is not None:
        why = (
            f"the data neither show a difference nor exclude one larger than "
            f"{_margin(found, equivalence)} ({p_text(equivalence.p, 'TOST p')})"
        )
    return (
        f"Inconclusive whether {found.arm} differs from {found.reference} {on}: {numbers}; {why}."
    )


def _margin(found: Comparison, equivalence: Equivalence) -> str:
    return f"±{equivalence.margin_high:g} {found.unit}"


def _narrow(equivalence: Equivalence, unit: Unit) -> str:
    digits = 2 if unit == "points" else 1
    low, high = signed(equivalence.low, digits), signed(equivalence.high, digits)
    return f"90% CI [{low}, {high}]"


def _basis(n: int, design: RatingsDesign) -> str:
    return (
        f"{counted(n, 'rating')} by {counted(design.raters, 'rater')}; "
        f"{counted(design.situations, 'situation')}, {number(design.ratings_per_reply, 1)} "
        "ratings per reply"
    )


def _few(found: Comparison, design: RatingsDesign) -> list[str]:
    """Which of the two arms has few raters, in a few words."""
    counts = {
        arm: design.raters_per_arm.get(arm, FEW_RATERS) for arm in (found.arm, found.reference)
    }
    few = [f"{counted(n, 'rater')} of {arm}" for arm, n in counts.items() if n < FEW_RATERS]
    return [f"only {' and '.join(few)}"] if few else []


def _small_sample(found: Comparison, design: RatingsDesign) -> tuple[str, ...]:
    few = _few(found, design)
    if not few:
        return ()
    return (
        (
            f"Few raters, {few[0]}: the test allows for this, but with fewer than {FEW_RATERS} "
            "per arm the result depends on who they are."
        ),
    )


def _model_caveats(fitted: DimensionModel, design: RatingsDesign) -> tuple[str, ...]:
    # A variance at its boundary does not limit the conclusion.
    problems = [] if fitted.model is None else fitted.model.problems
    caveats = [one for one in problems if "boundary" not in one]
    caveats += [f"Not in the model: {one}" for one in fitted.dropped]
    formula = fitted.model.formula if fitted.model is not None else ""
    if design.kind in ("within", "mixed") and not any(
        term in formula for term in ("(1|arm:rater)", "(1 + arm|rater)")
    ):
        caveats.append(
            "The model assumes that the arms differ by the same amount for all raters; where "
            "raters differ in this, p values are too small."
        )
    return tuple(caveats)


def unequal_effects(fitted: DimensionModel, arm: str) -> tuple[str, ...]:
    """The arm's effect at each threshold, where it is not the same at all of them."""
    odds = fitted.odds
    if odds is None or not odds.rejected:
        return ()
    effects = [one for one in odds.test.effects if one.column == f"arm{arm}"]
    if not effects:
        return ()
    said = [
        f"{signed(one.estimate, 2)} [{signed(one.low, 2)}, {signed(one.high, 2)}] "
        f"at {one.threshold}"
        for one in effects
    ]
    opposite = min(one.estimate for one in effects) < 0 < max(one.estimate for one in effects)
    reading = (
        "the arm is rated higher at some thresholds and lower at others"
        if opposite
        else "the single log-odds is their average"
    )
    return (
        (
            f"The effect differs between thresholds of the rating ({p_text(odds.p)}, proportional "
            f"odds): log-odds {', '.join(said)}; {reading}."
        ),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def contract(conclusion: Conclusion) -> dict[str, Any]:
    """A conclusion as `--json` holds it."""
    found = conclusion.to_dict()
    names = ("dimension", "reference", "subset", "estimate", "low", "high", "p", "p_adjusted")
    return {
        "kind": found["kind"],
        "arm": found["subject"],
        **{name: found[name] for name in names},
        "scale": found["unit"],
        **{name: found[name] for name in ("model", "basis", "caveats", "sentence")},
    }
