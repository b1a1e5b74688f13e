"""The kinds of values that scale and wording files hold, checked as they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from empathylab.file_models import wrong

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise wrong("text that is not empty")
    return value


def _id(value: object) -> str:
    name = _text(value)
    if not _ID.fullmatch(name):
        raise wrong("lower-case letters, digits and hyphens")
    return name


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise wrong("a list of texts")
    for number, text in enumerate(value):
        if not isinstance(text, str) or not text.strip():
            raise wrong("text that is not empty", at=(number,))
    return tuple(value)


def _item_numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple | frozenset):
        raise wrong("a list of whole numbers")
    for number in value:
        if not isinstance(number, int) or isinstance(number, bool):
            raise wrong("a list of whole numbers", got=number)
    repeated = sorted({number for number in value if list(value).count(number) > 1})
    if repeated:
        raise wrong("item numbers, each once", got=repeated)
    return tuple(value)


def _labels(value: object) -> dict[int, str]:
    if not isinstance(value, Mapping):
        raise wrong("a table of number = label")
    labels: dict[int, str] = {}
    for number, label in value.items():
        try:
            whole = int(number)
        except ValueError:
            raise wrong("a table of whole numbers to labels", got=number) from None
        if not isinstance(label, str) or not label.strip():
            raise wrong("a table of whole numbers to labels", got=label)
        labels[whole] = label
    return labels


def _numbered(value: object) -> dict[int, str]:
    """Texts by item number, from a table or a plain list."""
    if isinstance(value, list):
        return dict(enumerate(_texts(value), start=1))
    return _labels(value)


Text = Annotated[str, BeforeValidator(_text)]
"""Text that is not empty, exactly as written: a scale's fingerprint depends on it."""
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Id = Annotated[str, BeforeValidator(_id)]
ItemNumbers = Annotated[tuple[int, ...], BeforeValidator(_item_numbers)]
"""Item numbers, each once."""
ItemSet = Annotated[frozenset[int], BeforeValidator(lambda value: frozenset(_item_numbers(value)))]
Labels = Annotated[dict[int, str], BeforeValidator(_labels)]
"""Texts by whole number."""
NumberedTexts = Annotated[dict[int, str], BeforeValidator(_numbered)]
"""Texts by item number, from a table or a plain list."""
