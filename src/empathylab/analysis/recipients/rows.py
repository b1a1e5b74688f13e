"""Tables of recipients' results as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from empathylab.analysis.recipients.estimates import Cell
from empathylab.analysis.recipients.outcome_designs import INTERACTION
from empathylab.analysis.recipients.prose import author, label_name
from empathylab.analysis.recipients.result import RecipientsResult
from empathylab.analysis.text.numbers import number, p_value, signed

Rows = list[dict[str, str]]
_TERMS = {"response": "author", INTERACTION: "author × label"}


def cell_rows(result: RecipientsResult) -> Rows:
    """Means by condition, outcome by outcome."""
    return _cells((cell for outcome in result.outcomes for cell in outcome.cells), "mean")


def change_rows(result: RecipientsResult) -> Rows:
    """Change from before to after the reply, over all and by condition."""
    return _cells((cell for outcome in result.outcomes for cell in outcome.changes), "change")


def _cells(cells: Iterable[Cell], what: str) -> Rows:
    written = signed if what == "change" else number
    return [
        {
            "outcome": cell.outcome,
            "author": "all" if cell.response is None else author(cell.response),
            "label": "all" if cell.label is None else label_name(cell.label),
            "participants": number(cell.participants, 0),
            what: written(cell.mean, 2),
            "SD": number(cell.sd, 2),
            "from": written(cell.low, 2),
            "to": written(cell.high, 2),
        }
        for cell in cells
    ]


def test_rows(result: RecipientsResult) -> Rows:
    """F tests, type II before type III where both are known."""
    tests = [
        test
        for outcome in result.outcomes
        for test in dict.fromkeys((*outcome.tests, *outcome.tests_type3))
    ]
    return [
        {
            "outcome": test.outcome,
            "term": _TERMS.get(test.term, test.term),
            "type": test.type,
            "F": number(test.f, 2),
            "df": f"{test.df}, {number(test.df_residual, 0 if test.df_residual > 100 else 1)}",
            "p": p_value(test.p),
            "partial η²": number(test.partial_eta2, 3),
            "interval": f"[{number(test.partial_eta2_low, 3)}, "
            f"{number(test.partial_eta2_high, 3)}]",
        }
        for test in tests
    ]


def _sides(difference: str) -> str:
    """One side of an interaction, a difference of two levels, as a reader says them."""
    return f"({' − '.join(author(level) for level in difference.split(' − '))})"


def effect_rows(result: RecipientsResult) -> Rows:
    """Differences in points; the interaction is a difference of differences."""
    return [
        {
            "outcome": effect.outcome,
            "effect": _TERMS.get(effect.term, effect.term),
            "difference": f"{_sides(effect.level)} − {_sides(effect.reference)}"
            if effect.term == INTERACTION
            else f"{author(effect.level)} − {author(effect.reference)}",
            "within": "all" if effect.by is None else author(effect.by),
            "points": signed(effect.estimate, 2),
            "from": signed(effect.low, 2),
            "to": signed(effect.high, 2),
            "p": p_value(effect.p),
            "p after Holm": p_value(effect.p_adjusted),
            "equivalent": "–"
            if effect.equivalence is None
            else "yes"
            if effect.equivalence.equivalent
            else "not shown",
        }
        for outcome in result.outcomes
        for effect in outcome.effects
    ]


def agreement_rows(result: RecipientsResult) -> Rows:
    """Correlations of recipients, onlookers and judges on the same replies."""
    return [
        {
            "of": agreement.first,
            "with": agreement.second,
            "outcome": agreement.outcome,
            "dimension": agreement.dimension,
            "replies": number(agreement.n, 0),
            "correlation": number(agreement.correlation, 2),
            "from": number(agreement.low, 2),
            "to": number(agreement.high, 2),
            "Spearman": number(agreement.spearman, 2),
        }
        for agreement in result.agreement
    ]
