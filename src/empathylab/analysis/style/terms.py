"""Distinctive words and phrases as a reader is shown them: each says something new."""

from __future__ import annotations

import re
from collections.abc import Sequence

from empathylab.style.distinctive import DistinctiveTerm

# Function words: alone they say little.
_FUNCTION_WORDS = set(
    """a an the this that these those there here of to in on at by for from with about into up out
    as than then and or but so if because while when is are was were be been being am has have had
    having do does did not no will how it its it's that's""".split()  # noqa: SIM905 - a page of quotes reads worse
)

# Pronouns: worth showing alone, but two phrases that differ only in them are the same.
_PRONOUNS = set(
    """i i'm i've i'd i'll me my mine we us our you your yours you're you've you'd you'll he him his
    she her they them their he's she's they're we're""".split()  # noqa: SIM905
)

_LEAST_Z = 1.96

_I = re.compile(r"\bi\b")


def shown_terms(terms: Sequence[DistinctiveTerm], top: int) -> tuple[DistinctiveTerm, ...]:
    """Up to `top` terms, the most distinctive first, each of which says something new.

    Skipped are terms with a z below 1.96, function words, and terms whose content words are already
    in terms above (`to hear` below `sorry to hear`).
    """
    shown: list[DistinctiveTerm] = []
    used: set[str] = set()
    for term in terms:
        if len(shown) == top or term.z < _LEAST_Z:
            break
        words = term.term.split(" ")
        if len(words) == 1 and words[0] in _FUNCTION_WORDS:
            continue
        content = {word for word in words if word not in _FUNCTION_WORDS | _PRONOUNS}
        new = content or {word for word in words if "'" in word} or {term.term}
        if new <= used:
            continue
        used |= new | set(words if len(words) == 1 else ())
        shown.append(term)
    return tuple(shown)


def spelled(term: str) -> str:
    """The term with its I as people write it; all else is in lower case."""
    return _I.sub("I", term)
