"""How much of texts is looked at to tell who wrote them."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.style.authorship import classifier as writers
from empathylab.style.authorship.classifier import ngram_counts


def looked_at(texts: list[str]) -> list[float]:
    """How many characters of each text are counted, where it is all x and y."""
    counts = ngram_counts(pl.Series(texts), characters=(1, 1))
    return counts.blocks[0].sum(axis=1).A1.tolist()  # type: ignore[no-any-return]


def test_of_one_text_twenty_thousand_characters_are_looked_at() -> None:
    assert looked_at(["x" * 25_000, "xy" * 3]) == [20_000, 3]  # y stands in one text alone


def test_long_texts_are_cut_where_all_together_are_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writers, "_MOST_CHARACTERS", 1_000)
    assert looked_at(["x" * 10, "x" * 5_000, "x" * 700, "x" * 90]) == [10, 450, 450, 90]
    assert looked_at(["x" * 10, "x" * 400]) == [10, 400]


def test_of_more_texts_than_characters_one_of_each_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writers, "_MOST_CHARACTERS", 2)
    assert looked_at(["xx", "xx", "xx"]) == [1, 1, 1]
