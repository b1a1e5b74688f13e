"""How often the first conclusion of `analyze ratings` is wrong, in the designs a study can have.

Prints a line per design: the proportion of simulated studies without a difference whose first
conclusion claims one at 5%, the proportion of studies with a difference whose interval contains
it, and how many studies of each kind were simulated. `EMPATHYLAB_REPLICATIONS` sets their number
(400 if not set), `EMPATHYLAB_PROCESSES` the processes (2), `EMPATHYLAB_DESIGNS` a part of the names
of the designs to run. With two dimensions every dimension's conclusion counts.
Left out: appraisal, judges, leaderboard and changes.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

# Before polars is imported: a process each is enough.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.analysis.ratings import from_table

REPLICATIONS = int(os.environ.get("EMPATHYLAB_REPLICATIONS", "400"))
PROCESSES = int(os.environ.get("EMPATHYLAB_PROCESSES", "2"))
CHOSEN = os.environ.get("EMPATHYLAB_DESIGNS", "")
EFFECT = 0.6
Places = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
THREE, FIVE = (-1.2, 0.4), (-2.0, -0.8, 0.3, 1.5)


@dataclass(frozen=True, slots=True)
class Design:
    """Who rates what, and how much raters, situations and replies differ on the logit scale."""

    name: str
    raters: tuple[int, int]
    """Of each arm; within subjects the first number counts all."""
    ratings: int
    """Per rater; within subjects half of them of each arm."""
    situations: int = 0
    """0: as many as one arm has ratings, so that a reply is rated once."""
    reply_sd: float = 0.0
    by_arm_sd: float = 0.0
    within: bool = False
    thresholds: tuple[float, ...] = THREE
    dimensions: int = 1
    rater_sd: float = 0.7
    situation_sd: float = 0.5


_SHARED = {"situations": 20, "reply_sd": 0.5}
DESIGNS = [
    Design("between_plain", (30, 30), 10),
    Design("between_shared_replies_60x20", (30, 30), 20, **_SHARED),
    Design("between_shared_replies_400x10", (200, 200), 10, **_SHARED),
    *(Design(f"between_{few}_to_50_raters", (few, 50), 10) for few in (2, 3, 5, 10)),
    Design("between_6_to_6_raters", (6, 6), 20),
    Design("between_6_to_6_raters_shared_replies", (6, 6), 20, **_SHARED),
    Design("within_30_raters", (30, 0), 20, by_arm_sd=0.4, within=True),
    Design("within_30_raters_shared_replies", (30, 0), 20, **_SHARED, by_arm_sd=0.4, within=True),
    Design("within_8_raters", (8, 0), 20, by_arm_sd=0.4, within=True),
    Design("likert_between_plain", (30, 30), 10, thresholds=FIVE),
    Design("likert_between_shared_replies_60x20", (30, 30), 20, **_SHARED, thresholds=FIVE),
    Design("likert_between_3_to_50_raters", (3, 50), 10, thresholds=FIVE),
    Design("likert_within_30_raters", (30, 0), 20, by_arm_sd=0.4, within=True, thresholds=FIVE),
    Design("two_dimensions_between", (30, 30), 10, dimensions=2),
]


class Outcome(NamedTuple):
    """Of one simulated study: conclusions, and how many claim a difference and cover the truth."""

    conclusions: int
    claims: int
    covering: int


def simulated(design: Design, effect: float, seed: int) -> pl.DataFrame:
    """The ratings of one study."""
    random = np.random.default_rng(seed)
    places = _assigned(design, random)
    rows = [_drawn(design, places, effect, name, random) for name in range(design.dimensions)]
    return pl.concat(rows)


def _drawn(
    design: Design, places: Places, effect: float, dimension: int, random: np.random.Generator
) -> pl.DataFrame:
    rater, arm, situation = places
    situations = int(situation.max()) + 1
    by_arm = random.normal(0, design.by_arm_sd, (int(rater.max()) + 1, 2))
    latent = (
        effect * arm
        + random.normal(0, design.rater_sd, int(rater.max()) + 1)[rater]
        + random.normal(0, design.situation_sd, situations)[situation]
        + random.normal(0, design.reply_sd, (situations, 2))[situation, arm]
        + by_arm[rater, arm]
        + random.logistic(size=len(rater))
    )
    rating = 1 + np.searchsorted(design.thresholds, latent)
    names = np.array(["human", "model"])[arm]
    return pl.DataFrame(
        {
            "rater": [f"r{number}" for number in rater],
            "arm": names,
            "situation": [f"s{number}" for number in situation],
            "dimension": f"d{dimension}",
            "rating": rating.astype(np.int64),
        }
    )


def _assigned(design: Design, random: np.random.Generator) -> Places:
    """Rater, arm and situation of every rating."""
    raters, ratings = sum(design.raters), design.ratings
    rater = np.repeat(np.arange(raters), ratings)
    if design.within:
        arm = np.tile(np.repeat([0, 1], ratings // 2), raters)
    else:
        arm = (rater >= design.raters[0]).astype(np.int64)
    if design.situations:
        draws = [random.permutation(design.situations)[:ratings] for _ in range(raters)]
        return rater, arm, np.concatenate(draws)
    # Each arm's ratings take the situations in turn.
    situation = np.empty(len(rater), dtype=np.int64)
    for side in (0, 1):
        situation[arm == side] = random.permutation(int((arm == side).sum()))
    return rater, arm, situation


def outcome(job: tuple[Design, float, int]) -> Outcome:
    """What the first conclusion of each dimension says of a simulated study."""
    design, effect, seed = job
    result = from_table(simulated(design, effect, seed), reference="human")
    first: dict[str | None, bool] = {}
    claims = covering = 0
    for one in result.conclusions:
        if one.dimension in first or one.subset != "all":
            continue
        first[one.dimension] = True
        claims += one.kind in ("better", "worse")
        known = one.low is not None and one.high is not None
        covering += known and one.unit == "log-odds" and one.low <= effect <= one.high
    return Outcome(len(first), claims, covering)


def main() -> None:
    with ProcessPoolExecutor(PROCESSES) as pool:
        for number, design in enumerate(DESIGNS):
            if CHOSEN not in design.name:
                continue
            begun = time.perf_counter()
            seeds = range(1_000_000 * number, 1_000_000 * number + REPLICATIONS)
            nulls = list(pool.map(outcome, [(design, 0.0, seed) for seed in seeds], chunksize=5))
            others = [(design, EFFECT, seed + 500_000) for seed in seeds]
            effects = list(pool.map(outcome, others, chunksize=5))
            claims, covering = (
                sum(one.claims for one in nulls),
                sum(one.covering for one in effects),
            )
            counts = [sum(one.conclusions for one in part) for part in (nulls, effects)]
            print(
                f"{design.name} false_positives {claims / counts[0]:.4f} "
                f"coverage {covering / counts[1]:.4f} replications {REPLICATIONS} "
                f"seconds {time.perf_counter() - begun:.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
