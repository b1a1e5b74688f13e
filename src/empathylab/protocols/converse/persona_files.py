"""Reading personas: the built-in ones, a user's YAML file, a collection in the lab."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import Field, ValidationError

from empathylab.errors import InputError, UnknownName
from empathylab.file_models import FileModel, Flag, validate
from empathylab.files import read_text
from empathylab.protocols.converse.persona import (
    BUILT_IN,
    EndRule,
    Persona,
    PersonaText,
    Start,
)
from empathylab.store import Lab
from empathylab.store.conversations import persona_collections, persona_definitions
from empathylab.yaml_documents import read_yaml


class PersonaEntry(FileModel):
    """A persona of a file, in all its languages."""

    id: str = Field(min_length=1)
    name: str
    age: int | None = None
    culture: str = ""
    emotion: str
    need: str
    topic: str = ""
    crisis: Flag = False
    start: Start | None = None
    end: EndRule | None = None
    texts: dict[str, PersonaText] = Field(min_length=1)


class PersonaFile(FileModel):
    """A file of personas; `start` and `end` hold for those that give none of their own."""

    collection: str = Field(min_length=1)
    version: int = Field(ge=1)
    licence: str
    validated: Flag = False
    start: Start | None = None
    end: EndRule | None = None
    personas: list[PersonaEntry] = Field(min_length=1)


@cache
def builtin_personas() -> tuple[Persona, ...]:
    """The personas that come with the package, by file and in the files' order."""
    folder = files("empathylab.protocols.converse") / "personas"
    return tuple(
        persona
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
        if path.name.endswith(".yaml")
        for persona in parse_personas(path.read_text(encoding="utf-8"), where=path.name)
    )


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
            got=error.errors()[0]["msg"],
            remedy="Use a collection with full profiles.",
        ) from None


def parse_personas(text: str, *, where: str) -> list[Persona]:
    """The personas of a YAML text; errors name the line."""
    document = read_yaml(text, file=where, what="file of personas")
    return _personas(validate(PersonaFile, document), where)


def _personas(file: PersonaFile, where: str) -> list[Persona]:
    personas = []
    seen: set[str] = set()
    for entry in file.personas:
        if entry.id in seen:
            raise InputError(
                "two personas have the same id", where=where, got=entry.id, remedy="Rename one."
            )
        seen.add(entry.id)
        end, start = entry.end or file.end, entry.start or file.start
        for value, name in ((end, "end"), (start, "start")):
            if value is None:
                raise InputError(
                    f"persona {entry.id!r} has no {name!r}",
                    where=where,
                    remedy=f"Give {name!r} in the persona, or once at the top of the file for all. "
                    "For example end: {success_at: 90, failure_below: 10, exchanges: 8} and "
                    "start: {feeling: 40, heard: 30, trust: 40}.",
                )
        shared = file.model_dump(include={"collection", "licence", "validated"})
        shared |= entry.model_dump(exclude={"texts"}) | {"end": end, "start": start}
        personas += [
            Persona.model_validate(shared | {"language": language} | text.model_dump())
            for language, text in entry.texts.items()
        ]
    return personas
