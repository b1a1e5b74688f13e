"""How fast the embedded weights write in batches: one process or several, CPU or GPU.

Prints `name value` lines: tokens per second of all requests together, for one llama.cpp process
with parallel slots (continuous batching) and for several processes that share the cores, with the
memory of each. Where llama.cpp has a GPU backend, also with all layers on the GPU.

`--binary PATH` measures with llama.cpp's own `llama-batched-bench` in place of the lab's local
models, on the CPU and with all layers on the GPU; then nothing but Python is needed, no network
and no installed package. `--weights` names another GGUF file, `--tokens` and `--requests` the size.
The load average says whether the machine was idle. Left out: other weights, several GPUs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import time
from pathlib import Path

PROMPT_TOKENS = 128
PARALLEL = {"cpu": (1, 8, 32), "gpu": (1, 8, 32, 128, 256)}
ALL_LAYERS = 999


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--weights", type=Path, help="A GGUF file; the embedded weights if not given."
    )
    parser.add_argument("--binary", type=Path, help="llama-batched-bench, in place of the lab.")
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=48, help="Tokens of each answer.")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    print(f"cores {len(os.sched_getaffinity(0))}")
    print(f"threads {given.threads}")
    print(f"load_average_before {os.getloadavg()[0]:.2f}", flush=True)
    if given.binary is not None:
        for device, layers in (("cpu", 0), ("gpu", ALL_LAYERS)):
            measure_binary(given, device, layers)
    else:
        asyncio.run(measure_lab(given))


def measure_binary(given: argparse.Namespace, device: str, layers: int) -> None:
    """llama.cpp's own benchmark: prompts and answers of many sequences at once."""
    parallel = PARALLEL[device]
    command = [str(given.binary), "-m", str(given.weights), "-ngl", str(layers)]
    command += ["-t", str(given.threads), "-npp", str(PROMPT_TOKENS), "-ntg", str(given.tokens)]
    command += ["-npl", ",".join(map(str, parallel)), "--output-format", "jsonl"]
    command += ["-c", str(max(parallel) * (PROMPT_TOKENS + given.tokens))]
    # A build for the GPU counts on one unless it is hidden.
    hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
    done = subprocess.run(
        command, env=os.environ | hidden, capture_output=True, text=True, check=False
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not rows:
        print(f"{device} failed: {done.stderr.strip().splitlines()[-1:]}")
    for row in rows:
        if device == "gpu" and row.get("n_gpu_layers") == 0:
            continue
        label = f"{device},parallel={row['pl']}"
        print(f"tokens_per_second_written[{label}] {row['speed_tg']:.1f}")
        print(f"tokens_per_second_read[{label}] {row['speed_pp']:.1f}", flush=True)


async def measure_lab(given: argparse.Namespace) -> None:
    """The lab's local models: one process with slots, and a process per core."""
    import xllamacpp

    from empathylab.models import known_weights

    weights = given.weights or known_weights("smollm2").path
    devices = {"cpu": 0}
    if getattr(xllamacpp, "llama_supports_gpu_offload", lambda: False)():
        devices["gpu"] = ALL_LAYERS
    else:
        print("gpu_backend none: this llama.cpp was built for the CPU")
    for device, layers in devices.items():
        for slots in PARALLEL[device][:2] if device == "cpu" else PARALLEL[device]:
            await measure_models(given, weights, device, layers, 1, slots)
        if device == "cpu" and given.threads > 1:
            await measure_models(given, weights, device, layers, given.threads, 8)


async def measure_models(
    given: argparse.Namespace, weights: Path, device: str, layers: int, replicas: int, slots: int
) -> None:
    """Tokens per second of some processes that share slots and threads between them."""
    from empathylab.models import LocalModel, Message, Parameters

    models = [
        LocalModel(
            f"local/{number}",
            weights,
            slots=max(1, slots // replicas),
            threads=max(1, given.threads // replicas),
            gpu_layers=layers,
        )
        for number in range(replicas)
    ]
    parameters = Parameters(temperature=0.7, max_tokens=given.tokens, seed=1)

    async def ask(number: int) -> int:
        model = models[number % replicas]
        asked = (Message("user", f"Tell me about day {number} of a long journey."),)
        answer = await model.complete(asked, parameters, timeout=600)
        return answer.usage.completion_tokens

    try:
        await asyncio.gather(*(ask(number) for number in range(replicas)))  # starts them
        memory = sum(_resident(model._server.process.pid) for model in models if model._server)
        begun = time.perf_counter()
        gate = asyncio.Semaphore(slots)

        async def queued(number: int) -> int:
            async with gate:
                return await ask(number)

        written = sum(await asyncio.gather(*(queued(n) for n in range(given.requests))))
        label = f"{device},processes={replicas},slots={slots}"
        print(f"tokens_per_second_written[{label}] {written / (time.perf_counter() - begun):.1f}")
        print(f"memory_mb[{label}] {memory:.0f}", flush=True)
    finally:
        for model in models:
            await model.close()


def _resident(process: int) -> float:
    fields = Path(f"/proc/{process}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
