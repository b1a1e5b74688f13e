"""Storing what answers mean: turns, states, and how each conversation stands."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from empathylab.protocols.converse.outcomes import UNFINISHED, ending
from empathylab.protocols.converse.persona import SCORE, Persona
from empathylab.protocols.converse.steps import Step
from empathylab.protocols.converse.transcript import State, Turn, opening, states, understood
from empathylab.runs import Answered
from empathylab.store.inserts import insert_returning_ids, now
from empathylab.store.schema import answers, conversations, turns
from empathylab.store.schema.statements import ids_by, insert_rows, update_rows


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn, and the answer it came with."""

    turn: Turn
    feeling: float | None = None
    answer_id: int | None = None


@dataclass(frozen=True, slots=True)
class TranscriptRecorder:
    """Writes a batch of answers in few statements, whatever conversations they belong to."""

    respondent_id: int
    simulator: str
    personas: Mapping[str, Persona]
    persona_ids: Mapping[str, int]

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        """Stores turns and states; a retry takes the place of what it asks again."""
        steps = [Step.of(entry.request) for entry in answered]
        ids = self._conversations(connection, answered[0].answer_id, steps)
        stored = _stored(connection, list(ids.values()))
        changed: dict[tuple[int, int], StoredTurn] = {}
        for entry, step in zip(answered, steps, strict=True):
            conversation = ids[step.conversation]
            spoken = stored[conversation]
            content = understood(entry.reading)
            if step.kind == "state":
                before = spoken[step.position]
                turn = dataclasses.replace(before.turn, state=content)
                new = dataclasses.replace(before, turn=turn)
            else:
                feeling = None
                if step.kind == "message":
                    feeling = _feeling(spoken[step.position - 1].turn.state)
                new = StoredTurn(content, feeling, entry.answer_id)
            spoken[step.position] = changed[conversation, step.position] = new
        _write(connection, changed, ids.values())
        self._settle(connection, {step.conversation: step.persona for step in steps}, ids, stored)

    def _conversations(
        self, connection: Connection, answer_id: int, steps: Sequence[Step]
    ) -> dict[str, int]:
        """The conversations' ids by key; those that begin here are added with their opening."""
        own_run = select(answers.c.run_id).where(answers.c.id == answer_id)
        run_id = int(connection.execute(own_run).scalar_one())
        wanted = {step.conversation: step for step in steps}
        key = conversations.c.key
        ids = ids_by(connection, key, conversations.c.run_id == run_id, key.in_(list(wanted)))
        new = [step for key, step in wanted.items() if key not in ids]
        rows = [self._row(step, run_id) for step in new]
        for step, number in zip(
            new, insert_returning_ids(connection, conversations, rows), strict=True
        ):
            ids[step.conversation] = number
        openings = [
            _turn_row(ids[step.conversation], 0, StoredTurn(opening(persona), persona.start[SCORE]))
            for step in new
            for persona in [self.personas[step.persona]]
        ]
        insert_rows(connection, turns, openings)
        return ids

    def _row(self, step: Step, run_id: int) -> dict[str, Any]:
        persona = self.personas[step.persona]
        return {
            "run_id": run_id,
            "key": step.conversation,
            "respondent_id": self.respondent_id,
            "simulator": self.simulator,
            "persona_id": self.persona_ids[step.persona],
            "language": persona.language,
            "sample": step.sample,
            "start": persona.start[SCORE],
            "success_at": persona.end.success_at,
            "failure_below": persona.end.failure_below,
            "exchanges": 0,
            "outcome": UNFINISHED,
            "added_at": now(),
        }

    def _settle(
        self,
        connection: Connection,
        touched: Mapping[str, str],
        ids: Mapping[str, int],
        stored: Mapping[int, Mapping[int, StoredTurn]],
    ) -> None:
        """Brings the conversations' rows up to date."""
        rows = []
        for key, persona_key in touched.items():
            persona, spoken = self.personas[persona_key], stored[ids[key]]
            turns = tuple(spoken[place].turn for place in sorted(spoken))
            known = states(persona, turns)
            end = ending(persona, turns)
            rows.append(
                {
                    "id": ids[key],
                    "final": known[-1].score if len(known) > 1 else None,
                    "exchanges": sum(turn.role == "respondent" for turn in turns),
                    "outcome": UNFINISHED if end is None else end.outcome,
                    "reason": None if end is None else end.reason,
                    "ended_by": None if end is None else end.ended_by,
                }
            )
        update_rows(connection, conversations, rows)


def _feeling(state: State | None) -> float | None:
    return None if state is None else state.score


def _stored(connection: Connection, ids: Sequence[int]) -> dict[int, dict[int, StoredTurn]]:
    query = select(turns).where(turns.c.conversation_id.in_(ids))
    stored: dict[int, dict[int, StoredTurn]] = defaultdict(dict)
    for row in connection.execute(query):
        state = None if row.state is None else State.from_dict(row.state)
        turn = Turn(row.role, row.text, row.outcome, row.reason, state)
        stored[row.conversation_id][row.position] = StoredTurn(turn, row.feeling, row.answer_id)
    return stored


def _write(connection: Connection, changed: Mapping[tuple[int, int], StoredTurn], ids: Any) -> None:
    query = select(turns.c.id, turns.c.conversation_id, turns.c.position).where(
        turns.c.conversation_id.in_(list(ids))
    )
    there = {(row.conversation_id, row.position): row.id for row in connection.execute(query)}
    rows = {place: _turn_row(*place, new) for place, new in changed.items()}
    insert_rows(connection, turns, [row for place, row in rows.items() if place not in there])
    replaced = [{"id": there[place], **row} for place, row in rows.items() if place in there]
    update_rows(connection, turns, replaced)


def _turn_row(conversation: int, position: int, stored: StoredTurn) -> dict[str, Any]:
    turn = stored.turn
    return {
        "conversation_id": conversation,
        "position": position,
        "role": turn.role,
        "text": turn.text,
        "feeling": stored.feeling,
        "state": None if turn.state is None else turn.state.to_dict(),
        "outcome": turn.outcome,
        "reason": turn.reason,
        "answer_id": stored.answer_id,
    }
