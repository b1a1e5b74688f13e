"""Methods and results of rated arms in words, with the numbers filled in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.ratings.design import ReferenceArm
from empathylab.analysis.text.apa import (
    bounded,
    contingency_text,
    counted,
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
    arms = list(dict.fromkeys(one.arm for one in comparison.counts))
    if not arms:
        return ""
    whole = [one for one in comparison.counts if one.kind == "all"]
    ratings = sum(one.n for one in whole)
    said = [
        (
            f"The study has {counted(len(arms), 'arm')} ({listed(names_of(arms))}) and "
            f"{counted(ratings, 'rating')}{of}."
        ),
        *(_scale_sentence(name, scale) for name, scale in comparison.scales.items()),
    ]
    if len(arms) == 1:
        said.append(
            "With a single rated arm, no test is possible. Intervals of proportions are Wilson's "
            f"at {number(100 * comparison.confidence, 0)}%, which treat ratings as independent."
        )
    else:
        said += _tests_sentences(comparison, whole)
    dropped = sum(comparison.dropped.values())
    if dropped:
        was = "was" if dropped == 1 else "were"
        said.append(f"{counted(dropped, 'row')} without a rating, rater or arm {was} excluded.")
    return " ".join(said)


def results_paragraph(
    comparison: ArmComparison, *, named: bool = False, alpha: float = 0.05
) -> str:
    """What was found, ready for a paper's results section; of several dimensions by name."""
    said = []
    several = named or len(comparison.scales) > 1
    for dimension, scale in comparison.scales.items():
        tests = [one for one in comparison.tests if one.dimension == dimension]
        where = f" on {dimension}" if several else ""
        if not tests:
            said += [
                _share_sentence(one, scale, where, comparison.confidence)
                for one in comparison.counts
                if one.dimension == dimension and one.kind == "all"
            ]
        for one in tests:
            if one.kind == "all":
                said.append(_main_sentence(one, scale, where, comparison.confidence))
                said.append(_cluster_sentence(one, where, comparison.confidence))
        for arm in dict.fromkeys(one.arm for one in tests):
            of_arm = [one for one in tests if one.arm == arm]
            said.append(_valence_sentence(of_arm, scale, where))
            said.append(_emotion_sentence(of_arm, where, alpha))
    return " ".join(sentence for sentence in said if sentence)


def paired_paragraph(comparison: PairedComparison, *, alpha: float = 0.05) -> str:
    """What was found in arms that share situations or raters; says what makes the pairs."""
    said = []
    several = len({one.dimension for one in comparison.tests}) > 1
    for one in comparison.tests:
        if one.kind != "all":
            continue
        where = f" on {one.dimension}" if several else ""
        pairs = counted(one.n, f"pair by {one.unit}", f"pairs by {one.unit}")
        if math.isnan(one.p):
            why = "the arms share none" if one.n == 0 else "no pair differs"
            said.append(f"{_pair(one)} cannot be compared{where} in {pairs}: {why}.")
        elif one.mcnemar is None:
            p = one.p_holm if one.family_size > 1 else one.p
            verdict = "differed" if p < alpha else "did not differ detectably"
            said.append(
                f"In {pairs} with averaged ratings, {name_of(one.arm)} {verdict} from "
                f"{name_of(one.reference)}"
                f"{where}, Wilcoxon's V = {number(one.ranks.v, 1)}, {_paired_p(one)}."
            )
        else:
            said.append(_mcnemar_sentence(one, one.mcnemar, pairs, where))
        if one.dropped:
            names = {"rater and situation": "pair of rater and situation"}
            plural = {"rater and situation": "pairs of rater and situation"}
            lone = counted(
                one.dropped,
                names.get(one.unit, one.unit),
                plural.get(one.unit, f"{one.unit}s"),
            )
            were = "was" if one.dropped == 1 else "were"
            said.append(f"{lone} in one of the two arms only {were} excluded.")
    return " ".join(said)


def _pair(one: ArmTest | PairedTest | MeanDifference) -> str:
    return first_capital(f"{name_of(one.arm)} and {name_of(one.reference)}")


def _paired_p(one: PairedTest) -> str:
    if one.family_size > 1:
        return f"{p_text(one.p)}, {p_text(one.p_holm, 'Holm-corrected p')}"
    return p_text(one.p)


def means_paragraph(
    found: MeanComparison, *, likert: Sequence[str] = (), alpha: float = 0.05
) -> str:
    """How the means of a dimension compare, with how it was done; `likert` names point scales."""
    whole = [one for one in found.means if one.kind == "all"]
    ratings = counted(sum(one.n for one in whole), "rating")
    name = found.dimension
    if found.constant:
        value = f"{found.lowest:g}"
        return (
            f"Every rating of {name} is {value} ({ratings}), so this dimension shows no difference "
            "between arms or raters."
        )
    level = f"{number(100 * found.confidence, 0)}%"
    means = [
        f"{number(one.mean.estimate, 2)} for {name_of(one.arm)} "
        f"({interval(one.mean, 2, confidence=found.confidence)}, SD {number(one.sd, 2)}, "
        f"n = {number(one.n, 0)})"
        for one in whole
    ]
    said = [
        (
            f"{name.capitalize()} was rated on {'a point' if name in likert else 'a continuous'} "
            f"scale (from {found.lowest:g} to {found.highest:g} in the {ratings} given) and is "
            f"{'compared' if len(whole) > 1 else 'described'} by its mean."
        ),
        f"The mean was {listed(means)}.",
    ]
    gaps = [one for one in found.differences if one.kind == "all"]
    said += [_mean_sentence(one, name, found.confidence, alpha) for one in gaps]
    what = "Tests and" if gaps else "The"
    verb = "take" if gaps or len(whole) > 1 else "takes"
    units = "intervals" if verb == "take" else "interval"
    said.append(f"{what} {level} {units} {verb} raters, not ratings, as the independent units.")
    if found.dropped:
        was = "was" if found.dropped == 1 else "were"
        said.append(f"{counted(found.dropped, 'row')} with missing values {was} excluded.")
    return " ".join(said)


def _mean_sentence(one: MeanDifference, name: str, confidence: float, alpha: float) -> str:
    if math.isnan(one.p):
        return f"{_pair(one)} cannot be tested on {name}: {note_text(one.note)}."
    several = one.family_size > 1
    p = one.p_holm if several else one.p
    verdict = "differed" if p < alpha else "did not differ detectably"
    corrected = f", {p_text(one.p_holm, 'Holm-corrected p')}" if several else ""
    return first_capital(
        f"{name_of(one.arm)} {verdict} from {name_of(one.reference)} on {name}, by "
        f"{signed(one.difference.estimate, 2)}, "
        f"{interval(one.difference, 2, confidence=confidence)}, t({number(one.df)}) = "
        f"{number(one.t, 2)}, {p_text(one.p)}{corrected}, Hedges' g = {number(one.g.estimate, 2)}, "
        f"{interval(one.g, 2, confidence=confidence)}."
    )


def notes_sentences(
    reference: ReferenceArm,
    *,
    unrated: Sequence[str],
    raters_without_ratings: int,
    arms: Sequence[str],
) -> list[str]:
    """What a reader must know before the numbers, a sentence each."""
    said = []
    if reference.assumed and len(arms) > 1:
        said.append(
            f"No rated arm shows replies by people, so the first arm, {reference.name}, is the "
            "reference; choose another with --reference."
        )
    elif reference.assumed:
        said.append(f"{reference.name} is the only rated arm; replies by people were not rated.")
    if unrated:
        names = list(unrated[:_MOST_NAMED])
        more = len(unrated) - len(names)
        if more:
            names.append(f"{more} more")
        said.append(
            f"{listed(names)} replied to these situations, but the study has no ratings of these "
            "replies."
        )
    if raters_without_ratings:
        was = "was" if raters_without_ratings == 1 else "were"
        said.append(f"{counted(raters_without_ratings, 'rater')} without ratings {was} excluded.")
    return said


def _tests_sentences(comparison: ArmComparison, whole: Sequence[ArmCount]) -> list[str]:
    said = [
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
    per_rater = sum(one.n for one in whole) / sum(one.raters for one in whole)
    if per_rater > 1:
        said.append(
            f"Since raters gave several ratings each ({number(per_rater)} on average in an arm), "
            "the difference was also tested with a cluster-robust variance, in which raters and "
            "not ratings are the independent units."
        )
    return said


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


def _share_sentence(one: ArmCount, scale: RatingScale, where: str, confidence: float) -> str:
    return first_capital(
        f"{was(one.arm)} rated {scale.good_label}{where} in {_share(one.good, one.n)}, "
        f"{interval(one.good_share, 2, times=100, confidence=confidence)}."
    )


def _untested(one: ArmTest, scale: RatingScale) -> str:
    """Why two arms cannot be compared."""
    if not one.n or not one.n_reference:
        return f"there are no ratings of {name_of(one.reference if one.n else one.arm)}"
    if one.good + one.good_reference == 0:
        return f"no rating of either is {scale.good_label}"
    if one.good + one.good_reference == one.n + one.n_reference:
        return f"every rating of both is {scale.good_label}"
    return note_text(one.test.note)


def _main_sentence(one: ArmTest, scale: RatingScale, where: str, confidence: float) -> str:
    if one.test.method == "none":
        return f"{_pair(one)} cannot be compared{where}: {_untested(one, scale)}."
    difference = one.risk_difference
    correction = " (Yates' correction)" if one.test.method == "chi-square" else ""
    return first_capital(
        f"{was(one.arm)} rated {scale.good_label}{where} in {_share(one.good, one.n)}, "
        f"{name_of(one.reference)} in {_share(one.good_reference, one.n_reference)}: a "
        f"difference of {signed(100 * difference.estimate, 2)} percentage points, "
        f"{interval(difference, 2, times=100, confidence=confidence)}{_gain(one)}, "
        f"{contingency_text(one.test)}{correction}, Cramér's V = "
        f"{bounded(one.test.cramers_v.estimate)}."
    )


def _mcnemar_sentence(one: PairedTest, found: McNemar, pairs: str, where: str) -> str:
    test = (
        f"McNemar's χ²(1) = {number(found.chi2, 2)}, {_paired_p(one)}"
        if found.method == "McNemar"
        else f"exact binomial test, {_paired_p(one)}"
    )
    return (
        f"In {pairs}, only {was(one.arm)} rated good{where} in {number(found.only_first, 0)} and "
        f"only {name_of(one.reference)} in {number(found.only_second, 0)}: a difference of "
        f"{signed(100 * found.difference.estimate, 2)} percentage points, "
        f"{interval(found.difference, 2, times=100)}, {test}."
    )


def _gain(one: ArmTest) -> str:
    gain = one.relative_gain_percent.estimate
    return f", a relative gain of {signed(gain)}%" if math.isfinite(gain) else ""


def _share(good: int, n: int) -> str:
    return f"{number(good, 0)} of {number(n, 0)} ratings ({number(100 * good / n, 2)}%)"


def _cluster_sentence(one: ArmTest, where: str, confidence: float) -> str:
    found = one.clustered
    if found.note or found.n == found.raters:
        return ""
    effect = found.design_effect
    alike = (
        f"The intraclass correlation of ratings{where} by the same rater was "
        f"{bounded(found.icc_reference)} for {name_of(one.reference)} and {bounded(found.icc)} for "
        f"{name_of(one.arm)}"
    )
    if effect > 1:
        meaning = (
            f", so the variance of the difference is {number(effect, 2)} times what the chi-square "
            "test assumes, and that test overstates the evidence"
        )
    else:
        meaning = ", so the chi-square test does not overstate the evidence here"
    return (
        f"{alike}{meaning}; with raters as the independent units, t({number(found.df)}) = "
        f"{number(found.t, 2)}, {p_text(found.p)}, "
        f"{interval(found.difference, 2, times=100, confidence=confidence)}."
    )


def _valence_sentence(tests: Sequence[ArmTest], scale: RatingScale, where: str) -> str:
    found = [one for one in tests if one.kind == "valence" and one.test.method != "none"]
    if not found:
        return ""
    parts = [
        f"{one.subset} situations {number(100 * one.good / one.n, 2)}% against "
        f"{number(100 * one.good_reference / one.n_reference, 2)}%, {contingency_text(one.test)}, "
        f"{p_text(one.p_holm, 'Holm-corrected p')}"
        for one in found
    ]
    return (
        f"By valence, {was(found[0].arm)} rated {scale.good_label}{where} in {'; in '.join(parts)}."
    )


def _emotion_sentence(tests: Sequence[ArmTest], where: str, alpha: float) -> str:
    found = [one for one in tests if one.kind == "emotion" and one.test.method != "none"]
    if not found:
        return ""
    ways = ("p", "p_bh", "p_holm")
    plain, bh, by_holm = (sum(getattr(one, way) < alpha for one in found) for way in ways)
    left = sorted((one for one in found if one.p_holm < alpha), key=lambda one: one.p)
    names = [one.subset.removeprefix("emotion:") for one in left]
    said = (
        f"Of {counted(len(found), 'emotion')}, {name_of(found[0].arm)} differed from "
        f"{name_of(found[0].reference)}{where} in {plain} at α = {bounded(alpha)} without "
        f"correction, in {bh} after Benjamini and Hochberg's and in {by_holm} after Holm's"
    )
    if 0 < len(names) <= _MOST_NAMED:
        said += f" ({listed(names)})"
    honest = sum(one.clustered_p_holm < alpha for one in found)
    return f"{said}; by the test with raters as the independent units, in {honest} after Holm's."
