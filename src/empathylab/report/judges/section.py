"""The judges' part of the report: a card for each, with its figures and the tables behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.prose import good_for, not_for, reasons, verdict
from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.text.numbers import number
from empathylab.report.appraisal.section import Figure
from empathylab.report.judges.charts import bias_chart, confusion_chart, curve_chart, map_chart
from empathylab.report.judges.tables import (
    DECISIONS,
    bias_rows,
    card_rows,
    confusion_rows,
    curve_rows,
)

_MOST_DRAWN = 12
"""Cards that get figures; a page with more is slow."""
_FEWEST_DRAWN = 30
"""With fewer human ratings, a calibration curve shows mostly chance."""
_TAGS = {"may": "usable", "not": "meaningless", "cannot tell": "doubtful"}


@dataclass(frozen=True, slots=True)
class CardOnPage:
    """A judge's card as the page shows it."""

    id: str
    title: str
    verdict: str
    tag: str
    """The class of its label: `usable`, `doubtful` or `meaningless`."""
    decision: str
    reasons: tuple[str, ...]
    good_for: tuple[str, ...]
    not_for: tuple[str, ...]
    figures: tuple[Figure, ...]
    tables: tuple[tuple[str, tuple[dict[str, str], ...]], ...]
    """Each with its title."""


@dataclass(frozen=True, slots=True)
class StudyOnPage:
    """The judges of one study."""

    study: str
    overview: tuple[dict[str, str], ...]
    cards: tuple[CardOnPage, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeSection:
    """What the page shows of judges."""

    studies: tuple[StudyOnPage, ...]
    specs: tuple[dict[str, Any], ...]


def judge_section(analyses: Sequence[JudgesResult]) -> JudgeSection:
    """The section's cards; empty where no judge was compared with people."""
    specs: list[dict[str, Any]] = []
    studies = []
    for place, analysis in enumerate(analyses, start=1):
        cards = [
            _card(card, f"judge-{place}-{number}", specs if number <= _MOST_DRAWN else None)
            for number, card in enumerate(analysis.cards, start=1)
        ]
        undrawn = len(cards) - _MOST_DRAWN
        notes = analysis.notes
        if undrawn > 0:
            notes = (*notes, f"The last {undrawn} cards have no figures here, only numbers.")
        studies.append(
            StudyOnPage(analysis.study, tuple(card_rows(analysis.cards)), tuple(cards), notes)
        )
    return JudgeSection(tuple(studies), tuple(specs))


def _card(card: JudgeCard, name: str, specs: list[dict[str, Any]] | None) -> CardOnPage:
    tables = {
        "people by judge": confusion_rows(card),
        "biases": bias_rows([card]),
        "calibration": curve_rows(card),
    }
    return CardOnPage(
        id=name,
        title=f"{card.judge}: {card.dimension}",
        verdict=verdict(card),
        tag=_TAGS[card.decision],
        decision=DECISIONS[card.decision],
        reasons=(*reasons(card), *_undrawn(card)),
        good_for=good_for(card),
        not_for=not_for(card),
        figures=() if specs is None else _figures(card, specs),
        tables=tuple((title, tuple(rows)) for title, rows in tables.items() if rows),
    )


def _figures(card: JudgeCard, specs: list[dict[str, Any]]) -> tuple[Figure, ...]:
    enough = card.n_ratings >= _FEWEST_DRAWN
    drawn = {
        "The judge's rating, by people's rating": confusion_chart(card),
        "Calibration: people's mean rating, by the judge's rating": curve_chart(card)
        if enough
        else None,
        "Calibration map: people's rating, by the judge's rating": map_chart(card)
        if enough
        else None,
        "Biases, in points (position: proportion above one half)": bias_chart(card.biases),
        "By emotion, in points": bias_chart(card.emotions),
    }
    figures = []
    for title, spec in drawn.items():
        if spec is not None:
            figures.append(Figure("judge", title, len(specs)))
            specs.append(spec)
    return tuple(figures)


def _undrawn(card: JudgeCard) -> tuple[str, ...]:
    if not 0 < card.n_ratings < _FEWEST_DRAWN:
        return ()
    ratings = number(card.n_ratings, 0)
    return (f"No calibration is drawn from {ratings} human ratings: {_FEWEST_DRAWN} are needed.",)
