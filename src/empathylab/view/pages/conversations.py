"""Conversations as chat, with the person's feeling beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from empathylab.analysis.text.names import name_of
from empathylab.protocols.converse.outcomes import UNFINISHED, Fault, transcript_faults
from empathylab.protocols.converse.transcript import Turn
from empathylab.store.listings import conversations as listings
from empathylab.store.listings.pages import Listing, Row
from empathylab.view.pages.runs import is_running
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table, whole_number
from empathylab.view.visits import Visit, required

WIDTH, HEIGHT = 320.0, 200.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 12.0, 12.0, 24.0


def show_conversations(visit: Visit) -> Page:
    """All conversations."""
    names = ("respondent", "simulator", "outcome")
    asked = {name: visit.asked(name) for name in names}
    run = whole_number(visit.asked("run"))

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_conversations(connection, **asked, run=run, offset=offset, limit=limit)

    columns = (
        Column("key", "Conversation", href=lambda row: f"/conversations/{row['conversation']}"),
        Column("respondent", "Respondent", "respondent"),
        Column("persona", "Persona"),
        Column("simulator", "Simulator"),
        Column("exchanges", "Exchanges", "number"),
        Column("start", "First feeling", "number"),
        Column("final", "Final feeling", "number"),
        Column("outcome", "Outcome", "outcome", note="reason"),
    )
    empty = "This lab has no conversations yet. To run some: empathylab converse"
    table = Table("conversations", "Conversations", columns, read, empty=empty)
    choices = listings.conversation_choices(visit.connection)
    newest = table.read(visit.connection, 0, table.size).rows
    going = {row["run"] for row in newest if row["outcome"] == UNFINISHED}
    live = any(is_running(visit.connection, number) for number in going)
    return Page("Conversations", "conversations", (table,), {"choices": choices}, live=live)


def show_conversation(visit: Visit) -> Page:
    """One conversation: every turn, and the curve of the person's feeling."""
    number = visit.number("conversation")
    conversation = required(listings.find_conversation(visit.connection, number))
    spoken = listings.conversation_turns(visit.connection, number)
    turns = with_changes(spoken, conversation["final"])
    values = {
        "conversation": conversation,
        "turns": turns,
        "curve": emotion_curve(turns, conversation),
        "faults": _imported_faults(turns, conversation),
    }
    person = conversation["persona"] or conversation["key"]
    title = f"{name_of(conversation['respondent'])} and {person}"
    going = conversation["outcome"] == UNFINISHED
    live = going and is_running(visit.connection, conversation["run"])
    return Page(title, "chat", (), values, live=live)


def _imported_faults(turns: Sequence[Row], conversation: Row) -> list[Fault]:
    """What analyses count beside an imported score; own conversations end at a fault."""
    if conversation["run"] is not None:
        return []
    sentences = [Turn(turn["role"], turn["text"]) for turn in turns]
    simulated = conversation["simulator"] is not None
    return transcript_faults(sentences, conversation["language"], simulated=simulated)


def with_changes(turns: Sequence[Row], final: float | None) -> list[dict[str, Any]]:
    """The turns; each reply with how the person's feeling changed by it.

    A person's feeling stands at the message that they write next; that after the last reply is the
    conversation's `final`.
    """
    shown = [{**turn, "change": None} for turn in turns]
    before: float | None = None
    for place, turn in enumerate(shown):
        if turn["role"] == "person":
            before = turn["feeling"] if turn["feeling"] is not None else before
            continue
        later = (
            later_turn["feeling"]
            for later_turn in shown[place + 1 :]
            if later_turn["role"] == "person"
        )
        after = next(later, final)
        if before is not None and after is not None:
            turn["change"] = after - before
    return shown


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The person's feeling at one moment, as a place in the picture."""

    x: float
    y: float
    value: float
    position: int
    """The turn that it belongs to."""


@dataclass(frozen=True, slots=True)
class EmotionCurve:
    """The feeling in the course of a conversation, drawn on `WIDTH` by `HEIGHT`."""

    points: tuple[CurvePoint, ...]
    ticks: tuple[tuple[float, float], ...]
    """Height in the picture, and value."""
    thresholds: tuple[tuple[float, str], ...]
    """Height in the picture, and what it is."""
    rise: CurvePoint | None
    """After the reply that helped most."""
    fall: CurvePoint | None
    """After the reply that hurt most."""

    @property
    def line(self) -> str:
        """The points as SVG takes them."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)

    @property
    def described(self) -> str:
        """The curve in words."""
        values = ", ".join(f"{point.value:g}" for point in self.points)
        return f"Feeling from first to last message: {values}"


def emotion_curve(turns: Sequence[Row], conversation: Row) -> EmotionCurve | None:
    """The curve; None where fewer than two feelings are known."""
    felt = [
        (turn["feeling"], turn["position"])
        for turn in turns
        if turn["role"] == "person" and turn["feeling"] is not None
    ]
    if conversation["final"] is not None and turns and turns[-1]["role"] == "respondent":
        felt.append((conversation["final"], turns[-1]["position"]))
    if len(felt) < 2:
        return None
    values = [float(value) for value, _ in felt]
    low: float = min(0.0, *values)
    high: float = max(100.0, *values)
    step = (WIDTH - _LEFT - _RIGHT) / (len(felt) - 1)

    def height(value: float) -> float:
        share = (value - low) / (high - low)
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - share)

    points = tuple(
        CurvePoint(_LEFT + place * step, height(value), value, position)
        for place, (value, position) in enumerate(felt)
    )
    changes = {
        points[place + 1]: felt[place + 1][0] - felt[place][0] for place in range(len(felt) - 1)
    }
    best, worst = max(changes, key=changes.__getitem__), min(changes, key=changes.__getitem__)
    limits = (("success_at", "success"), ("failure_below", "failure"))
    return EmotionCurve(
        points,
        tuple((height(value), value) for value in (low, (low + high) / 2, high)),
        tuple(
            (height(conversation[name]), label)
            for name, label in limits
            if conversation[name] is not None and low <= conversation[name] <= high
        ),
        best if changes[best] > 0 else None,
        worst if changes[worst] < 0 else None,
    )
