"""How near conversations come to the ideal time of waiting, and what a kill costs them.

Prints `name value` lines: 200 conversations of 8 exchanges, of which each is a reply, a state
update and, but for the last, a next message; a loopback endpoint of 200 ms plays both sides, with
50 requests at a time. The ideal is requests x latency / requests at a time; beside it stands the
plain runner on the same machine in the same minute.
Left out: real networks, whose latency varies, and PostgreSQL, whose commits cost a round trip.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from empathylab.models import EndpointModel
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from empathylab.store.conversations import conversations_frame
from tests.helpers.conversing import persona
from tests.helpers.endpoint import served

TALKS, EXCHANGES, LATENCY, WORKERS = 200, 8, 0.2, 50
REQUESTS = TALKS * (3 * EXCHANGES - 1)


def converse(folder: Path, base_url: str) -> dict[str, float]:
    """What one run did, and how long it took."""
    model, person = (
        EndpointModel(f"bench/{name}", model=name, base_url=base_url) for name in ("one", "two")
    )
    personas = tuple(persona(number) for number in range(TALKS))
    with Lab.open(folder) as lab:
        begun = time.perf_counter()
        conversing = Conversing(personas, person.name, exchanges=EXCHANGES)
        plan = plan_conversing(lab, model.name, conversing)
        job = Job(model, [plan], Limits(concurrency=WORKERS), partners={SIMULATOR: person})
        [tally] = run(lab, [job])
        seconds = time.perf_counter() - begun
        talks = conversations_frame(lab)
    return {
        "seconds": seconds,
        "already": tally.already,
        "asked": tally.asked,
        "completed": talks.filter(outcome="completed", exchanges=EXCHANGES).height,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def start(folder: str, base_url: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, folder, base_url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> dict[str, float]:
    output, _ = process.communicate()
    assert process.returncode == 0
    found: dict[str, float] = json.loads(output)
    return found


def runner_seconds() -> float:
    """The plain runner with as many requests that do not follow from each other."""
    command = [sys.executable, str(Path(__file__).with_name("runner.py"))]
    arguments = [str(REQUESTS), str(LATENCY), str(WORKERS)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def measure() -> None:
    with served(latency=LATENCY) as endpoint, tempfile.TemporaryDirectory() as folder:
        whole = finished(start(folder, endpoint.base_url))
    assert whole["completed"] == TALKS, whole
    assert whole["asked"] == REQUESTS, whole
    ideal = REQUESTS * LATENCY / WORKERS
    print(f"seconds {whole['seconds']:.2f}")
    print(f"ideal_seconds {ideal:.2f}")
    print(f"ratio_to_ideal {whole['seconds'] / ideal:.3f}")
    print(f"runner_ratio_to_ideal {runner_seconds() / ideal:.3f}")
    print(f"peak_mb {whole['peak_mb']:.0f}")


def measure_kill() -> None:
    with served(latency=LATENCY) as endpoint, tempfile.TemporaryDirectory() as folder:
        process = start(folder, endpoint.base_url)
        while sum(endpoint.counts()["answered"].values()) < REQUESTS // 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        rest = finished(start(folder, endpoint.base_url))
        asked = sum(endpoint.counts()["calls"].values())
    print(f"kept_after_kill {rest['already']:.0f}")
    print(f"completed_after_kill {rest['completed']:.0f}")
    print(f"asked_twice {asked - REQUESTS}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(converse(Path(sys.argv[1]), sys.argv[2])))
    else:
        measure()
        measure_kill()
