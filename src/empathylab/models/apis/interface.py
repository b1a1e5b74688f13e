"""The interface of an API."""

from __future__ import annotations

from typing import Any, Protocol

from empathylab.models.families import Family
from empathylab.models.interface import Completion, Message, Parameters
from empathylab.models.reasoning import part_reasoning


class ChatApi(Protocol):
    """One way to write a request and to read an answer; it holds no state."""

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """Its fields by the names of `Parameters`."""

    def headers(self, key: str | None) -> dict[str, str]:
        """What identifies the user."""

    def address(self, base_url: str, model: str) -> str:
        """Where a chat is sent."""

    def payload(self, model: str, messages: tuple[Message, ...]) -> dict[str, Any]:
        """The request without its settings."""

    def settings(
        self, parameters: Parameters, limit: int | None, effort: str | None, family: Family
    ) -> dict[str, Any]:
        """The settings; `limit` is the most tokens of the answer, reasoning included."""

    def with_settings(self, payload: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
        """The request with its settings where the API wants them."""

    def read(self, body: dict[str, Any]) -> Completion:
        """The answer; raises ValueError, TypeError, KeyError or IndexError if it is none."""

    def streamed(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        """The body that a stream of events amounts to."""


def answer_tokens(reasoning: str | None, counted: int | None) -> int | None:
    """Tokens of reasoning: the endpoint's own count, or four characters a token."""
    if counted:
        return counted
    return len(reasoning) // 4 + 1 if reasoning else None


def parted(text: str, separate: str | None) -> tuple[str, str | None]:
    """The answer and the reasoning, from the text and the endpoint's separate field."""
    parts = part_reasoning(text)
    pieces = [piece.strip() for piece in (separate, parts.reasoning) if piece and piece.strip()]
    return parts.text, "\n".join(pieces) or None
