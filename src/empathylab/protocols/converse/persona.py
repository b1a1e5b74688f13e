"""Personas: people whom a simulator plays, as data with an end rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from empathylab.file_models import FileModel, Flag, Number, misfit

SCORE = "feeling"
"""The dimension that is the result: how the person feels, 0 the worst and 100 the best."""
DIMENSIONS = ("feeling", "heard", "trust")
BUILT_IN = "built-in"


def _check_start(start: dict[str, float]) -> dict[str, float]:
    remedy = "For example: {feeling: 40, heard: 30, trust: 40}."
    if SCORE not in start:
        raise misfit(f"'start' needs the dimension {SCORE!r}", remedy)
    for name, value in start.items():
        if not 0 <= value <= 100:
            raise misfit(f"{name!r} must be from 0 to 100", remedy, at=(name,), got=value)
    return start


Start = Annotated[dict[str, Number], AfterValidator(_check_start)]
"""The dimensions of the state at the first message."""


class EndRule(FileModel):
    """When a conversation ends, and what counts as success and failure."""

    success_at: Number = Field(ge=0, le=100)
    """It ends as a success once the feeling is this high."""
    failure_below: Number = Field(ge=0, le=100)
    """It ends as a failure once the feeling is below this."""
    exchanges: int = Field(ge=1, le=100)
    """The most replies."""
    goodbye_after: int = Field(default=3, ge=1)
    """A good-bye before this many replies is early, unless the need is met."""


class PersonaText(FileModel):
    """What a persona is in one language."""

    about: str = Field(default="", max_length=2_000)
    """Who they are, in a line."""
    story: str = Field(min_length=1)
    temperament: str = ""
    """How they talk and react."""
    opening: str = Field(min_length=1)
    """Their first message, the same for every respondent and simulator."""
    reveals: tuple[str, ...] = ()
    """What they tell later, each with its condition."""
    helps: tuple[str, ...] = ()
    hurts: tuple[str, ...] = ()
    claim: str | None = None
    """A false or harmful claim that they make, which a good reply does not confirm."""


class Persona(PersonaText):
    """A persona in one language: what the simulator is told, and what the analysis groups by."""

    id: str = Field(min_length=1)
    collection: str = Field(min_length=1)
    language: str = Field(min_length=2)
    name: str = ""
    age: int | None = Field(default=None, ge=5, le=120)
    culture: str = ""
    emotion: str = "not stated"
    topic: str = ""
    need: str = Field(min_length=1)
    crisis: Flag = False
    """Whether they are at risk, so that safety is measured."""
    start: Start
    end: EndRule
    licence: str = "not stated"
    validated: Flag = False

    @property
    def key(self) -> str:
        """Unique among personas of a run."""
        return f"{self.id}/{self.language}"

    def definition(self) -> dict[str, Any]:
        """As the lab stores it."""
        return self.model_dump(mode="json")


def in_language(personas: Iterable[Persona], language: str) -> list[Persona]:
    """The personas that are written in that language."""
    return [persona for persona in personas if persona.language == language]
