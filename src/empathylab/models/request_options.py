"""What the user sets for every request to a model, over what protocols ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from empathylab.errors import InputError

REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The user's own settings; all of them distinguish runs."""

    max_tokens: int | None = None
    """The most tokens of an answer, reasoning included, in place of the protocol's number."""
    reasoning_effort: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields of the request, as the endpoint names them."""
    omit: frozenset[str] = frozenset()
    """Settings that are not sent."""

    def __post_init__(self) -> None:
        if self.reasoning_effort is not None and self.reasoning_effort not in REASONING_EFFORTS:
            raise InputError(
                "unknown reasoning effort",
                where="--reasoning-effort",
                got=self.reasoning_effort,
                remedy=f"Choose {', '.join(REASONING_EFFORTS)}.",
            )

    def __str__(self) -> str:
        parts = [f"max_tokens={self.max_tokens}"] if self.max_tokens else []
        if self.reasoning_effort:
            parts.append(f"reasoning_effort={self.reasoning_effort}")
        parts += [f"{key}={json.dumps(value)}" for key, value in sorted(self.extra.items())]
        parts += [f"without {name}" for name in sorted(self.omit)]
        return ", ".join(parts)

    @classmethod
    def read(cls, *, param: Sequence[str] = (), omit: str | None = None) -> RequestOptions:
        """The options as the command line gives them."""
        names = frozenset(name.strip() for name in (omit or "").split(",") if name.strip())
        return cls(extra=dict(map(_pair, param)), omit=names)


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(
            "a parameter must be written as key=value",
            where="--param",
            got=text,
            remedy="For example: --param top_k=40",
        )
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value  # a bare word is text
