"""How near the runner comes to the ideal time of waiting, with every answer stored durably.

Prints `name value` lines. A loopback endpoint runs in a process of its own; each part runs in a
process of its own, too, so that its peak memory and its processor time are its own. Beside other
programs the seconds say little; the processor time and the load average say why.
Left out: real networks, whose latency varies, and PostgreSQL, whose commits cost a round trip.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from empathylab.models import EndpointModel
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from tests.helpers.endpoint import served
from tests.helpers.plans import plan_of


def measure(requests: int, latency: float, concurrency: int) -> tuple[float, float, float]:
    """Seconds of one run, and the process's peak memory in MB and processor seconds."""
    with served(latency=latency) as endpoint, tempfile.TemporaryDirectory() as folder:
        with Lab.open(Path(folder)) as lab:
            plan = plan_of(lab, [f"question {n}: how was your day?" for n in range(requests)])
            model = EndpointModel("bench/one", model="one", base_url=endpoint.base_url)
            begun = time.perf_counter()
            [tally] = run(lab, [Job(model, [plan], Limits(concurrency=concurrency))])
            seconds = time.perf_counter() - begun
        assert tally.asked == requests
        assert tally.outcomes["valid"] == requests
    used = resource.getrusage(resource.RUSAGE_SELF)
    return seconds, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def in_own_process(*arguments: float) -> tuple[float, float, float]:
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak, processor = map(float, done.stdout.split())
    return seconds, peak, processor


def main() -> None:
    print(f"load_average_before {os.getloadavg()[0]:.2f}", flush=True)
    seconds, peak, _ = in_own_process(2_000, 0.2, 100)
    ideal = 2_000 * 0.2 / 100
    print(f"seconds {seconds:.2f}")
    print(f"ratio_to_ideal {seconds / ideal:.3f}")
    print(f"peak_mb {peak:.0f}")
    seconds, peak, _ = in_own_process(20_000, 0.005, 100)
    print(f"seconds_20000 {seconds:.2f}")
    print(f"peak_mb_20000 {peak:.0f}")
    seconds, peak, processor = in_own_process(20_000, 0.2, 1_000)
    ideal = 20_000 * 0.2 / 1_000
    print(f"seconds_20000_by_1000 {seconds:.2f}")
    print(f"ratio_to_ideal_20000_by_1000 {seconds / ideal:.3f}")
    print(f"processor_seconds_20000_by_1000 {processor:.2f}")
    print(f"peak_mb_20000_by_1000 {peak:.0f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        count, wait, workers = sys.argv[1:]
        print(*measure(int(float(count)), float(wait), int(float(workers))))
    else:
        main()
