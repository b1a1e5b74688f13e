"""Who comes to a launched study: under which key they are known, and whether they are let in."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from empathylab.store import Lab
from empathylab.store import now as present
from empathylab.store.studies.participants import set_visit_ids, visit_ids
from empathylab.study.assignment.allocation import FOR_GOOD, World
from empathylab.study.assignment.blinding import person_key
from empathylab.study.blocks.forms import clean_text
from empathylab.study.design.definition import Study
from empathylab.study.group_commit.write_queue import Turns
from empathylab.study.recruiting.invitations import require_open
from empathylab.study.session.launched import Launched, load_launched
from empathylab.study.session.visits import PlatformIds


class Arrivals:
    """A launched study, as those who come to it meet it."""

    def __init__(self, lab: Lab, name: str, *, clock: Callable[[], datetime] = present) -> None:
        self._lab = lab
        self._clock = clock
        with lab.reading() as connection:
            self._launched = load_launched(connection, name)
        self._turns = Turns(lab, self._launched.row)

    @property
    def lab(self) -> Lab:
        """Where it is kept."""
        return self._lab

    def now(self) -> datetime:
        """The present moment by the study's clock."""
        return self._clock()

    @property
    def launched(self) -> Launched:
        """What was frozen at launch."""
        return self._launched

    @property
    def study(self) -> Study:
        """Its definition."""
        return self._launched.study

    @property
    def name(self) -> str:
        """Under which it was launched."""
        return self._launched.study.name

    @property
    def secret(self) -> bytes:
        """The study's own, by which ids are made; it never leaves the server."""
        return self._launched.secret

    def key_of(
        self, platform: str, platform_id: str, world: World = "person", turn: int = 1
    ) -> str:
        """The pseudonym of a platform's id; `turn` counts where somebody may take part again.

        An id is the same in every normal form of Unicode, and with spaces around it.
        """
        scope = platform if world == "person" else f"{world} {platform}"
        plain = unicodedata.normalize("NFKC", platform_id).strip()
        return person_key(self.secret, scope if turn == 1 else f"{scope} {turn}", plain)

    def admit(
        self, ids: PlatformIds, person: str, place: Row[Any] | None, world: World = "person"
    ) -> None:
        """Refuses somebody new whose invitation is not good; of who comes back, notes the visit.

        Platforms pay by the visit's id, and somebody who comes back may have a new one. Whoever
        has finished is paid for the visit in which they did. `place` is the person's row, if any.
        """
        if world != "person":
            return
        if place is None:
            self._require_invitation(ids)
        elif place.status != "finished" and place.status not in FOR_GOOD:
            self._note_visit(ids, person)

    def _require_invitation(self, ids: PlatformIds) -> None:
        if ids.platform == "invitation":
            key = self.key_of(ids.platform, ids.person)
            with self._lab.reading() as connection:
                require_open(connection, self._launched.row, key, self._clock())

    def _note_visit(self, ids: PlatformIds, person: str) -> None:
        study = self._launched.row
        latest = {"study": ids.study, "session": ids.session}
        told = {name: clean_text(value) for name, value in latest.items() if value}
        with self._lab.reading() as connection:
            kept = visit_ids(connection, study, person)
        if kept is not None and told.items() - kept.items():
            changed = kept | told
            self._turns.write(lambda connection: set_visit_ids(connection, study, person, changed))
