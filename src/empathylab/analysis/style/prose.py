"""Methods and results of an analysis of style in words, with the numbers filled in."""

from __future__ import annotations

from collections.abc import Mapping

from empathylab import __version__
from empathylab.analysis.results import ALPHA
from empathylab.analysis.style.estimates import RULES, RatedStyle, StyleEstimates
from empathylab.analysis.style.feature_titles import main_features
from empathylab.analysis.style.tables import by_pair, percentage
from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.analysis.text.apa import counted, listed, p_text
from empathylab.analysis.text.names import PEOPLE, first_capital, name_of, owner
from empathylab.analysis.text.numbers import number, signed, with_ends
from empathylab.style import Profile
from empathylab.style.differences import FeatureDifference
from empathylab.style.rating_relations import ENOUGH_CLUSTERS, RatingRelation
from empathylab.style.tactics.tagging import TacticUse


def paragraphs(estimates: StyleEstimates) -> list[str]:
    """Methods first, then results, ready for a paper."""
    sentences = [methods_paragraph(estimates), profile_sentence(estimates)]
    sentences += [
        " ".join(difference_sentences(estimates)),
        " ".join(distinctive_sentences(estimates)),
        predictability_sentence(estimates),
        " ".join(tactic_sentences(estimates)),
        " ".join(reuse_sentences(estimates)),
        *(rated_sentence(rated, main_features(estimates)) for rated in estimates.rated),
        " ".join(estimates.notes),
    ]
    return [paragraph for paragraph in sentences if paragraph]


def methods_paragraph(estimates: StyleEstimates) -> str:
    """How the responses were described, ready for a paper's methods section."""
    several = len(estimates.respondents) > 1
    sentences = [
        f"{counted(estimates.responses.height, 'response')} of "
        f"{listed([name_of(name) for name in estimates.respondents])} to "
        f"{counted(estimates.situations, 'situation')} were described by "
        f"{counted(len(estimates.profiles[0].features), 'feature')} (length, punctuation, emoji, "
        "word lists, lexical diversity, readability"
        + (", sentiment of words)." if "sentiment" in estimates.profiles[0].features else ").")
    ]
    if estimates.differences:
        sentences.append(_test_sentence(estimates))
    if estimates.distinctive:
        sentences.append(
            "Distinctive words and phrases (one to three words) were ranked by the z of their log "
            "odds ratio under an informative Dirichlet prior (Monroe et al., 2008), over "
            "situations that both sides answered."
        )
    authorship = estimates.predictability
    if authorship is not None:
        sentences.append(
            "Authors were identified by logistic regression on TF-IDF weights of character "
            f"2–4-grams and word 1–2-grams in {authorship.folds}-fold cross-validation, all "
            "responses to a situation in one fold; the interval is clustered by situation."
        )
    sentences.append(
        f"Tactics of empathic language were tagged in each sentence {tagged_by(estimates)}."
    )
    if estimates.rated:
        sentences.append(
            "Ratings were regressed on each standardised feature with the log of the words"
            + (" and the respondent" if several else "")
            + " as covariates, with clusters of situations and raters; p values were corrected "
            "over features by the step-down minimum p (Westfall & Young, 1993) of ratings "
            "simulated without any relation."
        )
    return " ".join([*sentences, f"Software: EmpathyLab {__version__}."])


def tagged_by(estimates: StyleEstimates) -> str:
    """By what tactics were tagged, and how often that is right."""
    tactics = estimates.tactics
    if tactics.tagger != RULES:
        return f"by {tactics.tagger}"
    precision = [row.precision for row in tactics.accuracy]
    recall = [row.recall for row in tactics.accuracy]
    return (
        "by rules and a classifier of their wording (on the test set, by tactic, precision "
        f"{percentage(min(precision), 0)} to {percentage(max(precision), 0)} and recall "
        f"{percentage(min(recall), 0)} to {percentage(max(recall), 0)})"
    )


def _test_sentence(estimates: StyleEstimates) -> str:
    paired = {difference.paired for difference in estimates.differences}
    kind = {
        frozenset({True}): "paired t tests of situation means",
        frozenset({False}): "Welch's t tests of situation means",
    }.get(frozenset(paired), "t tests of situation means, paired where situations are shared")
    count = counted(len(estimates.differences), "test")
    return f"Respondents were compared by {kind}, corrected by Holm's method over {count}."


def profile_sentence(estimates: StyleEstimates) -> str:
    """How long the responses are."""
    return " ".join(_length_sentence(profile) for profile in estimates.profiles)


def _length_sentence(profile: Profile) -> str:
    words = profile.features["words"]
    return first_capital(
        f"{name_of(profile.respondent)} wrote "
        f"{with_ends(words.mean, words.low, words.high)} words per response "
        f"({counted(profile.responses, 'response')}), "
        f"{number(profile.features['words_per_sentence'].mean)} per sentence."
    )


def difference_sentences(estimates: StyleEstimates, most: int = 6) -> list[str]:
    """In what each two respondents differ most, a sentence for each pair."""
    titles = main_features(estimates)
    sentences = []
    for (respondent, reference), differences in by_pair(estimates.differences).items():
        significant = [difference for difference in differences if difference.p_holm < ALPHA]
        named = [
            _difference(difference, titles)
            for difference in significant
            if difference.feature in titles
        ]
        text = first_capital(
            f"{name_of(respondent)} and {name_of(reference)} differed in "
            f"{len(significant)} of {len(differences)} features"
        )
        sentences.append(text + (f", most in {listed(named[:most])}." if named else "."))
    return sentences


def _difference(difference: FeatureDifference, titles: Mapping[str, str]) -> str:
    return (
        f"{titles[difference.feature]} ({number(difference.mean, 2)} and "
        f"{number(difference.against_mean, 2)}, "
        f"d = {signed(difference.effect, 2)})"
    )


def distinctive_sentences(estimates: StyleEstimates, top: int = 8) -> list[str]:
    """The most distinctive words of each respondent, a sentence for each."""
    sentences = []
    for words in estimates.distinctive:
        terms = [f"“{spelled(term.term)}”" for term in shown_terms(words.terms, top)]
        if terms:
            against = name_of(words.against or "the others")
            uses = "people use" if words.respondent == PEOPLE else f"{words.respondent} uses"
            sentences.append(f"Compared with {against}, {uses} {listed(terms)} more often.")
    return sentences


def predictability_sentence(estimates: StyleEstimates) -> str:
    """How accurately the author can be identified, and from what; empty where it was not tried."""
    predictability = estimates.predictability
    if predictability is None:
        return ""
    full = predictability.full
    sentences = [
        (
            "The author of a response to an unseen situation was identified correctly in "
            f"{percentage(full.accuracy)} of {counted(full.responses, 'response')} "
            f"(95% CI [{percentage(full.low)}, {percentage(full.high)}]; "
            f"chance {percentage(full.chance)}; {p_text(full.p, 'permutation p')}; "
            f"macro F1 {number(full.macro_f1, 3)})."
        )
    ]
    parts = [
        f"{part.name} {percentage(part.accuracy)}"
        for part in predictability.ablations
        if not part.note
    ]
    if parts:
        sentences.append(f"From part of the text: {', '.join(parts)}.")
    return " ".join(sentences)


def tactic_sentences(estimates: StyleEstimates, top: int = 4) -> list[str]:
    """The most used tactics and the most common sequence of each respondent."""
    sentences = []
    for templates in estimates.tactics.templates:
        uses = [use for use in estimates.tactics.uses if use.respondent == templates.respondent]
        most = [_use(use) for use in sorted(uses, key=lambda use: -use.share)[:top] if use.share]
        if not most or not templates.commonest:
            continue
        first = templates.commonest[0]
        sentences.append(
            f"Of the responses of {name_of(templates.respondent)}, {listed(most)}; the most "
            f"common of their {counted(templates.different, 'tactic sequence')} "
            f"was {' → '.join(first.tactics)} ({percentage(first.share)})."
        )
    return sentences


def _use(use: TacticUse) -> str:
    return f"{percentage(use.share, 0)} use {use.tactic}"


def reuse_sentences(estimates: StyleEstimates) -> list[str]:
    """How often opening phrases and 4-word phrases are repeated, a sentence per respondent."""
    sentences = []
    for reuse, opening in zip(estimates.reuse.repetition, estimates.reuse.openings, strict=True):
        if reuse.phrase_repetition != reuse.phrase_repetition or not opening.commonest:
            continue
        most = spelled(opening.commonest[0].words)
        sentences.append(
            first_capital(
                f"{owner(reuse.respondent)} responses: {percentage(opening.near_repeated, 0)} of "
                f"opening phrases are repeated, exactly or nearly (most often “{most}”), and "
                f"{percentage(reuse.phrase_repetition, 0)} of {reuse.size}-word phrases."
            )
        )
    return sentences


def rated_sentence(rated: RatedStyle, titles: Mapping[str, str], most: int = 5) -> str:
    """Which features are associated with higher and with lower ratings."""
    name = rated.dimension or "the"
    where = f" of {rated.study}" if rated.study else ""
    tested, significant = tested_relations(rated)
    begin = "At equal length and within respondents, "
    if not tested:
        return (
            f"All features are too rare to test for an association with {name} ratings{where}: "
            f"each varies in the equivalent of fewer than {ENOUGH_CLUSTERS} situations or raters."
        )
    if not significant:
        return (
            f"{begin}no association of {counted(len(tested), 'feature')} with {name} "
            f"ratings{where} is significant."
        )
    parts: list[str] = []
    for direction, sign in (("higher", 1), ("lower", -1)):
        slopes = [
            f"{titles[relation.feature]} ({signed(relation.within.estimate, 2)} points per SD, "
            f"{p_text(relation.p_joint, 'p')})"
            for relation in significant
            if sign * relation.within.estimate > 0 and relation.feature in titles
        ]
        if slopes:
            parts.append(f"; {direction} ratings with {listed(slopes[:most])}")
    return (
        f"{begin}{len(significant)} of {counted(len(tested), 'feature')} are associated with "
        f"{name} ratings{where} (p corrected jointly){''.join(parts)}. These are associations, "
        "not causes."
    )


def tested_relations(rated: RatedStyle) -> tuple[list[RatingRelation], list[RatingRelation]]:
    """The relations that were tested, and those that are significant, the smallest p first.

    A relation that rests on few situations or raters counts as not tested.
    """
    tested = [relation for relation in rated.relations if relation.enough_clusters]
    significant = [relation for relation in tested if relation.p_joint < ALPHA]
    return tested, sorted(significant, key=lambda relation: relation.within.p)
