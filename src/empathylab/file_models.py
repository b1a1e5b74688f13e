"""Files that people write, as pydantic models: every error names file, line, value and remedy.

A model derives from `FileModel`. Its fields use the types of this module where YAML would guess
wrong: `Words` for text (the label `No` stays `No`), `Flag`, `Whole` and `Number`. A validator
raises `wrong(...)` or `unknown(...)`; `at` names the key that is meant, relative to the model.

    document = read_yaml(text, file="study.yaml")
    study = validate(Study, document)
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from empathylab.errors import InputError, UnknownName, UserError
from empathylab.yaml_documents import Document, Path, WrittenFlag, WrittenFloat, WrittenInt

_QUOTED = re.compile(r"'([^']*)'")


def wrong(
    must: str, remedy: str | None = None, *, at: Path = (), got: object = None
) -> PydanticCustomError:
    """The error that says what a value must be."""
    return PydanticCustomError(
        "wrong", "{must}", _context(must=must, remedy=remedy, at=at, got=got)
    )


def misfit(what: str, remedy: str, *, at: Path = (), got: object = None) -> PydanticCustomError:
    """The error that says in a sentence of its own what is wrong."""
    return PydanticCustomError(
        "misfit", "{what}", _context(what=what, remedy=remedy, at=at, got=got)
    )


def unknown(
    kind: str, name: str, known: Collection[str], *, at: Path = (), remedy: str | None = None
) -> PydanticCustomError:
    """The error for a name that does not exist; the nearest ones are suggested."""
    context = _context(kind=kind, name=name, known=tuple(known), at=at, remedy=remedy)
    return PydanticCustomError("unknown", "{name}", context)


def _context(**values: object) -> dict[str, Any]:
    return values


def _as_text(value: object) -> str:
    """The text as it is written, so that the label No stays No."""
    if isinstance(value, WrittenInt | WrittenFloat):
        value = value.written
    if value is None or isinstance(value, dict | list | tuple) or not str(value).strip():
        raise wrong("text that is not empty")
    return str(value).strip()


def _as_flag(value: object) -> bool:
    if isinstance(value, WrittenFlag):
        return value.flag
    if not isinstance(value, bool):
        raise wrong("true or false")
    return value


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong("a number")
    return float(value)


Words = Annotated[str, BeforeValidator(_as_text)]
"""Text that is not empty."""
Flag = Annotated[bool, BeforeValidator(_as_flag)]
Whole = Annotated[int, Strict()]
Number = Annotated[float, BeforeValidator(_as_number)]


class FileModel(BaseModel):
    """A table in a file: unknown keys are refused, an empty optional key counts as left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = _fields_of(cls)
        for key in data:
            if key not in fields:
                raise unknown("key", str(key), fields, at=(key,))
        return {
            key: value
            for key, value in data.items()
            if value is not None or fields[key].is_required()
        }


@functools.cache
def _fields_of(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], document: Document, context: Any = None) -> Model:
    """The document as that model; its first error is raised with file and line."""
    try:
        return model.model_validate(document.data, context=context)
    except ValidationError as error:
        raise user_error(error.errors(include_url=False)[0], document) from None


@contextlib.contextmanager
def placed_errors(document: Document) -> Iterator[None]:
    """Raises errors of `wrong`, `misfit` and `unknown` with the file and line of their `at`."""
    try:
        yield
    except PydanticCustomError as error:
        context = dict(error.context or {})
        details: Any = {"type": error.type, "loc": (), "ctx": context, "msg": error.message()}
        raise user_error(details, document) from None


def user_error(error: ErrorDetails, document: Document) -> UserError:
    """A pydantic error as one that names file, line, value and remedy."""
    path = _path_in(document.data, error["loc"])
    context = error.get("ctx", {})
    kind = error["type"]
    if kind == "missing":
        key = error["loc"][-1]
        at = f" in {_named(path)!r}" if path else ""
        return InputError(
            f"the key {key!r} is missing{at}", where=document.where(path), remedy=f"Add {key}."
        )
    path += tuple(context.get("at", ()))
    where = document.where(path)
    value = document.value(path)
    if kind in ("unknown", "literal_error", "union_tag_invalid"):
        return _unknown_name(kind, context, path, document)
    got = context.get("got") if context.get("got") is not None else _short(value)
    if kind == "too_short":
        got = context["actual_length"]
    if kind == "misfit":
        return InputError(
            context["what"], where=where, got=context.get("got"), remedy=context["remedy"]
        )
    must = context["must"] if kind == "wrong" else _must(kind, context)
    name = repr(_named(path)) if path else "the file"
    what = f"{name} must be {must}" if must else f"{name}: {error['msg']}"
    usual = "Correct it in the file." if path else "Write lines such as `key: value`."
    remedy = context.get("remedy") or usual
    return InputError(what, where=where, got=got, remedy=remedy)


def _unknown_name(
    kind: str, context: Mapping[str, Any], path: Path, document: Document
) -> UserError:
    where = document.where(path)
    if kind == "unknown":
        at = where if context["kind"] == "key" else f"{where}, {_named(path)!r}"
        return UnknownName(
            context["kind"], context["name"], context["known"], where=at, remedy=context["remedy"]
        )
    if kind == "union_tag_invalid":
        path = (*path, context["discriminator"].strip("'"))
        known = _QUOTED.findall(context["expected_tags"])
    else:
        known = _QUOTED.findall(context["expected"])
    value = document.value(path)
    label = path[-1] if path and isinstance(path[-1], str) else "value"
    where = f"{document.where(path)}, {_named(path)!r}"
    return UnknownName(label.replace("_", " "), str(_short(value)), known, where=where)


def _must(kind: str, context: Mapping[str, Any]) -> str | None:
    """What a value must be, by the type of pydantic's error."""
    sentences = {
        "int_type": "a whole number",
        "string_type": "text",
        "greater_than_equal": "{ge:g} or more",
        "less_than_equal": "{le:g} or less",
        "tuple_type": "a list",
        "list_type": "a list",
        "dict_type": "a table of keys and values",
        "model_type": "a table of keys and values",
        "model_attributes_type": "a table of keys and values",
        "too_short": "a list of {min_length} or more",
        "union_tag_not_found": "a table with the key {discriminator}",
    }
    sentence = sentences.get(kind)
    return None if sentence is None else sentence.format(**context)


def _path_in(data: Any, loc: tuple[str | int, ...]) -> Path:
    """The location without what pydantic adds to it, such as the names of union members."""
    path: list[str | int] = []
    for key in loc:
        inside = isinstance(data, Mapping) and key in data
        listed = isinstance(data, list | tuple) and isinstance(key, int) and key < len(data)
        if inside or listed:
            data = data[key]
            path.append(key)
    return tuple(path)


def _named(path: Path) -> str:
    """The path as people write it: `blocks[3].text`."""
    parts = (f"[{item + 1}]" if isinstance(item, int) else f".{item}" for item in path)
    return "".join(parts).lstrip(".")


def _short(value: object) -> object:
    """What was got, short enough for a message."""
    if value is None or value == "":
        return "nothing"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = value.written if isinstance(value, WrittenInt | WrittenFloat) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


def plain(value: Any) -> Any:
    """The value as JSON holds it, without how it was written."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, WrittenFlag):
        return value.flag
    for kind in (WrittenInt, WrittenFloat):
        if isinstance(value, kind):
            return kind.__bases__[0](value)
    return value
