"""Different strings have different numbers, whatever they are made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.style.text.numbering import Numbering, joined, spans_between_spaces

STRINGS = st.text(st.characters(codec="utf-8", exclude_characters=" "), max_size=20) | st.builds(
    lambda part, size: part * size, st.sampled_from("aé\0"), st.integers(0, 300)
)


def numbers(numbering: Numbering, strings: list[str]) -> list[int]:
    found = numbering.numbers(spans_between_spaces(joined(pl.Series(strings, dtype=pl.String))))
    return found.tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(STRINGS, min_size=1, max_size=30), st.lists(STRINGS, min_size=1, max_size=30))
def test_a_string_is_found_again_by_its_number(first: list[str], second: list[str]) -> None:
    numbering = Numbering()
    codes = numbers(numbering, first) + numbers(numbering, second)
    different = numbering.spans().strings()
    assert different.gather(codes).to_list() == first + second
    assert different.n_unique() == len(numbering)


def test_zeros_at_the_end_tell_strings_apart() -> None:
    strings = [
        "a",
        "a\0",
        "a\0\0",
        "",
        "\0",
        "\0" * 8,
        "12345678",
        "12345678\0",
        "1234567",
        "1234567\0",
    ]
    assert len(set(numbers(Numbering(), strings))) == len(strings)


def test_long_strings_that_differ_at_the_end_are_different() -> None:
    strings = ["x" * size + end for size in (7, 8, 15, 16, 127, 128, 129, 5_000) for end in "ab"]
    assert len(set(numbers(Numbering(), strings))) == len(strings)


def test_room_is_made_for_more_strings() -> None:
    strings = [f"word{number}" for number in range(200_000)]
    numbering = Numbering()
    assert len(set(numbers(numbering, strings))) == len(strings)
    assert numbering.spans().strings().gather(numbers(numbering, strings)).to_list() == strings


def test_threads_give_a_string_one_number() -> None:
    strings = [f"{number % 7_919} {number % 104_729}" for number in range(80_000)]
    texts = pl.Series(strings)
    numbering = Numbering()
    with ThreadPoolExecutor(4) as pool:
        parts = [texts.slice(first, 5_000) for first in range(0, len(texts), 5_000)]
        spans = [spans_between_spaces(joined(part)) for part in parts]
        codes = np.concatenate(list(pool.map(numbering.numbers, spans)))
    different = numbering.spans().strings()
    assert different.n_unique() == len(numbering)
    assert different.gather(codes).to_list() == " ".join(strings).split(" ")
