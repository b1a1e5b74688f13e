"""Who comes to a launched study: under which key they are known, and whether they are let in."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row

from empathylab.errors import InputError
from empathylab.store.studies.participants import set_visit_ids, visit_ids
from empathylab.store.studies.records import launched_study
from empathylab.store.studies.slots import change_slot, find_slot
from empathylab.study.assignment.allocation import FOR_GOOD, World
from empathylab.study.blocks.forms import clean_text
from empathylab.study.blocks.interface import ParticipantPath
from empathylab.study.design.definition import FollowUp, Study
from empathylab.study.group_commit.batches import Batch
from empathylab.study.recruiting.invitations import require_open
from empathylab.study.session.eligibility import was_here
from empathylab.study.session.flow import Show, decide
from empathylab.study.session.running import RunningStudy, pseudonym, visits
from empathylab.study.session.visits import PlatformIds

FIRST_PARTICIPANT, DAYS_AFTER = "first_participant", "days_after"
"""What is kept about someone: their pseudonym in the first study, and the days since then."""
_DAY = 24 * 3600


def only_opened(study: Study, row: Row[Any]) -> bool:
    """Whether someone has not answered the first page, which a program may have opened."""
    started = row.shown_step not in (None, study.blocks[0].id)
    return row.status == "arrived" and row.outcome is None and not started


class Admissions:
    """Lets people into a running study."""

    def __init__(self, running: RunningStudy) -> None:
        self._running = running

    def arrive(
        self, ids: PlatformIds, *, world: World = "person", language: str | None = None
    ) -> str:
        """The person's key, the same whenever they come.

        Someone who took part in another version of the study is recognised, and turned away
        where each person takes part once.
        """
        study = self._running.study
        person, row = self._coming(ids, world)
        first = self._admit(ids, person, row, world)
        spoken = language if language in study.languages else None
        if row is None:
            slot = self._slot_row(person, world, spoken or study.languages[0])
            person_row = self._person_row(ids, person)
            person_row["told"] |= first
            self._running.queue.soon(lambda batch: self._add(batch, slot, person_row)).result()
        elif spoken is not None and spoken != row.language:
            self.change_language(person, spoken)
        return person

    def change_language(self, person: str, language: str) -> None:
        """Shows the person the study in another of its languages from now on."""
        with self._running.lab.reading() as connection:
            row = find_slot(connection, self._running.launched.row, person)
        # A deleted participant keeps a row without a language.
        if row is None or not row.language or language not in self._running.study.languages:
            return
        number = row.id
        self._running.queue.write(
            lambda connection: change_slot(connection, number, language=language)
        )

    def is_known(self, ids: PlatformIds) -> bool:
        """Whether someone has begun under these ids before, and would go on with that visit.

        A link that was only opened may have been opened by a program.
        """
        row = self._coming(ids, "person")[1]
        return row is not None and not only_opened(self._running.study, row)

    def _coming(self, ids: PlatformIds, world: World) -> tuple[str, Row[Any] | None]:
        """The key under which someone comes now, and their row, if any."""
        running, free = self._running, ""

        def key_of(turn: int) -> str:
            return running.key_of(ids.platform, ids.person, world, turn)

        with running.lab.reading() as connection:
            if running.study.recruitment.once:
                return key_of(1), find_slot(connection, running.launched.row, key_of(1))
            for person, row in visits(connection, running.launched.row, key_of):
                if row is None:
                    free = free or person
                elif row.status != "finished" and row.status not in FOR_GOOD:
                    return person, row
        return free, None

    def _add(self, batch: Batch, slot: dict[str, Any], person_row: dict[str, Any]) -> None:
        study = self._running.study
        if study.recruitment.once and was_here(batch, self._running.launched, slot["person"]):
            slot = slot | {"status": "repeated", "outcome": "screened-out"}
        batch.add_person(slot, person_row)

    def _slot_row(self, person: str, world: World, language: str) -> dict[str, Any]:
        now = self._running.now()
        first = decide(
            ParticipantPath(self._running.study, self._running.launched.scales, None, person), {}
        )
        shown = {"shown_step": first.step.key, "shown_at": now} if isinstance(first, Show) else {}
        return {
            **shown,
            "study_id": self._running.launched.row,
            "person": person,
            "world": world,
            "status": "arrived",
            "traits": {},
            "language": language,
            "outcome": None,
            "arrived_at": now,
            "seen_at": now,
            "draft": {},
        }

    def _person_row(self, ids: PlatformIds, person: str) -> dict[str, Any]:
        kept = {"person": ids.person, "study": ids.study, "session": ids.session}
        traits = {clean_text(name): clean_text(value) for name, value in ids.traits.items()}
        return {
            "study_id": self._running.launched.row,
            "person": person,
            "platform": ids.platform,
            "ids": {name: clean_text(value) for name, value in kept.items() if value},
            "told": traits,
        }

    def _admit(
        self, ids: PlatformIds, person: str, slot: Row[Any] | None, world: World = "person"
    ) -> dict[str, Any]:
        """Refuses a new participant without a valid invitation; notes the visit of a returning one.

        Returns what links someone new to their part in the study that this one follows up.

        Platforms pay by the visit's id, and someone who comes back may have a new one. Anyone who
        has finished is paid for the visit in which they did. `slot` is the person's row, if any.
        """
        if world != "person":
            return {}
        if slot is None:
            if self._running.study.follow_up is not None:
                return first_part(self._running, self._running.study.follow_up, ids)
            self._require_invitation(ids)
        elif slot.status != "finished" and slot.status not in FOR_GOOD:
            self._note_visit(ids, person)
        return {}

    def _require_invitation(self, ids: PlatformIds) -> None:
        if ids.platform == "invitation":
            key = self._running.key_of(ids.platform, ids.person)
            with self._running.lab.reading() as connection:
                require_open(connection, self._running.launched.row, key, self._running.now())

    def _note_visit(self, ids: PlatformIds, person: str) -> None:
        study = self._running.launched.row
        latest = {"study": ids.study, "session": ids.session}
        ids_now = {name: clean_text(value) for name, value in latest.items() if value}
        with self._running.lab.reading() as connection:
            kept = visit_ids(connection, study, person)
        if kept is not None and ids_now.items() - kept.items():
            changed = kept | ids_now
            self._running.queue.write(
                lambda connection: set_visit_ids(connection, study, person, changed)
            )


def first_part(running: RunningStudy, follow_up: FollowUp, ids: PlatformIds) -> dict[str, Any]:
    """What links someone new to their part in the first study; raises where there is none.

    Their pseudonym there is computed again from the id or the invitation with which they come, so
    the link is made without any list, also after the first study's platform ids are deleted.
    """
    with running.lab.reading() as connection:
        first = launched_study(connection, follow_up.study)
        slot = _completed(connection, first, ids)
    if slot is None:
        raise InputError(
            "this person has not completed the first study",
            where=f"study {running.name}",
            remedy=f"Invite people who completed {follow_up.study}, by the same platform id.",
        )
    days = (running.now() - slot.seen_at).total_seconds() / _DAY
    return {FIRST_PARTICIPANT: slot.person, DAYS_AFTER: round(days, 2)}


def _completed(connection: Connection, first: Any, ids: PlatformIds) -> Any:
    secret = bytes.fromhex(first.secret)

    def key_of(turn: int) -> str:
        return pseudonym(secret, ids.platform, ids.person, turn=turn)

    rows = (row for _, row in visits(connection, first.id, key_of))
    return next((row for row in rows if row is not None and row.status == "finished"), None)
