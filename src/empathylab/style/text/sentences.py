"""The sentences of texts, cut by the rules that `tokens` gives."""

from __future__ import annotations

import polars as pl

from empathylab.style.text.segments import segment
from empathylab.style.text.structure import full_kinds, piece_kinds, structure
from empathylab.style.text.tokens import text_series


def sentences(text: str) -> list[str]:
    """The sentences of the text in order, with single spaces between their words."""
    cut: list[str] = sentence_lists(text_series([text]))[0].to_list()
    return cut


def sentence_lists(texts: pl.Series) -> pl.Series:
    """The sentences of each text as a list; an empty list if it has no sentences."""
    segments = segment(texts)
    kinds = full_kinds(piece_kinds(segments.pieces), segments.words)
    return structure(segments, kinds).sentence_lists()
