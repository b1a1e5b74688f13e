"""Methods and results of rated arms in words, with the numbers filled in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.report.apa import (
    bounded,
    contingency_text,
    counted,
    interval,
    listed,
    p_text,
)
from empathylab.report.formats import number, signed
from empathylab.stats.arms import (
    ArmComparison,
    ArmTest,
    McNemar,
    PairedComparison,
    PairedTest,
    RatingScale,
)
from empathylab.stats.comparability import (
    CategoricalComparison,
    NumericComparison,
    RaterComparison,
)
from empathylab.stats.exclusions import Exclusions, WithAndWithout

_KINDS = {"all": "all situations", "valence": "valence", "emotion": "emotion"}
_MOST_NAMED = 8


def methods_paragraph(comparison: ArmComparison) -> str:
    """How the arms were compared, ready for a paper's methods section."""
    arms = list(dict.fromkeys(one.arm for one in comparison.counts))
    whole = [one for one in comparison.counts if one.kind == "all"]
    ratings = sum(one.n for one in whole)
    tests = (
        f"Each arm was compared with {comparison.reference} by a chi-square test of good against "
        "other ratings with Yates' correction, or by Fisher's exact test where an expected count "
        "was below 5."
    )
    intervals = (
        f"Intervals are at {number(100 * comparison.confidence, 0)}%: Newcombe's for differences "
        "of shares, Katz's for relative gains, Woolf's for odds ratios."
    )
    said = [
        (
            f"The study has {counted(len(arms), 'arm')} ({listed(arms)}) and "
            f"{counted(ratings, 'rating')}."
        ),
        *(_scale_sentence(name, scale) for name, scale in comparison.scales.items()),
        tests,
        _families_sentence(comparison),
        intervals,
    ]
    per_rater = ratings / sum(one.raters for one in whole) if whole else 1.0
    if per_rater > 1:
        said.append(
            f"Since raters gave several ratings each ({number(per_rater)} on average in an arm), "
            "the difference was also tested with a cluster-robust variance, in which raters and "
            "not ratings are the independent units."
        )
    dropped = sum(comparison.dropped.values())
    if dropped:
        was = "was" if dropped == 1 else "were"
        said.append(f"{counted(dropped, 'row')} without a rating, rater or arm {was} left out.")
    return " ".join(said)


def results_paragraph(comparison: ArmComparison, *, alpha: float = 0.05) -> str:
    """What was found, ready for a paper's results section."""
    said = []
    for dimension, scale in comparison.scales.items():
        tests = [one for one in comparison.tests if one.dimension == dimension]
        if len(comparison.scales) > 1:
            said.append(f"On {dimension}:")
        for one in tests:
            if one.kind == "all":
                said.append(_main_sentence(one, scale, comparison.confidence))
                said.append(_cluster_sentence(one, comparison.confidence))
        for arm in dict.fromkeys(one.arm for one in tests):
            of_arm = [one for one in tests if one.arm == arm]
            said.append(_valence_sentence(of_arm, scale))
            said.append(_emotion_sentence(of_arm, alpha))
    return " ".join(sentence for sentence in said if sentence)


def paired_paragraph(comparison: PairedComparison) -> str:
    """What was found in arms that share situations or raters."""
    said = []
    several = len({one.dimension for one in comparison.tests}) > 1
    for one in comparison.tests:
        if one.kind != "all":
            continue
        where = f" on {one.dimension}" if several else ""
        pairs = counted(one.n, f"pair by {one.unit}", f"pairs by {one.unit}")
        if math.isnan(one.p):
            said.append(f"{one.arm} and {one.reference} cannot be compared{where} in {pairs}.")
        elif one.mcnemar is None:
            said.append(
                f"In {pairs} with averaged ratings, {one.arm} differed from {one.reference}{where} "
                f"with Wilcoxon's V = {number(one.ranks.v, 1)}, {p_text(one.p)}."
            )
        else:
            said.append(_mcnemar_sentence(one, one.mcnemar, pairs, where))
        if one.dropped:
            lone = counted(one.dropped, f"{one.unit}", f"{one.unit}s")
            said.append(f"{lone} in one of the two arms only did not count.")
    return " ".join(said)


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
    """Whether the results stand when raters are left out, arm by arm."""
    kept = {(one.dimension, one.arm): one for one in found.kept.tests if one.kind == "all"}
    said = []
    for one in found.everybody.tests:
        other = kept.get((one.dimension, one.arm))
        if one.kind != "all" or other is None or math.isnan(one.p) or math.isnan(other.p):
            continue
        stands = (one.p < alpha) == (other.p < alpha) and (
            one.risk_difference.estimate * other.risk_difference.estimate > 0 or one.p >= alpha
        )
        dimension = f" on {one.dimension}" if len(found.everybody.scales) > 1 else ""
        said.append(
            f"Without the raters left out, {one.arm}{dimension} differs from {one.reference} by "
            f"{signed(100 * other.risk_difference.estimate, 2)} percentage points "
            f"({contingency_text(other.test)}), with them by "
            f"{signed(100 * one.risk_difference.estimate, 2)} ({contingency_text(one.test)}): the "
            f"conclusion {'stands' if stands else 'changes'}."
        )
    return " ".join(said)


def _scale_sentence(dimension: str, scale: RatingScale) -> str:
    if scale.continuous:
        points = f"between {scale.values[0]:g} and {scale.values[-1]:g}"
    elif scale.labels:
        points = f"on {len(scale.values)} points ({', '.join(scale.labels)})"
    else:
        points = f"from {scale.values[0]:g} to {scale.values[-1]:g}"
    return f"{dimension.capitalize()} was rated {points}; {scale.good_label} counted as good."


def _families_sentence(comparison: ArmComparison) -> str:
    sizes = {(one.kind, one.dimension): one.family_size for one in comparison.tests}
    families = [
        f"{_KINDS[kind]} ({counted(size, 'test')})"
        for (kind, dimension), size in sizes.items()
        if dimension == next(iter(comparison.scales))
    ]
    each = ", within each dimension" if len(comparison.scales) > 1 else ""
    return (
        "p values were corrected by Holm's and by Benjamini and Hochberg's method over each "
        f"family of tests{each}: {listed(families)}."
    )


def _main_sentence(one: ArmTest, scale: RatingScale, confidence: float) -> str:
    if one.test.method == "none":
        return f"{one.arm} and {one.reference} cannot be compared: {one.test.note}."
    difference = one.risk_difference
    correction = " (Yates' correction)" if one.test.method == "chi-square" else ""
    return (
        f"{one.arm} was rated {scale.good_label} in {_share(one.good, one.n)}, {one.reference} in "
        f"{_share(one.good_reference, one.n_reference)}: a difference of "
        f"{signed(100 * difference.estimate, 2)} percentage points, "
        f"{interval(difference, 2, times=100, confidence=confidence)}{_gain(one)}, "
        f"{contingency_text(one.test)}{correction}, Cramér's V = "
        f"{bounded(one.test.cramers_v.estimate)}."
    )


def _mcnemar_sentence(one: PairedTest, found: McNemar, pairs: str, where: str) -> str:
    test = (
        f"McNemar's χ²(1) = {number(found.chi2, 2)}, {p_text(found.p)}"
        if found.method == "McNemar"
        else f"exact binomial test, {p_text(found.p)}"
    )
    return (
        f"In {pairs}, only {one.arm} was rated good{where} in {number(found.only_first, 0)} and "
        f"only {one.reference} in {number(found.only_second, 0)}: a difference of "
        f"{signed(100 * found.difference.estimate, 2)} percentage points, "
        f"{interval(found.difference, 2, times=100)}, {test}."
    )


def _gain(one: ArmTest) -> str:
    gain = one.relative_gain_percent.estimate
    return f", a relative gain of {signed(gain)}%" if math.isfinite(gain) else ""


def _share(good: int, n: int) -> str:
    return f"{number(good, 0)} of {number(n, 0)} ratings ({number(100 * good / n, 2)}%)"


def _cluster_sentence(one: ArmTest, confidence: float) -> str:
    found = one.clustered
    if found.note or found.n == found.raters:
        return ""
    effect = found.design_effect
    alike = (
        f"Ratings by one rater were alike to the extent of ICC = {bounded(found.icc_reference)} "
        f"for {one.reference} and {bounded(found.icc)} for {one.arm}"
    )
    if effect > 1:
        meaning = (
            f", so the variance of the difference is {number(effect, 2)} times what the chi-square "
            "test assumes, and that test overstates the evidence"
        )
    else:
        meaning = ", so the chi-square test does not overstate the evidence here"
    return (
        f"{alike}{meaning}; with raters as the independent units, t({found.df}) = "
        f"{number(found.t, 2)}, {p_text(found.p)}, "
        f"{interval(found.difference, 2, times=100, confidence=confidence)}."
    )


def _valence_sentence(tests: Sequence[ArmTest], scale: RatingScale) -> str:
    found = [one for one in tests if one.kind == "valence" and one.test.method != "none"]
    if not found:
        return ""
    parts = [
        f"{one.subset} situations {number(100 * one.good / one.n, 2)}% against "
        f"{number(100 * one.good_reference / one.n_reference, 2)}%, {contingency_text(one.test)}, "
        f"{p_text(one.p_holm, 'Holm-corrected p')}"
        for one in found
    ]
    return f"By valence, {found[0].arm} was rated {scale.good_label} in {'; in '.join(parts)}."


def _emotion_sentence(tests: Sequence[ArmTest], alpha: float) -> str:
    found = [one for one in tests if one.kind == "emotion" and one.test.method != "none"]
    if not found:
        return ""
    ways = ("p", "p_bh", "p_holm")
    plain, bh, by_holm = (sum(getattr(one, way) < alpha for one in found) for way in ways)
    left = sorted((one for one in found if one.p_holm < alpha), key=lambda one: one.p)
    names = [one.subset.removeprefix("emotion:") for one in left]
    said = (
        f"Of {counted(len(found), 'emotion')}, {found[0].arm} differed from {found[0].reference} "
        f"in {plain} at α = {bounded(alpha)} without correction, in {bh} after Benjamini and "
        f"Hochberg's and in {by_holm} after Holm's"
    )
    if 0 < len(names) <= _MOST_NAMED:
        said += f" ({listed(names)})"
    honest = sum(one.clustered_p_holm < alpha for one in found)
    return f"{said}; by the test with raters as the independent units, in {honest} after Holm's."


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
