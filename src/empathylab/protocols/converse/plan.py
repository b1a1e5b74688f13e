"""The protocol `converse`: a respondent talks with people whom a simulator plays.

Each exchange is a reply, the simulator's state update, and its next message. All of it follows
from answers: see docs/decisions/0018-follow-up-requests.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from empathylab.models import Completion, Message, Parameters
from empathylab.protocols.converse.outcomes import (
    DETECTORS_VERSION,
    Fault,
    ending,
    person_fault,
    reply_fault,
)
from empathylab.protocols.converse.persona import Persona
from empathylab.protocols.converse.prompts import PROMPTS_VERSION, prompts_for
from empathylab.protocols.converse.record import TranscriptRecorder
from empathylab.protocols.converse.simulator import (
    next_messages,
    read_state,
    state_messages,
    state_schema,
)
from empathylab.protocols.converse.steps import Step
from empathylab.protocols.converse.transcript import State, Transcript, Turn, opening, understood
from empathylab.runs import Answered, Plan, Reading, Request, Thread
from empathylab.store import Lab
from empathylab.store.conversations import add_persona
from empathylab.store.inserts import add_respondent, hash_of

PROTOCOL = "converse"
SIMULATOR = "simulator"
"""The name under which a job knows the model that plays the person."""
_REPLY_TOKENS = 400
_STATE_TOKENS = 300
_MESSAGE_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Conversing:
    """What a converse run is to do."""

    personas: tuple[Persona, ...]
    simulator: str
    """The simulator's name."""
    samples: int = 1
    """Conversations with each persona."""
    temperature: float = 0.7
    simulator_temperature: float = 0.7
    seed: int = 1
    exchanges: int | None = None
    """The most replies, where it is not as the persona's rule says."""
    system: str | None = None
    """The respondent's system prompt, in place of the built-in one."""
    retries: int = 1
    """How often an unusable answer of either side is asked for again."""

    def persona_rules(self) -> dict[str, Persona]:
        """The personas by key, with the run's own number of exchanges."""
        return {
            persona.key: persona
            if self.exchanges is None
            else persona.model_copy(
                update={"end": persona.end.model_copy(update={"exchanges": self.exchanges})}
            )
            for persona in self.personas
        }

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run; the retries are the plan's."""
        personas = self.persona_rules()
        collections = sorted({persona.collection for persona in personas.values()})
        return {
            "situations": f"personas: {', '.join(collections)}; simulator: {self.simulator}",
            "situation_ids": list(personas),
            "personas": hash_of([persona.definition() for persona in personas.values()])[:16],
            "simulator": self.simulator,
            "samples": self.samples,
            "exchanges": self.exchanges or "as each persona says",
            "temperature": self.temperature,
            "simulator_temperature": self.simulator_temperature,
            "seed": self.seed,
            "detectors": DETECTORS_VERSION,
            "template": {
                "id": "own" if self.system else "chat",
                "version": PROMPTS_VERSION,
                "system": self.system or prompts_for("en").respondent,
                "simulator": prompts_for("en").simulator,
                "state": prompts_for("en").state,
                "message": prompts_for("en").message,
            },
        }


def plan_conversing(lab: Lab, respondent: str, conversing: Conversing) -> Plan:
    """The run: every persona as often as samples are wanted."""
    personas = conversing.persona_rules()
    with lab.writing() as connection:
        respondent_id = add_respondent(connection, respondent, "model")
        ids = {key: add_persona(connection, entry.definition()) for key, entry in personas.items()}
    script = Script(conversing, personas)
    first = [
        script.request(Step(f"{key}/sample-{sample}", 1, "reply"), (opening(persona),))
        for sample in range(conversing.samples)
        for key, persona in personas.items()
    ]
    recorder = TranscriptRecorder(respondent_id, conversing.simulator, personas, ids)
    interpreter = ConversingInterpreter(personas, recorder)
    return Plan(
        PROTOCOL,
        conversing.settings(),
        first,
        interpreter,
        retries=conversing.retries,
        follow_up=script.follow_up,
    )


@dataclass(frozen=True, slots=True)
class Script:
    """What is asked next, from the answers so far. Pure: a resumed run replays it."""

    conversing: Conversing
    personas: dict[str, Persona]

    def follow_up(self, thread: Thread) -> Sequence[Request]:
        last = Step.of(thread[-1].request)
        persona = self.personas[last.persona]
        turns = transcript(persona, thread)
        if ending(persona, turns) is not None:
            return []
        following = {
            "reply": Step(last.conversation, last.exchange, "state"),
            "state": Step(last.conversation, last.exchange, "message"),
            "message": Step(last.conversation, last.exchange + 1, "reply"),
        }
        return [self.request(following[last.kind], turns)]

    def request(self, step: Step, turns: Transcript) -> Request:
        persona = self.personas[step.persona]
        given = self.conversing
        seed = given.seed + step.sample
        if step.kind == "reply":
            parameters = Parameters(
                temperature=given.temperature, seed=seed, max_tokens=_REPLY_TOKENS
            )
            messages = self._chat(persona, turns)
            return Request(step.key, messages, parameters, repeat=step.sample)
        asks_state = step.kind == "state"
        parameters = Parameters(
            temperature=given.simulator_temperature,
            seed=seed,
            max_tokens=_STATE_TOKENS if asks_state else _MESSAGE_TOKENS,
            schema=state_schema(persona) if asks_state else None,
        )
        messages = (state_messages if asks_state else next_messages)(persona, turns)
        return Request(step.key, messages, parameters, repeat=step.sample, partner=SIMULATOR)

    def _chat(self, persona: Persona, turns: Transcript) -> tuple[Message, ...]:
        system = self.conversing.system or prompts_for(persona.language).respondent
        chat = [
            Message("user" if turn.role == "person" else "assistant", turn.text) for turn in turns
        ]
        return (Message("system", system), *chat)


def transcript(persona: Persona, thread: Thread) -> Transcript:
    """The conversation that a thread of answers amounts to."""
    turns = [opening(persona)]
    for exchange in thread:
        content = understood(exchange.reading)
        if Step.of(exchange.request).kind == "state":
            turns[-1] = dataclasses.replace(turns[-1], state=content)
        else:
            turns.append(content)
    return tuple(turns)


@dataclass(frozen=True, slots=True)
class ConversingInterpreter:
    """Reads answers as turns and states, and stores them."""

    personas: dict[str, Persona]
    recorder: TranscriptRecorder

    def read(self, request: Request, completion: Completion) -> Reading:
        step = Step.of(request)
        persona = self.personas[step.persona]
        if step.kind == "state":
            return _read_state(completion, persona)
        text = completion.text.strip()
        is_reply = step.kind == "reply"
        if completion.refusal or completion.finish_reason == "content_filter":
            outcome = "reply_refusal" if is_reply else "simulator_refusal"
            fault: Fault | None = Fault(outcome, "the endpoint marked it as a refusal")
            text = text or (completion.refusal or "").strip()
        else:
            fault = (reply_fault if is_reply else person_fault)(text, persona.language)
        outcome, reason = ("valid", None) if fault is None else (fault.outcome, fault.reason)
        if fault is None and completion.finish_reason == "length":
            reason = "cut off at the token limit"
        turn = Turn("respondent" if is_reply else "person", text, outcome, reason)
        return Reading(outcome, reason, turn)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        self.recorder.record(connection, answered)


def _read_state(completion: Completion, persona: Persona) -> Reading:
    if completion.refusal or completion.finish_reason == "content_filter":
        state: State | str = "the endpoint marked the answer as a refusal"
    else:
        state = read_state(completion.text, persona)
    if isinstance(state, State):
        return Reading("valid", None, state)
    return Reading("off_schema", state, State(dict(persona.start), problem=state))
