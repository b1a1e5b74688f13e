"""How long a study's server takes for its own part while 300 people chat with a model at once.

Prints `name value` lines. Participants come at random within 10 s. Each sends 5 messages, thinks
for 2.5 to 7.5 s over each, and follows the page's script while a reply is on its way; the model is
an endpoint on loopback that takes 1 s, and replies are shown after 3 to 6 s. `server_` is the time
of every request: sending a message (`submit_`), the page after it (`page_`), and looking for a
reply (`poll_`). None of them waits for the model. `server_cpu_ms` is processor time per request,
calls of the model included. `fallbacks` are replies that the model did not give in time,
`asked_twice` messages for which it was asked more than once. The server is `empathylab study serve`
with one process on SQLite; participants and the endpoint share its cores. `load` is the machine's
load average at the end.
Left out: a network, TLS and a proxy; a provider's varying latency; PostgreSQL.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import sqlalchemy

sys.path.insert(0, str(Path(__file__).parents[1]))

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study import parse_study
from empathylab.study.session.service import launch
from study import Load, Rater, Seen, _cpu, _field, _quantile, server
from tests.helpers.endpoint import served

CHATS, TURNS, LATENCY, THINK, ARRIVAL = 300, 5, 1.0, 5.0, 10.0
STUDY = """\
name: bench
version: 1
title: A conversation
languages: [en]
seed: 1
recruitment: {{platform: open}}
help: You can find someone to talk to at [findahelpline.com](https://findahelpline.com).
live:
  authors:
    model:
      model: openai/bench
      base_url: {base_url}
      api_key_env: BENCH_KEY
      sent_to: our own server
      prompt: Listen, and answer in a sentence or two.
  people_per_condition: {people}
  delay: {{minimum: 3, maximum: 6}}
  # A busy machine must not end the measurement.
  pause_after: 100
  fallback: Thank you for telling me.
blocks:
  - block: consent
    text: Your messages are processed on our own server. Would you like to take part?
  - block: chat
    title: Your conversation
    text: What has been on your mind lately?
    turns: {turns}
  - block: debrief
    text: Thank you
"""


@dataclass
class Met:
    """What the participants met: by kind of request, the seconds that it took."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    done: int = 0


class Talker(Rater):
    """A participant who chats, with the page's script."""

    def __init__(self, port: int, met: Met, number: int) -> None:
        super().__init__([port], Seen(), Load(CHATS, THINK), number)
        self._met, self._number = met, number

    async def take_part(self) -> None:
        """Arrives, agrees, chats, and sees the end."""
        await asyncio.sleep(self._random.uniform(0, ARRIVAL))
        try:
            await self._ask(b"GET", b"/")
            page = await self._send(await self._page(), {"answer-agree": "yes"})
            for turn in range(TURNS):
                await asyncio.sleep(self._random.uniform(0.5, 1.5) * THINK)
                said = f"[say Heard {self._number} {turn}]"
                page = await self._send(page, {"answer-message": said})
                page = await self._followed(page)
            page = await self._send(page, {})
            if b'name="step"' in page:
                raise ValueError("no end")
            self._met.done += 1
        except (ValueError, OSError, asyncio.IncompleteReadError) as error:
            self._met.errors[str(error)[:100]] += 1
        finally:
            for _, writer in self._streams.values():
                writer.close()

    async def _send(self, page: bytes, answers: dict[str, str]) -> bytes:
        if b'name="step"' not in page:
            raise ValueError(f"no form: {page[page.find(b'<h1') :][:120]!r}")
        fields = {"form": _field(page, b"form"), "step": _field(page, b"step"), **answers}
        status, _ = await self._timed("submit", b"POST", b"/page", urlencode(fields).encode())
        if status != 303:
            raise ValueError(f"submit {status}")
        return await self._shown(self._location)

    async def _shown(self, path: bytes = b"/page") -> bytes:
        status, page = await self._timed("page", b"GET", path)
        if status != 200:
            raise ValueError(f"page {status}")
        return page

    async def _followed(self, page: bytes) -> bytes:
        """The page with the reply, for which the script looks."""
        if b'id="live"' not in page:
            return page
        start = page.index(b'data-seconds="') + len(b'data-seconds="')
        seconds = float(page[start : page.index(b'"', start)])
        while True:
            await asyncio.sleep(min(5.0, max(0.5, seconds)))
            status, body = await self._timed("poll", b"GET", b"/live")
            if status != 200:
                raise ValueError(f"poll {status}")
            state = json.loads(body)
            seconds = state["seconds"]
            if not state["waiting"]:
                return await self._shown()

    async def _timed(self, kind: str, *request: bytes) -> tuple[int, bytes]:
        begun = time.perf_counter()
        answer = await self._ask(*request)
        self._met.times.setdefault(kind, []).append(time.perf_counter() - begun)
        return answer


async def _chat(port: int, chats: int) -> Met:
    met = Met()
    await asyncio.gather(*(Talker(port, met, number).take_part() for number in range(chats)))
    return met


def main(chats: str = str(CHATS)) -> None:
    os.environ["BENCH_KEY"] = "none"
    with served(latency=LATENCY) as endpoint, tempfile.TemporaryDirectory() as folder:
        text = STUDY.format(base_url=endpoint.base_url, people=chats, turns=TURNS)
        with Lab.open(Path(folder)) as lab:
            launch(lab, parse_study(text), now=now())
            with server(Path(folder), 1, None) as started:
                begun, spent = time.perf_counter(), _cpu(started.processes)
                met = asyncio.run(_chat(started.port, int(chats)))
                seconds = time.perf_counter() - begun
                spent = _cpu(started.processes) - spent
            turns = schema.live_turns
            query = sqlalchemy.select(turns.c.outcome).where(turns.c.sender == "respondent")
            with lab.reading() as connection:
                outcomes = Counter(connection.execute(query).scalars())
        calls = Counter(endpoint.counts()["calls"])
    for error, times in met.errors.items():
        print(f"error {error} {times}", file=sys.stderr)
    every = [seconds for times in met.times.values() for seconds in times]
    figures = {
        "chats": met.done,
        "replies": outcomes["valid"],
        "fallbacks": outcomes["fallback"],
        "asked_twice": sum(times > 1 for times in calls.values()),
        "errors": sum(met.errors.values()),
        "requests_per_second": f"{len(every) / seconds:.0f}",
        "server_p50_ms": f"{_quantile(every, 0.5):.1f}",
        "server_p95_ms": f"{_quantile(every, 0.95):.1f}",
        **{f"{kind}_p95_ms": f"{_quantile(met.times[kind], 0.95):.1f}" for kind in met.times},
        "server_cpu_ms": f"{1000 * spent / len(every):.2f}",
        "load": f"{os.getloadavg()[0]:.1f}",
    }
    for name, value in figures.items():
        print(f"{name} {value}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
