"""Which words two texts share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]", re.UNICODE)
_MOST_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and whether the other text has it, too."""

    text: str
    kind: Literal["same", "only"]


@dataclass(frozen=True, slots=True)
class WordDiff:
    """Both texts in pieces."""

    first: tuple[Piece, ...]
    second: tuple[Piece, ...]
    shared: float
    """The proportion of both texts' words that they share, in the same order."""
    cut: bool
    """Whether only the beginnings are compared, because the texts are very long."""


def word_diff(first: str, second: str) -> WordDiff:
    """The texts, word by word: what both have in the same order, and what only one has."""
    sides = [_TOKEN.findall(text) for text in (first, second)]
    cut = any(len(tokens) > _MOST_TOKENS for tokens in sides)
    one, other = (tokens[:_MOST_TOKENS] for tokens in sides)
    matcher = SequenceMatcher(None, one, other, autojunk=len(one) + len(other) > 2_000)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    same = 0
    for tag, a, b, c, d in matcher.get_opcodes():
        kind: Literal["same", "only"] = "same" if tag == "equal" else "only"
        same += sum(_is_word(token) for token in one[a:b]) if tag == "equal" else 0
        for side, tokens in zip(pieces, (one[a:b], other[c:d]), strict=True):
            if tokens:
                side.append(Piece("".join(tokens), kind))
    words = sum(map(_is_word, one)) + sum(map(_is_word, other))
    return WordDiff(tuple(pieces[0]), tuple(pieces[1]), 2 * same / words if words else 1.0, cut)


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] == "_"
