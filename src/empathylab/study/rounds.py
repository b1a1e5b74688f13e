"""Several people's turns in one transaction: read together before, written together after.

A statement costs a database and its driver more than a row does. So the rows of all who take part
are read by two statements before the first of them is served, and what they change is kept back
and written at the end. Whoever needs the connection itself gets it with all of that written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from empathylab.store.study_places import (
    Rows,
    add_answers,
    change_places,
    find_place,
    find_places,
    given_answers,
    given_by_place,
)


class Round:
    """One transaction and the people in it, each of whom has one turn."""

    def __init__(
        self, connection: Connection, study: int, people: Sequence[str] = (), *, lock: bool = True
    ) -> None:
        self._connection = connection
        self._study = study
        self._lock = lock
        self._rows = find_places(connection, study, people, lock=lock) if people else {}
        self._read = {row.id for row in self._rows.values()}
        self._given = given_by_place(connection, sorted(self._read)) if self._read else {}
        self._people = set(people)
        self._kept = _Changes()
        self._own = _Changes()
        self.touched = False
        """Whether somebody has used the connection since their turn began."""

    @property
    def connection(self) -> Connection:
        """The connection, once all changes are written."""
        self.touched = True
        self.flush()
        return self._connection

    def begin(self) -> None:
        """The next turn begins, and what the one before changed is to stay."""
        self._kept.take(self._own)
        self._own = _Changes()
        self.touched = False

    def drop(self) -> None:
        """Forgets what this turn has changed; only for one that has not touched the connection."""
        self._own = _Changes()

    def flush(self) -> None:
        """Writes all changes."""
        self._kept.take(self._own)
        changes, self._kept, self._own = self._kept, _Changes(), _Changes()
        if changes.answers:
            add_answers(self._connection, changes.answers)
        if changes.places:
            change_places(self._connection, changes.places)

    def place(self, person: str) -> Any:
        """The person's row, with how the study stands; None where nobody is known by that key."""
        if person in self._people:
            return self._rows.get(person)
        return find_place(self.connection, self._study, person, lock=self._lock)

    def given(self, place: int) -> Rows:
        """What was answered so far, page by page, in that order."""
        if place in self._read:
            return self._given.get(place, ())
        return given_answers(self.connection, place)

    def forget(self, person: str) -> None:
        """Somebody else has changed this person's row, which is to be read anew."""
        self._people.discard(person)

    def add_answer(self, row: dict[str, Any]) -> None:
        """Keeps an answer; a second one for the same page breaks a unique rule."""
        self._own.answers.append(row)

    def change_place(self, place: int, values: dict[str, Any]) -> None:
        """Changes the row of the person whose turn it is."""
        self._own.places.setdefault(place, {}).update(values)


class _Changes:
    """What is to be written."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.places: dict[int, dict[str, Any]] = {}

    def take(self, others: _Changes) -> None:
        self.answers += others.answers
        for place, values in others.places.items():
            self.places.setdefault(place, {}).update(values)
