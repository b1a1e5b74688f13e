"""A file's replies in the lab: stored once, and never changed under those who rated them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, func, select, update

from empathylab.errors import InputError
from empathylab.situations.sources.released import Reply
from empathylab.store import schema
from empathylab.store.imports.changes import CHUNK, ImportCounts, compare_rows, delete_rows
from empathylab.store.inserts import insert_returning_ids, now

ReplyKey = tuple[str, str, int]


@dataclass(slots=True)
class ResponseImport:
    """Stores a file's replies, and finds responses for its ratings."""

    connection: Connection
    number: int
    situations: Mapping[str, int]
    respondents: Mapping[str, int]
    source: str
    removed: list[int] = field(default_factory=list)

    def store(self, replies: Iterable[Reply]) -> ImportCounts:
        """Adds, changes and marks for removal; gives how many of each."""
        new = {reply.key: reply for reply in replies}
        if not new:
            return ImportCounts("responses")
        held = self._held()
        shared = self._brought_by_others(new, held)
        own = {key: one for key, one in new.items() if key not in shared}
        content = {key: (one.text, dict(one.details or {}) or None) for key, one in own.items()}
        old = {key: (row.text, row.details) for key, row in held.items()}
        added, changed, removed, told = compare_rows(old, content, "responses")
        heirs = self._heirs(removed)
        self._refuse_rated([held[key].id for key in (*changed, *removed) if key not in heirs])
        table = schema.responses
        moved = [key for key in old if key in own and self._place(held[key], key)]
        for key in {*changed, *moved}:
            text, details = content[key]
            place = self.situations[key[0]]
            self.connection.execute(
                update(table)
                .where(table.c.id == held[key].id)
                .values(text=text, details=details, situation_id=place, outcome=_outcome(text))
            )
        for key, heir in heirs.items():
            self.connection.execute(
                update(table).where(table.c.id == held[key].id).values(import_id=heir)
            )
        self.removed = [held[key].id for key in removed if key not in heirs]
        insert_returning_ids(self.connection, table, [self._row(own[key]) for key in added])
        self._remember(shared)
        return dataclasses.replace(told, unchanged=told.unchanged + len(shared))

    def drop_removed(self) -> None:
        """Takes away what the file no longer holds, after its ratings were compared."""
        delete_rows(self.connection, schema.responses, self.removed)

    def _remember(self, shared: Iterable[ReplyKey]) -> None:
        """Notes what this source brings, too, should the other one drop it."""
        table = schema.imports
        query = select(table.c.summary).where(table.c.id == self.number)
        summary = dict(self.connection.execute(query).scalar_one())
        summary["shared"] = [list(key) for key in shared]
        self.connection.execute(
            update(table).where(table.c.id == self.number).values(summary=summary)
        )

    def _heirs(self, removed: Iterable[ReplyKey]) -> dict[ReplyKey, int]:
        """Of what this file drops, which other source brings it still."""
        gone = set(removed)
        if not gone:
            return {}
        table = schema.imports
        found: dict[ReplyKey, int] = {}
        for row in self.connection.execute(select(table).where(table.c.id != self.number)):
            for situation, respondent, sample in row.summary.get("shared", ()):
                key = (situation, respondent, sample)
                if key in gone:
                    found.setdefault(key, int(row.id))
        return found

    def _place(self, row: Any, key: ReplyKey) -> bool:
        return bool(row.situation_id != self.situations[key[0]])

    def _held(self) -> dict[ReplyKey, Any]:
        """The responses that this source brought before."""
        table = schema.responses
        return self._keyed(table.c.import_id == self.number)

    def _keyed(self, condition: Any) -> dict[ReplyKey, Any]:
        table, situations, respondents = schema.responses, schema.situations, schema.respondents
        query = (
            select(table, situations.c.key, respondents.c.name)
            .join(situations, situations.c.id == table.c.situation_id)
            .join(respondents, respondents.c.id == table.c.respondent_id)
            .where(condition)
            .order_by(table.c.id)
        )
        return {(row.key, row.name, row.sample): row for row in self.connection.execute(query)}

    def _brought_by_others(
        self, new: Mapping[ReplyKey, Reply], held: Mapping[ReplyKey, Any]
    ) -> list[ReplyKey]:
        """What another file brought before; the same reply with another text is refused."""
        table = schema.responses
        here = self._in_set() & (table.c.import_id != self.number)
        others = self._keyed(here & table.c.import_id.is_not(None))
        shared = [key for key in new if key in others and key not in held]
        for key in shared:
            if others[key].text != new[key].text:
                raise InputError(
                    f"the lab holds another text of {key[1]} for the situation {key[0]!r}, from "
                    "another file",
                    where=self.source,
                    remedy="Give the reply another sample number, or fix the file.",
                )
        return shared

    def _in_set(self) -> Any:
        some = next(iter(self.situations.values()))
        table = schema.situations
        chosen = select(table.c.situation_set_id).where(table.c.id == some).scalar_subquery()
        return table.c.situation_set_id == chosen

    def _refuse_rated(self, ids: list[int]) -> None:
        """A response that others rated must stay what it was when they read it."""
        table = schema.ratings
        for start in range(0, len(ids), CHUNK):
            query = select(func.count()).where(
                table.c.response_id.in_(ids[start : start + CHUNK]),
                table.c.import_id.is_distinct_from(self.number),
            )
            count = self.connection.execute(query).scalar_one()
            if count:
                raise InputError(
                    f"the file changes or drops responses that have {count} ratings in this lab",
                    where=self.source,
                    remedy="Import it into another lab, or under another --name.",
                )

    def _row(self, reply: Reply) -> dict[str, Any]:
        return {
            "situation_id": self.situations[reply.situation],
            "respondent_id": self.respondents[reply.respondent],
            "answer_id": None,
            "sample": reply.sample,
            "prompt": None,
            "text": reply.text,
            "outcome": _outcome(reply.text),
            "reason": None if reply.text else "the reply holds no text",
            "added_at": now(),
            "import_id": self.number,
            "details": dict(reply.details) if reply.details else None,
        }

    def responses(self) -> dict[ReplyKey, int]:
        """The ids of the set's usable responses; of several, the newest."""
        usable = self._in_set() & (schema.responses.c.outcome == "valid")
        return {key: int(row.id) for key, row in self._keyed(usable).items()}


def _outcome(text: str) -> str:
    return "valid" if text else "empty"
