"""The section on judges: how they agree with people, and a card for each."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.prose import good_for, not_for, reasons, verdict
from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.text.numbers import number
from empathylab.report.blocks import Block, Fold, Heading, Section, Table, Text, kept
from empathylab.report.judges.charts import Labels
from empathylab.report.judges.figures import FEWEST_DRAWN, MOST_DRAWN, card_figures, figures
from empathylab.report.judges.tables import (
    DECISIONS,
    bias_rows,
    card_rows,
    confusion_rows,
    curve_rows,
)

_TAGS = {"may": "usable", "not": "meaningless", "cannot tell": "doubtful"}
_ABOUT = (
    "Each judge is validated against human ratings of the same responses. A card applies to these "
    "responses, this scale and these people; it is no general grade of the model. The judge "
    "called style "
    "knows only how a reply is written, and is the baseline that a model should beat."
)


def judges_section(results: Sequence[JudgesResult], lead: Sequence[str]) -> Section:
    """The judges of every study; without blocks where no judge was compared with people."""
    blocks: list[Block] = []
    judged = [result for result in results if result.cards]
    for place, result in enumerate(judged, start=1):
        blocks += _study(result, f"judges-{place}", alone=len(judged) == 1)
    return Section(id="judges", title="Judges", blocks=blocks, lead=lead if blocks else ())


def _study(result: JudgesResult, place: str, *, alone: bool) -> list[Block]:
    of = "" if alone or not result.study else f", {result.study}"
    notes = list(result.notes)
    if (undrawn := len(result.cards) - MOST_DRAWN) > 0:
        notes.append(f"The last {undrawn} cards have no charts here, only numbers.")
    cards = [
        _card(card, f"{place}-{number}", number, result.labels.get(card.dimension, {}))
        for number, card in enumerate(result.cards, start=1)
    ]
    return list(
        kept(
            Heading(id=place, title=f"Can a judge replace human raters?{of}"),
            *list(figures(result))[:1],
            Table(title=f"Judges compared with people{of}", rows=card_rows(result.cards)),
            Text((_ABOUT,), "note"),
            Text(notes, "note"),
            *cards,
        )
    )


def _card(card: JudgeCard, place: str, number: int, labels: Labels) -> Fold:
    good = f"For: {'; '.join(good_for(card))}." if good_for(card) else ""
    title = f"{card.judge}: {card.dimension}"
    tables = {
        "people by judge": confusion_rows(card, labels),
        "biases": bias_rows([card]),
        "calibration": curve_rows(card),
    }
    return Fold(
        id=place,
        title=title,
        tag=(_TAGS[card.decision], DECISIONS[card.decision]),
        blocks=kept(
            Text((f"Verdict: {verdict(card)}.",)),
            Text((*reasons(card), *_undrawn(card)), "list"),
            Text(tuple(filter(None, (good, f"Not for: {'; '.join(not_for(card))}.")))),
            *(card_figures(card, number, labels) if number <= MOST_DRAWN else ()),
            *(Table(title=f"{title}, {name}", rows=rows) for name, rows in tables.items()),
        ),
    )


def _undrawn(card: JudgeCard) -> tuple[str, ...]:
    if not 0 < card.n_ratings < FEWEST_DRAWN:
        return ()
    ratings = number(card.n_ratings, 0)
    return (f"No calibration is drawn from {ratings} human ratings: {FEWEST_DRAWN} are needed.",)
