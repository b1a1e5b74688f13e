"""Judges' cards as rows of a table, as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.judges.prose import bias_title, limits
from empathylab.analysis.text.apa import with_interval
from empathylab.analysis.text.numbers import number, p_value, signed

DECISIONS = {"may": "yes", "not": "not shown", "cannot tell": "cannot tell"}
"""Whether a judge can replace human raters, in a word or two."""


def card_rows(cards: Iterable[JudgeCard]) -> list[dict[str, str]]:
    """One row for each judge and dimension."""
    return [
        {
            "judge": card.judge,
            "dimension": card.dimension,
            "replaces raters": _decided(card),
            "responses": number(card.n, 0),
            "people": number(card.n_people, 0),
            "weighted κ": with_interval(card.weighted_kappa),
            "Spearman": with_interval(card.spearman),
            "wins": _wins(card),
            "ε": f"{card.epsilon:g}",
            "biases": _biases(card),
        }
        for card in cards
    ]


def bias_rows(cards: Iterable[JudgeCard]) -> list[dict[str, str]]:
    """One row for each bias that was tested."""
    return [
        {
            "judge": card.judge,
            "dimension": card.dimension,
            "bias": bias_title(bias),
            "toward": bias.about or "–",
            "estimate": signed(bias.estimate, 2),
            "95% from": signed(bias.low, 2),
            "to": signed(bias.high, 2),
            "p": p_value(bias.p),
            "p (Holm)": p_value(bias.p_corrected),
            "found": "yes" if bias.found else "no",
        }
        for card in cards
        for bias in tested(card)
    ]


def confusion_rows(
    card: JudgeCard, labels: Mapping[float, str] | None = None
) -> list[dict[str, str]]:
    """People's ratings by the judge's value, as counts; `labels` are the points' words."""
    if card.confusion is None:
        return []
    words = labels or {}
    names = [words.get(value) or f"{value:g}" for value in card.confusion.categories]
    return [
        {"people": name} | {f"judge {rating}": number(count, 0) for rating, count in cells}
        for name, row in zip(names, card.confusion.counts, strict=True)
        for cells in [list(zip(names, row, strict=True))]
    ]


def tested(card: JudgeCard) -> list[JudgeBias]:
    """The biases that could be tested."""
    return [bias for bias in (*card.biases, *card.emotions) if not math.isnan(bias.p)]


def _wins(card: JudgeCard) -> str:
    test = card.alt_test
    if test is None or not test.comparisons:
        return "–"
    return (
        f"{sum(comparison.judge_wins for comparison in test.comparisons)} of "
        f"{len(test.comparisons)}"
    )


def _biases(card: JudgeCard) -> str:
    found = [bias_title(bias) for bias in card.biases if bias.found]
    odd = sum(emotion.found for emotion in card.emotions)
    found += [f"{odd} emotions" if odd > 1 else "1 emotion"] if odd else []
    return ", ".join(found) or ("none found" if tested(card) else "–")


def _decided(card: JudgeCard) -> str:
    limited = card.decision == "may" and limits(card)
    return f"{DECISIONS[card.decision]}, with limits" if limited else DECISIONS[card.decision]


def curve_rows(card: JudgeCard) -> list[dict[str, str]]:
    """People's mean rating for each rating that the judge gives, with its interval."""
    return [
        {
            "judge's rating": number(point.judge, 2),
            "people's mean": number(point.people.estimate, 2),
            "95% from": number(point.people.low, 2),
            "to": number(point.people.high, 2),
            "ratings": number(point.n, 0),
        }
        for point in (card.curve.points if card.curve else ())
    ]
