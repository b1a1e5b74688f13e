"""The style part of the report: what it says, its charts, and the table behind each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.analysis.style.estimates import RULES, StyleEstimates
from empathylab.analysis.style.prose import (
    paragraphs,
    predictability_sentence,
    profile_sentence,
    rated_sentence,
    reuse_sentences,
    tactic_sentences,
)
from empathylab.analysis.style.result import StyleResult
from empathylab.analysis.style.tables import (
    classification_rows,
    confusion_rows,
    difference_rows,
    emoji_rows,
    feature_rows,
    main_features,
    overview_rows,
    recurring_rows,
    relation_rows,
    reuse_rows,
    shown_terms,
    spelled,
    table_columns,
    tactic_rows,
    template_rows,
    term_rows,
)
from empathylab.report.appraisal.section import Figure
from empathylab.report.style.figures import StyleFigure, style_figures

_MOST_PAIRS = 40
_MOST_NAMED = 4
_MOST_SIDE_BY_SIDE = 3
_EXAMPLES = 8
_TERM_CAPTION = (
    "Uses per 1,000 words (of a phrase: per 1,000 phrases of that length); z orders the terms and "
    "is not a test"
)
_NUMBER = re.compile(r"[+−<]? ?\.?\d|–$")
_CAPTIONS = {
    "emoji": "The most common emoji. A PDF shows their names, because it cannot hold a font of "
    "coloured emoji; SVG and PNG show them where such a font is installed.",
}


@dataclass(frozen=True, slots=True)
class SectionTable:
    """A table as the page shows it."""

    title: str
    caption: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    """Per column: whether it holds numbers, which stand to the right."""
    rows: tuple[tuple[str, ...], ...]
    examples: tuple[tuple[str, str], ...] = ()
    """Words and phrases, each with a sentence that holds it."""


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A heading with what stands under it."""

    id: str
    title: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    open_tables: tuple[SectionTable, ...] = ()
    """Short ones, which are shown."""
    tables: tuple[SectionTable, ...] = ()
    """Those behind the figures, which open on a click."""
    wide: bool = False
    """Whether the figures stand one below the other, and scroll where they do not fit."""


@dataclass(frozen=True, slots=True)
class StyleSection:
    """What the page shows of the style."""

    parts: tuple[SectionPart, ...]
    specs: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    paragraphs: tuple[str, ...]


def style_section(result: StyleResult | None) -> StyleSection:
    """The section's parts; empty where there is no result."""
    if result is None:
        return StyleSection((), (), (), ())
    analysis = result.estimates
    shelf = _Shelf(style_figures(analysis))
    parts = [
        _profile_part(analysis, shelf),
        _terms_part(analysis, shelf),
        _authorship_part(analysis, shelf),
        _emoji_part(analysis, shelf),
        _tactics_part(analysis, shelf),
        _reuse_part(analysis),
        _ratings_part(analysis, shelf),
    ]
    return StyleSection(
        tuple(part for part in parts if part is not None),
        tuple(shelf.specs),
        analysis.notes,
        tuple(paragraphs(analysis)),
    )


class _Shelf:
    """The figures by kind; those taken get their place on the page."""

    def __init__(self, figures: Sequence[StyleFigure]) -> None:
        self.figures = figures
        self.specs: list[dict[str, Any]] = []

    def take(self, *kinds: str) -> tuple[Figure, ...]:
        taken = []
        for one in self.figures:
            if one.kind in kinds:
                caption = _CAPTIONS.get(one.kind, "")
                taken.append(Figure(one.kind, one.title, len(self.specs), caption))
                self.specs.append(one.spec)
        return tuple(taken)


def _profile_part(analysis: StyleEstimates, shelf: _Shelf) -> SectionPart:
    several = len(analysis.respondents) > 1
    said = [profile_sentence(analysis)] if len(analysis.respondents) <= _MOST_NAMED else []
    if several:
        said.append(
            "In the figure 0 is the mean of all respondents, and a point’s distance from it is in "
            "standard deviations over responses; bars are 95% intervals over situations."
        )
    pairs = len({(one.respondent, one.against) for one in analysis.differences})
    most = None if pairs == 1 else max(3, _MOST_PAIRS // max(1, pairs))
    tables = [
        _table(
            "every feature",
            "Means per response with 95% intervals, clustered by situation",
            feature_rows(analysis),
        )
    ]
    if several:
        ranked = "all, the largest first" if most is None else f"the {most} largest of each pair"
        tables.append(
            _table(
                "differences",
                f"Differences between respondents ({ranked}); d in standard deviations between "
                f"situations; p corrected after Holm over {len(analysis.differences)} tests",
                difference_rows(analysis, most),
            )
        )
    overview = _table("in short", "Means per response", overview_rows(analysis))
    return SectionPart(
        "style-profile",
        "How they write" if several else "How it writes",
        tuple(said),
        shelf.take("profile"),
        (overview,),
        tuple(tables),
        wide=True,
    )


def _terms_part(analysis: StyleEstimates, shelf: _Shelf) -> SectionPart | None:
    found = [one for one in analysis.distinctive if shown_terms(one.terms, 1)]
    if not found:
        return None
    paired = (
        "over situations that both sides replied to"
        if all(one.paired for one in found)
        else "not all over the same situations"
    )
    said = (
        "Words and phrases that each respondent uses more than the others, by the z of the log "
        f"odds ratio with an informative prior (Monroe et al. 2008), {paired}. Function words, "
        "phrases that repeat one above, and all with a z below 1.96 are not shown."
    )
    tables = [
        dataclasses.replace(
            _table(one.respondent, _TERM_CAPTION, term_rows(analysis, one.respondent)),
            examples=tuple(
                (spelled(term.term), term.examples[0])
                for term in shown_terms(one.terms, _EXAMPLES)
                if term.examples
            ),
        )
        for one in found
    ]
    return SectionPart(
        "style-words",
        "Distinctive words",
        (said,),
        shelf.take("distinctive"),
        (),
        tuple(tables),
    )


def _authorship_part(analysis: StyleEstimates, shelf: _Shelf) -> SectionPart | None:
    found = analysis.predictability
    if found is None:
        return None
    said = [predictability_sentence(analysis)]
    if not found.ablations:
        said.append(
            "Run empathylab analyze style for the accuracy without length, punctuation or case."
        )
    tables = [
        _table("predictions", "Responses, by author", confusion_rows(analysis)),
        _table(
            "accuracy",
            f"{found.folds}-fold cross-validation, all responses to a situation in one fold",
            classification_rows(analysis),
        ),
    ]
    return SectionPart(
        "style-authorship",
        "Can the author be identified?",
        tuple(said),
        shelf.take("confusion", "ablations"),
        (),
        tuple(tables),
        wide=len(found.respondents) > _MOST_SIDE_BY_SIDE,
    )


def _emoji_part(analysis: StyleEstimates, shelf: _Shelf) -> SectionPart | None:
    if not analysis.emoji.height:
        return None
    table = _table("emoji", "Uses per response", emoji_rows(analysis))
    return SectionPart("style-emoji", "Emoji", (), shelf.take("emoji"), (), (table,))


def _tactics_part(analysis: StyleEstimates, shelf: _Shelf) -> SectionPart | None:
    if not analysis.tactics.uses:
        return None
    by = "by rules on its wording" if analysis.tactics.tagger == RULES else analysis.tactics.tagger
    said = (
        f"Each sentence was tagged {by}; a sentence may hold several tactics or none. "
        + " ".join(tactic_sentences(analysis))
    )
    tables = (
        _table(
            "tactics",
            "Responses that use a tactic at least once, with 95% intervals",
            tactic_rows(analysis),
        ),
        _table("sequences", "The most common tactic sequences", template_rows(analysis)),
    )
    figures = shelf.take("tactics")
    return SectionPart(
        "style-tactics", "Tactics of empathic language", (said,), figures, (), tables, wide=True
    )


def _reuse_part(analysis: StyleEstimates) -> SectionPart:
    said = [" ".join(reuse_sentences(analysis))] if len(analysis.respondents) <= _MOST_NAMED else []
    said.append(
        "A phrase counts as repeated if a reply to another situation has it, too; phrases and "
        "compression are compared on the same amount of text."
    )
    recurring = recurring_rows(analysis)
    tables = (
        (
            _table(
                "opening and closing phrases",
                "The first and last five words; near-duplicates are counted together",
                recurring,
            ),
        )
        if recurring
        else ()
    )
    return SectionPart(
        "style-reuse",
        "Templates and repetition",
        tuple(one for one in said if one),
        (),
        (_table("in short", "Repetition by respondent", reuse_rows(analysis)),),
        tables,
    )


def _ratings_part(analysis: StyleEstimates, shelf: _Shelf) -> SectionPart | None:
    if not analysis.rated:
        return None
    titles = main_features(analysis)
    tables = [
        _table(
            f"{one.dimension} {one.study}".strip(),
            "Change of the rating with one standard deviation more, with 95% intervals "
            "clustered by situation and rater; p of the last slope, corrected after Holm",
            relation_rows(one),
        )
        for one in analysis.rated
    ]
    said = tuple(rated_sentence(rated, titles) for rated in analysis.rated)
    return SectionPart(
        "style-ratings",
        "What is associated with higher ratings?",
        said,
        shelf.take("ratings"),
        (),
        tuple(tables),
        wide=True,
    )


def _table(title: str, caption: str, rows: Sequence[Mapping[str, str]]) -> SectionTable:
    columns = table_columns(rows)
    cells = tuple(tuple(row.get(column, "–") for column in columns) for row in rows)
    numeric = tuple(
        all(_NUMBER.match(cell) for cell in column) for column in zip(*cells, strict=True)
    )
    return SectionTable(title, caption, tuple(columns), numeric, cells)
