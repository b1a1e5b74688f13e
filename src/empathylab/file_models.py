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
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import yaml
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

Path = tuple[str | int, ...]
"""The way to a value: keys of tables, and positions in lists counted from 0."""

_MOST_CHARACTERS = 2_000_000
_MOST_LEVELS = 30
_QUOTED = re.compile(r"'([^']*)'")


class WrittenInt(int):
    """A whole number that knows how it was written."""

    written: str = ""


class WrittenFloat(float):
    """A number that knows how it was written."""

    written: str = ""


class WrittenFlag(str):
    """A text such as `yes` or `No` that YAML takes for true or false."""

    __slots__ = ("flag",)
    flag: bool


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file and the line of every value."""

    data: Any
    file: str
    lines: Mapping[Path, int] = field(default_factory=dict, hash=False)
    """Empty where the data does not come from a file with lines."""

    def where(self, path: Path) -> str:
        """File and line of a value, or of what it is missing in."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return f"{self.file} line {self.lines[path[:end]]}"
        return self.file

    def value(self, path: Path) -> Any:
        """The value at the path; None where there is none."""
        found = self.data
        for key in path:
            try:
                found = found[key]
            except (KeyError, IndexError, TypeError):
                return None
        return found


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
    return {one.alias or name: one for name, one in model.model_fields.items()}


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
    if kind == "misfit":
        return InputError(
            context["what"], where=where, got=context.get("got"), remedy=context["remedy"]
        )
    must = context["must"] if kind == "wrong" else _must(kind, context)
    what = f"{_named(path)!r} must be {must}" if must else f"{_named(path)!r}: {error['msg']}"
    remedy = context.get("remedy") or "Correct it in the file."
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
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, WrittenFlag):
        return value.flag
    for kind in (WrittenInt, WrittenFloat):
        if isinstance(value, kind):
            return kind.__bases__[0](value)
    return value


def read_yaml(text: str, *, file: str, what: str = "file", empty: str = "Write it.") -> Document:
    """The YAML text with its lines; `what` names such a file, `empty` is the remedy for none."""
    if len(text) > _MOST_CHARACTERS:
        raise InputError(
            f"the file is longer than {_MOST_CHARACTERS:,} characters",
            where=file,
            remedy="It holds texts and settings; import data with `empathylab data import`.",
        )
    reader = _YamlReader(file)
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        _refuse_endless(text, file, what)
        node = loader.get_single_node()
        if node is None:
            raise InputError("the file is empty", where=file, remedy=empty)
        data = reader.value(node, loader, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "bad syntax"
        raise InputError(
            f"this is not valid YAML: {problem}",
            where=f"{file} line {mark.line + 1}" if mark else file,
            remedy="Fix the line; put a text with characters such as : ? # { in quotation marks.",
        ) from None
    finally:
        if loader is not None:
            loader.dispose()
    return Document(data, file, reader.lines)


def _refuse_endless(text: str, file: str, what: str) -> None:
    """Aliases can make a short file endless, and an error in one would stand in two places."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        where = f"{file} line {event.start_mark.line + 1}" if event.start_mark else file
        if isinstance(event, yaml.AliasEvent):
            raise InputError(
                f"references (*name) are not allowed in a {what}",
                where=where,
                got=f"*{event.anchor}",
                remedy="Write the value out.",
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_LEVELS:
            raise InputError(
                "the file is nested too deeply", where=where, remedy="Write it with fewer levels."
            )


class _YamlReader:
    """Turns YAML nodes into values and notes the line of each."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.lines: dict[Path, int] = {}

    def value(self, node: yaml.Node, loader: yaml.SafeLoader, path: Path) -> Any:
        # A value may begin on the line below its key; the key's line is where one looks.
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, loader, path))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, loader, (*path, n)) for n, one in enumerate(node.value)]
        return _scalar(node, loader)

    def _pairs(
        self, node: yaml.MappingNode, loader: yaml.SafeLoader, path: Path
    ) -> Iterator[tuple[str, Any]]:
        for name_node, value_node in node.value:
            line = name_node.start_mark.line + 1
            where = f"{self._file} line {line}"
            if not isinstance(name_node, yaml.ScalarNode):
                raise InputError(
                    "a key must be text", where=where, remedy="Write it as `name: value`."
                )
            name = str(name_node.value)
            own = (*path, name)
            if own in self.lines:
                raise InputError(
                    f"the key {name!r} is given twice; first in line {self.lines[own]}",
                    where=where,
                    remedy="Keep one of the two.",
                )
            self.lines[own] = line
            yield name, self.value(value_node, loader, own)


def _scalar(node: yaml.Node, loader: yaml.SafeLoader) -> Any:
    try:
        value = loader.construct_object(node)
    except (ValueError, OverflowError):
        return str(node.value)  # a date that no calendar has, say
    if isinstance(value, bool):
        flag = WrittenFlag(node.value)
        flag.flag = value
        return flag
    if isinstance(value, int | float):
        number = (WrittenInt if isinstance(value, int) else WrittenFloat)(value)
        number.written = str(node.value)
        return number
    return None if value is None else str(node.value)
