"""The work of several participants in one transaction: read together before, written after.

A statement costs a database and its driver more than a row does. So the rows of all participants in
a batch are read by two statements before the first of them is served, and their changes are held
back and written at the end. Work that needs the connection itself gets it with all changes written.
What nobody else can change meanwhile, such as who has which slot, is read once per batch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from sqlalchemy import Connection

from empathylab.store.schema.statements import Rows
from empathylab.store.studies.slots import (
    add_answers,
    add_people,
    add_slots,
    change_slots,
    find_slot,
    find_slots,
    given_answers,
    given_by_slot,
)

Known = TypeVar("Known")


class Batch:
    """One transaction and the participants in it, each with one piece of work."""

    def __init__(
        self, connection: Connection, study: int, people: Sequence[str] = (), *, lock: bool = True
    ) -> None:
        self._connection = connection
        self._study = study
        self._lock = lock
        self._rows = find_slots(connection, study, people, lock=lock) if people else {}
        self._read = {row.id for row in self._rows.values()}
        self._given = given_by_slot(connection, sorted(self._read)) if self._read else {}
        self._people = set(people)
        self._kept = _Changes()
        self._own = _Changes()
        self._known: dict[Hashable, Any] = {}
        self.touched = False
        """Whether the current piece of work has used the connection."""

    @property
    def connection(self) -> Connection:
        """The connection, once all changes are written; what is known is read again after that."""
        self._known.clear()
        return self.reading

    @property
    def reading(self) -> Connection:
        """The same for work that changes nothing with it."""
        self.touched = True
        self.flush()
        return self._connection

    def known(self, what: Hashable, read: Callable[[Connection], Known]) -> Known:
        """What the reading gives, or gave to earlier work of the batch."""
        if what not in self._known:
            self._known[what] = read(self.reading)
        return cast("Known", self._known[what])

    def all_known(self, what: str) -> Iterator[tuple[Any, Any]]:
        """What is known under keys that start with that word: rest of key, and value."""
        for key, known in self._known.items():
            if isinstance(key, tuple) and key[0] == what:
                yield key[1], known

    def read_anew(self) -> None:
        """Whatever is known may have changed."""
        self._known.clear()

    def begin(self) -> None:
        """Starts the next piece of work; the changes of the one before stay."""
        self._kept.take(self._own)
        self._own = _Changes()
        self.touched = False

    def drop(self) -> None:
        """Drops the changes of this piece of work, which must not have touched the connection."""
        self._own = _Changes()
        self._known.clear()

    def flush(self) -> None:
        """Writes all changes."""
        self._kept.take(self._own)
        changes, self._kept, self._own = self._kept, _Changes(), _Changes()
        if changes.slots_added:
            add_slots(self._connection, changes.slots_added)
            add_people(self._connection, changes.people_added)
        if changes.answers:
            add_answers(self._connection, changes.answers)
        if changes.slots:
            change_slots(self._connection, changes.slots)

    def slot(self, person: str) -> Any:
        """The person's row, with how the study stands; None where nobody is known by that key."""
        if person in self._people:
            return self._rows.get(person)
        return find_slot(self.connection, self._study, person, lock=self._lock)

    def given(self, slot: int) -> Rows:
        """What was answered so far, page by page, in that order."""
        if slot in self._read:
            return self._given.get(slot, ())
        return given_answers(self.connection, slot)

    def forget(self, person: str) -> None:
        """Someone else has changed this person's row, which is to be read again."""
        self._people.discard(person)

    def add_person(self, slot: Mapping[str, Any], person: Mapping[str, Any]) -> None:
        """Keeps that someone came, and their platform ids; the same person again changes nothing.

        They can be served from the next batch on.
        """
        self._own.slots_added.append(slot)
        self._own.people_added.append(person)

    def add_answer(self, row: dict[str, Any]) -> None:
        """Keeps an answer; a second one for the same page breaks a unique rule."""
        self._own.answers.append(row)

    def change_slot(self, slot: int, values: dict[str, Any]) -> None:
        """Changes the row of the participant who is served."""
        self._own.slots.setdefault(slot, {}).update(values)


class _Changes:
    """What is to be written."""

    def __init__(self) -> None:
        self.slots_added: list[Mapping[str, Any]] = []
        self.people_added: list[Mapping[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self.slots: dict[int, dict[str, Any]] = {}

    def take(self, others: _Changes) -> None:
        self.slots_added += others.slots_added
        self.people_added += others.people_added
        self.answers += others.answers
        for slot, values in others.slots.items():
            self.slots.setdefault(slot, {}).update(values)
