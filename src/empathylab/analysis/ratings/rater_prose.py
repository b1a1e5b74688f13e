"""What is said about raters: whether the arms' are alike, who was left out, what it does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.ratings.mixed_prose import readable
from empathylab.analysis.ratings.mixed_rows import doubtful, holm_by_term
from empathylab.analysis.ratings.models import DimensionModel
from empathylab.analysis.text.apa import bounded, contingency_text, counted, listed, p_text
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.arms import ArmComparison, ArmTest
from empathylab.stats.arms.means import MeanComparison, MeanDifference
from empathylab.stats.raters.comparability import (
    CategoricalComparison,
    NumericComparison,
    RaterComparison,
)
from empathylab.stats.raters.exclusions import Exclusions, WithAndWithout


def raters_paragraph(comparison: RaterComparison) -> str:
    """Whether the arms' raters are alike, and how far that can be said."""
    groups = [
        f"{number(n, 0)} of {arm}"
        for arm, n in zip(comparison.arms, comparison.raters, strict=True)
    ]
    said = [f"The raters of the arms were compared ({listed(groups)})."]
    said += [_numeric_sentence(one, comparison.alpha) for one in comparison.numeric]
    said += [_categorical_sentence(one, comparison.alpha) for one in comparison.categorical]
    tests = len(comparison.numeric) + len(comparison.categorical)
    if tests > 1:
        said.append(f"p Holm is corrected over these {tests} tests.")
    return " ".join(said)


def exclusions_paragraph(exclusions: Exclusions, *, alpha: float = 0.05) -> str:
    """Which raters were left out by which rule, and whether the arms lost alike."""
    if not exclusions.rules:
        return "No rule for leaving out raters was declared; all were kept."
    said = [f"Left out was who {'; or '.join(str(rule) for rule in exclusions.rules)}."]
    lost = [
        f"{before - exclusions.kept[arm]} of {counted(before, 'rater')} of {arm}"
        for arm, before in exclusions.raters.items()
    ]
    said.append(f"This left out {listed(lost)}.")
    test = exclusions.alike
    if test.method != "none":
        if test.p < alpha:
            said.append(
                f"The arms lost unequally many ({contingency_text(test)}): raters who are left "
                "are no longer a random sample of those assigned, and the results of all raters "
                "are the safer ones."
            )
        else:
            said.append(f"The arms lost about equally many ({contingency_text(test)}).")
    unknown = sum(one.unknown for one in exclusions.counts)
    if unknown:
        said.append(
            f"In {counted(unknown, 'case')} a rule could not be applied because a value was "
            "missing; these raters were kept."
        )
    return " ".join(said)


def robustness_paragraph(found: WithAndWithout[ArmComparison], *, alpha: float = 0.05) -> str:
    """Whether the results stand when raters are left out, arm by arm.

    Judged by the test with raters as the independent units; by the plain one where there is none.
    """
    kept = {(one.dimension, one.arm): one for one in found.kept.tests if one.kind == "all"}
    said, ways = [], []
    for one in found.everybody.tests:
        other = kept.get((one.dimension, one.arm))
        if one.kind != "all" or other is None:
            continue
        clustered = not (math.isnan(one.clustered.p) or math.isnan(other.clustered.p))
        (p, text), (p_kept, text_kept) = (_judged(test, clustered) for test in (one, other))
        if math.isnan(p) or math.isnan(p_kept):
            continue
        ways.append(clustered)
        gaps = [test.risk_difference.estimate for test in (one, other)]
        dimension = f" on {one.dimension}" if len(found.everybody.scales) > 1 else ""
        said.append(
            f"Without the raters left out, the difference of {one.arm} from {one.reference}"
            f"{dimension} is {signed(100 * gaps[1], 2)} percentage points ({text_kept}), with them "
            f"{signed(100 * gaps[0], 2)} ({text}): {_conclusion(p, p_kept, gaps, alpha)}."
        )
    if all(ways) and ways:
        said.append("This is judged by the test with raters as the independent units.")
    elif ways:
        said.append(
            "Where there is no test with raters as the independent units, this is judged by the "
            "plain one, which takes ratings as independent."
        )
    return " ".join(said)


def mean_robustness(
    everybody: Sequence[MeanComparison], kept: Sequence[MeanComparison], *, alpha: float = 0.05
) -> str:
    """Whether the differences of means stand when raters are left out, arm by arm."""
    others = {
        (one.dimension, gap.arm): gap
        for one in kept
        for gap in one.differences
        if gap.kind == "all"
    }
    said = []
    for one in everybody:
        for gap in one.differences:
            other = others.get((one.dimension, gap.arm))
            if gap.kind != "all" or other is None or math.isnan(gap.p) or math.isnan(other.p):
                continue
            gaps = [gap.difference.estimate, other.difference.estimate]
            said.append(
                f"Without the raters left out, the mean {one.dimension} of {gap.arm} differs from "
                f"that of {gap.reference} by {signed(gaps[1], 2)} ({_mean_test(other)}), with them "
                f"by {signed(gaps[0], 2)} ({_mean_test(gap)}): "
                f"{_conclusion(gap.p_holm, other.p_holm, gaps, alpha)}."
            )
    return " ".join(said)


def model_robustness(everybody: Sequence[DimensionModel], kept: Sequence[DimensionModel]) -> str:
    """What the mixed models say of the arms with and without the raters left out."""
    others = {one.dimension: one for one in kept if not one.by_valence}
    said = []
    for one in everybody:
        other = others.get(one.dimension)
        if one.by_valence or one.model is None or other is None or other.model is None:
            continue
        several = f" of {one.dimension}" if len(others) > 1 else ""
        parts = [
            f"{readable(one.model, name)} is {_coefficient(other, name)} without the raters left "
            f"out and {_coefficient(one, name)} with them"
            for name in one.model.coefficients
            if name.startswith("arm")
        ]
        said.append(f"In the mixed model{several}, {'; '.join(parts)}.")
    return " ".join(said)


def _coefficient(one: DimensionModel, name: str) -> str:
    model = one.model
    if model is None or name not in model.coefficients or name in doubtful(model):
        return "not to be estimated"
    p, several = holm_by_term(model)[name], len(model.design.factors["arm"]) > 2
    told = p_text(p, "Holm-corrected p" if several else "p")
    return f"b = {number(model.coefficients[name].estimate, 3)} ({told})"


def _judged(test: ArmTest, clustered: bool) -> tuple[float, str]:
    """The p value that decides, and the test it comes from."""
    if not clustered:
        return test.p, contingency_text(test.test)
    found = test.clustered
    statistic = f"t({number(found.df)}) = {number(found.t, 2)}"
    if test.family_size > 1:
        p = test.clustered_p_holm
        return p, f"{statistic}, {p_text(p, 'Holm-corrected p')}"
    return found.p, f"{statistic}, {p_text(found.p)}"


def _mean_test(gap: MeanDifference) -> str:
    several = gap.family_size > 1
    p = p_text(gap.p_holm, "Holm-corrected p") if several else p_text(gap.p)
    return f"t({number(gap.df)}) = {number(gap.t, 2)}, {p}"


def _conclusion(p: float, p_kept: float, gaps: Sequence[float], alpha: float) -> str:
    same = (p < alpha) == (p_kept < alpha) and (gaps[0] * gaps[1] > 0 or p >= alpha)
    return f"the conclusion {'stands' if same else 'changes'}"


def _numeric_sentence(one: NumericComparison, alpha: float) -> str:
    means = [f"{number(arm.mean)} (SD {number(arm.sd)}) in {arm.arm}" for arm in one.arms if arm.n]
    said = f"Mean {one.variable} was {listed(means)}"
    if math.isnan(one.p):
        return f"{said}; it cannot be tested."
    said += (
        f", Welch's F({one.welch.df}, {number(one.welch.df_denominator)}) = "
        f"{number(one.welch.f, 2)}, {p_text(one.p)}, {p_text(one.p_holm, 'p Holm')}"
    )
    pairs = [pair for pair in one.differences if math.isfinite(pair.equivalence.p)]
    if not pairs:
        return f"{said}."
    bound = number(pairs[0].equivalence.bound, 2)
    alike = [pair.arm for pair in pairs if pair.equivalence.equivalent]
    if len(alike) == len(pairs):
        worst = max(pair.equivalence.p for pair in pairs)
        return f"{said}; equivalent within ±{bound} SD ({p_text(worst, 'TOST p')})."
    open_arms = [pair.arm for pair in pairs if not pair.equivalence.equivalent]
    verb = "is" if len(open_arms) == 1 else "are"
    return (
        f"{said}; {listed(open_arms)} {verb} not shown to be equivalent to {pairs[0].reference} "
        f"within ±{bound} SD at α = {bounded(alpha)}."
    )


def _categorical_sentence(one: CategoricalComparison, alpha: float) -> str:
    if one.test.method == "none":
        return f"{one.variable} cannot be compared: {one.test.note}."
    verdict = "differed" if one.p_holm < alpha else "did not differ detectably"
    said = (
        f"{one.variable} {verdict} between arms, {contingency_text(one.test)}, "
        f"{p_text(one.p_holm, 'p Holm')}, Cramér's V = {bounded(one.test.cramers_v.estimate)}"
    )
    if one.pooled:
        said += f" ({counted(len(one.pooled), 'rare level')} pooled)"
    return f"{said}."
