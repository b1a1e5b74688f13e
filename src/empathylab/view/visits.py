"""What a page's handler is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from empathylab.store import Lab
from empathylab.view.tables import whole_number

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: the lab in one transaction, and what the address asks for."""

    lab: Lab
    connection: Connection
    query: Mapping[str, str]
    parts: Mapping[str, str]
    """The parts of the path."""
    index_replies: Callable[[], bool]
    """Starts indexing the replies that wait for it; gives whether that is going on."""

    def asked(self, name: str) -> str:
        """A parameter of the address, empty where it is missing."""
        return self.query.get(name, "").strip()

    def number(self, name: str) -> int:
        """A number in the path; where it is none, there is no such page."""
        return required(whole_number(self.parts[name]))


def required(value: Value | None) -> Value:
    """The value; where there is none, there is no such page."""
    if value is None:
        raise HTTPException(404)
    return value
