"""What a run asks: requests known at the start, and those that follow from answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection

from empathylab.models import Completion, Message, Parameters
from empathylab.store.inserts import hash_of

CUT_OFF = "reasoning_cut_off"
"""The outcome of an answer whose tokens ran out while the model was reasoning."""

_SEED_STEP = 10_000  # between retries: beyond the seeds of a situation's other samples
_SETTINGS = tuple(field.name for field in dataclasses.fields(Parameters))


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    key: str
    """Unique in its run, and the same each time the run is planned."""
    messages: tuple[Message, ...]
    parameters: Parameters
    repeat: int = 0
    """Distinguishes requests that are otherwise identical on purpose."""
    retry: int = 0
    """How often the same was asked before, without an answer that can be used."""
    partner: str | None = None
    """Which of the job's partners is asked; None for the model that is measured."""

    @property
    def first_key(self) -> str:
        """The key of the request that this one asks again; its own if it is the first."""
        return self.key.removesuffix(f"/retry-{self.retry}") if self.retry else self.key

    @property
    def earlier_keys(self) -> tuple[str, ...]:
        """The keys of the requests that asked the same before."""
        retries = tuple(f"{self.first_key}/retry-{number}" for number in range(1, self.retry))
        return (self.first_key, *retries) if self.retry else ()

    def again(self) -> Request:
        """The same question with another seed and a key of its own."""
        seed = self.parameters.seed
        return dataclasses.replace(
            self,
            key=f"{self.first_key}/retry-{self.retry + 1}",
            parameters=dataclasses.replace(
                self.parameters, seed=None if seed is None else seed + _SEED_STEP
            ),
            retry=self.retry + 1,
        )

    def fingerprint(self, identity: str) -> str:
        """A hash of all that decides the answer."""
        asked = [[message.role, message.content] for message in self.messages]
        # `asdict` would copy the schema, leaf by leaf, for each of thousands of requests.
        settings = {name: getattr(self.parameters, name) for name in _SETTINGS}
        return hash_of([identity, asked, settings, self.repeat])

    @property
    def prompt_tokens(self) -> int:
        """A rough count for limits and caps: four characters a token, and each turn's frame."""
        return sum(len(message.content) // 4 + 5 for message in self.messages)


def storable(completion: Completion) -> Completion:
    """The answer without characters that a database refuses: half pairs, and the null character."""
    plain = (completion.text, completion.finish_reason, completion.reported_model)
    others = completion.refusal or completion.reasoning or completion.tool_calls
    # Nearly all answers: nothing to change, and thousands of them a second.
    if not others and completion.logprobs is None and all(map(_is_storable, plain)):
        return completion
    return dataclasses.replace(
        completion,
        text=storable_text(completion.text),
        refusal=completion.refusal and storable_text(completion.refusal),
        reasoning=completion.reasoning and storable_text(completion.reasoning),
        tool_calls=tuple(map(storable_text, completion.tool_calls)),
        finish_reason=completion.finish_reason and storable_text(completion.finish_reason),
        reported_model=completion.reported_model and storable_text(completion.reported_model),
        logprobs=completion.logprobs
        and tuple(
            dataclasses.replace(
                entry,
                token=storable_text(entry.token),
                top={storable_text(token): value for token, value in entry.top.items()},
            )
            for entry in completion.logprobs
        ),
    )


def _is_storable(text: str | None) -> bool:
    return text is None or storable_text(text) == text


def storable_text(text: str) -> str:
    """The text, with a sign in the place of what a database refuses."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a protocol makes of an answer."""

    outcome: str
    """`valid`, or why not: `refusal`, `empty`, `truncated`, `unparseable` …"""
    reason: str | None = None
    content: Any = None
    """What the protocol stores of it, in the protocol's own form."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request with its answer, about to be stored."""

    request: Request
    completion: Completion
    reading: Reading
    answer_id: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request with the answer that stands, on which a plan bases its next requests."""

    request: Request
    completion: Completion
    reading: Reading


Thread = tuple[Exchange, ...]
"""The exchanges that led to a request, oldest first; empty for a request known at the start."""

FollowUp = Callable[[Thread], Sequence[Request]]
"""The next requests of a thread; none where it ends. It must be pure: a resumed run replays it."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request to be asked, and the exchanges that led to it."""

    request: Request
    thread: Thread = ()


class Interpreter(Protocol):
    """A protocol's side of a run: reading answers, and storing what they mean."""

    def read(self, request: Request, completion: Completion) -> Reading:
        """What the answer means; must be pure."""

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        """Stores what the answers mean, in the transaction that stores the answers."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A protocol's requests to one model, and how to read the answers."""

    protocol: str
    settings: dict[str, Any]
    """All that a reader needs to repeat the run."""
    requests: Sequence[Request]
    interpreter: Interpreter
    retries: int = 0
    """How often a request is asked again if its answer cannot be used.

    Like a limit, it does not distinguish runs: with more of them a run goes on.
    """
    follow_up: FollowUp | None = None
    """What is asked next, from the answers so far; None where `requests` are all there is."""

    def again(self, request: Request, outcome: str) -> Request | None:
        """What is asked after an answer of that outcome; None where the answer stands."""
        # At temperature 0 the same question gets the same answer.
        spent = request.retry >= self.retries or request.parameters.temperature == 0
        return None if outcome in ("valid", CUT_OFF) or spent else request.again()

    def read(self, request: Request, completion: Completion) -> Reading:
        """What the answer means: what the protocol reads in it, or why there is none."""
        reading = self.interpreter.read(request, completion)
        if reading.outcome == "valid" or completion.refusal:
            return reading
        if completion.cut_off_reasoning:
            problem = "the tokens ran out while the model was reasoning; set --max-tokens higher"
            return dataclasses.replace(reading, outcome=CUT_OFF, reason=problem)
        if completion.text.strip():
            return reading
        if completion.tool_calls:
            problem = f"the model called a tool instead: {', '.join(completion.tool_calls)}"
            return dataclasses.replace(reading, outcome="tool_call", reason=problem)
        if completion.reasoning and completion.finish_reason != "content_filter":
            problem = "the model reasoned, but wrote no answer"
            return dataclasses.replace(reading, outcome="empty", reason=problem)
        return reading

    def after(self, pending: Pending, completion: Completion, reading: Reading) -> list[Pending]:
        """What follows from an answer that stands."""
        if self.follow_up is None:
            return []
        thread = (*pending.thread, Exchange(pending.request, completion, reading))
        return [Pending(request, thread) for request in self.follow_up(thread)]

    def __post_init__(self) -> None:
        if len({request.key for request in self.requests}) != len(self.requests):
            raise ValueError("two requests of a plan have the same key")
