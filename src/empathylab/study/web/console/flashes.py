"""What a page shows once after a form was sent: why it was refused, or what came of it.

It travels in a sealed cookie, so that any server process can show it and nothing of it is in an
address. It is shown once, to the session that sent the form, on the page that holds the form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from empathylab.study.web import sealing

SECONDS = 300
_COOKIES, _LENGTH = 2, 3500
"""Browsers keep 4,096 bytes of a cookie, and proxies 8,000 of all together."""
_PURPOSE = "console flash"


@dataclass(frozen=True, slots=True)
class Flash:
    """What became of a form, for the page that shows it."""

    nonce: str
    """Of the session that sent it."""
    page: str
    """The page's address below the root."""
    error: str
    """Why the form was refused; empty where it was not."""
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What was typed into a refused form."""
    results: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What came of an accepted form; nobody can type it."""


def flash_cookies(flash: Flash | None, name: str, secret: bytes) -> dict[str, str]:
    """The cookies to set by name, empty ones to be deleted; the longest field goes if need be."""
    names = [f"{name}-flash-{number}" for number in range(_COOKIES)]
    if flash is None:
        return dict.fromkeys(names, "")
    value = sealing.seal(dataclasses.asdict(flash), secret, _PURPOSE, packed=True)
    if len(value) > _COOKIES * _LENGTH:
        longest = max(flash.fields, key=lambda item: len(flash.fields[item]))
        kept = {name: text for name, text in flash.fields.items() if name != longest}
        return flash_cookies(dataclasses.replace(flash, fields=kept), name, secret)
    return {name: value[n * _LENGTH : (n + 1) * _LENGTH] for n, name in enumerate(names)}


def read_flash(cookies: Mapping[str, str], name: str, secret: bytes) -> Flash | None:
    """What became of the last form, from a browser's cookies, if anything is there."""
    value = "".join(cookies.get(f"{name}-flash-{number}", "") for number in range(_COOKIES))
    fields = sealing.unseal(value, secret, _PURPOSE, most=_COOKIES * _LENGTH, packed=True)
    return None if fields is None else Flash(**fields)
