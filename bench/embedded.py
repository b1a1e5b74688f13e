"""How fast the embedded model writes alone, and beside a program that keeps one core busy.

Prints `name value` lines. Each part starts the model again, so that it chooses its threads itself;
`fixed` uses a thread per core throughout, for comparison, and answers one short request only: it
is that slow. Measured in turns, and the median taken, since other programs disturb it. The load
average says how many other programs were running: above about 0.5 nothing here was measured on an
idle machine, and `machine_was_idle` is `no`.
Left out: other models, and machines with more than a few cores.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from empathylab.models import LocalModel, Message, Parameters, known_weights
from empathylab.models.threads import usable_cores

REQUESTS, TOKENS, TURNS = 8, 32, 3
_IDLE_LOAD = 0.5


async def rate(
    threads: int | None, requests: int = REQUESTS, tokens: int = TOKENS
) -> tuple[float, int]:
    """Tokens per second over all requests, and the threads in use."""
    model = LocalModel("local/smollm2", known_weights("smollm2").path, threads=threads)
    parameters = Parameters(temperature=0.7, max_tokens=tokens, seed=1)

    async def ask(number: int) -> int:
        asked = (Message("user", f"Tell me about day {number} of a long journey."),)
        answer = await model.complete(asked, parameters, timeout=300)
        return answer.usage.completion_tokens

    try:
        await ask(0)
        begun = time.perf_counter()
        written = sum(await asyncio.gather(*(ask(number) for number in range(requests))))
        return written / (time.perf_counter() - begun), model.threads or 0
    finally:
        await model.close()


@contextlib.contextmanager
def busy_core() -> Iterator[None]:
    """Keeps one core busy meanwhile."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def main() -> None:
    load = os.getloadavg()[0]
    print(f"cores {usable_cores()}")
    print(f"load_average_before {load:.2f}")
    print(f"machine_was_idle {'yes' if load < _IDLE_LOAD else 'no'}", flush=True)
    idle: list[float] = []
    busy: list[float] = []
    chosen = 0
    for _ in range(TURNS):
        idle.append(asyncio.run(rate(None))[0])
        with busy_core():
            found, chosen = asyncio.run(rate(None))
            busy.append(found)
    with busy_core():
        fixed = asyncio.run(rate(usable_cores(), requests=1, tokens=4))[0]
    alone, beside = statistics.median(idle), statistics.median(busy)
    print(f"tokens_per_second_idle {alone:.1f}")
    print(f"tokens_per_second_one_core_busy {beside:.1f}")
    print(f"times_slower {alone / beside:.2f}")
    print(f"threads_chosen_one_core_busy {chosen}")
    print(f"tokens_per_second_one_core_busy_fixed {fixed:.1f}")


if __name__ == "__main__":
    main()
