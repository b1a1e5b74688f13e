"""What the workers of these tests do."""

from __future__ import annotations

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
