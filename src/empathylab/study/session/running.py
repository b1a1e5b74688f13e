"""A launched study in one server process: its lab, its clock, and what was frozen at launch."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.studies.records import launched_study
from empathylab.store.studies.slots import count_deleted, find_slot
from empathylab.study.assignment.allocation import World
from empathylab.study.assignment.blinding import person_key
from empathylab.study.design.definition import Study
from empathylab.study.group_commit.write_queue import WriteQueue
from empathylab.study.session.launched import load_launched


class RunningStudy:
    """A launched study; `name` is the newest version, `NAME@1` a certain one."""

    def __init__(self, lab: Lab, name: str, *, clock: Callable[[], datetime] = present) -> None:
        self.lab = lab
        self.clock = clock
        with lab.reading() as connection:
            self.launched = load_launched(connection, name)
        self.queue = WriteQueue(lab, self.launched.row)

    def reload(self, connection: Connection) -> None:
        """Reads again what was frozen, after an arm has joined."""
        self.launched = load_launched(connection, f"{self.name}@{self.study.version}")

    def now(self) -> datetime:
        """The present moment by the study's clock."""
        return self.clock()

    @property
    def study(self) -> Study:
        """Its definition."""
        return self.launched.study

    @property
    def name(self) -> str:
        """Under which it was launched."""
        return self.launched.study.name

    @property
    def secret(self) -> bytes:
        """The study's own, by which ids are made; it never leaves the server."""
        return self.launched.secret

    def key_of(
        self, platform: str, platform_id: str, world: World = "person", turn: int = 1
    ) -> str:
        """The pseudonym of a platform's id; `turn` counts where someone may take part again.

        An id is the same in every normal form of Unicode, and with spaces around it.
        """
        return pseudonym(self.secret, platform, platform_id, world, turn)


def study_status(study: RunningStudy, connection: Connection) -> str:
    """Whether the study is open, paused or closed, as the lab says now."""
    definition = study.launched.study
    row = launched_study(connection, f"{definition.name}@{definition.version}")
    return str(row.status)


def require_not_closed(study: RunningStudy, connection: Connection) -> None:
    """Raises where the study is closed: nobody can come any more."""
    if study_status(study, connection) == "closed":
        raise InputError(
            "the study is closed",
            where=f"study {study.name}",
            remedy=f"Launch version {study.launched.study.version + 1} to recruit participants "
            "again.",
        )


def visits(
    connection: Connection, study: int, key_of: Callable[[int], str]
) -> Iterator[tuple[str, Row[Any] | None]]:
    """The key of each of a person's visits with its row, and None at keys that are free.

    `key_of` gives the key of the first visit, the second and so on. Each row that was deleted may
    have left a free key before later visits.
    """
    gaps: int | None = None
    for turn in itertools.count(1):
        key = key_of(turn)
        row = find_slot(connection, study, key)
        yield key, row
        if row is None:
            gaps = count_deleted(connection, study) if gaps is None else gaps
            if gaps == 0:
                return
            gaps -= 1


def pseudonym(
    secret: bytes, platform: str, platform_id: str, world: World = "person", turn: int = 1
) -> str:
    """The same by the secret of a study."""
    scope = platform if world == "person" else f"{world} {platform}"
    plain = unicodedata.normalize("NFKC", platform_id).strip()
    return person_key(secret, scope if turn == 1 else f"{scope} {turn}", plain)
