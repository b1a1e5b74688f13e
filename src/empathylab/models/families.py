"""What is known of model families: room for reasoning, and settings they refuse."""

from __future__ import annotations

import fnmatch
import functools
from dataclasses import dataclass

from empathylab.files import packaged_table


@dataclass(frozen=True, slots=True)
class Family:
    """Models that want the same settings."""

    names: tuple[str, ...] = ()
    """Patterns of the last part of the name."""
    room: int = 0
    """Tokens for reasoning, on top of those for the answer."""
    room_if_asked: int = 0
    """The same, for models that reason only when asked to."""
    omit: frozenset[str] = frozenset()
    """Settings that are left out from the start."""
    thinking: str | None = None
    """How reasoning is asked for where there is more than one way."""


UNKNOWN_FAMILY = Family()


@functools.cache
def families() -> tuple[Family, ...]:
    """All that are known, the more specific first."""
    return tuple(
        Family(
            names=tuple(row["names"]),
            room=row.get("room", 0),
            room_if_asked=row.get("room_if_asked", 0),
            omit=frozenset(row.get("omit", ())),
            thinking=row.get("thinking"),
        )
        for row in packaged_table("empathylab.models", "families.toml")["family"]
    )


def family_of(model: str) -> Family:
    """The family of the model; an unknown one needs nothing special."""
    name = model.rpartition("/")[2].lower()
    for family in families():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in family.names):
            return family
    return UNKNOWN_FAMILY
