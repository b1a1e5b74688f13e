"""Plain pieces, counted by their bytes, have what patterns find in them."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.style.measures.table import _other_columns, _piece_kinds
from empathylab.style.text.emoji import emoji_column
from empathylab.style.text.emoticons import emoticon_column
from empathylab.style.text.layout import layout_columns
from empathylab.style.text.marks import letter_columns, mark_columns
from empathylab.style.text.quotations import quotation_columns
from empathylab.style.text.segments import Vocabulary, segment
from empathylab.style.text.structure import piece_kinds
from empathylab.style.text.tokens import word_lists

WORDS = st.sampled_from(["mr", "Dr", "etc", "T", "o", "I", "xD", "XDD", "www", "dept", "OK"]) | (
    st.text("abdeghimnoprstuxyDTXZO", min_size=1, max_size=9)
)
MIXED = st.text("abXD.,!?'-:;)(_*\"\n😀é ", max_size=12)
PIECES = st.lists(st.builds(lambda word, end: word + end, WORDS, st.text(".,!?", max_size=4)))


def vocabulary(pieces: list[str]) -> Vocabulary:
    return segment(pl.Series(pieces, dtype=pl.String)).vocabulary


@settings(max_examples=60, deadline=None)
@given(PIECES, st.lists(MIXED, max_size=5))
def test_bytes_and_patterns_count_the_same(plain: list[str], others: list[str]) -> None:
    found = vocabulary(plain + others)
    pieces = found.pieces
    patterns = letter_columns(pieces) | mark_columns(pieces) | layout_columns(pieces)
    patterns |= quotation_columns(pieces)
    patterns |= {"emoji": emoji_column(pieces), "emoticons": emoticon_column(pieces)}
    columns = _other_columns(found)
    for name, counts in patterns.items():
        own = np.zeros(len(pieces), dtype=np.int64)
        own[columns[name].pieces] = columns[name].numbers
        assert own.tolist() == counts.tolist(), name


@settings(max_examples=60, deadline=None)
@given(PIECES, st.lists(MIXED, max_size=5))
def test_bytes_and_patterns_find_the_same_kinds(plain: list[str], others: list[str]) -> None:
    found = vocabulary(plain + others)
    assert _piece_kinds(found).tolist() == piece_kinds(found.pieces).tolist()


@settings(max_examples=60, deadline=None)
@given(PIECES, st.lists(MIXED, max_size=5))
def test_bytes_and_patterns_find_the_same_words(plain: list[str], others: list[str]) -> None:
    found = vocabulary(plain + others)
    words = found.words
    cut = word_lists(found.pieces)
    assert words.sizes.tolist() == cut.list.len().to_list()
    assert words.folded.gather(words.codes).to_list() == cut.explode().drop_nulls().to_list()
    whole = word_lists(found.pieces, fold=False).explode().drop_nulls().to_list()
    assert words.in_capitals.tolist() == [
        sum(letter.isupper() for letter in word) > 1 and not any(map(str.islower, word))
        for word in whole
    ]


def test_nearly_every_piece_of_english_is_plain() -> None:
    found = vocabulary(["I understand you, really. What now?! Don't OK..."])
    assert found.plain.spelled.strings().sort().to_list() == [
        "I", "What", "now?!", "really.", "understand", "you,"
    ]  # fmt: skip
    assert found.others.sort().to_list() == ["Don't", "OK..."]
