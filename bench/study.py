"""How many ratings a study's server acknowledges, each on the disk before it is acknowledged.

Prints `name value` lines. 200 raters rate ten replies each, all at once and without a pause, so
that 2,000 responses are rated once: ratings per second, milliseconds of a submit, errors, how often
each response was rated, and by how much the arms differ. Then 1,000 raters at once who think for
5 to 15 seconds over each page (`thinking_`); they come as people do, at random, here within ten
seconds. Then the same on PostgreSQL with two workers (`postgres_`). The server is `empathylab study
serve`, as in production, its log included; the raters and PostgreSQL share its cores. A submit is
timed from sending the form to its acknowledgement; `page_` is the page after it. `server_cpu`,
`database_cpu` and `client_cpu` are processor time per rating, which a busy machine changes less
than the rest; that of SQLite is in the server's. `load` is the machine's load average at the end.
Left out: a network, TLS and a proxy; a disk that is slow to confirm a write; other studies.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import psutil
import sqlalchemy

sys.path.insert(0, str(Path(__file__).parents[1]))

from dialogues import Words
from empathylab.situations import Situation, SituationSet
from empathylab.store import Lab, schema
from empathylab.store.inserts import add_respondent, add_situation_set, now
from empathylab.study import parse_study
from empathylab.study.session.service import launch
from tests.helpers.postgres import postgres

RATINGS = 10
STUDY = """\
name: bench
version: 1
title: How empathetic are these replies?
languages: [en]
design: between
seed: 1
arms: {one: bench/one, two: bench/two}
situations: {set: bench}
batch_size: 10
ratings_per_response: 1
dimensions:
  - name: empathy
    question: How empathetic is the reply, compared with how you would have replied?
    labels: [Bad, Okay, Good]
recruitment: {platform: open}
help: You can find someone to talk to at [findahelpline.com](https://findahelpline.com).
blocks:
  - block: consent
    text: Would you like to take part?
  - block: rate
    title: How empathetic is this reply?
    shows: [emotion, situation, utterance]
  - block: debrief
    text: Thank you
"""


def furnish(lab: Lab, raters: int) -> None:
    """A launched study with as many places as there are raters, half of them in each arm."""
    words = Words(1)
    made = tuple(
        Situation(f"s{number}", words.sentence(), "Grateful", utterance=words.sentence())
        for number in range(raters * RATINGS // 2)
    )
    whole = SituationSet("bench", 1, "Made up", "en", "CC0", False, "", made)
    with lab.writing() as connection:
        ids = add_situation_set(connection, whole)
        for name in ("bench/one", "bench/two"):
            respondent = add_respondent(connection, name, "model")
            rows = [
                {
                    "situation_id": ids[one.id],
                    "respondent_id": respondent,
                    "sample": 0,
                    "prompt": None,
                    "text": words.sentence(),
                    "outcome": "valid",
                    "added_at": now(),
                }
                for one in made
            ]
            connection.execute(schema.responses.insert(), rows)
    launch(lab, parse_study(STUDY), now=now())


@dataclass
class Seen:
    """What the raters met."""

    submits: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    ratings: int = 0
    seconds: float = 0.0


class Rater:
    """A browser with one connection, as cheap as it can be: it shares the server's cores."""

    def __init__(self, port: int, seen: Seen, think: float, seed: int) -> None:
        self._port = port
        self._seen = seen
        self._think = think
        self._random = random.Random(seed)
        self._cookie = b""
        self._location = b"/page"

    async def take_part(self) -> None:
        """Arrives, agrees, rates, and sees the end."""
        await asyncio.sleep(self._random.uniform(0, self._think))
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            await self._ask(b"GET", b"/")
            page = await self._page()
            page = await self._answer(page, {"answer-agree": "yes"})
            for _ in range(RATINGS):
                page = await self._answer(page, {"answer-empathy": self._random.choice("123")})
                self._seen.ratings += 1
            if b'name="step"' in page:
                raise ValueError("no end")
        except (ValueError, OSError, asyncio.IncompleteReadError) as error:
            self._seen.errors[str(error)] += 1
        finally:
            self._writer.close()

    async def _answer(self, page: bytes, answers: dict[str, str]) -> bytes:
        if self._think:
            await asyncio.sleep(self._random.uniform(0.5, 1.5) * self._think)
        fields = {"form": _field(page, b"form"), "step": _field(page, b"step"), **answers}
        begun = time.perf_counter()
        status, _ = await self._ask(b"POST", b"/page", urlencode(fields).encode())
        done = time.perf_counter()
        if status != 303:
            raise ValueError(f"submit {status}")
        page = await self._page(self._location)
        if "answer-empathy" in answers:
            self._seen.submits.append(done - begun)
            self._seen.pages.append(time.perf_counter() - done)
        return page

    async def _page(self, path: bytes = b"/page") -> bytes:
        status, page = await self._ask(b"GET", path)
        if status != 200:
            raise ValueError(f"page {status}")
        return page

    async def _ask(self, method: bytes, path: bytes, body: bytes = b"") -> tuple[int, bytes]:
        head = [b"%s %s HTTP/1.1" % (method, path), b"Host: 127.0.0.1", b"Cookie: " + self._cookie]
        if body:
            head.append(b"Content-Type: application/x-www-form-urlencoded")
            head.append(b"Content-Length: %d" % len(body))
        self._writer.write(b"\r\n".join((*head, b"", body)))
        told = await self._reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in told.split(b"\r\n"):
            name, _, value = line.partition(b": ")
            if name == b"content-length":
                length = int(value)
            elif name == b"location":
                self._location = value
            elif name == b"set-cookie":
                self._cookie = value.partition(b";")[0]
        return int(told[9:12]), await self._reader.readexactly(length)


def _field(page: bytes, name: bytes) -> str:
    before = b'name="%s" value="' % name
    start = page.index(before) + len(before)
    return page[start : page.index(b'"', start)].decode()


async def _rate(port: int, raters: int, think: float) -> Seen:
    seen = Seen()
    begun = time.perf_counter()
    people = [Rater(port, seen, think, one) for one in range(raters)]
    await asyncio.gather(*(one.take_part() for one in people))
    seen.seconds = time.perf_counter() - begun
    return seen


@contextlib.contextmanager
def server(folder: Path, workers: int, database: str | None) -> Iterator[tuple[int, list[int]]]:
    """The port of `empathylab study serve` and its processes, with its log in a file."""
    environment = dict(os.environ)
    if database:
        environment["EMPATHYLAB_DATABASE_URL"] = database
    command = [sys.executable, "-m", "empathylab", "study", "serve", "bench", "--lab", str(folder)]
    command += ["--port", "0", "--workers", str(workers), "--json"]
    with (folder / "log").open("w") as log:
        running = psutil.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log)
        try:
            said = b""
            while not said.rstrip().endswith(b"}"):
                line = running.stdout.readline()
                assert line, (folder / "log").read_text()
                said += line
            port = int(json.loads(said)["address"].rpartition(":")[2].strip("/"))
            while workers > 1 and len(_workers(running)) < workers:
                time.sleep(0.05)
            time.sleep(2)  # every worker has imported what it needs and opens the lab
            for _ in range(8 * workers):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=30).close()
            yield port, [running.pid, *_workers(running)]
        finally:
            running.terminate()
            running.wait(30)


def _workers(running: psutil.Popen) -> list[int]:
    return [one.pid for one in running.children() if "spawn_main" in " ".join(one.cmdline())]


def measure(prefix: str, raters: int, think: float, database: str | None, workers: int) -> None:
    """Prints what so many raters meet at so many server processes."""
    with tempfile.TemporaryDirectory() as folder:
        with Lab.open(Path(folder), database=database) as lab:
            furnish(lab, raters)
            with server(Path(folder), workers, database) as (port, processes):
                groups = {
                    "server": processes,
                    "database": _database_processes(lab),
                    "client": [os.getpid()],
                }
                before = {name: _cpu(pids) for name, pids in groups.items()}
                seen = asyncio.run(_rate(port, raters, think))
                if database:
                    groups["database"] = _database_processes(lab)
                spent = {name: _cpu(pids) - before[name] for name, pids in groups.items()}
            _print(prefix, lab, seen, spent)


def _database_processes(lab: Lab) -> list[int]:
    """PostgreSQL's processes, whose first is the parent of the others; none on SQLite."""
    if lab.engine.dialect.name == "sqlite":
        return []
    with lab.reading() as connection:
        own = connection.execute(sqlalchemy.text("SELECT pg_backend_pid()")).scalar_one()
    first = psutil.Process(own).parent()
    assert first is not None
    return [first.pid, *(one.pid for one in first.children())]


def _cpu(pids: Sequence[int]) -> float:
    """Seconds of processor time, with those of the first one's children that have ended."""
    spent = 0.0
    for number, pid in enumerate(pids):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = psutil.Process(pid).cpu_times()
            spent += times.user + times.system
            spent += times.children_user + times.children_system if not number else 0.0
    return spent


def _print(prefix: str, lab: Lab, seen: Seen, spent: dict[str, float]) -> None:
    shown, ratings, places = schema.shown_responses, schema.ratings, schema.places
    rated = sqlalchemy.func.count(ratings.c.id)
    joined = shown.outerjoin(ratings, ratings.c.response_id == shown.c.response_id)
    query = sqlalchemy.select(rated).select_from(joined).group_by(shown.c.response_id)
    finished = sqlalchemy.select(places.c.arm, sqlalchemy.func.count()).where(
        places.c.status == "finished"
    )
    with lab.reading() as connection:
        counts = list(connection.execute(query).scalars())
        arms = [count for _, count in connection.execute(finished.group_by(places.c.arm))]
    for error, times in seen.errors.items():
        print(f"{prefix}error {error} {times}", file=sys.stderr)
    figures = {
        "ratings_per_second": f"{seen.ratings / seen.seconds:.1f}",
        "submit_p50_ms": f"{_quantile(seen.submits, 0.5):.1f}",
        "submit_p99_ms": f"{_quantile(seen.submits, 0.99):.1f}",
        "page_p99_ms": f"{_quantile(seen.pages, 0.99):.1f}",
        "errors": sum(seen.errors.values()),
        "ratings_per_response_min": min(counts),
        "ratings_per_response_max": max(counts),
        "arm_spread": max(arms, default=0) - min(arms, default=0) if len(arms) > 1 else "nan",
        **{
            f"{name}_cpu_ms": f"{1000 * seconds / max(1, seen.ratings):.2f}"
            for name, seconds in spent.items()
        },
        "load": f"{os.getloadavg()[0]:.1f}",
    }
    for name, value in figures.items():
        print(f"{prefix}{name} {value}", flush=True)


def _quantile(values: Sequence[float], at: float) -> float:
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(at * len(ordered)))] if ordered else 0.0


def _databases(address: str) -> Iterator[str]:
    url = sqlalchemy.make_url(address).set(drivername="postgresql+psycopg")
    admin = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    for name in ("at_once", "thinking"):
        with admin.connect() as connection:
            connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
        yield url.set(database=name).render_as_string(hide_password=False)
    admin.dispose()


def main(only: str = "") -> None:
    if only in ("", "at_once"):
        measure("", 200, 0, None, 1)
    if only in ("", "thinking"):
        measure("thinking_", 1_000, 10, None, 1)
    if only in ("", "postgres"):
        with postgres() as address:
            if not address:
                print("postgres could not be started", file=sys.stderr)
                return
            first, second = _databases(address)
            measure("postgres_", 200, 0, first, 2)
            measure("postgres_thinking_", 1_000, 10, second, 2)


if __name__ == "__main__":
    main(*sys.argv[1:])
