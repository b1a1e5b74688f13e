"""How time and memory grow with the size of the data, and what a second worker saves.

Prints `name value` lines: seconds, seconds of processor time and megabytes of

- `import`: `data import responses` of a Parquet file with that many replies into a new SQLite lab,
- `first_answer`: `data list` in that lab,
- `style`: `analyze style` of that lab, whose ten respondents write alike,
- `bootstrap`: 4 replications of a linear mixed model's parametric bootstrap, of that many ratings,
- `power`: 4 simulated studies of that many ratings, each with its ordinal mixed model,

each in a new process, with `growth`: the exponent between two sizes (1 is linear). Megabytes are
the highest sum over the process and its workers, pages that they share counted once (PSS, looked at
every tenth of a second; only Linux says so). The first two sizes are measured; a larger one is left
out, and said so, where those before predict more than `--limit` seconds (60). `--largest 1000000`
is the default; with `--limit 600` everything that memory allows is measured.

`style_by_workers` is `analyze style` of 100,000 replies with 1, 2 and 4 processes. `speedup` is the
time of one worker over that of two, for simulated studies, by processes and by Ray; starting
the workers is left out. Above a load of about 0.5 nothing here was measured on an
idle machine (see `load_average_before`); processor time then changes less than the rest. Left out:
PostgreSQL, clusters of several machines.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import polars as pl
import psutil

from empathylab.compute import map_ordered
from empathylab.stats.mixed import lmm
from empathylab.stats.mixed.bootstrap import parametric_bootstrap
from empathylab.stats.power.simulation import PlannedStudy, simulate_ratings, simulated_power
from style import responses, vocabulary

SIZES = (10_000, 100_000, 1_000_000)
RESPONDENTS, REPLICATIONS, PER_RATER = 10, 4, 20
SPEEDUP_ITEMS, SPEEDUP_RATERS = 48, 60
SPREAD_SIZE, SPREAD_WORKERS = 100_000, (1, 2, 4)


def bootstrap(size: int) -> None:
    ratings = simulate_ratings(_plan(size), seed=1)
    fit = lmm(ratings, "rating ~ arm + (1|rater)")
    parametric_bootstrap(fit, replications=REPLICATIONS, workers=1)


def power(size: int) -> None:
    simulated_power(_plan(size), simulations=REPLICATIONS, workers=1)


def study(number: int) -> float:
    """One simulated study, for the speed-up."""
    plan = PlannedStudy(SPEEDUP_RATERS, PER_RATER, 1.5)
    return simulated_power(plan, simulations=1, seed=number, workers=1).mixed_model.estimate


def _plan(size: int) -> PlannedStudy:
    return PlannedStudy(size // (2 * PER_RATER), PER_RATER, 1.5, situations=size // 100)


def replies_file(size: int, folder: Path) -> Path:
    source = random.Random(size)
    texts = responses(source, vocabulary(source), size)
    numbers = range(size)
    path = folder / f"replies{size}.parquet"
    pl.DataFrame(
        {
            "situation": [f"s{number // RESPONDENTS}" for number in numbers],
            "situation_text": [f"Situation {number // RESPONDENTS}." for number in numbers],
            "emotion": ["sad"] * size,
            "respondent": [f"model{number % RESPONDENTS}" for number in numbers],
            "text": texts,
        }
    ).write_parquet(path)
    return path


class Spent(NamedTuple):
    """What a process took, its workers included."""

    seconds: float
    processor: float
    megabytes: float


def measured(*command: object) -> Spent:
    """What a process takes that must succeed."""
    begun, before = time.perf_counter(), os.times()
    most = 0.0
    with tempfile.TemporaryFile() as said:
        process = psutil.Popen(
            [sys.executable, *map(str, command)], stdout=subprocess.DEVNULL, stderr=said
        )
        while process.poll() is None:
            most = max(most, held(process))
            with contextlib.suppress(psutil.TimeoutExpired):
                process.wait(0.1)
        seconds = time.perf_counter() - begun
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{command} failed: {said.read().decode()[-2000:]}")
    after = os.times()
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    return Spent(seconds, processor, most)


def held(process: psutil.Process) -> float:
    """The MB that a process and its workers hold now, pages that they share counted once."""
    pages = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for part in (process, *process.children(recursive=True)):
            with contextlib.suppress(OSError, IndexError):  # it has ended
                text = Path(f"/proc/{part.pid}/smaps_rollup").read_text()
                pages += int(text.partition("\nPss:")[2].split()[0])
    return pages / 1024


class Growth:
    """Measures sizes from small to large, as long as the next one fits into the limit."""

    def __init__(self, limit: float, largest: int) -> None:
        self.limit = limit
        self.largest = largest

    def measure(self, name: str, run: Callable[[int], Spent]) -> None:
        before: tuple[int, float] | None = None
        exponent = 0.0  # one size says nothing: part of the time may not depend on the size
        for size in (size for size in SIZES if size <= self.largest):
            if before is not None:
                predicted = before[1] * (size / before[0]) ** exponent
                if predicted > self.limit:
                    print(f"left_out[{name},{size}] about {predicted:.0f} s", flush=True)
                    return
            seconds, processor, megabytes = run(size)
            print(f"seconds[{name},{size}] {seconds:.2f}")
            print(f"processor_seconds[{name},{size}] {processor:.2f}")
            print(f"megabytes[{name},{size}] {megabytes:.0f}")
            if before is not None:
                exponent = math.log(seconds / before[1]) / math.log(size / before[0])
                print(f"growth[{name},{before[0]}-{size}] {exponent:.2f}")
                exponent = max(1.0, exponent)
            sys.stdout.flush()
            before = (size, seconds)


def speedup(engine: str) -> None:
    """One worker against two, in turns, once they are started."""
    list(map_ordered(study, range(4), engine=engine, workers=2))
    best = {1: math.inf, 2: math.inf}
    for _ in range(2):
        for workers in best:
            done = map_ordered(study, range(SPEEDUP_ITEMS), engine=engine, workers=workers)
            next(done)  # the workers are up
            begun = time.perf_counter()
            list(done)
            best[workers] = min(best[workers], time.perf_counter() - begun)
    print(f"speedup_of_2_workers[{engine}] {best[1] / best[2]:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--limit", type=float, default=60.0, help="Seconds for one measurement.")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        {"bootstrap": bootstrap, "power": power}[given.work[0]](int(given.work[1]))
        return
    print(f"cores {len(os.sched_getaffinity(0))}")
    print(f"load_average_before {os.getloadavg()[0]:.2f}", flush=True)
    growth = Growth(given.limit, given.largest)
    for name in ("bootstrap", "power"):
        growth.measure(name, lambda size, name=name: measured(__file__, "--work", name, size))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def in_lab(size: int, *words: object) -> Spent:
            return measured("-m", "empathylab", *words, "--lab", folder / f"lab{size}")

        def imported(size: int) -> Spent:
            return in_lab(size, "data", "import", "responses", replies_file(size, folder))

        growth.measure("import", imported)
        growth.largest = max(size for size in SIZES if (folder / f"lab{size}").is_dir())
        growth.measure("first_answer", lambda size: in_lab(size, "data", "list"))
        growth.measure("style", lambda size: in_lab(size, "analyze", "style", "--json"))
        for workers in SPREAD_WORKERS if growth.largest >= SPREAD_SIZE else ():
            # Each has a seed of its own, not the default, so that no stored result is used.
            options = ("--json", "--workers", workers, "--seed", 100 + workers)
            spent = in_lab(SPREAD_SIZE, "analyze", "style", *options)
            print(f"style_by_workers[{workers}] {spent.seconds:.2f}")
            print(f"style_by_workers_processor[{workers}] {spent.processor:.2f}")
            print(f"style_by_workers_megabytes[{workers}] {spent.megabytes:.0f}", flush=True)
    speedup("processes")
    if find_spec("ray") is None:
        print("left_out[ray] not installed")
    else:
        speedup("ray")


if __name__ == "__main__":
    main()
