"""The methods of a rated study in words: design, participants, exclusions, second tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from empathylab.analysis.ratings.design import RatingsDesign, ReferenceArm
from empathylab.analysis.ratings.looks import Look
from empathylab.analysis.ratings.scales import Margins, StudyScales
from empathylab.analysis.results import ALPHA
from empathylab.analysis.text.apa import bounded, counted, excluded_sentence, listed
from empathylab.analysis.text.names import name_of, names_of
from empathylab.analysis.text.numbers import number, percent
from empathylab.stats.arms import ArmComparison, RatingScale
from empathylab.stats.arms.means import MeanComparison

_KINDS = {"all": "all situations", "valence": "valence", "emotion": "emotion"}
_KIND_OF_DESIGN = {
    "within": "Raters rated replies of several arms (within subjects): ",
    "mixed": "Some raters rated replies of one arm, others of several: ",
    "between": "Raters rated replies of one arm each (between subjects): ",
}
_MOST_NAMED = 8
_MISSING_APART = 0.05
_FEWEST_MISSING = 5
"""Missing ratings of an arm, and the difference in proportions, from which arms are compared."""
ADVICE = "; choose another with --reference"
"""What a note says to the analyst, and a paper does not."""


def design_paragraph(
    design: RatingsDesign, scales: StudyScales, means: Sequence[MeanComparison]
) -> str:
    """Who rated what, and on which scale."""
    named = len(design.dimensions) > 1
    of = f" of {listed(design.dimensions)}" if named else ""
    arms = names_of(design.arms)
    single = len(arms) == 1
    compared = listed([f"{arms[0]} (reference)", *arms[1:]])
    sentences = [
        f"The study has a single rated arm, {arms[0]}."
        if single
        else f"The study compares {len(arms)} arms: {compared}.",
        (
            f"{counted(design.raters, 'rater')} gave {counted(design.ratings, 'rating')}{of} of "
            f"{counted(design.replies, 'reply', 'replies')} to "
            f"{counted(design.situations, 'situation')}; a rater rated "
            f"{_mean(design.ratings_per_rater)} {_plural(design.ratings_per_rater, 'reply')}, and "
            f"a reply has {_mean(design.ratings_per_reply)} "
            f"{_plural(design.ratings_per_reply, 'rater')}."
        ),
    ]
    sentences.append(raters_sentence(design))
    sentences += [_scale_sentence(name, scales, means) for name in design.dimensions]
    if single:
        sentences.append(
            "With a single rated arm, no test is possible. Intervals of proportions are Wilson's "
            "at 95%, which treat ratings as independent."
            if scales.counted
            else "With a single rated arm, no test is possible."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def raters_sentence(design: RatingsDesign) -> str:
    """Whether raters rated replies of one arm or of several; empty with a single arm."""
    if design.kind not in _KIND_OF_DESIGN:
        return ""
    raters = [
        f"{number(n, 0)} {'rater' if n == 1 else 'raters'} for {name_of(arm)}"
        if place == 0
        else f"{number(n, 0)} for {name_of(arm)}"
        for place, (arm, n) in enumerate(design.raters_per_arm.items())
    ]
    return f"{_KIND_OF_DESIGN[design.kind]}{listed(raters)}."


def second_tests_paragraph(
    comparison: ArmComparison,
    design: RatingsDesign,
    scales: StudyScales,
    means: Sequence[MeanComparison],
    *,
    margins: Margins,
    look: Look | None,
    paired: bool,
) -> str:
    """The tests beside the mixed model, the margins of equivalence, and the level."""
    named = len(design.dimensions) > 1
    clustered = (
        "a t test with cluster-robust variance (CR2, Satterthwaite's degrees of freedom), "
        f"{design.clusters_text} as clusters"
    )
    by_mean = [mean.dimension for mean in means if not mean.constant]
    good = counted_dimensions(comparison, scales)
    sentences = []
    if by_mean:
        of = f" of {listed(by_mean)}" if named else ""
        sentences.append(f"Beside the model, means{of} were compared by {clustered}.")
    if good:
        of = f" of {listed(good)}" if named else ""
        chi_square = (
            "a chi-square test with Yates' correction, or by Fisher's exact test where an "
            "expected count was below 5, which treat ratings as independent"
        )
        also = " and by McNemar's or Wilcoxon's paired test" if paired else ""
        sentences.append(
            f"Beside the model, proportions of good ratings{of} were compared by {chi_square}; by "
            f"{clustered}{also}. {_families_sentence(comparison, good)} Intervals of differences "
            "by the chi-square test are Newcombe's."
        )
    for name, margin in margins.items():
        unit = "points" if name in scales.by_mean else "percentage points"
        of = f" on {name}" if named else ""
        sentences.append(
            f"Equivalence{of} was tested by two one-sided t tests (TOST) of the cluster-robust "
            f"difference, with a margin of ±{margin:g} {unit}."
        )
    if sentences:
        level = f"This is {look}." if look else f"Tests are two-sided at α = {bounded(ALPHA)}"
        sentences.append(level if look else f"{level}, and intervals are at 95%.")
    return " ".join(sentences)


def counted_dimensions(comparison: ArmComparison, scales: StudyScales) -> list[str]:
    """The dimensions whose good ratings the paragraphs report.

    With five points or more the top point says little beside the mean and the model.
    """
    return [name for name in comparison.scales if name not in scales.likert]


def notes_sentences(
    reference: ReferenceArm,
    *,
    unrated: Sequence[str],
    raters_without_ratings: int,
    arms: Sequence[str],
    incomplete_rows: int,
    missing_ratings: Mapping[str, tuple[int, int]],
    repeated: int,
    shared_situations: float,
) -> list[str]:
    """What a reader must know before the numbers, a sentence each."""
    sentences = []
    if reference.assumed and len(arms) > 1:
        first = "first arm by name" if reference.by_name else "first arm"
        sentences.append(
            f"No rated arm shows replies by people, so the {first}, {reference.name}, is the "
            f"reference{ADVICE}."
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
    if incomplete_rows:
        without = "without a rater, arm, situation or rating"
        sentences.append(excluded_sentence(incomplete_rows, "row", without))
    sentences += _unequally_missing(missing_ratings)
    if len(arms) > 1 and shared_situations == 0:
        sentences.append(
            "No situation was rated in two arms, so a difference between arms can also come from "
            "their situations."
        )
    if repeated:
        sentences.append(
            f"{counted(repeated, 'row rates', 'rows rate')} a reply that the same rater had "
            "already rated on the same dimension. All ratings count. Delete copies; if the "
            "replies differ, name each in a column response."
        )
    return sentences


def _unequally_missing(counts: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """That ratings of one arm are missing more often than those of another."""
    ranked = sorted(counts.items(), key=lambda item: item[1][0] / item[1][1], reverse=True)
    if not ranked:
        return
    (missing, size), (fewest, others) = ranked[0][1], ranked[-1][1]
    if missing < _FEWEST_MISSING or missing / size - fewest / others <= _MISSING_APART:
        return
    named = ranked if len(ranked) <= _MOST_NAMED else [ranked[0], ranked[-1]]
    arms = [
        f"{number(gaps, 0)} of {number(rows, 0)} for {name_of(arm)} ({percent(gaps / rows)})"
        for arm, (gaps, rows) in named
    ]
    yield (
        f"Missing ratings differ between arms: {listed(arms)}. If raters skip replies that they "
        "like less, for example, the comparison of these arms is biased."
    )


def compared_text(reference: ReferenceArm, arms: Sequence[str]) -> str:
    """`arms against human`; says so where the reference was assumed."""
    if len(arms) == 1:
        return f"one arm, {reference.name}"
    first = "the first by name" if reference.by_name else "the first arm"
    why = f" ({first}, as no arm shows replies by people)" if reference.assumed else ""
    return f"arms against {reference.name}{why}"


def _mean(value: float) -> str:
    """A mean count; without decimals where it is whole."""
    return number(value).removesuffix(".0")


def _plural(value: float, one: str) -> str:
    return one if _mean(value) == "1" else {"reply": "replies", "rater": "raters"}[one]


def _scale_sentence(dimension: str, scales: StudyScales, means: Sequence[MeanComparison]) -> str:
    name = f"{dimension[:1].upper()}{dimension[1:]}"
    scale = scales.counted.get(dimension)
    if scale is not None and (dimension not in scales.averaged or scale.continuous):
        good = "" if dimension in scales.likert else f"; {scale.good_label} counted as good"
        return f"{name} was rated {_points(scale)}{good}."
    mean = next((item for item in means if item.dimension == dimension), None)
    if mean is None or mean.constant:
        return ""
    ends = f"ratings from {mean.lowest:g} to {mean.highest:g}"
    return f"{name} was rated on a continuous scale ({ends})."


def _points(scale: RatingScale) -> str:
    if scale.continuous:
        return f"between {scale.values[0]:g} and {scale.values[-1]:g}"
    if scale.labels:
        return f"on {len(scale.values)} points ({', '.join(scale.labels)})"
    return f"from {scale.values[0]:g} to {scale.values[-1]:g}"


def _families_sentence(comparison: ArmComparison, dimensions: Sequence[str]) -> str:
    sizes = {(test.kind, test.dimension): test.family_size for test in comparison.tests}
    families = [
        f"{_KINDS[kind]} ({counted(size, 'test')})"
        for (kind, dimension), size in sizes.items()
        if dimension == dimensions[0]
    ]
    each = ", within each dimension" if len(dimensions) > 1 else ""
    return (
        "p values were corrected by Holm's and by Benjamini and Hochberg's method over each "
        f"family of tests{each}: {listed(families)}."
    )
