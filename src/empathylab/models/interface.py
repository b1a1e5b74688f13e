"""What every model understands: chat messages in, a completion out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Parameters:
    """How a model is asked; None leaves a setting to the endpoint."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    top_logprobs: int | None = None
    """How many alternatives per token to report with their log-probabilities."""
    schema: dict[str, Any] | None = None
    """A JSON schema that the answer must obey."""


@dataclass(frozen=True, slots=True)
class TokenAlternatives:
    """One generated token, and what else the model weighed at its place."""

    token: str
    logprob: float
    top: dict[str, float]

    @property
    def weighed(self) -> tuple[str, dict[str, float]]:
        """The token, and the log-probabilities of all that was weighed, itself included."""
        return self.token, {self.token: self.logprob} | self.top


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, as it came."""

    text: str
    finish_reason: str | None = None
    """`stop`, `length`, `content_filter` …, in the endpoint's words."""
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[TokenAlternatives, ...] | None = None
    reported_model: str | None = None
    """The version that the endpoint says has answered."""
    refusal: str | None = None
    """The endpoint's own refusal text, where it reports refusals separately."""
    reasoning: str | None = None
    """What the model wrote for itself before it answered; never part of `text`."""
    reasoning_tokens: int | None = None
    """Those of `usage` that went into reasoning, as counted by the endpoint or estimated."""
    tool_calls: tuple[str, ...] = ()
    """The tools that it called instead of answering."""
    sent: dict[str, Any] | None = None
    """The settings that were really sent, where they differ from the parameters."""

    @property
    def cut_off_reasoning(self) -> bool:
        """Whether the tokens ran out before the model had begun to answer."""
        reasoned = bool(self.reasoning or self.reasoning_tokens)
        return reasoned and not self.text.strip() and self.finish_reason in ("length", None)


UNLIMITED_ANSWER = 512
"""Tokens set aside for an answer whose length nobody limits."""


class Model(Protocol):
    """Anything that completes chats. `complete` raises only errors of the errors tree."""

    @property
    def name(self) -> str:
        """`provider/name`, as the user wrote it."""

    @property
    def identity(self) -> str:
        """What tells it from every other model, its address or file included."""

    @property
    def concurrency(self) -> int:
        """How many requests at once suit this model if the user names no number."""

    @property
    def adjusted(self) -> str:
        """What it sends otherwise than asked, because the endpoint refused it; empty if nothing."""

    def output_limit(self, parameters: Parameters) -> int:
        """The most tokens that it may write for one answer, reasoning included."""

    async def start(self) -> None:
        """Gets ready, in the event loop that asks; starting again does nothing."""

    async def complete(
        self, messages: tuple[Message, ...], parameters: Parameters, *, timeout: float
    ) -> Completion:
        """The model's answer to the messages."""

    async def close(self) -> None:
        """Lets go of connections and processes."""
