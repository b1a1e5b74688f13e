"""Reading personas: the built-in ones, a user's YAML file, a collection in the lab."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from empathylab.errors import InputError, UnknownName
from empathylab.files import read_text
from empathylab.protocols.converse.persona import (
    BUILT_IN,
    EndRule,
    Persona,
    PersonaText,
    Strict,
)
from empathylab.store import Lab
from empathylab.store.conversations import persona_collections, persona_definitions


class PersonaEntry(Strict):
    """A persona of a file, in all its languages."""

    id: str = Field(min_length=1)
    name: str
    age: int | None = None
    culture: str = ""
    emotion: str
    need: str
    topic: str = ""
    crisis: bool = False
    start: dict[str, float] | None = None
    end: EndRule | None = None
    texts: dict[str, PersonaText] = Field(min_length=1)


class PersonaFile(Strict):
    """A file of personas; `start` and `end` hold for those that give none of their own."""

    collection: str = Field(min_length=1)
    version: int = Field(ge=1)
    licence: str
    validated: bool = False
    start: dict[str, float] | None = None
    end: EndRule | None = None
    personas: list[PersonaEntry] = Field(min_length=1)


@cache
def builtin_personas() -> tuple[Persona, ...]:
    """The personas that come with the package, by file and in the files' order."""
    folder = files("empathylab.protocols.converse") / "personas"
    found: list[Persona] = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".yaml"):
            found += parse_personas(path.read_text(encoding="utf-8"), where=path.name)
    return tuple(found)


def read_personas(path: Path) -> list[Persona]:
    """The personas in a user's file."""
    return parse_personas(read_text(path), where=path.name)


def chosen_personas(lab: Lab, name: str) -> list[Persona]:
    """The built-in personas, those of a YAML file, or a collection that the lab has."""
    if name == BUILT_IN:
        return list(builtin_personas())
    if name.lower().endswith((".yaml", ".yml")):
        return read_personas(Path(name))
    stored = persona_definitions(lab, name)
    if not stored:
        known = {BUILT_IN, *persona_collections(lab)}
        remedy = "Or give a YAML file: --personas mine.yaml."
        raise UnknownName("collection of personas", name, known, remedy=remedy)
    try:
        return [Persona.model_validate(definition) for definition in stored]
    except ValidationError as error:
        raise InputError(
            "these personas have no story to play",
            where=name,
            got=_first(error)[0],
            remedy="Use a collection with full profiles.",
        ) from None


def parse_personas(text: str, *, where: str) -> list[Persona]:
    """The personas of a YAML text; errors name the line."""
    try:
        data = yaml.safe_load(text)
        tree = yaml.compose(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f" line {mark.line + 1}"
        problem = getattr(error, "problem", None) or "the syntax is wrong"
        raise InputError(
            f"this is not YAML: {problem}", where=f"{where}{line}", remedy="Fix the syntax."
        ) from None
    if not isinstance(data, dict):
        raise InputError(
            "the file must have keys such as 'collection' and 'personas'",
            where=where,
            remedy="See the docs on conversations for an example.",
        )
    try:
        found = PersonaFile.model_validate(data)
        return _personas(found, where)
    except ValidationError as error:
        message, location = _first(error)
        number = _line(tree, location)
        path = ".".join(str(part) for part in location)
        raise InputError(
            f"{path}: {message}", where=f"{where} line {number}", remedy="Fix the file."
        ) from None


def _personas(found: PersonaFile, where: str) -> list[Persona]:
    personas = []
    seen: set[str] = set()
    for entry in found.personas:
        if entry.id in seen:
            raise InputError(
                "two personas have the same id", where=where, got=entry.id, remedy="Rename one."
            )
        seen.add(entry.id)
        end, start = entry.end or found.end, entry.start or found.start
        for value, name in ((end, "end"), (start, "start")):
            if value is None:
                raise InputError(
                    f"persona {entry.id!r} has no {name!r}",
                    where=where,
                    remedy=f"Give {name!r} in the persona, or once at the top of the file for all. "
                    "For example end: {success_at: 90, failure_below: 10, exchanges: 8} and "
                    "start: {feeling: 40, heard: 30, trust: 40}.",
                )
        shared: dict[str, Any] = {
            "collection": found.collection,
            "licence": found.licence,
            "validated": found.validated,
            "end": end,
            "start": start,
        }
        own = entry.model_dump(include={"id", "name", "age", "culture", "emotion", "need", "topic"})
        personas += [
            Persona.model_validate(
                own | shared | {"crisis": entry.crisis, "language": language} | text.model_dump()
            )
            for language, text in entry.texts.items()
        ]
    return personas


def _first(error: ValidationError) -> tuple[str, tuple[int | str, ...]]:
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "this key is not known"
    elif first["type"] == "missing":
        message = "this key is missing"
    return message, first["loc"]


def _line(node: Any, location: tuple[int | str, ...]) -> int:
    """The line of the value at that place, or of the nearest that contains it."""
    line = 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = [value for key, value in node.value if key.value == str(part)]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            found = node.value[part : part + 1]
        else:
            found = []
        if not found:
            break
        node = found[0]
        line = node.start_mark.line + 1
    return line
