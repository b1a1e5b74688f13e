"""Sums over pieces are exact, however wide they become."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.style.text.segments import segment
from empathylab.style.text.totals import PieceCounts, places


def counted(texts: list[str], numbers: dict[str, dict[str, int]]) -> dict[str, list[int]]:
    segments = segment(pl.Series(texts, dtype=pl.String))
    pieces = segments.pieces.to_list()
    columns = {
        name: places(np.array([of_piece.get(piece, 0) for piece in pieces], dtype=np.int64))
        for name, of_piece in numbers.items()
    }
    counts = PieceCounts(len(pieces), columns)
    sums = counts.room(segments.texts)
    counts.add_up(segments, sums)
    return dict(zip(columns, sums.tolist(), strict=True))


def test_sums_are_made_for_each_text_and_name() -> None:
    numbers = {"x": {"a": 1, "b": 2}, "y": {"b": 5}, "nothing": {}}
    assert counted(["a b a", "", "b"], numbers) == {
        "x": [4, 0, 2], "y": [5, 0, 5], "nothing": [0, 0, 0]
    }  # fmt: skip


@pytest.mark.parametrize("repeats", [1, 8, 255, 256, 257, 65_536])
@pytest.mark.parametrize("number", [1, 31, 32, 255, 256, 7_000])
def test_no_sum_runs_over_into_its_neighbour(repeats: int, number: int) -> None:
    numbers = {f"n{place}": {"a": number, "b": place} for place in range(12)}
    found = counted(["a " * repeats, "b"], numbers)
    assert found == {f"n{place}": [number * repeats, place] for place in range(12)}


def test_more_columns_than_are_summed_together_are_all_summed() -> None:
    numbers = {f"n{place}": {"a": place + 1} for place in range(200)}
    assert counted(["a a", "a"], numbers) == {
        f"n{place}": [2 * place + 2, place + 1] for place in range(200)
    }


def test_texts_of_different_length_share_their_counts() -> None:
    assert counted(["a"] * 3 + ["a " * 500], {"n": {"a": 9}}) == {"n": [9, 9, 9, 4_500]}


def test_a_name_that_few_pieces_have_is_summed_beside_one_that_all_have() -> None:
    pieces = [f"w{'abcdefgh'[place]}" for place in range(8)]
    numbers = {"all": dict.fromkeys(pieces, 1), "few": {"wc": 3}}
    assert counted([" ".join(pieces), "", "wc wa wc", "wb"], numbers) == {
        "all": [8, 0, 3, 1], "few": [3, 0, 6, 0]
    }  # fmt: skip
