"""Results of rated arms in words, with the numbers filled in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.results import ALPHA
from empathylab.analysis.text.apa import (
    bounded,
    contingency_text,
    counted,
    excluded_sentence,
    interval,
    listed,
    p_text,
)
from empathylab.analysis.text.names import first_capital, name_of, was
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.arms import (
    ArmComparison,
    ArmCount,
    ArmTest,
    Estimate,
    McNemar,
    PairedComparison,
    PairedTest,
    RatingScale,
)
from empathylab.stats.arms.means import MeanComparison, MeanDifference

_MOST_NAMED = 8


def results_paragraph(
    comparison: ArmComparison, dimension: str, *, named: bool = False, clusters: str = "raters"
) -> str:
    """Good ratings of a dimension, ready for a paper's results section; by name where `named`.

    `clusters` are those of the cluster-robust test.
    """
    scale, confidence = comparison.scales[dimension], comparison.confidence
    tests = [test for test in comparison.tests if test.dimension == dimension]
    where = f" on {dimension}" if named else ""
    sentences = []
    if not tests:
        sentences += [
            _share_sentence(count, scale, where, confidence)
            for count in comparison.counts
            if count.dimension == dimension and count.kind == "all"
        ]
    for test in tests:
        if test.kind == "all":
            sentences.append(_main_sentence(test, scale, where, confidence))
            sentences.append(_cluster_sentence(test, where, confidence, clusters))
    for arm in dict.fromkeys(test.arm for test in tests):
        of_arm = [test for test in tests if test.arm == arm]
        sentences.append(_valence_sentence(of_arm, scale, where))
        sentences.append(_emotion_sentence(of_arm, where))
    return " ".join(sentence for sentence in sentences if sentence)


def paired_paragraph(comparison: PairedComparison, dimension: str, *, named: bool = False) -> str:
    """What was found in arms that share situations or raters; says what makes the pairs."""
    sentences = []
    where = f" on {dimension}" if named else ""
    for test in comparison.tests:
        if test.kind != "all" or test.dimension != dimension:
            continue
        pairs = counted(test.n, f"pair by {test.unit}", f"pairs by {test.unit}")
        if math.isnan(test.p):
            why = "the arms share none" if test.n == 0 else "no pair differs"
            sentences.append(f"{_pair(test)} cannot be compared{where} in {pairs}: {why}.")
        elif test.mcnemar is None:
            p = test.p_holm if test.family_size > 1 else test.p
            verdict = "differed" if p < ALPHA else "did not differ detectably"
            sentences.append(
                f"In {pairs} with averaged ratings, {name_of(test.arm)} {verdict} from "
                f"{name_of(test.reference)}"
                f"{where}, Wilcoxon's V = {number(test.ranks.v, 1)}, {_paired_p(test)}."
            )
        else:
            sentences.append(_mcnemar_sentence(test, test.mcnemar, pairs, where))
        if test.dropped:
            unit = (
                "pair of rater and situation" if test.unit == "rater and situation" else test.unit
            )
            sentences.append(excluded_sentence(test.dropped, unit, "in one of the two arms only"))
    return " ".join(sentences)


def _pair(one: ArmTest | PairedTest | MeanDifference) -> str:
    return first_capital(f"{name_of(one.arm)} and {name_of(one.reference)}")


def _paired_p(test: PairedTest) -> str:
    if test.family_size > 1:
        return f"{p_text(test.p)}, {p_text(test.p_holm, 'Holm-corrected p')}"
    return p_text(test.p)


def means_paragraph(comparison: MeanComparison, *, clusters: str = "raters") -> str:
    """How the means of a dimension compare; `clusters` are those of the tests."""
    whole = [mean for mean in comparison.means if mean.kind == "all"]
    ratings = counted(sum(item.n for item in whole), "rating")
    name = comparison.dimension
    if comparison.constant:
        value = f"{comparison.lowest:g}"
        return (
            f"Every rating of {name} is {value} ({ratings}), so this dimension shows no difference "
            "between arms or raters."
        )
    level = f"{number(100 * comparison.confidence, 0)}%"
    means = [
        f"{number(item.mean.estimate, 2)} for {name_of(item.arm)} "
        f"({interval(item.mean, 2, confidence=comparison.confidence)}, SD {number(item.sd, 2)}, "
        f"n = {number(item.n, 0)})"
        for item in whole
    ]
    several = len(whole) > 1
    takes = "these intervals take" if several else f"the {level} interval takes"
    sentences = [f"The mean of {name} was {listed(means)}; {takes} raters as clusters."]
    gaps = [difference for difference in comparison.differences if difference.kind == "all"]
    sentences += [_mean_sentence(gap, name, comparison.confidence) for gap in gaps]
    if gaps and clusters != "raters":
        sentences.append(
            f"The tests of differences and their intervals take {clusters} as clusters."
        )
    if comparison.dropped:
        sentences.append(excluded_sentence(comparison.dropped, "row", "with missing values"))
    return " ".join(sentences)


def _mean_sentence(difference: MeanDifference, name: str, confidence: float) -> str:
    if math.isnan(difference.p):
        return f"{_pair(difference)} cannot be tested on {name}: {note_text(difference.note)}."
    several = difference.family_size > 1
    p = difference.p_holm if several else difference.p
    verdict = "differed" if p < ALPHA else "did not differ detectably"
    corrected = f", {p_text(difference.p_holm, 'Holm-corrected p')}" if several else ""
    return first_capital(
        f"{name_of(difference.arm)} {verdict} from {name_of(difference.reference)} on {name}: "
        f"difference {signed(difference.difference.estimate, 2)}, "
        f"{interval(difference.difference, 2, confidence=confidence)}, "
        f"t({number(difference.df)}) = "
        f"{number(difference.t, 2)}, {p_text(difference.p)}{corrected}, Hedges' g = "
        f"{number(difference.g.estimate, 2)}, "
        f"{interval(difference.g, 2, confidence=confidence)}."
    )


def _share_sentence(count: ArmCount, scale: RatingScale, where: str, confidence: float) -> str:
    return first_capital(
        f"{was(count.arm)} rated {scale.good_label}{where} in {_share(count.good, count.n)}, "
        f"{interval(count.good_share, times=100, confidence=confidence)}."
    )


def _untested(test: ArmTest, scale: RatingScale) -> str:
    """Why two arms cannot be compared."""
    if not test.n or not test.n_reference:
        return f"there are no ratings of {name_of(test.reference if test.n else test.arm)}"
    if test.good + test.good_reference == 0:
        return f"no rating of either is {scale.good_label}"
    if test.good + test.good_reference == test.n + test.n_reference:
        return f"every rating of both is {scale.good_label}"
    return note_text(test.test.note)


def _main_sentence(test: ArmTest, scale: RatingScale, where: str, confidence: float) -> str:
    if test.test.method == "none":
        return f"{_pair(test)} cannot be compared{where}: {_untested(test, scale)}."
    difference = test.risk_difference
    correction = " (Yates' correction)" if test.test.method == "chi-square" else ""
    return first_capital(
        f"{was(test.arm)} rated {scale.good_label}{where} in {_share(test.good, test.n)}, "
        f"{name_of(test.reference)} in {_share(test.good_reference, test.n_reference)}: a "
        f"difference of {signed(100 * difference.estimate)} percentage points, "
        f"{interval(difference, times=100, confidence=confidence)}{_gain(test)}, "
        f"{contingency_text(test.test)}{_holm(test, test.p_holm)}{correction}, Cramér's V = "
        f"{bounded(test.test.cramers_v.estimate)}."
    )


def _mcnemar_sentence(paired_test: PairedTest, mcnemar: McNemar, pairs: str, where: str) -> str:
    test = (
        f"McNemar's χ²(1) = {number(mcnemar.chi2, 2)}, {_paired_p(paired_test)}"
        if mcnemar.method == "McNemar"
        else f"exact binomial test, {_paired_p(paired_test)}"
    )
    return (
        f"In {pairs}, only {was(paired_test.arm)} rated good{where} in "
        f"{number(mcnemar.only_first, 0)} and only {name_of(paired_test.reference)} in "
        f"{number(mcnemar.only_second, 0)}: a difference of "
        f"{signed(100 * mcnemar.difference.estimate)} percentage points, "
        f"{interval(mcnemar.difference, times=100)}, {test}."
    )


def _holm(test: ArmTest, p: float) -> str:
    """The p value corrected over the arms, where there are several."""
    return f", {p_text(p, 'Holm-corrected p')}" if test.family_size > 1 else ""


def _gain(test: ArmTest) -> str:
    gain = test.relative_gain_percent.estimate
    return f", a relative gain of {signed(gain)}%" if math.isfinite(gain) else ""


def _share(good: int, n: int) -> str:
    return f"{number(good, 0)} of {number(n, 0)} ratings ({number(100 * good / n)}%)"


def _cluster_sentence(test: ArmTest, where: str, confidence: float, clusters: str) -> str:
    clustered = test.clustered
    if clustered.note or clustered.n == clustered.raters:
        return ""
    effect = clustered.design_effect
    correlation = (
        f"The intraclass correlation of ratings{where} by the same rater was "
        f"{bounded(clustered.icc_reference)} for {name_of(test.reference)} and "
        f"{bounded(clustered.icc)} for {name_of(test.arm)}"
    )
    if effect > 1:
        meaning = (
            f", so the variance of the difference is {number(effect, 2)} times what the chi-square "
            "test assumes, and that test overstates the evidence"
        )
    else:
        meaning = ", so the chi-square test does not overstate the evidence here"
    return (
        f"{correlation}{meaning}; with {clusters} as clusters, t({number(clustered.df)}) "
        f"= {number(clustered.t, 2)}, {p_text(clustered.p)}"
        f"{_holm(test, test.clustered_p_holm)}, "
        f"{interval(_possible(clustered.difference), times=100, confidence=confidence)}."
    )


def _possible(difference: Estimate) -> Estimate:
    """The difference of two proportions with an interval that ends where differences do."""
    low, high = max(difference.low, -1.0), min(difference.high, 1.0)
    return Estimate(difference.estimate, low, high)


def _valence_sentence(tests: Sequence[ArmTest], scale: RatingScale, where: str) -> str:
    tested = [test for test in tests if test.kind == "valence" and test.test.method != "none"]
    if not tested:
        return ""
    parts = [
        f"{item.subset} situations {number(100 * item.good / item.n)}% against "
        f"{number(100 * item.good_reference / item.n_reference)}%, "
        f"{contingency_text(item.test)}, "
        f"{p_text(item.p_holm, 'Holm-corrected p')}"
        for item in tested
    ]
    return (
        f"By valence, {was(tested[0].arm)} rated {scale.good_label}{where} in "
        f"{'; in '.join(parts)}."
    )


def _emotion_sentence(tests: Sequence[ArmTest], where: str) -> str:
    tested = [test for test in tests if test.kind == "emotion" and test.test.method != "none"]
    if not tested:
        return ""
    ways = ("p", "p_bh", "p_holm")
    plain, bh, by_holm = (sum(getattr(item, way) < ALPHA for item in tested) for way in ways)
    left = sorted((item for item in tested if item.p_holm < ALPHA), key=lambda item: item.p)
    names = [item.subset.removeprefix("emotion:") for item in left]
    text = (
        f"Of {counted(len(tested), 'emotion')}, {name_of(tested[0].arm)} differed from "
        f"{name_of(tested[0].reference)}{where} in {plain} at α = {bounded(ALPHA)} without "
        f"correction, in {bh} after Benjamini and Hochberg's and in {by_holm} after Holm's"
    )
    if 0 < len(names) <= _MOST_NAMED:
        text += f" ({listed(names)})"
    honest = sum(item.clustered_p_holm < ALPHA for item in tested)
    return f"{text}; by the cluster-robust test, in {honest} after Holm's."
