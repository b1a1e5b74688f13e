"""How fast the embedded weights write in batches: one process with slots, or a process per core.

Prints `name value` lines: tokens per second of all requests together, for one llama.cpp process
with 1 and with 8 parallel slots (continuous batching), and for one process per core that share 8
slots, with the memory that the processes hold. One process chooses its threads itself, as it does
in the lab; more than one have a thread per core between them, since a busy core would hold up all
threads of a process. `ray` is one process with 8 slots that is a copy on a Ray cluster of this
machine; its start is left out. The load average says whether the machine was idle.
`--weights` names another GGUF file. Left out: other numbers of slots, GPUs, other machines.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from empathylab.models import LocalModel, Message, Parameters, known_weights
from empathylab.models.replicas import ReplicatedModel
from empathylab.models.threads import usable_cores

SLOTS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, default=known_weights("smollm2").path)
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=48, help="Tokens of each answer.")
    given = parser.parse_args()
    print(f"cores {usable_cores()}")
    print(f"load_average_before {os.getloadavg()[0]:.2f}", flush=True)
    for processes, slots in ((1, 1), (1, SLOTS), (usable_cores(), SLOTS)):
        rate, memory = asyncio.run(measured(given, processes, slots))
        label = f"processes={processes},slots={slots}"
        print(f"tokens_per_second[{label}] {rate:.1f}")
        print(f"memory_mb[{label}] {memory:.0f}", flush=True)
    copy = ReplicatedModel(partial(opened, given.weights), "ray")
    print(
        f"tokens_per_second[ray,slots={SLOTS}] {asyncio.run(written(given, [copy], SLOTS))[0]:.1f}"
    )


def opened(weights: Path, threads: int | None) -> LocalModel:
    return LocalModel("local/0", weights, slots=SLOTS, threads=threads)


async def measured(given: argparse.Namespace, processes: int, slots: int) -> tuple[float, float]:
    """Tokens per second of processes that share slots and cores, and their memory in MB."""
    models = [
        LocalModel(
            f"local/{number}",
            given.weights,
            slots=max(1, slots // processes),
            threads=None if processes == 1 else max(1, usable_cores() // processes),
        )
        for number in range(processes)
    ]
    return await written(given, models, slots)


async def written(
    given: argparse.Namespace, models: Sequence[LocalModel | ReplicatedModel], slots: int
) -> tuple[float, float]:
    """Tokens per second of models that share slots, and the MB of their processes here."""
    parameters = Parameters(temperature=0.7, max_tokens=given.tokens, seed=1)
    gate = asyncio.Semaphore(slots)

    async def ask(number: int) -> int:
        asked = (Message("user", f"Tell me about day {number} of a long journey."),)
        async with gate:
            model = models[number % len(models)]
            answer = await model.complete(asked, parameters, timeout=600)
        return answer.usage.completion_tokens

    try:
        await asyncio.gather(*(ask(number) for number in range(len(models))))  # starts them
        servers = [model._server for model in models if isinstance(model, LocalModel)]
        memory = sum(_resident(server.process.pid) for server in servers if server)
        begun = time.perf_counter()
        tokens = sum(await asyncio.gather(*(ask(number) for number in range(given.requests))))
        return tokens / (time.perf_counter() - begun), memory
    finally:
        for model in models:
            await model.close()


def _resident(process: int) -> float:
    fields = Path(f"/proc/{process}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
