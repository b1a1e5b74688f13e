"""False positives and coverage of a model's change from baseline, where nothing changes.

A prompt is a situation (or none) and an order of the items. At temperature 0 its answer is fixed,
so repeats are copies. What a prompt's score adds to the mean: an effect of the order on both
occasions (`order`), an effect of the order on one occasion only (`occasion`), an effect of the
situation (1 SD), and what is peculiar to the prompt (`prompt`). The true change is 0.

Prints, per design, `error_rate` (share of 95% intervals that exclude 0; `not tested` where there is
no interval) and the rate of version 0.1's test. Left out: discrete answers, several subscales.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

from empathylab.compute import map_ordered
from empathylab.stats.intervals import change_interval
from empathylab.stats.questionnaires.appraisal import SCORES, scale_changes

SITUATIONS, REPEATS = 30, 5
DESIGNS = {
    "four_shared_orders,order=1,prompt=1": (4, 4, 1.0, 0.0, 1.0),
    "four_shared_orders,occasion=1,prompt=1": (4, 4, 0.0, 1.0, 1.0),
    "four_shared_orders,occasion=.5,prompt=1": (4, 4, 1.0, 0.5, 1.0),
    "four_shared_orders,prompt=1": (4, 4, 0.0, 0.0, 1.0),
    "eight_baseline_orders,four_shared": (8, 4, 1.0, 0.5, 1.0),
    "two_shared_orders": (2, 2, 1.0, 0.5, 1.0),
    "four_baseline_orders,one_shared,order=1": (4, 1, 1.0, 0.0, 1.0),
    "four_baseline_orders,one_shared,occasion=1": (4, 1, 0.0, 1.0, 1.0),
    "one_baseline_order": (1, 1, 1.0, 1.0, 1.0),
}
"""Baseline orders, orders after situations; SDs of order, occasion and prompt."""


def simulated(
    design: tuple[int, int, float, float, float], generator: np.random.Generator, name: str
) -> list[tuple[object, ...]]:
    """The scores of one respondent, repeats as copies."""
    before, after, order_sd, occasion_sd, prompt_sd = design
    common = generator.normal(0, order_sd, max(before, after))
    base = common[:before] + generator.normal(0, occasion_sd, before)
    base = base + generator.normal(0, prompt_sd, before)
    situations = generator.normal(0, 1, SITUATIONS)
    evoked = (
        situations[:, None]
        + common[:after]
        + generator.normal(0, occasion_sd, after)
        + generator.normal(0, prompt_sd, (SITUATIONS, after))
    )
    rows: list[tuple[object, ...]] = [
        (name, "default", None, order, score) for order, score in enumerate(base)
    ]
    rows += [
        (name, "evoked", str(number), order, score)
        for number, scores in enumerate(evoked)
        for order, score in enumerate(scores)
    ]
    return rows * REPEATS


def rates(
    design: tuple[int, int, float, float, float], times: int, seed: int
) -> tuple[float, float, float]:
    """The share rejected now, the share tested now, and the share rejected by 0.1's test."""
    generator = np.random.default_rng(seed)
    rows = [row for number in range(times) for row in simulated(design, generator, str(number))]
    columns = ["respondent", "phase", "situation", "order_index", "score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
    known = frame.with_columns(
        pl.lit(None).alias(name) for name in SCORES if name not in frame.columns
    ).with_columns(scale=pl.lit("scale"), subscale=pl.lit("total"))
    rejected, tested = [0, 0], [0, 0]
    for way, scores in enumerate((known, known.with_columns(order_index=pl.lit(None)))):
        for change in scale_changes(scores):
            interval = change_interval(change)
            if interval is not None:
                tested[way] += 1
                rejected[way] += not interval.low <= 0 <= interval.high
    return rejected[0] / times, tested[0] / times, rejected[1] / times


def job_rates(
    job: tuple[tuple[int, int, float, float, float], int, int],
) -> tuple[float, float, float]:
    """The rates of a design, for `map_ordered`."""
    return rates(*job)


def main() -> None:
    """Prints one line per design."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=1000, help="Replications of each design.")
    times = parser.parse_args().times
    jobs = [(design, times, seed) for seed, design in enumerate(DESIGNS.values())]
    for name, (now, tested, before) in zip(DESIGNS, map_ordered(job_rates, jobs), strict=True):
        shown = f"{now:.3f}" if tested else "not tested"
        print(f"error_rate[{name}] {shown}")
        print(f"error_rate_0.1[{name}] {before:.3f}")


if __name__ == "__main__":
    main()
