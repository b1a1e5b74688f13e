"""A launched study in one server process: its lab, its clock, and what was frozen at launch."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.inserts import now as present
from empathylab.store.studies.records import launched_study
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


def pseudonym(
    secret: bytes, platform: str, platform_id: str, world: World = "person", turn: int = 1
) -> str:
    """The same by the secret of a study."""
    scope = platform if world == "person" else f"{world} {platform}"
    plain = unicodedata.normalize("NFKC", platform_id).strip()
    return person_key(secret, scope if turn == 1 else f"{scope} {turn}", plain)
