"""Progress of runs and simulations on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from empathylab.runs import Tally

_LINE_SECONDS = 10.0


@contextlib.contextmanager
def progress() -> Iterator[Callable[[Tally], None]]:
    """An observer for the runner."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=False,
    )
    with bar:
        yield _Bars(bar)


@contextlib.contextmanager
def counts(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """An observer that takes a name, how many are done, and how many there will be."""
    if not sys.stderr.isatty():
        yield _CountLines(what)
        return
    # Without a thread of its own: processes are started while it is shown.
    with Progress(console=Console(stderr=True), auto_refresh=False) as bar:
        tasks: dict[str, TaskID] = {}

        def update(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(f"{name}: {what}", total=total)
            bar.update(tasks[name], completed=done, refresh=True)

        yield update


class _CountLines:
    """A line now and then, and one at the end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last = time.monotonic()

    def __call__(self, name: str, done: int, total: int) -> None:
        if done == total or time.monotonic() - self._last >= _LINE_SECONDS:
            self._last = time.monotonic()
            sys.stderr.write(f"{name}: {done} of {total} {self._what}\n")
            sys.stderr.flush()


class _Bars:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._tasks: dict[int, TaskID] = {}

    def __call__(self, tally: Tally) -> None:
        task = self._tasks.get(id(tally))
        if task is None:
            name = f"{tally.protocol} {tally.model}"
            task = self._bar.add_task(name, total=tally.planned, state="")
            self._tasks[id(tally)] = task
        self._bar.update(task, completed=tally.done, total=tally.planned, state=state(tally))


class _Lines:
    """One line per run now and then, and one when it is done."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[float, int]] = {}

    def __call__(self, tally: Tally) -> None:
        said_at, said_done = self._last.get(id(tally), (-_LINE_SECONDS, -1))
        finished = tally.missing == 0 and said_done != tally.done
        if not finished and time.monotonic() - said_at < _LINE_SECONDS:
            return
        self._last[id(tally)] = (time.monotonic(), tally.done)
        eta = remaining(tally)
        line = f"{tally.protocol} {tally.model}: {tally.done} of {tally.planned}, {state(tally)}"
        sys.stderr.write(line + (f", about {eta:.0f} s left" if eta else "") + "\n")
        sys.stderr.flush()


def state(tally: Tally) -> str:
    """Rate, tokens, cost and failures, in a few words."""
    if tally.missing == 0 and tally.asked == 0 and tally.reused == 0:
        return "all answered before"
    parts = [f"{rate(tally):.1f}/s"]
    about = "about " if tally.estimated else ""
    parts.append(f"{about}{tally.prompt_tokens + tally.completion_tokens:,} tokens")
    if tally.cost:
        parts.append(f"${tally.cost:.4f}")
    if tally.reused:
        parts.append(f"{tally.reused} reused")
    if tally.retries:
        parts.append(f"{tally.retries} retries")
    if tally.failed:
        parts.append(f"{tally.failed} failed")
    return ", ".join(parts)


def rate(tally: Tally) -> float:
    """Answers per second in this session."""
    return tally.asked / tally.seconds if tally.seconds > 0 else 0.0


def remaining(tally: Tally) -> float | None:
    """Seconds to go at the present rate."""
    per_second = rate(tally)
    return tally.missing / per_second if per_second > 0 and tally.missing else None
