"""How a local model chooses its number of threads, and when it chooses again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from empathylab.models import Completion, LocalModel, Message, Parameters, local
from empathylab.models.interface import Usage
from empathylab.models.threads import RateWatch, thread_counts


@pytest.mark.parametrize(
    ("cores", "counts"), [(1, [1]), (2, [2, 1]), (6, [6, 3, 1]), (8, [8, 4, 2, 1])]
)
def test_fewer_and_fewer_threads_are_compared(cores: int, counts: list[int]) -> None:
    assert thread_counts(cores) == counts


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answers(watch: RateWatch, clock: Clock, *, seconds: float, each: float) -> bool:
    """Whether the rate collapsed while answers of 20 tokens came one every so many seconds."""
    end, found = clock.now + seconds, False
    while clock.now < end:
        watch.began()
        clock.now += each
        found = watch.collapsed(20) or found
    return found


def test_a_steady_rate_is_left_alone() -> None:
    clock = Clock()
    assert not answers(RateWatch(clock), clock, seconds=300, each=0.2)


def test_a_rate_below_half_the_best_is_noticed() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    assert not answers(watch, clock, seconds=60, each=0.2)
    assert answers(watch, clock, seconds=20, each=0.6)


def test_a_little_slower_is_no_collapse() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    answers(watch, clock, seconds=60, each=0.2)
    assert not answers(watch, clock, seconds=60, each=0.3)


def test_time_without_questions_is_not_slow_writing() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    answers(watch, clock, seconds=60, each=0.2)
    watch.idle()
    clock.now += 600
    assert not answers(watch, clock, seconds=60, each=0.2)


def test_after_a_probe_the_next_is_further_away() -> None:
    clock = Clock()
    watch = RateWatch(clock)
    answers(watch, clock, seconds=60, each=0.2)
    assert answers(watch, clock, seconds=20, each=0.6)
    watch.probed()
    answers(watch, clock, seconds=20, each=0.2)
    assert not answers(watch, clock, seconds=15, each=0.6)
    answers(watch, clock, seconds=30, each=0.2)
    assert answers(watch, clock, seconds=20, each=0.6)


class Server:
    """A server without a process, which answers at once."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.closed = False
        self.endpoint = self
        self.process = SimpleNamespace(returncode=None)

    async def complete(self, *_: Any, **__: Any) -> Completion:
        return Completion("yes", usage=Usage(10, 20))

    async def close(self) -> None:
        self.closed = True


class Probed(LocalModel):
    """A local model whose rates are given by number of threads."""

    def __init__(self, path: Path, rates: dict[int, float], clock: Clock) -> None:
        super().__init__("local/smollm2", path)
        self.rates = rates
        self.servers: list[Server] = []
        self._watch = RateWatch(clock)

    async def _launch(self, threads: int) -> Any:
        self.servers.append(Server(threads))
        return self.servers[-1]

    async def _rate(self, server: Any) -> float:
        return self.rates[server.threads]

    async def ask(self) -> None:
        await self.complete((Message("user", "?"),), Parameters(), timeout=1)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("xllamacpp")
    monkeypatch.setattr(local, "usable_cores", lambda: 4)
    (tmp_path / "model.gguf").touch()
    return tmp_path / "model.gguf"


@pytest.mark.parametrize(
    ("rates", "chosen", "tried"),
    [
        ({4: 30.0, 2: 25.0, 1: 15.0}, 4, [4, 2]),  # a calm machine: all cores
        ({4: 10.0, 2: 25.0, 1: 15.0}, 2, [4, 2, 1]),
        ({4: 5.0, 2: 6.0, 1: 15.0}, 1, [4, 2, 1]),  # all cores busy
    ],
)
def test_the_fastest_number_of_threads_is_taken(
    weights: Path, rates: dict[int, float], chosen: int, tried: list[int]
) -> None:
    model = Probed(weights, rates, Clock())
    asyncio.run(model.ask())
    assert model.threads == chosen
    assert [server.threads for server in model.servers] == tried
    assert [server.threads for server in model.servers if not server.closed] == [chosen]


def test_a_collapsed_rate_is_probed_again_and_a_steady_one_is_not(weights: Path) -> None:
    clock = Clock()
    model = Probed(weights, {4: 100.0, 2: 60.0, 1: 30.0}, clock)

    async def asking(seconds: float, each: float) -> None:
        """Answers of 20 tokens beside another that is under way, until the rate collapses."""
        end = clock.now + seconds
        model._under_way += 1
        while clock.now < end and not model._slow:
            clock.now += each
            await model.ask()
        model._under_way -= 1

    async def session() -> None:
        await asking(60, 0.2)
        assert [server.threads for server in model.servers] == [4, 2]
        model.rates = {4: 10.0, 2: 40.0, 1: 30.0}  # another program takes two cores
        await asking(12, 2.0)
        await model.ask()

    asyncio.run(session())
    assert model.threads == 2
    assert [server.threads for server in model.servers] == [4, 2, 4, 2, 1]
    assert [server.threads for server in model.servers if not server.closed] == [2]
