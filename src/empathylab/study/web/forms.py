"""What a form sends, read within limits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from empathylab.study.session.signals import SIGNAL_FIELDS

MOST_BYTES = 512 * 1024
"""The longest reply has 40,000 characters of up to four bytes, and each byte is sent as `%XX`."""
MOST_SECONDS = 20.0
"""To send a form; who is slower holds up a connection that others need."""
ANSWER = "answer-"
"""Before the name of every question, so that none can pass for a field of ours."""
TIMING = "timing-"
SIGNAL = "signal-"
TRAP = "homepage"
"""A field that people cannot see; programs that fill in every field fill it in."""
_MOST_FIELDS = 400
_TIMINGS = ("seconds", "away", "losses")


@dataclass(frozen=True, slots=True)
class Form:
    """A page as it comes back."""

    fields: dict[str, str] = field(hash=False)
    """Everything that was sent; of a name sent twice, the last value."""
    repeated: dict[str, list[str]] = field(default_factory=dict, hash=False)
    """The values of the names that were sent twice."""

    @property
    def step(self) -> str:
        """Which page it is of."""
        return self.fields.get("step", "")

    @property
    def came_from(self) -> str:
        """The page from which the participant came back to this one; empty if none."""
        return self.fields.get("from", "")

    @property
    def answered(self) -> str | None:
        """The digest of the answer that the page showed; None where the form says nothing."""
        return self.fields.get("answered")

    @property
    def token(self) -> str:
        """What shows that the form is ours."""
        return self.fields.get("form", "")

    @property
    def values(self) -> dict[str, str | list[str]]:
        """The answers, by the names of the questions; a list where a name was sent twice."""
        return {
            name.removeprefix(ANSWER): self.repeated.get(name, value)
            for name, value in self.fields.items()
            if name.startswith(ANSWER)
        }

    @property
    def timing(self) -> dict[str, float]:
        """What the browser said about the time on the page; nothing without a script."""
        return dict(self._numbers(TIMING, _TIMINGS))

    @property
    def signals(self) -> dict[str, float]:
        """What the browser counted, and whether a field was filled in that people cannot see."""
        signals = dict(self._numbers(SIGNAL, SIGNAL_FIELDS))
        return {**signals, "trap": 1.0} if self.fields.get(TRAP) else signals

    def _numbers(self, prefix: str, names: Iterable[str]) -> Iterator[tuple[str, float]]:
        for name in names:
            try:
                value = float(self.fields.get(prefix + name, ""))
            except ValueError:
                continue
            if math.isfinite(value) and value >= 0:
                yield name, value


async def read_form(request: Request, most: int = MOST_BYTES) -> Form:
    """The form that a request carries; refuses what is too long, too slow or no form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415)
    try:
        async with asyncio.timeout(MOST_SECONDS):
            body = await _body(request, most)
    except TimeoutError:
        raise HTTPException(408) from None
    except ClientDisconnect:
        raise HTTPException(400) from None
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(400) from None
    every: dict[str, list[str]] = {}
    for name, value in pairs:
        every.setdefault(name, []).append(value)
    return Form(dict(pairs), {name: sent for name, sent in every.items() if len(sent) > 1})


async def _body(request: Request, most: int) -> bytes:
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > most:
        raise HTTPException(413)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise HTTPException(413)
    return bytes(body)
