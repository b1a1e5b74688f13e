"""Server processes that can be killed, and raters who do not give up."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from empathylab.study.bots.reading import ReadPage, filled

_SERVE = """\
import sys, uvicorn
from pathlib import Path
from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from empathylab.study.web import create_app, server_settings
lab = Lab.open(Path(sys.argv[1]), create=False)
service = StudyService(lab, sys.argv[2])
app = create_app(lambda: service, study=service.study, secret=service.secret)
uvicorn.run(app, **server_settings(port=int(sys.argv[3])), log_level="error")
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(
    folder: Path, study: str, port: int, database: str | None = None
) -> subprocess.Popen[bytes]:
    """A server process that answers."""
    environment = dict(os.environ)
    if database:
        environment["EMPATHYLAB_DATABASE_URL"] = database
    command = [sys.executable, "-c", _SERVE, str(folder), study, str(port)]
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process
        except OSError:
            assert process.poll() is None
            time.sleep(0.05)


@contextlib.contextmanager
def running(
    folder: Path, study: str, database: str | None = None
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The port and the process of a server, which is ended afterwards."""
    port = free_port()
    process = start(folder, study, port, database)
    try:
        yield port, process
    finally:
        process.kill()
        process.wait()


@dataclass
class Stubborn:
    """A rater who sends a page again until it is acknowledged."""

    port: int
    number: int
    other_port: int | None = None
    """Of another server, which takes every second request, as behind a balancer."""
    requests: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)
    """By page, the rating that the server said was saved."""
    person: str = ""
    end: str = ""
    troubles: list[str] = field(default_factory=list)
    """What was answered in place of an acknowledgement."""

    async def take_part(self) -> None:
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            page = await self._get(session, "/")
            for item in jar:
                body = item.value.partition(".")[0]
                self.person = json.loads(base64.urlsafe_b64decode(body + "=="))["person"]
            while page.step:
                page = await self._answered(session, page)
            self.end = page.title.strip()

    def _next_port(self) -> int:
        self.requests += 1
        return self.other_port if self.other_port and self.requests % 2 else self.port

    async def _answered(self, session: aiohttp.ClientSession, page: ReadPage) -> ReadPage:
        answers = {
            name: one.options[(self.number + len(self.acknowledged)) % len(one.options)][0]
            for name, one in page.asked.items()
        }
        if "answer-agree" in answers:
            answers["answer-agree"] = "yes"
        while True:
            status, where = await self._post(session, filled(page, answers))
            if status == 303:
                self.acknowledged[page.step] = answers.get("answer-empathy", "")
                return await self._get(session, where)
            await asyncio.sleep(0.1)

    async def _post(
        self, session: aiohttp.ClientSession, fields: dict[str, str]
    ) -> tuple[int, str]:
        try:
            async with session.post(
                f"http://127.0.0.1:{self._next_port()}/page", data=fields, allow_redirects=False
            ) as answer:
                text = await answer.text()
                if answer.status != 303:
                    self.troubles.append(f"{answer.status} {ReadPage(text).title}")
                return answer.status, answer.headers.get("Location", "")
        except (aiohttp.ClientError, OSError) as error:
            self.troubles.append(type(error).__name__)
            return 0, ""

    async def _get(self, session: aiohttp.ClientSession, path: str) -> ReadPage:
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{self._next_port()}{path}") as answer:
                    text = await answer.text()
                    if answer.status == 200:
                        return ReadPage(text)
                    self.troubles.append(f"{answer.status} {ReadPage(text).title}")
            except (aiohttp.ClientError, OSError) as error:
                self.troubles.append(type(error).__name__)
            await asyncio.sleep(0.1)


def rate(
    raters: list[Stubborn], *disasters: tuple[int, Callable[[], object]], most_seconds: float = 600
) -> None:
    """Lets all raters take part; after so many answers in all, each disaster happens."""

    async def watch() -> None:
        for answers, happen in disasters:
            while sum(len(rater.acknowledged) for rater in raters) < answers:  # noqa: ASYNC110 - many count
                await asyncio.sleep(0.01)
            await asyncio.to_thread(happen)

    async def everybody() -> None:
        async with asyncio.timeout(most_seconds):
            await asyncio.gather(*(rater.take_part() for rater in raters), watch())

    asyncio.run(everybody())
