"""A whole appraisal, 36 factors × 3 situations × 2 item orders, against the ideal time of waiting.

A loopback endpoint with 200 ms latency, 20 requests at a time, every administration parsed and
stored. Prints `name value` lines.
Left out: real networks, whose latency varies.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from empathylab.models import EndpointModel
from empathylab.protocols import Appraisal, plan_appraisal
from empathylab.runs import Job, Limits, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.store import Lab
from tests.helpers.endpoint import served

LATENCY, CONCURRENCY = 0.2, 20


def main() -> None:
    chosen = builtin_set("appraisal")
    appraisal = Appraisal(
        builtin_scale("panas"), chosen, chosen.first_per_factor(3), default_orders=4, orders=2
    )
    with (
        served(latency=LATENCY) as endpoint,
        tempfile.TemporaryDirectory() as folder,
        Lab.open(Path(folder)) as lab,
    ):
        model = EndpointModel("bench/one", model="one", base_url=endpoint.base_url)
        begun = time.perf_counter()
        plan = plan_appraisal(lab, model.name, appraisal)
        [tally] = run(lab, [Job(model, [plan], Limits(concurrency=CONCURRENCY))])
        seconds = time.perf_counter() - begun
    assert tally.outcomes["valid"] == len(plan.requests) == 4 + 36 * 3 * 2
    ideal = len(plan.requests) * LATENCY / CONCURRENCY
    print(f"administrations {len(plan.requests)}")
    print(f"seconds {seconds:.2f}")
    print(f"ratio_to_ideal {seconds / ideal:.3f}")


if __name__ == "__main__":
    main()
