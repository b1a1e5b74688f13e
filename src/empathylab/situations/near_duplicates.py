"""Texts that are almost the same, found without comparing every text with every other.

Two texts are near-identical where their sets of neighbouring word pairs overlap: the Jaccard index
(shared pairs over all pairs of both) reaches a threshold. One changed word in a text of 20 gives
0.83. The search is exact: sets that similar must share one of their rarest elements (prefix
filtering: Chaudhuri, Ganti & Kaushik 2006, ICDE; Bayardo, Ma & Srikant 2007, WWW), so only texts
that do are compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"['’`´]")
Pairs = frozenset[tuple[str, str]]


def plain_words(text: str) -> tuple[str, ...]:
    """The words in small letters, without apostrophes: `I'm` and `im` are the same."""
    return tuple(_WORD.findall(_APOSTROPHES.sub("", text.casefold())))


def word_pairs(words: Sequence[str]) -> Pairs:
    """The neighbouring pairs of words, those at the text's edges included."""
    edged = ("", *words, "")
    return frozenset(zip(edged, edged[1:], strict=False))


def jaccard(one: Pairs, other: Pairs) -> float:
    """How much two sets share, from 0 to 1."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def repeated(texts: Mapping[str, Iterable[str]], *, similarity: float | None) -> dict[str, str]:
    """By the id of a repetition, the id of the one it repeats; the earlier in `texts` stays.

    `texts` holds each one's texts by id; one that matches in any of them is a repetition. Without
    `similarity` only the same words count. A text without words repeats nothing.
    """
    worded = {
        key: tuple(dict.fromkeys(filter(None, map(plain_words, own)))) for key, own in texts.items()
    }
    first: dict[tuple[str, ...], str] = {}
    near = None if similarity is None else _NearTexts(worded.values(), similarity)
    found: dict[str, str] = {}
    for key, own in worded.items():
        match = next((first[words] for words in own if words in first), None)
        if match is None and near is not None:
            match = next(filter(None, map(near.match, own)), None)
        if match is not None:
            found[key] = match
            continue
        for words in own:
            first[words] = key
            if near is not None:
                near.add(words, key)
    return found


class _NearTexts:
    """The texts kept so far, findable by their rarest pairs of words."""

    def __init__(self, texts: Iterable[Iterable[tuple[str, ...]]], similarity: float) -> None:
        self._similarity = similarity
        self._counts = Counter(pair for own in texts for words in own for pair in word_pairs(words))
        self._kept: list[tuple[Pairs, str]] = []
        self._holding: dict[tuple[str, str], list[int]] = {}

    def match(self, words: tuple[str, ...]) -> str | None:
        """The first text kept that is near-identical, by its owner."""
        pairs = word_pairs(words)
        candidates = {
            number for pair in self._rarest(pairs) for number in self._holding.get(pair, ())
        }
        for number in sorted(candidates):
            kept, owner = self._kept[number]
            # Sets of too different a size cannot be similar enough.
            small, large = sorted((len(kept), len(pairs)))
            if small >= self._similarity * large and jaccard(kept, pairs) >= self._similarity:
                return owner
        return None

    def add(self, words: tuple[str, ...], owner: str) -> None:
        pairs = word_pairs(words)
        for pair in self._rarest(pairs):
            self._holding.setdefault(pair, []).append(len(self._kept))
        self._kept.append((pairs, owner))

    def _rarest(self, pairs: Pairs) -> list[tuple[str, str]]:
        """So many of the rarest pairs that a similar set must hold one of them."""
        # The small number keeps a rounding error from cutting one pair too many.
        shared = math.ceil(self._similarity * len(pairs) - 1e-9)
        ordered = sorted(pairs, key=lambda pair: (self._counts[pair], pair))
        return ordered[: len(pairs) - shared + 1]
