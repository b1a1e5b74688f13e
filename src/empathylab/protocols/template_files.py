"""Reading users' own templates: TOML files over a built-in template, checked part by part."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import StrictStr, create_model

from empathylab.errors import InputError, UnknownName
from empathylab.file_models import FileModel, Whole, validate
from empathylab.files import read_toml
from empathylab.scales.fields import Text
from empathylab.yaml_documents import Document

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
    written = validate(_model_of(built_in), Document(read_toml(path), str(path)))
    template = dataclasses.replace(built_in, **written.model_dump())
    for part, allowed in placeholders.items():
        used = _placeholders(part, getattr(template, part), where=str(path))
        for name in sorted(used - allowed):
            raise UnknownName("placeholder", name, allowed, where=f"{path}, {part!r}")
        wanted = needed.get(part, set())
        if wanted and not wanted & used:
            named = " or ".join(f"{{{name}}}" for name in sorted(wanted))
            raise InputError(
                f"{part!r} must contain {named}", where=str(path), remedy="Add the placeholder."
            )
    return template


def _model_of(built_in: DataclassInstance) -> type[FileModel]:
    """What a file may hold: the template's fields, of which only the id must be there."""
    kinds: dict[str, Any] = {"str": StrictStr, "int": Whole}
    fields: dict[str, Any] = {
        field.name: (kinds[str(field.type)], getattr(built_in, field.name))
        for field in dataclasses.fields(built_in)
    }
    fields["id"] = (Text, ...)
    return create_model(type(built_in).__name__, __base__=FileModel, **fields)


def _placeholders(part: str, text: str, *, where: str) -> set[str]:
    try:
        fields = [piece for piece in string.Formatter().parse(text) if piece[1] is not None]
    except ValueError as error:
        raise InputError(
            f"{part!r} has a brace that is not closed",
            where=where,
            got=text,
            remedy="Write {{ and }} for literal braces.",
        ) from error
    if any(form or conversion for _, _, form, conversion in fields):
        raise InputError(
            f"{part!r} has a placeholder with a format",
            where=where,
            got=text,
            remedy="Write the name alone, such as {situation}.",
        )
    return {str(name) for _, name, _, _ in fields}
