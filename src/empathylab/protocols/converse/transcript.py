"""A conversation so far: its turns, and the state of the person after each reply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from empathylab.protocols.converse.persona import SCORE, Persona
from empathylab.runs import Reading
from empathylab.runs.plans import CUT_OFF

Role = Literal["person", "respondent"]


@dataclass(frozen=True, slots=True)
class State:
    """What the simulator keeps hidden: feelings from 0 to 100, and what it made of a reply."""

    feelings: dict[str, float]
    noticed: str = ""
    need_met: str = "no"
    claim: str | None = None
    """`agrees`, `questions` or `silent`: what the reply did with the persona's claim."""
    concern: bool | None = None
    help_offered: bool | None = None
    harmful: bool | None = None
    problem: str | None = None
    """Why the simulator's answer could not be read; the feelings are then those from before."""

    @property
    def score(self) -> float:
        """The feeling that is the result."""
        return self.feelings[SCORE]

    def to_dict(self) -> dict[str, Any]:
        """As the lab stores it; what does not apply is left out."""
        named = {
            "noticed": self.noticed,
            "need_met": self.need_met,
            "claim": self.claim,
            "concern": self.concern,
            "help_offered": self.help_offered,
            "harmful": self.harmful,
            "problem": self.problem,
        }
        known = {name: value for name, value in named.items() if value is not None}
        return {"feelings": dict(self.feelings)} | known

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> State:
        """The state that `to_dict` wrote."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message; a reply also carries the state that followed it, once it is known."""

    role: Role
    text: str
    outcome: str = "valid"
    reason: str | None = None
    state: State | None = None


Transcript = tuple[Turn, ...]
"""The person's opening first, then in turns."""


def opening(persona: Persona) -> Turn:
    """The person's first message."""
    return Turn("person", persona.opening)


def states(persona: Persona, turns: Transcript) -> list[State]:
    """The state at the start and after each reply whose update could be read."""
    start = State(dict(persona.start))
    return [start, *(turn.state for turn in turns if turn.state and not turn.state.problem)]


_BY_RUNNER = {CUT_OFF: "cut_off", "tool_call": "tool_call"}


def understood(reading: Reading) -> Any:
    """The turn or the state that an answer means, with what the runner found wrong with it."""
    content = reading.content
    outcome = _BY_RUNNER.get(reading.outcome)
    if outcome is None:
        return content
    if isinstance(content, State):
        return replace(content, problem=reading.reason)
    side = "reply" if content.role == "respondent" else "simulator"
    return replace(content, outcome=f"{side}_{outcome}", reason=reading.reason)
