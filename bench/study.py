"""How many ratings a study's server acknowledges, each on the disk before it is acknowledged.

Prints `name value` lines. 200 raters rate ten replies each, all at once and without a pause, so
that 2,000 responses are rated once: ratings per second, milliseconds of a submit, errors, how often
each response was rated, and by how much the arms differ. Then 1,000 raters at once who think for
5 to 15 seconds over each page (`thinking_`); they come as people do, at random, here within ten
seconds. Then the same on PostgreSQL with two workers (`postgres_`). The server is `empathylab study
serve`, as in production, its log included; the raters and PostgreSQL share its cores. A submit is
timed from sending the form to its acknowledgement; `page_` is the page after it. `server_cpu`,
`database_cpu` and `client_cpu` are processor time per rating, which a busy machine changes less
than the rest; that of SQLite is in the server's; `ratings_per_server_core` is what a core that
does nothing else could acknowledge by that. `load` is the machine's load average at the end.
`hosts_`: two groups of server processes, as on two machines, on one PostgreSQL. Each request of a
rater goes to the other group than the one before. Meanwhile a worker is killed, a whole group is
killed and started again, and both groups are restarted one after the other; a rater whose request
fails sends it again (`retries`).

Options: `python bench/study.py [at_once|thinking|postgres|hosts|many] [--raters N] [--think S]
[--ratings N]`. `many` is not run by itself: 5,000 raters who think for 20 to 60 seconds over each
of four replies, on PostgreSQL. `server_megabytes` is the memory of the server at the end, with
pages that its processes share counted once.
Left out: a network, TLS and a proxy; a disk that is slow to confirm a write; other studies.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
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

PATIENCE = 120
STUDY = """\
name: bench
version: 1
title: How empathetic are these replies?
languages: [en]
design: between
seed: 1
arms: {{one: bench/one, two: bench/two}}
situations: {{set: bench}}
batch_size: {ratings}
ratings_per_response: 1
dimensions:
  - name: empathy
    question: How empathetic is the reply, compared with how you would have replied?
    labels: [Bad, Okay, Good]
recruitment: {{platform: open}}
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


class Load(NamedTuple):
    """Who takes part, and how."""

    raters: int
    think: float = 0.0
    """Seconds over a page, on average: each takes half of it to one and a half times as long."""
    ratings: int = 10
    """Replies that each rates."""


def furnish(lab: Lab, load: Load) -> None:
    """A launched study with as many places as there are raters, half of them in each arm."""
    words = Words(1)
    made = tuple(
        Situation(f"s{number}", words.sentence(), "Grateful", utterance=words.sentence())
        for number in range(load.raters * load.ratings // 2)
    )
    whole = SituationSet("bench", 1, "Made up", "en", "CC0", False, "", made)
    with lab.writing() as connection:
        ids = add_situation_set(connection, whole)
        for name in ("bench/one", "bench/two"):
            respondent = add_respondent(connection, name, "model")
            rows = [
                {
                    "situation_id": ids[item.id],
                    "respondent_id": respondent,
                    "sample": 0,
                    "prompt": None,
                    "text": words.sentence(),
                    "outcome": "valid",
                    "added_at": now(),
                }
                for item in made
            ]
            connection.execute(schema.responses.insert(), rows)
    launch(lab, parse_study(STUDY.format(ratings=load.ratings)), now=now())


@dataclass
class Seen:
    """What the raters met."""

    submits: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    ratings: int = 0
    retries: int = 0
    seconds: float = 0.0


class Rater:
    """A browser with a connection to each server, as cheap as it can be: it shares their cores."""

    def __init__(self, ports: Sequence[int], seen: Seen, load: Load, seed: int) -> None:
        self._ports = ports
        self._seen = seen
        self._load = load
        self._random = random.Random(seed)
        self._cookie = b""
        self._location = b"/page"
        self._asked = seed
        self._streams: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}

    async def take_part(self) -> None:
        """Arrives, agrees, rates, and sees the end."""
        await asyncio.sleep(self._random.uniform(0, self._load.think))
        try:
            await self._ask(b"GET", b"/")
            page = await self._page()
            page = await self._answer(page, {"answer-agree": "yes"})
            for _ in range(self._load.ratings):
                page = await self._answer(page, {"answer-empathy": self._random.choice("123")})
                self._seen.ratings += 1
            if b'name="step"' in page:
                raise ValueError("no end")
        except (ValueError, OSError, asyncio.IncompleteReadError) as error:
            self._seen.errors[str(error)] += 1
        finally:
            for _, writer in self._streams.values():
                writer.close()

    async def _answer(self, page: bytes, answers: dict[str, str]) -> bytes:
        if self._load.think:
            await asyncio.sleep(self._random.uniform(0.5, 1.5) * self._load.think)
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
        """The answer; with several servers each takes its turn, and another where one fails."""
        until = time.monotonic() + PATIENCE
        while True:
            self._asked += 1
            port = self._ports[self._asked % len(self._ports)]
            fresh = port not in self._streams
            try:
                status, content = await self._asked_at(port, method, path, body)
                if status != 503 or len(self._ports) == 1:
                    return status, content
            except (OSError, asyncio.IncompleteReadError):
                if stream := self._streams.pop(port, None):
                    stream[1].close()
                if not fresh:  # closed while the rater thought; a browser connects again
                    continue
                if len(self._ports) == 1 or time.monotonic() > until:
                    raise
            self._seen.retries += 1
            await asyncio.sleep(0.1)

    async def _asked_at(
        self, port: int, method: bytes, path: bytes, body: bytes
    ) -> tuple[int, bytes]:
        if port not in self._streams:
            self._streams[port] = await asyncio.open_connection("127.0.0.1", port)
        reader, writer = self._streams[port]
        head = [b"%s %s HTTP/1.1" % (method, path), b"Host: 127.0.0.1", b"Cookie: " + self._cookie]
        if body:
            head.append(b"Content-Type: application/x-www-form-urlencoded")
            head.append(b"Content-Length: %d" % len(body))
        writer.write(b"\r\n".join((*head, b"", body)))
        answered = await reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in answered.split(b"\r\n"):
            name, _, value = line.partition(b": ")
            if name == b"content-length":
                length = int(value)
            elif name == b"location":
                self._location = value
            elif name == b"set-cookie":
                self._cookie = value.partition(b";")[0]
        return int(answered[9:12]), await reader.readexactly(length)


def _field(page: bytes, name: bytes) -> str:
    before = b'name="%s" value="' % name
    start = page.index(before) + len(before)
    return page[start : page.index(b'"', start)].decode()


async def _rate(
    ports: Sequence[int],
    load: Load,
    meanwhile: Callable[[Seen], Awaitable[None]] | None = None,
) -> Seen:
    seen = Seen()
    begun = time.perf_counter()
    people = [Rater(ports, seen, load, number) for number in range(load.raters)]
    troubles = [meanwhile(seen)] if meanwhile else []
    await asyncio.gather(*(rater.take_part() for rater in people), *troubles)
    seen.seconds = time.perf_counter() - begun
    return seen


class Server:
    """`empathylab study serve` and its processes, with its log in a file."""

    def __init__(self, folder: Path, workers: int, database: str | None) -> None:
        self._folder, self._workers = folder, workers
        self._environment = dict(os.environ)
        if database:
            self._environment["EMPATHYLAB_DATABASE_URL"] = database
        self.port = 0
        self.start()

    def start(self) -> None:
        """Starts it, at the port it had before."""
        command = [sys.executable, "-m", "empathylab", "study", "serve", "bench", "--json"]
        command += ["--lab", str(self._folder), "--port", str(self.port)]
        command += ["--workers", str(self._workers)]
        with (self._folder / "log").open("a") as log:
            self._running = psutil.Popen(
                command, env=self._environment, stdout=subprocess.PIPE, stderr=log
            )
        said = b""
        while not said.rstrip().endswith(b"}"):
            line = self._running.stdout.readline()
            assert line, (self._folder / "log").read_text()
            said += line
        self.port = int(json.loads(said)["address"].rpartition(":")[2].strip("/"))
        while self._workers > 1 and len(_workers(self._running)) < self._workers:
            time.sleep(0.05)
        until = time.monotonic() + PATIENCE
        ready = 0
        while ready < 8 * self._workers:  # every worker has opened the lab
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ready", timeout=30).close()
                ready += 1
            except OSError:
                assert time.monotonic() < until, (self._folder / "log").read_text()
                time.sleep(0.2)

    @property
    def processes(self) -> list[int]:
        return [self._running.pid, *_workers(self._running)]

    def end(self, number: int = signal.SIGTERM) -> None:
        """Ends it; killed, its workers are killed with it, as in a power cut."""
        for pid in reversed(self.processes) if number == signal.SIGKILL else self.processes[:1]:
            os.kill(pid, number)
        self._running.wait(60)


def _workers(running: psutil.Popen) -> list[int]:
    return [child.pid for child in running.children() if "spawn_main" in " ".join(child.cmdline())]


@contextlib.contextmanager
def server(folder: Path, workers: int, database: str | None) -> Iterator[Server]:
    """A server that answers, ended afterwards."""
    started = Server(folder, workers, database)
    try:
        yield started
    finally:
        started.end()


def measure(prefix: str, load: Load, database: str | None, workers: int) -> None:
    """Prints what so many raters meet at so many server processes."""
    with tempfile.TemporaryDirectory() as folder:
        with Lab.open(Path(folder), database=database) as lab:
            furnish(lab, load)
            with server(Path(folder), workers, database) as started:
                groups = {
                    "server": started.processes,
                    "database": _database_processes(lab),
                    "client": [os.getpid()],
                }
                before = {name: _cpu(pids) for name, pids in groups.items()}
                seen = asyncio.run(_rate([started.port], load))
                if database:
                    groups["database"] = _database_processes(lab)
                megabytes = _held(started.processes)
                spent = {name: _cpu(pids) - before[name] for name, pids in groups.items()}
            _print(prefix, lab, seen, spent)
            print(f"{prefix}server_megabytes {megabytes:.0f}")


def measure_hosts(load: Load, database: str) -> None:
    """Prints what raters meet at two groups of server processes that are killed and restarted."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        lab = stack.enter_context(Lab.open(Path(folder), database=database))
        furnish(lab, load)
        hosts = [stack.enter_context(server(Path(folder), 2, database)) for _ in range(2)]
        whole = load.raters * load.ratings

        async def troubles(seen: Seen) -> None:
            async def when(share: float, happens: Callable[[], object]) -> None:
                while seen.ratings < share * whole:  # noqa: ASYNC110 - raters count, and tell nobody
                    await asyncio.sleep(0.02)
                await asyncio.to_thread(happens)

            await when(0.15, lambda: os.kill(hosts[0].processes[-1], signal.SIGKILL))
            await when(0.3, lambda: (hosts[1].end(signal.SIGKILL), hosts[1].start()))
            for share, host in ((0.5, hosts[0]), (0.7, hosts[1])):
                await when(share, lambda host=host: (host.end(), host.start()))

        ports = [host.port for host in hosts]
        seen = asyncio.run(_rate(ports, load, troubles))
        print(f"hosts_retries {seen.retries}")
        _print("hosts_", lab, seen, {})


def _database_processes(lab: Lab) -> list[int]:
    """PostgreSQL's processes, whose first is the parent of the others; none on SQLite."""
    if lab.engine.dialect.name == "sqlite":
        return []
    with lab.reading() as connection:
        own = connection.execute(sqlalchemy.text("SELECT pg_backend_pid()")).scalar_one()
    first = psutil.Process(own).parent()
    assert first is not None
    return [first.pid, *(child.pid for child in first.children())]


def _cpu(pids: Sequence[int]) -> float:
    """Seconds of processor time, with those of the first one's children that have ended."""
    spent = 0.0
    for number, pid in enumerate(pids):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = psutil.Process(pid).cpu_times()
            spent += times.user + times.system
            spent += times.children_user + times.children_system if not number else 0.0
    return spent


def _held(pids: Sequence[int]) -> float:
    """MB, pages that the processes share counted once; only Linux says so."""
    texts = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    return sum(int(text.partition("\nPss:")[2].split()[0]) for text in texts) / 1024


def _print(prefix: str, lab: Lab, seen: Seen, spent: dict[str, float]) -> None:
    shown, ratings, places = schema.shown_responses, schema.ratings, schema.slots
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
        "submit_p95_ms": f"{_quantile(seen.submits, 0.95):.1f}",
        "submit_p99_ms": f"{_quantile(seen.submits, 0.99):.1f}",
        "page_p50_ms": f"{_quantile(seen.pages, 0.5):.1f}",
        "page_p95_ms": f"{_quantile(seen.pages, 0.95):.1f}",
        "page_p99_ms": f"{_quantile(seen.pages, 0.99):.1f}",
        "errors": sum(seen.errors.values()),
        "ratings_per_response_min": min(counts),
        "ratings_per_response_max": max(counts),
        "arm_spread": max(arms, default=0) - min(arms, default=0) if len(arms) > 1 else "nan",
        **{
            f"{name}_cpu_ms": f"{1000 * seconds / max(1, seen.ratings):.2f}"
            for name, seconds in spent.items()
        },
        **_per_core(seen, spent),
        "load": f"{os.getloadavg()[0]:.1f}",
    }
    for name, value in figures.items():
        print(f"{prefix}{name} {value}", flush=True)


def _per_core(seen: Seen, spent: dict[str, float]) -> dict[str, str]:
    if not spent.get("server"):
        return {}
    return {"ratings_per_server_core": f"{seen.ratings / spent['server']:.0f}"}


def _quantile(values: Sequence[float], at: float) -> float:
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(at * len(ordered)))] if ordered else 0.0


@contextlib.contextmanager
def _database() -> Iterator[str]:
    """The address of an empty PostgreSQL database."""
    with postgres() as address:
        assert address, "postgres could not be started"
        yield sqlalchemy.make_url(address).render_as_string(hide_password=False)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "only", nargs="?", choices=("at_once", "thinking", "postgres", "hosts", "many")
    )
    for option, kind in (("raters", int), ("think", float), ("ratings", int)):
        parser.add_argument(f"--{option}", type=kind, default=argparse.SUPPRESS)
    given = vars(parser.parse_args())
    only = given.pop("only")
    # A connection for each rater, in this process and in the server.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def load(raters: int, **other: float) -> Load:
        return Load(raters)._replace(**(other | given))

    if only in (None, "at_once"):
        measure("", load(200), None, 1)
    if only in (None, "thinking"):
        measure("thinking_", load(1_000, think=10), None, 1)
    if only in (None, "postgres"):
        with _database() as database:
            measure("postgres_", load(200), database, 2)
        with _database() as database:
            measure("postgres_thinking_", load(1_000, think=10), database, 2)
    if only in (None, "hosts"):
        with _database() as database:
            measure_hosts(load(400, think=2), database)
    if only == "many":
        with _database() as database:
            measure("many_", load(5_000, think=40, ratings=4), database, 2)


if __name__ == "__main__":
    main()
