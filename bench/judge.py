"""How near a judge's run comes to the ideal time of waiting, and what a kill costs it.

Prints `name value` lines: 2,000 replies on a loopback endpoint of 200 ms, 100 at a time, beside
the plain runner on the same machine in the same minute; then a run that is killed half-way and
goes on. Each part runs in a process of its own.
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

from empathylab.judging.instruments import default_instrument
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import EndpointModel
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from empathylab.store.judged_responses import set_responses
from empathylab.store.judgements import lab_judgements
from tests.helpers.endpoint import served
from tests.judging.judged import replied

REPLIES, LATENCY, WORKERS = 2_000, 0.2, 100


def fill(folder: Path) -> None:
    """A lab with somewhat more replies than are judged."""
    with Lab.open(folder) as lab:
        replied(lab, *(f"bench/{number}" for number in range(16)), situations=128)


def judge(folder: Path, base_url: str) -> dict[str, float]:
    """What one run of the judge did, and how long it took."""
    with Lab.open(folder) as lab:
        replies = set_responses(lab, "dialogues")[:REPLIES]
        begun = time.perf_counter()
        plan = plan_judging(Judging(default_instrument(), replies, "set dialogues"))
        model = EndpointModel("bench/judge", model="one", base_url=base_url)
        [tally] = run(lab, [Job(model, [plan], Limits(concurrency=WORKERS))])
        seconds = time.perf_counter() - begun
        valid = lab_judgements(lab).filter(outcome="valid")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": seconds,
        "peak_mb": peak,
        "already": tally.already,
        "asked": tally.asked,
        "valid": valid["response"].n_unique(),
        "rows": valid.height,
    }


def start(folder: Path, base_url: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, str(folder), base_url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> dict[str, float]:
    output, _ = process.communicate()
    assert process.returncode == 0
    found: dict[str, float] = json.loads(output)
    return found


def runner_seconds() -> float:
    command = [sys.executable, str(Path(__file__).with_name("runner.py"))]
    arguments = [str(REPLIES), str(LATENCY), str(WORKERS)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def measure() -> None:
    ideal = REPLIES * LATENCY / WORKERS
    with served(latency=LATENCY) as endpoint, tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        whole = finished(start(Path(folder), endpoint.base_url))
    assert whole["valid"] == whole["rows"] == REPLIES
    print(f"seconds {whole['seconds']:.2f}")
    print(f"ratio_to_ideal {whole['seconds'] / ideal:.3f}")
    print(f"runner_ratio_to_ideal {runner_seconds() / ideal:.3f}")
    print(f"peak_mb {whole['peak_mb']:.0f}")


def measure_kill() -> None:
    with served(latency=LATENCY) as endpoint, tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        process = start(Path(folder), endpoint.base_url)
        while sum(endpoint.counts()["answered"].values()) < REPLIES // 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        rest = finished(start(Path(folder), endpoint.base_url))
        asked = sum(endpoint.counts()["calls"].values())
    print(f"kept_after_kill {rest['already']:.0f}")
    print(f"judged_once {int(rest['valid'] == rest['rows'] == REPLIES)}")
    print(f"asked_twice {asked - REPLIES}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(judge(Path(sys.argv[1]), sys.argv[2])))
    else:
        measure()
        measure_kill()
