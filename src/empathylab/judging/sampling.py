"""A part of the replies, drawn so that each situation comes with all of its replies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from empathylab.store.judged_responses import JudgedResponse

Key = tuple[str, str]
"""Of a situation: its set, and its id there."""


def sampled(
    replies: tuple[JudgedResponse, ...], situations: int | None, *, seed: int
) -> tuple[JudgedResponse, ...]:
    """The replies to a sample of that many situations, in their order; all without a number.

    The draw comes from hashes, so a larger one holds the smaller one of the same seed.
    """
    if situations is None:
        return replies
    kept = drawn(((reply.set, reply.situation.id) for reply in replies), situations, seed=seed)
    return tuple(reply for reply in replies if (reply.set, reply.situation.id) in kept)


def drawn(keys: Iterable[Key], count: int, *, seed: int) -> set[Key]:
    """A simple random sample of the situations."""

    def draw(key: Key) -> bytes:
        return hashlib.sha256("\0".join([str(seed), *key]).encode()).digest()

    return set(sorted(dict.fromkeys(keys), key=draw)[:count])
