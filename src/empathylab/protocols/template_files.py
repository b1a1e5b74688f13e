"""Reading users' own templates: TOML files over a built-in template, checked part by part."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from empathylab.errors import InputError, UnknownName
from empathylab.files import read_toml

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = TypeVar("Kind", bound="DataclassInstance")


def read_template(
    path: Path,
    built_in: Kind,
    placeholders: Mapping[str, set[str]],
    needed: Mapping[str, set[str]],
) -> Kind:
    """The template in the file; what the file leaves out is as in the built-in one.

    `placeholders` are those that each part may hold; of `needed` it must hold one at least.
    """
    data = read_toml(path)
    types = {field.name: str(field.type) for field in dataclasses.fields(built_in)}
    for key, value in data.items():
        if key not in types:
            raise UnknownName("key", key, types, where=str(path), remedy="Fix the file.")
        if type(value).__name__ != types[key]:
            raise InputError(
                f"{key!r} has the wrong type", where=str(path), got=value, remedy="Fix it."
            )
    if "id" not in data:
        raise InputError(
            "'id' is missing", where=str(path), remedy="Give the template a name of its own."
        )
    template = dataclasses.replace(built_in, **data)
    for part, allowed in placeholders.items():
        used = _placeholders(part, getattr(template, part), where=str(path))
        for name in sorted(used - allowed):
            raise UnknownName("placeholder", name, allowed, where=f"{path}, {part!r}")
        wanted = needed.get(part, set())
        if wanted and not wanted & used:
            named = " or ".join(f"{{{name}}}" for name in sorted(wanted))
            raise InputError(
                f"{part!r} must hold {named}", where=str(path), remedy="Add the placeholder."
            )
    return template


def _placeholders(part: str, text: str, *, where: str) -> set[str]:
    try:
        found = [piece for piece in string.Formatter().parse(text) if piece[1] is not None]
    except ValueError as error:
        raise InputError(
            f"{part!r} has a brace that is not closed",
            where=where,
            got=text,
            remedy="Write {{ and }} for braces that are meant.",
        ) from error
    if any(form or conversion for _, _, form, conversion in found):
        raise InputError(
            f"{part!r} has a placeholder with a format",
            where=where,
            got=text,
            remedy="Write the name alone, such as {situation}.",
        )
    return {str(name) for _, name, _, _ in found}
