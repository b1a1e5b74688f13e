"""Methods and results of rated arms in words, with the numbers filled in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.ratings.design import ReferenceArm
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
from empathylab.analysis.text.names import first_capital, name_of, names_of, was
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.arms import (
    ArmComparison,
    ArmCount,
    ArmTest,
    McNemar,
    PairedComparison,
    PairedTest,
    RatingScale,
)
from empathylab.stats.arms.means import MeanComparison, MeanDifference

_KINDS = {"all": "all situations", "valence": "valence", "emotion": "emotion"}
_MOST_NAMED = 8


def methods_paragraph(comparison: ArmComparison, *, named: bool = False) -> str:
    """How the arms were compared, ready for a paper's methods section.

    `named` says the dimension even where only one of the study's is counted.
    """
    several = named or len(comparison.scales) > 1
    of = f" of {listed(list(comparison.scales))}" if several else ""
    arms = list(dict.fromkeys(count.arm for count in comparison.counts))
    if not arms:
        return ""
    whole = [count for count in comparison.counts if count.kind == "all"]
    ratings = sum(item.n for item in whole)
    sentences = [
        (
            f"The study has {counted(len(arms), 'arm')} ({listed(names_of(arms))}) and "
            f"{counted(ratings, 'rating')}{of}."
        ),
        *(_scale_sentence(name, scale) for name, scale in comparison.scales.items()),
    ]
    if len(arms) == 1:
        sentences.append(
            "With a single rated arm, no test is possible. Intervals of proportions are Wilson's "
            f"at {number(100 * comparison.confidence, 0)}%, which treat ratings as independent."
        )
    else:
        sentences += _tests_sentences(comparison, whole)
    dropped = sum(comparison.dropped.values())
    if dropped:
        sentences.append(excluded_sentence(dropped, "row", "without a rating, rater or arm"))
    return " ".join(sentences)


def results_paragraph(comparison: ArmComparison, *, named: bool = False) -> str:
    """What was found, ready for a paper's results section; of several dimensions by name."""
    sentences = []
    several = named or len(comparison.scales) > 1
    for dimension, scale in comparison.scales.items():
        tests = [test for test in comparison.tests if test.dimension == dimension]
        where = f" on {dimension}" if several else ""
        if not tests:
            sentences += [
                _share_sentence(count, scale, where, comparison.confidence)
                for count in comparison.counts
                if count.dimension == dimension and count.kind == "all"
            ]
        for test in tests:
            if test.kind == "all":
                sentences.append(_main_sentence(test, scale, where, comparison.confidence))
                sentences.append(_cluster_sentence(test, where, comparison.confidence))
        for arm in dict.fromkeys(test.arm for test in tests):
            of_arm = [test for test in tests if test.arm == arm]
            sentences.append(_valence_sentence(of_arm, scale, where))
            sentences.append(_emotion_sentence(of_arm, where))
    return " ".join(sentence for sentence in sentences if sentence)


def paired_paragraph(comparison: PairedComparison) -> str:
    """What was found in arms that share situations or raters; says what makes the pairs."""
    sentences = []
    several = len({test.dimension for test in comparison.tests}) > 1
    for test in comparison.tests:
        if test.kind != "all":
            continue
        where = f" on {test.dimension}" if several else ""
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


def means_paragraph(comparison: MeanComparison, *, likert: Sequence[str] = ()) -> str:
    """How the means of a dimension compare, with how it was done; `likert` names point scales."""
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
    sentences = [
        (
            f"{name.capitalize()} was rated on {'a point' if name in likert else 'a continuous'} "
            f"scale (from {comparison.lowest:g} to {comparison.highest:g} in the {ratings} given) "
            f"and is {'compared' if len(whole) > 1 else 'described'} by its mean."
        ),
        f"The mean was {listed(means)}.",
    ]
    gaps = [difference for difference in comparison.differences if difference.kind == "all"]
    sentences += [_mean_sentence(gap, name, comparison.confidence) for gap in gaps]
    what = "Tests and" if gaps else "The"
    verb = "take" if gaps or len(whole) > 1 else "takes"
    units = "intervals" if verb == "take" else "interval"
    sentences.append(
        f"{what} {level} {units} {verb} raters, not ratings, as the independent units."
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
        f"{name_of(difference.arm)} {verdict} from {name_of(difference.reference)} on {name}, by "
        f"{signed(difference.difference.estimate, 2)}, "
        f"{interval(difference.difference, 2, confidence=confidence)}, "
        f"t({number(difference.df)}) = "
        f"{number(difference.t, 2)}, {p_text(difference.p)}{corrected}, Hedges' g = "
        f"{number(difference.g.estimate, 2)}, "
        f"{interval(difference.g, 2, confidence=confidence)}."
    )


def notes_sentences(
    reference: ReferenceArm,
    *,
    unrated: Sequence[str],
    raters_without_ratings: int,
    arms: Sequence[str],
) -> list[str]:
    """What a reader must know before the numbers, a sentence each."""
    sentences = []
    if reference.assumed and len(arms) > 1:
        sentences.append(
            f"No rated arm shows replies by people, so the first arm, {reference.name}, is the "
            "reference; choose another with --reference."
        )
    elif reference.assumed:
        sentences.append(
            f"{reference.name} is the only rated arm; replies by people were not rated."
        )
    if unrated:
        names = list(unrated[:_MOST_NAMED])
        more = len(unrated) - len(names)
        if more:
            names.append(f"{more} more")
        sentences.append(
            f"{listed(names)} replied to these situations, but the study has no ratings of these "
            "replies."
        )
    if raters_without_ratings:
        sentences.append(excluded_sentence(raters_without_ratings, "rater", "without ratings"))
    return sentences


def _tests_sentences(comparison: ArmComparison, whole: Sequence[ArmCount]) -> list[str]:
    sentences = [
        (
            f"Each arm was compared with {name_of(comparison.reference)} by a chi-square test of "
            "good against other ratings with Yates' correction, or by Fisher's exact test where an "
            "expected count was below 5."
        ),
        _families_sentence(comparison),
        (
            f"Intervals are at {number(100 * comparison.confidence, 0)}%: Newcombe's for "
            "differences of proportions, Katz's for relative gains, Woolf's for odds ratios."
        ),
    ]
    per_rater = sum(item.n for item in whole) / sum(item.raters for item in whole)
    if per_rater > 1:
        sentences.append(
            f"Since raters gave several ratings each ({number(per_rater)} on average in an arm), "
            "the difference was also tested with a cluster-robust variance, in which raters and "
            "not ratings are the independent units."
        )
    return sentences


def _scale_sentence(dimension: str, scale: RatingScale) -> str:
    if scale.continuous:
        points = f"between {scale.values[0]:g} and {scale.values[-1]:g}"
    elif scale.labels:
        points = f"on {len(scale.values)} points ({', '.join(scale.labels)})"
    else:
        points = f"from {scale.values[0]:g} to {scale.values[-1]:g}"
    return f"{dimension.capitalize()} was rated {points}; {scale.good_label} counted as good."


def _families_sentence(comparison: ArmComparison) -> str:
    sizes = {(test.kind, test.dimension): test.family_size for test in comparison.tests}
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


def _share_sentence(count: ArmCount, scale: RatingScale, where: str, confidence: float) -> str:
    return first_capital(
        f"{was(count.arm)} rated {scale.good_label}{where} in {_share(count.good, count.n)}, "
        f"{interval(count.good_share, 2, times=100, confidence=confidence)}."
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
        f"difference of {signed(100 * difference.estimate, 2)} percentage points, "
        f"{interval(difference, 2, times=100, confidence=confidence)}{_gain(test)}, "
        f"{contingency_text(test.test)}{correction}, Cramér's V = "
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
        f"{signed(100 * mcnemar.difference.estimate, 2)} percentage points, "
        f"{interval(mcnemar.difference, 2, times=100)}, {test}."
    )


def _gain(test: ArmTest) -> str:
    gain = test.relative_gain_percent.estimate
    return f", a relative gain of {signed(gain)}%" if math.isfinite(gain) else ""


def _share(good: int, n: int) -> str:
    return f"{number(good, 0)} of {number(n, 0)} ratings ({number(100 * good / n, 2)}%)"


def _cluster_sentence(test: ArmTest, where: str, confidence: float) -> str:
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
        f"{correlation}{meaning}; with raters as the independent units, t({number(clustered.df)}) "
        f"= {number(clustered.t, 2)}, {p_text(clustered.p)}, "
        f"{interval(clustered.difference, 2, times=100, confidence=confidence)}."
    )


def _valence_sentence(tests: Sequence[ArmTest], scale: RatingScale, where: str) -> str:
    tested = [test for test in tests if test.kind == "valence" and test.test.method != "none"]
    if not tested:
        return ""
    parts = [
        f"{item.subset} situations {number(100 * item.good / item.n, 2)}% against "
        f"{number(100 * item.good_reference / item.n_reference, 2)}%, "
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
    return f"{text}; by the test with raters as the independent units, in {honest} after Holm's."
