"""Cookies whose holder can read them and nobody but the server can write."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import zlib
from typing import Any

from empathylab.study.assignment.blinding import same_id


def seal(content: object, secret: bytes, purpose: str, *, packed: bool = False) -> str:
    """The cookie's value; one sealed for another purpose is worth nothing here."""
    written = json.dumps(content, separators=(",", ":"), ensure_ascii=not packed).encode()
    body = base64.urlsafe_b64encode(zlib.compress(written) if packed else written)
    text = body.decode().rstrip("=")
    return f"{text}.{_signature(text, secret, purpose)}"


def unseal(
    value: str | None, secret: bytes, purpose: str, *, most: int, packed: bool = False
) -> Any:
    """What was sealed; None where the value is longer than `most`, or not ours."""
    if not value or len(value) > most or not value.isascii():
        return None
    text, _, signature = value.partition(".")
    if not same_id(signature, _signature(text, secret, purpose)):
        return None
    try:
        body = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return json.loads(zlib.decompress(body) if packed else body)
    except (binascii.Error, ValueError, zlib.error):
        return None


def _signature(body: str, secret: bytes, purpose: str) -> str:
    digest = hmac.new(secret, f"{purpose}:{body}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
