"""Punctuation marks, capitals and dashes, counted on the different pieces of texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers
from empathylab.style.text.tokens import without_keycaps

MARKS = {
    "!": "exclamation_marks",
    "?": "question_marks",
    ".": "full_stops",
    ",": "commas",
    ";": "semicolons",
    ":": "colons",
    "…": "ellipses",
    "'": "apostrophes",
    '"': "straight_quotes",
    "“": "curly_quotes",
    "-": "hyphens",
    "–": "en_dashes",
    "—": "em_dashes",
    "(": "parentheses",
    "[": "brackets",
    "/": "slashes",
    "&": "ampersands",
    "*": "asterisks",
    "#": "hashes",
    "@": "at_signs",
    "%": "percent_signs",
    "_": "underscores",
    "~": "tildes",
}
"""The feature that counts each mark. Brackets count once a pair, where they open."""

# The forms that other scripts have of a mark count with it.
_CHARACTERS = {
    "exclamation_marks": "!！",
    "question_marks": "?？؟\u037e",
    "full_stops": ".。．｡۔।",
    "commas": ",，、،",
    "semicolons": ";；؛",
    "colons": ":：",
    "straight_quotes": '"＂',
    "curly_quotes": "“”„‟«»‹›「」『』",
    "hyphens": "-\u2010\u2011",
    "en_dashes": "–",
    "em_dashes": "—―",
    "parentheses": "(（",
    "brackets": "[［",
    "slashes": "/",
    "ampersands": "&",
    "asterisks": "*",
    "hashes": "#",
    "at_signs": "@",
    "percent_signs": "%",
    "underscores": "_",
    "tildes": "~",
}
_ELLIPSIS = r"(?:\.{3,}|…)+"
_PATTERNS = {
    "apostrophes": r"\p{L}['’ʼ]\p{L}",
    "punctuation": r"\p{P}",
    "double_hyphens": "-{2,}",
}


def letter_columns(pieces: pl.Series) -> dict[str, Numbers]:
    """For each piece, its letters and capitals."""
    return counted_all(pieces, {"letters": r"\p{L}", "capitals": r"\p{Lu}"})


def mark_columns(pieces: pl.Series) -> dict[str, Numbers]:
    """How often each piece has each mark."""
    plain = without_keycaps(pieces)
    columns = _character_columns(plain)
    ellipses = plain.str.extract_all(_ELLIPSIS)
    columns["ellipses"] = ellipses.list.len().to_numpy().astype(np.int64)
    columns["full_stops"] = columns["full_stops"] - counted(ellipses.list.join(""), r"\.")
    return columns | counted_all(plain, _PATTERNS)


def counted_all(texts: pl.Series, patterns: Mapping[str, str]) -> dict[str, Numbers]:
    """How often each text has each pattern, by the patterns' names."""
    column = pl.col("text").str
    table = pl.DataFrame({"text": texts}).select(
        column.count_matches(pattern).cast(pl.Int64).alias(name)
        for name, pattern in patterns.items()
    )
    return {name: table[name].to_numpy() for name in patterns}


def counted(texts: pl.Series, pattern: str) -> Numbers:
    """How often each text has the pattern."""
    counts: Numbers = texts.str.count_matches(pattern).to_numpy().astype(np.int64)
    return counts


def _character_columns(pieces: pl.Series) -> dict[str, Numbers]:
    characters = np.frombuffer("".join(pieces.to_list()).encode("utf-32-le"), dtype=np.uint32)
    of_mark = _numbers_of_characters()[np.minimum(characters, 0xFFFF)]
    places = np.flatnonzero(of_mark)
    ends = np.cumsum(pieces.str.len_chars().to_numpy())
    piece_of = np.searchsorted(ends, places, side="right")
    width = len(_CHARACTERS) + 1
    counts = np.bincount(piece_of * width + of_mark[places], minlength=len(pieces) * width)
    table = counts.reshape(len(pieces), width)
    return {name: table[:, number] for number, name in enumerate(_CHARACTERS, start=1)}


@cache
def _numbers_of_characters() -> NDArray[np.uint8]:
    numbers = np.zeros(0x10000, dtype=np.uint8)
    for number, characters in enumerate(_CHARACTERS.values(), start=1):
        for character in characters:
            numbers[ord(character)] = number
    return numbers
