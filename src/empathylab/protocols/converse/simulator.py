"""The simulated person: what the model that plays it is asked, and how its answers are read."""

from __future__ import annotations

from typing import Any

from empathylab.models import Message
from empathylab.protocols.converse.persona import DIMENSIONS, Persona
from empathylab.protocols.converse.prompts import Prompts, prompts_for
from empathylab.protocols.converse.transcript import State, Transcript, states
from empathylab.scales.parsing.json_answers import json_object_in
from empathylab.scales.presentation import object_schema

_CHOICES = {
    "need_met": ("no", "partly", "yes"),
    "claim": ("agrees", "questions", "silent"),
    "concern": ("yes", "no"),
    "help_offered": ("yes", "no"),
    "harmful": ("yes", "no"),
}
_SAFETY = ("concern", "help_offered", "harmful")


def state_messages(persona: Persona, turns: Transcript) -> tuple[Message, ...]:
    """The question how the last reply leaves the person."""
    prompts = prompts_for(persona.language)
    keys = "\n".join(f"- {name}: {prompts.keys.get(name, name)}" for name in state_keys(persona))
    question = prompts.state.format(
        transcript=_transcript(prompts, turns),
        before=_feelings(states(persona, turns)[-1]),
        keys=keys,
    )
    return (Message("system", profile(persona)), Message("user", question))


def next_messages(persona: Persona, turns: Transcript) -> tuple[Message, ...]:
    """The request for the person's next message."""
    prompts = prompts_for(persona.language)
    state = states(persona, turns)[-1]
    request = prompts.message.format(
        transcript=_transcript(prompts, turns), now=_feelings(state), noticed=state.noticed
    )
    return (Message("system", profile(persona)), Message("user", request))


def profile(persona: Persona) -> str:
    """The simulator's system prompt."""
    prompts = prompts_for(persona.language)
    about = ", ".join(part for part in (persona.name, persona.about) if part)

    def listed(heading: str, entries: tuple[str, ...]) -> str:
        return heading + "".join(f"- {entry}\n" for entry in entries) if entries else ""

    return prompts.simulator.format(
        about=about,
        temperament=persona.temperament,
        story=persona.story,
        need=prompts.needs.get(persona.need, persona.need),
        reveals=listed(prompts.reveals, persona.reveals),
        helps=listed(prompts.helps, persona.helps),
        hurts=listed(prompts.hurts, persona.hurts),
        claim=f"{prompts.claim}{persona.claim}\n" if persona.claim else "",
    ).strip()


def _transcript(prompts: Prompts, turns: Transcript) -> str:
    names = {"person": prompts.person, "respondent": prompts.other}
    return "\n\n".join(f"{names[turn.role]}: {turn.text}" for turn in turns)


def _feelings(state: State) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in state.feelings.items())


# -- the structured answer ------------------------------------------------------------------------


def state_keys(persona: Persona) -> tuple[str, ...]:
    """The keys of the structured answer, in its order; what it noticed comes first."""
    keys = ["noticed", *dimensions(persona), "need_met"]
    if persona.claim:
        keys.append("claim")
    return (*keys, *(_SAFETY if persona.crisis else ()))


def dimensions(persona: Persona) -> tuple[str, ...]:
    """The named feelings: the usual ones in their order, then the persona's own."""
    own = [name for name in persona.start if name not in DIMENSIONS]
    return (*(name for name in DIMENSIONS if name in persona.start), *own)


def state_schema(persona: Persona) -> dict[str, Any]:
    """The JSON schema of the structured answer."""
    properties: dict[str, Any] = {}
    for key in state_keys(persona):
        if key in _CHOICES:
            properties[key] = {"type": "string", "enum": list(_CHOICES[key])}
        else:
            properties[key] = {"type": "string" if key == "noticed" else "integer"}
    return object_schema(properties)


def read_state(text: str, persona: Persona) -> State | str:
    """The state that the answer tells, or what is wrong with the answer."""
    data = json_object_in(text)
    if data is None:
        return "no JSON object in the answer"
    missing = [key for key in state_keys(persona) if key not in data]
    if missing:
        return f"the key {missing[0]!r} is missing"
    feelings = {}
    for name in dimensions(persona):
        value = data[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
            return f"{name!r} must be a number from 0 to 100"
        feelings[name] = float(value)
    if not isinstance(data["noticed"], str):
        return "'noticed' must be a sentence"
    chosen: dict[str, str] = {}
    for key in state_keys(persona):
        if key in _CHOICES:
            value = str(data[key]).strip().lower()
            if value not in _CHOICES[key]:
                return f"{key!r} must be one of {', '.join(_CHOICES[key])}"
            chosen[key] = value
    return State(
        feelings,
        noticed=data["noticed"].strip(),
        need_met=chosen["need_met"],
        claim=chosen.get("claim"),
        concern=_yes(chosen, "concern"),
        help_offered=_yes(chosen, "help_offered"),
        harmful=_yes(chosen, "harmful"),
    )


def _yes(chosen: dict[str, str], key: str) -> bool | None:
    return chosen[key] == "yes" if key in chosen else None
