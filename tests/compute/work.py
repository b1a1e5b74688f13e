"""What the workers of these tests do."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from empathylab.compute import random_stream
from empathylab.errors import InputError


def drawn(number: int) -> tuple[float, ...]:
    return tuple(random_stream(7, number).normal(size=3))


def slow_square(number: int) -> int:
    time.sleep(0.05)
    return number * number


def refuse_seven(number: int) -> int:
    if number == 7:
        raise InputError("seven is refused", got=number, remedy="Use eight.")
    return number


def function_of(number: int) -> Callable[[], int]:
    return lambda: number


def die_once(folder: Path, number: int) -> int:
    """Kills its process at the first attempt at number 3."""
    mark = folder / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_always(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def note_and_die(folder: Path, number: int) -> int:
    (folder / str(os.getpid())).touch()
    return die_always(number)


def setting(name: str) -> str | None:
    return os.environ.get(name)


def process_id(_: int) -> int:
    return os.getpid()


def note_and_wait(folder: Path, _: int) -> None:
    """Writes its process id, and works for longer than a test lasts."""
    (folder / str(os.getpid())).touch()
    time.sleep(600)


def length(data: bytes, _: int) -> int:
    return len(data)


def square_once_allowed(folder: Path, number: int) -> int:
    """Writes its process id, and squares once a file says so."""
    (folder / str(os.getpid())).touch()
    while not (folder / "go on").exists():
        time.sleep(0.05)
    return number * number


class Copy:
    """An object of which copies live on a cluster."""

    def __init__(self, folder: Path, share: int) -> None:
        self.folder = folder
        self.share = share

    async def start(self) -> dict[str, object]:
        (self.folder / str(os.getpid())).touch()
        return {
            "process": os.getpid(),
            "home": os.environ["HOME"],
            "share": self.share,
            "GPU": os.environ.get("CUDA_VISIBLE_DEVICES"),
        }

    async def square(self, number: int) -> tuple[int, int]:
        """The square and the process; seven is refused."""
        await asyncio.sleep(0.05)
        return refuse_seven(number) ** 2, os.getpid()

    async def square_or_die(self, number: int) -> int:
        """Ends its process with the first call that has number 3."""
        await asyncio.sleep(0.05)
        return die_once(self.folder, number) ** 2

    async def die(self) -> None:
        die_always(0)

    async def wait(self) -> None:
        await asyncio.sleep(600)


def refused_copy(_: int) -> Copy:
    raise InputError("there is no such copy", remedy="Make one.")
