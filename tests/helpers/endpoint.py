"""An OpenAI-compatible endpoint on loopback, for tests and measurements.

Run as a program it prints its address and serves until its standard input closes. What it does
with a request is decided by the last message: `[slow 2]` waits, `[fail 500 3]` fails three times
before it answers, and so on (see `Behaviour`).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import textwrap
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any

from aiohttp import web

ORDER = re.compile(r"\[(?P<verb>[a-z]+)(?: (?P<words>[^\]]*))?\]")


class Endpoint:
    """Counts what it is asked, and misbehaves to order."""

    def __init__(self, latency: float, key: str | None = None, reply: str | None = None) -> None:
        self.latency = latency
        self.key = key
        self.reply = reply
        self.calls: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.under_way = 0
        self.most_under_way = 0
        self.keys_seen: set[str] = set()
        self.last: dict[str, Any] = {}

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.complete)
        app.router.add_get("/v1/models", self.models)
        app.router.add_get("/counts", self.counts)
        return app

    async def models(self, _request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "one"}, {"id": "two"}]})

    async def counts(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": self.calls,
                "answered": self.answered,
                "most_under_way": self.most_under_way,
                "keys_seen": sorted(self.keys_seen),
                "last": self.last,
            }
        )

    async def complete(self, request: web.Request) -> web.StreamResponse:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            said = request.headers.get("Authorization", "no key")
            return web.json_response({"error": {"message": f"bad key: {said}"}}, status=401)
        body = await request.json()
        self.last = body
        self.keys_seen.add(request.headers.get("Authorization", "none").removeprefix("Bearer "))
        text = body["messages"][-1]["content"]
        self.calls[text] += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.latency)
            order = ORDER.search(text)
            if order is not None:
                misbehaved = await self.misbehave(
                    request, text, order["verb"], (order["words"] or "").split()
                )
                if misbehaved is not None:
                    return misbehaved
            self.answered[text] += 1
            return web.json_response(completion(answer_to(body, text, self.reply), body["model"]))
        finally:
            self.under_way -= 1

    async def misbehave(
        self, request: web.Request, text: str, verb: str, words: list[str]
    ) -> web.StreamResponse | None:
        """What the order asks for, the first times; None once it is time to answer."""
        times = int(words[-1]) if words and words[-1].isdigit() else 1_000_000
        if verb == "say":
            return web.json_response(completion(" ".join(words), "scripted"))
        if verb in ("stream", "trickle"):
            return await self.stream(request, words, ends=verb == "stream")
        if verb == "refuse":
            return web.json_response(completion(None, "scripted", refusal="I will not."))
        if self.calls[text] > times:
            return None
        if verb == "limit":
            return web.json_response({}, status=429, headers={"Retry-After": words[0]})
        if verb == "fail":
            error = {"error": {"message": f"asked to fail with {words[0]}"}}
            return web.json_response(error, status=int(words[0]))
        if verb == "truncate":
            return web.Response(
                body=b'{"choices": [{"message": {"cont', content_type="application/json"
            )
        if verb == "drop":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if verb == "stall":
            await asyncio.sleep(3600)
        return None

    async def stream(
        self, request: web.Request, words: list[str], *, ends: bool
    ) -> web.StreamResponse:
        """The words one by one, as an endpoint sends them that always streams."""
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        for word in words:
            piece = {"choices": [{"delta": {"content": f"{word} "}, "finish_reason": None}]}
            await answer.write(f"data: {json.dumps(piece)}\n\n".encode())
        if not ends:
            await asyncio.sleep(60)
        end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
        await answer.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())
        return answer


def answer_to(body: dict[str, Any], text: str, reply: str | None) -> str:
    """The reply, else an echo; a simulated person's message, or what the JSON schema asks for."""
    if "response_format" not in body:
        if "Write your next message" in text:
            words = textwrap.wrap(hashlib.sha256(text.encode()).hexdigest()[:40], 8)
            return f"Then it was {' and '.join(words)}."
        return reply or f"Answer to: {text}"
    properties = body["response_format"]["json_schema"]["schema"].get("properties", {})
    return json.dumps({key: _value(key, value, text) for key, value in properties.items()})


def _value(key: str, described: dict[str, Any], text: str) -> object:
    """One of the values in turn, or a number or a text that follows from the question."""
    place = len(text + key)
    if "enum" in described:
        return described["enum"][place % len(described["enum"])]
    return 30 + place % 40 if described["type"] == "integer" else f"I noticed {place}."


def completion(text: str | None, model: str, refusal: str | None = None) -> dict[str, Any]:
    """A chat completion as an endpoint sends it."""
    message = {"role": "assistant", "content": text}
    if refusal:
        message["refusal"] = refusal
    return {
        "model": f"{model}-2026-01-01",
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": len((text or "").split())},
    }


class Served:
    """An endpoint in a process of its own."""

    def __init__(self, address: str) -> None:
        self.address = address

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def counts(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address}/counts") as reply:
            content: dict[str, Any] = json.load(reply)
            return content


@contextlib.contextmanager
def served(
    *, latency: float = 0.0, key: str | None = None, reply: str | None = None
) -> Iterator[Served]:
    """Starts an endpoint, and ends it afterwards; without a reply it echoes what it is asked."""
    command = [sys.executable, __file__, "--latency", str(latency)]
    for option, value in (("--key", key), ("--reply", reply)):
        command += [option, value] if value else []
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Served(process.stdout.readline().strip())
    finally:
        process.communicate(timeout=60)


async def _serve(latency: float, key: str | None, reply: str | None) -> None:
    runner = web.AppRunner(Endpoint(latency, key, reply).app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # stalled requests need not be waited for


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--key")
    parser.add_argument("--reply")
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.latency, arguments.key, arguments.reply))
