"""How often conclusions are wrong, in simulated studies of the designs that a lab can have.

Prints a line per design: the proportion of studies without a difference in which one is claimed at
5% (`false_positives`), the proportion of intervals that contain the truth (`coverage`), and how
many studies were simulated. Designs: `analyze ratings`, `changes`, `leaderboard`, `agreement`,
`style`, and a judge of a new model. `EMPATHYLAB_REPLICATIONS` sets the number of studies (400 if
not set), `EMPATHYLAB_FIRST_STUDY` the number of the first (0 if not set; studies that no rule was
developed on have others), `EMPATHYLAB_WORKERS` the processes (one per core), `EMPATHYLAB_DESIGNS` a
part of the names of the designs to run. Left out: appraisal (`appraisal_error_rates.py`).
"""

from __future__ import annotations

import os
import time
from itertools import islice

# Before polars is imported: a process each is enough.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from designs import agreement, arms, changes, judges, leaderboard, style
from designs.simulation import Counts, Design
from empathylab.compute import map_ordered

REPLICATIONS = int(os.environ.get("EMPATHYLAB_REPLICATIONS", "400"))
FIRST_STUDY = int(os.environ.get("EMPATHYLAB_FIRST_STUDY", "0"))
CHOSEN = os.environ.get("EMPATHYLAB_DESIGNS", "")
TOPICS = (arms, changes, leaderboard, agreement, style, judges)
DESIGNS: list[Design] = [design for topic in TOPICS for design in topic.DESIGNS]
# A design's place gives its seeds: new designs go last.
DESIGNS += [*arms.FEW_RATINGS, *style.OPENINGS, *arms.FEW_SITUATIONS, *agreement.FEW_ITEMS]


def counted(job: tuple[Design, int]) -> Counts:
    """What happened in one simulated study."""
    design, seed = job
    return design.count(seed)


def main() -> None:
    chosen = [pair for pair in enumerate(DESIGNS) if CHOSEN in pair[1].name]
    jobs = [
        (design, 1_000_000 * number + seed)
        for number, design in chosen
        for seed in range(FIRST_STUDY, FIRST_STUDY + REPLICATIONS)
    ]
    results = map_ordered(counted, jobs)
    for _, design in chosen:
        begun = time.perf_counter()
        found = list(islice(results, REPLICATIONS))
        rates = [
            f"{measure} {_rate([counts[measure] for counts in found]):.4f}" for measure in found[0]
        ]
        seconds = time.perf_counter() - begun
        print(
            f"{design.name} {' '.join(rates)} replications {REPLICATIONS} seconds {seconds:.0f}",
            flush=True,
        )


def _rate(counts: list[tuple[int, int]]) -> float:
    possible = sum(of for _, of in counts)
    return sum(hits for hits, _ in counts) / possible if possible else float("nan")


if __name__ == "__main__":
    main()
