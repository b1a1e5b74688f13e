"""Methods and results of an analysis of style in words, with the numbers filled in."""

from __future__ import annotations

from collections.abc import Mapping

from empathylab import __version__
from empathylab.analysis.style.analysis import RULES, RatedStyle, StyleAnalysis
from empathylab.analysis.style.tables import by_pair, main_features, share
from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.analysis.text.apa import counted, listed, p_text
from empathylab.analysis.text.numbers import number, signed
from empathylab.style import Profile
from empathylab.style.differences import FeatureDifference
from empathylab.style.tactics.tagging import TacticUse

_ALPHA = 0.05


def paragraphs(analysis: StyleAnalysis) -> list[str]:
    """Methods first, then results, ready for a paper."""
    said = [methods_paragraph(analysis), profile_sentence(analysis)]
    said += [
        difference_sentences(analysis),
        " ".join(distinctive_sentences(analysis)),
        predictability_sentences(analysis),
        tactic_sentences(analysis),
        reuse_sentences(analysis),
        *(rated_sentences(one, main_features(analysis)) for one in analysis.rated),
        " ".join(analysis.notes),
    ]
    return [one for one in said if one]


def methods_paragraph(analysis: StyleAnalysis) -> str:
    """How the responses were described, ready for a paper's methods section."""
    several = len(analysis.respondents) > 1
    said = [
        f"{counted(analysis.responses.height, 'response')} of {listed(analysis.respondents)} to "
        f"{counted(analysis.situations, 'situation')} were described by "
        f"{counted(len(analysis.profiles[0].features), 'feature')} (length, punctuation, emoji, "
        "word lists, lexical diversity, readability"
        + (", sentiment)." if "sentiment" in analysis.profiles[0].features else ").")
    ]
    if analysis.differences:
        said.append(_test_sentence(analysis))
    if analysis.distinctive:
        said.append(
            "Distinctive words and phrases (one to three words) were ranked by the z of their log "
            "odds ratio under an informative Dirichlet prior (Monroe et al., 2008), over "
            "situations that both sides answered."
        )
    told = analysis.predictability
    if told is not None:
        said.append(
            "Writers were told apart by logistic regression on TF-IDF weights of character "
            f"2–4-grams and word 1–2-grams in {told.folds}-fold cross-validation, all responses to "
            "a situation in one fold; the interval of the accuracy allows for situations."
        )
    by = "rules on their wording" if analysis.tactics.tagger == RULES else analysis.tactics.tagger
    said.append(f"Ten tactics of empathic language were tagged in each sentence by {by}.")
    if analysis.rated:
        said.append(
            "Ratings were regressed on each standardised feature with the log of the words"
            + (" and the respondent" if several else "")
            + " held fixed, allowing for clusters of situations and raters."
        )
    return " ".join([*said, f"Software: EmpathyLab {__version__}."])


def _test_sentence(analysis: StyleAnalysis) -> str:
    paired = {one.paired for one in analysis.differences}
    kind = {
        frozenset({True}): "paired t tests of situation means",
        frozenset({False}): "Welch's t tests of situation means",
    }.get(frozenset(paired), "t tests of situation means, paired where situations are shared")
    count = counted(len(analysis.differences), "test")
    return f"Respondents were compared by {kind}, corrected after Holm over {count}."


def profile_sentence(analysis: StyleAnalysis) -> str:
    """How long the responses are."""
    return " ".join(_length_sentence(one) for one in analysis.profiles)


def _length_sentence(one: Profile) -> str:
    words = one.features["words"]
    span = f" [{number(words.low)}, {number(words.high)}]" if words.low == words.low else ""
    return (
        f"{one.respondent} wrote {number(words.mean)}{span} words per response "
        f"({counted(one.responses, 'response')}), "
        f"{number(one.features['words_per_sentence'].mean)} per sentence."
    )


def difference_sentences(analysis: StyleAnalysis, most: int = 6) -> str:
    """In what the respondents differ most."""
    titles = main_features(analysis)
    said = []
    for (one, other), mine in by_pair(analysis.differences).items():
        sure = [each for each in mine if each.p_holm < _ALPHA]
        told = [_difference(each, titles) for each in sure if each.feature in titles][:most]
        text = f"{one} and {other} differed in {len(sure)} of {len(mine)} features"
        said.append(text + (f", most in {listed(told)}." if told else "."))
    return " ".join(said)


def _difference(one: FeatureDifference, titles: Mapping[str, str]) -> str:
    return (
        f"{titles[one.feature]} ({number(one.mean, 2)} and {number(one.against_mean, 2)}, "
        f"d = {signed(one.effect, 2)})"
    )


def distinctive_sentences(analysis: StyleAnalysis, top: int = 8) -> list[str]:
    """The words that mark each respondent off, a sentence for each."""
    said = []
    for one in analysis.distinctive:
        terms = [f"“{spelled(term.term)}”" for term in shown_terms(one.terms, top)]
        if terms:
            against = one.against or "the others"
            said.append(f"Against {against}, {one.respondent} stands out by {listed(terms)}.")
    return said


def predictability_sentences(analysis: StyleAnalysis) -> str:
    """How surely the writer can be told, and from what."""
    told = analysis.predictability
    if told is None:
        return ""
    full = told.full
    said = [
        (
            "The writer of a response to a situation not seen before was named correctly in "
            f"{share(full.accuracy)} of {counted(full.responses, 'response')} "
            f"(95% CI [{share(full.low)}, {share(full.high)}]; chance {share(full.chance)}; "
            f"macro F1 {number(full.macro_f1, 3)})."
        )
    ]
    parts = [f"{one.name} {share(one.accuracy)}" for one in told.ablations if not one.note]
    if parts:
        said.append(f"From part of the text: {', '.join(parts)}.")
    return " ".join(said)


def tactic_sentences(analysis: StyleAnalysis, top: int = 4) -> str:
    """Which tactics each respondent uses most, and how often one order of them recurs."""
    said = []
    for one in analysis.tactics.templates:
        uses = [use for use in analysis.tactics.uses if use.respondent == one.respondent]
        most = [_use(use) for use in sorted(uses, key=lambda use: -use.share)[:top] if use.share]
        if not most or not one.commonest:
            continue
        first = one.commonest[0]
        said.append(
            f"Of the responses of {one.respondent}, {listed(most)}; the commonest of their "
            f"{counted(one.different, 'order')} was {' → '.join(first.tactics)} "
            f"({share(first.share)})."
        )
    return " ".join(said)


def _use(use: TacticUse) -> str:
    return f"{share(use.share, 0)} hold {use.tactic}"


def reuse_sentences(analysis: StyleAnalysis) -> str:
    """How often openings and phrases come again."""
    said = []
    for again, opening in zip(analysis.reuse.repetition, analysis.reuse.openings, strict=True):
        if again.phrase_repetition != again.phrase_repetition or not opening.commonest:
            continue
        said.append(
            f"{again.respondent}: {share(opening.near_repeated, 0)} of openings came again, word "
            f"for word or nearly (most often “{spelled(opening.commonest[0].words)}”), and "
            f"{share(again.phrase_repetition, 0)} of runs of {again.size} words."
        )
    return " ".join(said)


def rated_sentences(rated: RatedStyle, titles: Mapping[str, str], most: int = 5) -> str:
    """What in the style goes with better and with worse ratings."""
    name = rated.dimension or "the"
    where = f" of {rated.study}" if rated.study else ""
    tested = [one for one in rated.relations if one.within.p == one.within.p]
    sure = sorted((one for one in tested if one.p_holm < _ALPHA), key=lambda one: one.within.p)
    begin = "At equal length and within respondents, "
    if not sure:
        return (
            f"{begin}none of {counted(len(tested), 'feature')} went reliably with {name} "
            f"ratings{where}."
        )
    parts: list[str] = []
    for direction, sign in (("higher", 1), ("lower", -1)):
        slopes = [
            f"{titles[one.feature]} ({signed(one.within.estimate, 2)} points per SD, "
            f"{p_text(one.p_holm, 'p')})"
            for one in sure
            if sign * one.within.estimate > 0 and one.feature in titles
        ]
        if slopes:
            parts.append(f"; {direction} ones with {listed(slopes[:most])}")
    return (
        f"{begin}{len(sure)} of {counted(len(tested), 'feature')} went with {name} ratings{where} "
        f"(p after Holm){''.join(parts)}. That is what goes together, not what brings ratings "
        "about."
    )
