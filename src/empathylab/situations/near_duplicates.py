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
Words = tuple[str, ...]
Pairs = frozenset[str]


def plain_words(text: str) -> Words:
    """The words in small letters, without apostrophes: `I'm` and `im` are the same."""
    return tuple(_WORD.findall(_APOSTROPHES.sub("", text.casefold())))


def word_pairs(words: Sequence[str]) -> Pairs:
    """The neighbouring pairs of words, those at the text's edges included."""
    return frozenset(map(" ".join, zip(("", *words), (*words, ""), strict=True)))


def jaccard(pairs: Pairs, other: Pairs) -> float:
    """How much two sets share, from 0 to 1."""
    shared = len(pairs & other)
    return shared / (len(pairs) + len(other) - shared)


def repeated(texts: Mapping[str, Iterable[str]], *, similarity: float | None) -> dict[str, str]:
    """By the id of a repetition, the id of the one it repeats; the earlier in `texts` stays.

    `texts` holds each one's texts by id; one that matches in any of them is a repetition. Without
    `similarity` only the same words count. A text without words repeats nothing.
    """
    worded = {
        key: tuple(dict.fromkeys(filter(None, map(plain_words, own)))) for key, own in texts.items()
    }
    first: dict[Words, str] = {}
    near = None if similarity is None else _NearTexts(worded.values(), similarity)
    matches: dict[str, str] = {}
    for key, own in worded.items():
        match = next((first[words] for words in own if words in first), None)
        if match is None and near is not None:
            match = next(filter(None, map(near.match, own)), None)
        if match is not None:
            matches[key] = match
            continue
        for words in own:
            first[words] = key
            if near is not None:
                near.keep(words, key)
    return matches


class _NearTexts:
    """The texts kept so far, findable by their rarest pairs of words."""

    def __init__(self, texts: Iterable[Iterable[Words]], similarity: float) -> None:
        self._similarity = similarity
        self._pairs = {words: word_pairs(words) for own in texts for words in own}
        self._counts: Counter[str] = Counter()
        for pairs in self._pairs.values():
            self._counts.update(pairs)
        self._kept: list[tuple[Pairs, str]] = []
        self._holding: dict[str, list[int]] = {}
        self._known: dict[Words, list[str]] = {}

    def match(self, words: Words) -> str | None:
        """The owner of the first text kept that is near-identical."""
        pairs = self._pairs[words]
        candidates = {
            number for pair in self._rarest(words) for number in self._holding.get(pair, ())
        }
        for number in sorted(candidates):
            kept, owner = self._kept[number]
            # Sets of too different a size cannot be similar enough.
            small, large = sorted((len(kept), len(pairs)))
            if small >= self._similarity * large and jaccard(kept, pairs) >= self._similarity:
                return owner
        return None

    def keep(self, words: Words, owner: str) -> None:
        """Adds a text that later ones may repeat."""
        pairs = self._pairs[words]
        for pair in self._rarest(words):
            self._holding.setdefault(pair, []).append(len(self._kept))
        self._kept.append((pairs, owner))

    def _rarest(self, words: Words) -> list[str]:
        """Those pairs of which a similar text must hold one: the rarest that any other text has."""
        if words not in self._known:
            self._known[words] = self._found_rarest(self._pairs[words])
        return self._known[words]

    def _found_rarest(self, pairs: Pairs) -> list[str]:
        # The small number keeps a rounding error from cutting one pair too many.
        shared = math.ceil(self._similarity * len(pairs) - 1e-9)
        counts = self._counts
        elsewhere = [(count, pair) for pair in pairs if (count := counts[pair]) > 1]
        alone = len(pairs) - len(elsewhere)
        wanted = len(pairs) - shared + 1 - alone
        if wanted <= 0:
            return []
        elsewhere.sort()
        return [pair for _, pair in elsewhere[:wanted]]
