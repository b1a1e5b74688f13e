"""Progress of runs and simulations: a bar in a notebook or terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import html
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from empathylab.runs import Tally

_LINE_SECONDS = 10.0
_BAR_SECONDS = 0.2


class Reporter:
    """Tells people how far a call is; a quiet one says nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet

    def say(self, sentence: str) -> None:
        """A remark on stderr."""
        if not self.quiet:
            sys.stderr.write(f"{sentence}\n")

    @contextlib.contextmanager
    def runs(self) -> Iterator[Callable[[Tally], None]]:
        """An observer for the runner."""
        if self.quiet:
            yield _ignore
        elif in_notebook():
            yield _NotebookBars()
        elif not sys.stderr.isatty():
            yield _Lines()
        else:
            with _run_bars() as bar:
                yield _Bars(bar)


def _ignore(_tally: Tally) -> None:
    pass


def in_notebook() -> bool:
    """Whether a notebook shows the output, rather than a terminal."""
    shell = sys.modules.get("IPython")
    interpreter = None if shell is None else shell.get_ipython()
    return interpreter is not None and hasattr(interpreter, "kernel")


def _run_bars() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=False,
    )


@contextlib.contextmanager
def counts(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """An observer that takes a name, how many are done, and how many there will be."""
    if not sys.stderr.isatty():
        yield _CountLines(what)
        return
    from rich.console import Console
    from rich.progress import Progress

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


class _NotebookBars:
    """One output of the cell, which is replaced; it needs no widgets."""

    def __init__(self) -> None:
        self._tallies: dict[int, Tally] = {}
        self._output: Any = None
        self._last = 0.0

    def __call__(self, tally: Tally) -> None:
        self._tallies[id(tally)] = tally
        if tally.missing and time.monotonic() - self._last < _BAR_SECONDS:
            return
        self._last = time.monotonic()
        show = import_module("IPython.display")
        shown = show.HTML("".join(map(_bar_html, self._tallies.values())))
        if self._output is None:
            self._output = show.display(shown, display_id=True)
        else:
            self._output.update(shown)


def _bar_html(tally: Tally) -> str:
    name = html.escape(f"{tally.protocol} {tally.model}")
    return (
        f'<div>{name} <progress aria-label="{name}" value="{tally.done}" max="{tally.planned}">'
        f"</progress> {tally.done}/{tally.planned}, {html.escape(state(tally))}</div>"
    )


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
    if tally.already:
        parts.append(f"{tally.already} answered before, in run {tally.run}")
    if tally.reused:
        parts.append(f"{tally.reused} reused")
    if tally.retries:
        parts.append(f"{tally.retries} {'retry' if tally.retries == 1 else 'retries'}")
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
