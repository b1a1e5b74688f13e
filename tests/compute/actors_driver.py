"""A program with copies of an object on a Ray cluster; `test_actors` runs it.

It prints what happened as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from empathylab.compute import Actors, actors, ray_cluster
from empathylab.errors import UserError
from tests.compute import work

NUMBERS = range(40)


async def with_copies(
    address: str,
    count: int | None,
    use: Callable[[Actors, list[Any]], Awaitable[Any]],
    make: Callable[[int], Any] | None = None,
) -> Any:
    """What a use of the copies returns, or the error that it ends with."""
    with tempfile.TemporaryDirectory() as folder:
        copies = Actors(make or partial(work.Copy, Path(folder)), address, count)
        try:
            return await use(copies, await copies.start())
        except UserError as error:
            return str(error)
        finally:
            await copies.close()


async def started(copies: Actors, said: list[Any]) -> list[Any]:
    assert len(copies) == len(said)
    return said


async def squares(copies: Actors, said: list[Any]) -> dict[str, Any]:
    asked = (copies.call("square", number) for number in NUMBERS if number != 7)
    answers = await asyncio.gather(*asked)
    return {
        "squares": [square for square, _ in answers],
        "processes": sorted({process for _, process in answers}),
        "started": sorted(one["process"] for one in said),
    }


async def refused(copies: Actors, _: list[Any]) -> None:
    await copies.call("square", 7)


async def died_once(copies: Actors, _: list[Any]) -> list[int]:
    asked = (copies.call("square_or_die", number=number) for number in NUMBERS)
    return list(await asyncio.gather(*asked))


async def dies(copies: Actors, _: list[Any]) -> None:
    await copies.call("die")


async def waits(copies: Actors, _: list[Any]) -> None:
    sys.stdout.write("waiting\n")
    sys.stdout.flush()
    await copies.call("wait")


async def healthy(address: str) -> dict[str, Any]:
    """What copies do, good and bad."""
    on = partial(with_copies, address)
    found = {
        "one": await on(None, started),
        "three": await on(3, started),
        "squares": await on(2, squares),
        "refused": await on(1, refused),
        "died once": await on(2, died_once),
        "died once, alone": await on(1, died_once),
        "dies": await on(1, dies),
        "cannot be made": await on(2, started, work.refused_copy),
    }
    actors.__version__ = ray_cluster.__version__ = "0.0.1"
    found["another version"] = await on(1, started)
    return found


async def impatient(address: str) -> Any:
    """Starts a copy, and says at once that it waits."""
    actors._PATIENCE_SECONDS = 0.0
    return await with_copies(address, 1, started)


if __name__ == "__main__":
    called: dict[str, Callable[[str], Awaitable[Any]]] = {
        "healthy": healthy,
        "started": lambda address: with_copies(address, None, started),
        "crowded": lambda address: with_copies(address, 4, started),
        "impatient": impatient,
        "waits": lambda address: with_copies(address, None, waits),
    }
    sys.stdout.write(json.dumps(asyncio.run(called[sys.argv[1]](sys.argv[2]))))  # type: ignore[arg-type]
