"""Ids that tell a rater nothing: keyed hashes, different for every person."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

from empathylab.errors import InputError

_LEAST_KEY = 16
_LENGTH = 20
"""Characters of an id: 100 bits, which nobody guesses."""


def opaque_id(key: bytes, *parts: object) -> str:
    """An id for the parts that only the holder of the key can make or link.

    The key is the study's own, drawn once from the system's secure chance and kept by the store.
    Who leaves out the person from the parts gives two people the same id.
    """
    if len(key) < _LEAST_KEY:
        raise InputError(
            f"the key of a study must have {_LEAST_KEY} bytes or more",
            got=f"{len(key)} bytes",
            remedy="Draw it with secrets.token_bytes(32).",
        )
    written = json.dumps([str(part) for part in parts]).encode()
    digest = hmac.new(key, written, hashlib.sha256).digest()
    # Five bytes are eight characters: these are enough, and the rest would cost as much again.
    return base64.b32encode(digest[:15]).decode().lower()[:_LENGTH]


def person_key(key: bytes, platform: str, platform_id: str) -> str:
    """The pseudonym under which a platform's id is known, which cannot be turned back.

    The id may hold any characters; nothing of it is kept.
    """
    return opaque_id(key, "person", platform, platform_id)


def same_id(first: str, second: str) -> bool:
    """Whether two ids are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(first.encode(), second.encode())
