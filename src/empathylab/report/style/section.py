"""The style part of the report: what it says, its charts, and the table behind each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from empathylab.analysis.style.estimates import StyleEstimates
from empathylab.analysis.style.feature_titles import main_features
from empathylab.analysis.style.prose import (
    predictability_sentence,
    profile_sentence,
    rated_sentence,
    reuse_sentences,
    tactic_sentences,
    tagged_by,
)
from empathylab.analysis.style.result import StyleResult
from empathylab.analysis.style.tables import (
    ACCURACY,
    CORRECTED,
    classification_rows,
    confusion_rows,
    corrected_tactic_rows,
    difference_rows,
    emoji_rows,
    feature_rows,
    overview_rows,
    recurring_rows,
    relation_rows,
    reuse_rows,
    tactic_accuracy_rows,
    tactic_rows,
    template_rows,
    term_rows,
)
from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.analysis.text.names import name_of
from empathylab.report.blocks import Block, Figure, Fold, Section, Table, Text, kept
from empathylab.report.style.figures import figures

_MOST_PAIRS = 40
_MOST_NAMED = 4
_EXAMPLES = 8
_TERM_CAPTION = (
    "Uses per 1,000 words (of a phrase: per 1,000 phrases of that length); z ranks the terms and "
    "is not a test"
)

Part = tuple[Block, ...]


def style_section(result: StyleResult | None, lead: Sequence[str]) -> Section:
    """How respondents write; without blocks where there is no result."""
    if result is None:
        return Section(id="style", title="Style", blocks=())
    analysis = result.estimates
    shelf = _Shelf(list(figures(analysis)))
    blocks = kept(
        *_profile_part(analysis, shelf),
        *_terms_part(analysis, shelf),
        *_authorship_part(analysis, shelf),
        *_emoji_part(analysis, shelf),
        *_tactics_part(analysis, shelf),
        *_reuse_part(analysis),
        *_ratings_part(analysis, shelf),
        Text(tuple(analysis.notes), "note"),
    )
    return Section(id="style", title="Style", blocks=blocks, lead=lead)


class _Shelf:
    """The charts, by the first part of their names."""

    def __init__(self, drawn: Sequence[Figure]) -> None:
        self.drawn = drawn

    def take(self, *kinds: str) -> list[Figure]:
        return [figure for figure in self.drawn if figure.name.split("-")[0] in kinds]


def _fold(name: str, title: str, *blocks: Block) -> Part:
    return (Fold(id=f"style-{name}", title=title, blocks=kept(*blocks)),)


def _profile_part(analysis: StyleEstimates, shelf: _Shelf) -> Part:
    """The main chart and the means, then every feature."""
    several = len(analysis.respondents) > 1
    sentences = [profile_sentence(analysis)] if len(analysis.respondents) <= _MOST_NAMED else []
    pairs = len(
        {(difference.respondent, difference.against) for difference in analysis.differences}
    )
    most = None if pairs == 1 else max(3, _MOST_PAIRS // max(1, pairs))
    ranked = "all, the largest first" if most is None else f"the {most} largest of each pair"
    differences = _table(
        "Differences in style",
        f"Differences between respondents ({ranked}); d in standard deviations between "
        f"situations; p corrected by Holm's method over {len(analysis.differences)} tests",
        difference_rows(analysis, most) if several else (),
    )
    features = _table(
        "Every feature of style",
        "Means per response with 95% intervals, clustered by situation",
        feature_rows(analysis),
    )
    return kept(
        *shelf.take("profile"),
        Text(sentences),
        *_fold(
            "profile",
            "Every feature",
            _table("Style in short", "Means per response", overview_rows(analysis)),
            features,
            differences,
        ),
    )


def _terms_part(analysis: StyleEstimates, shelf: _Shelf) -> Part:
    found = [item for item in analysis.distinctive if shown_terms(item.terms, 1)]
    if not found:
        return ()
    paired = (
        "over situations that both sides replied to"
        if all(item.paired for item in found)
        else "not all over the same situations"
    )
    text = (
        "Words and phrases that each respondent uses more than the others, by the z of the log "
        f"odds ratio with an informative prior (Monroe et al. 2008), {paired}. Function words, "
        "phrases that repeat one above, and all with a z below 1.96 are not shown."
    )
    tables = [
        dataclasses.replace(
            _table(
                f"Distinctive words of {name_of(item.respondent)}",
                _TERM_CAPTION,
                term_rows(analysis, item.respondent),
            ),
            examples=tuple(
                (spelled(term.term), term.examples[0])
                for term in shown_terms(item.terms, _EXAMPLES)
                if term.examples
            ),
        )
        for item in found
    ]
    return _fold("words", "Distinctive words", Text((text,)), *shelf.take("distinctive"), *tables)


def _authorship_part(analysis: StyleEstimates, shelf: _Shelf) -> Part:
    found = analysis.predictability
    if found is None:
        return ()
    sentences = [predictability_sentence(analysis)]
    if not found.ablations:
        sentences.append(
            "Run `empathylab analyze style` for the accuracy without length, punctuation or case."
        )
    tables = [
        _table("Predicted authors", "Responses, by author", confusion_rows(analysis)),
        _table(
            "Accuracy of authorship",
            f"{found.folds}-fold cross-validation, all responses to a situation in one fold",
            classification_rows(analysis),
        ),
    ]
    return _fold(
        "authorship",
        "Can the author be identified?",
        Text(sentences),
        *shelf.take("confusion", "ablations"),
        *tables,
    )


def _emoji_part(analysis: StyleEstimates, shelf: _Shelf) -> Part:
    if not analysis.emoji.height:
        return ()
    table = _table("Emoji", "Uses per response", emoji_rows(analysis))
    return _fold("emoji", "Emoji", *shelf.take("emoji"), table)


def _tactics_part(analysis: StyleEstimates, shelf: _Shelf) -> Part:
    if not analysis.tactics.uses:
        return ()
    text = (
        f"Each sentence was tagged {tagged_by(analysis)}; a sentence can contain several tactics "
        "or none. Compare respondents by the corrected percentages, and only where a tactic is "
        "reliable enough. " + " ".join(tactic_sentences(analysis))
    )
    tables = (
        _table(
            "Tactics",
            "Responses that use a tactic at least once, as tagged, with 95% intervals",
            tactic_rows(analysis),
        ),
        _table("Corrected for tagging errors", CORRECTED, corrected_tactic_rows(analysis)),
        _table("How often tags are right", ACCURACY, tactic_accuracy_rows(analysis)),
        _table("Tactic sequences", "The most common tactic sequences", template_rows(analysis)),
    )
    drawn = shelf.take("tactics")
    return _fold("tactics", "Tactics of empathic language", Text((text,)), *drawn, *tables)


def _reuse_part(analysis: StyleEstimates) -> Part:
    sentences = (
        [" ".join(reuse_sentences(analysis))] if len(analysis.respondents) <= _MOST_NAMED else []
    )
    sentences.append(
        "A phrase counts as repeated if a reply to another situation has it, too; phrases and "
        "compression are compared on the same amount of text."
    )
    return _fold(
        "reuse",
        "Templates and repetition",
        Text(tuple(item for item in sentences if item)),
        _table("Repetition by respondent", "", reuse_rows(analysis)),
        _table(
            "Opening and closing phrases",
            "The first and last five words; near-duplicates are counted together",
            recurring_rows(analysis),
        ),
    )


def _ratings_part(analysis: StyleEstimates, shelf: _Shelf) -> Part:
    if not analysis.rated:
        return ()
    titles = main_features(analysis)
    tables = [
        _table(
            f"Style and ratings: {item.dimension} {item.study}".strip(),
            "Change of the rating with one standard deviation more, with 95% intervals "
            "clustered by situation and rater; p of the last slope, corrected over all features "
            "that can be tested",
            [row for row in relation_rows(item) if row["alone"] != "–"],
        )
        for item in analysis.rated
    ]
    sentences = tuple(rated_sentence(rated, titles) for rated in analysis.rated)
    return _fold(
        "ratings",
        "What is associated with higher ratings?",
        Text(sentences),
        *shelf.take("ratings"),
        *tables,
    )


def _table(title: str, caption: str, rows: Sequence[Mapping[str, str]]) -> Table:
    return Table(title=title, rows=rows, caption=caption)
