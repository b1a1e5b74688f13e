"""Verdicts on simulated respondents of known behaviour that played no part in setting thresholds.

The thresholds of `stats.questionnaires.validity` were set on a 20-item scale with two subscales, 20
situations and normal noise (its tests). Here: 16 items, 6 of them reversed, one score, 12
situations, points 0 to 6, heavy-tailed noise, two or three item orders.

Prints one line per behaviour, `verdicts[behaviour] usable/doubtful/meaningless`, of 60 respondents.
Left out: real models, and people.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.scales.patterns import response_pattern
from empathylab.stats.questionnaires.validity import self_report_validity

Array = NDArray[np.float64]
ITEMS, SITUATIONS, HIGHEST = 16, 12, 6
REVERSED = (2, 5, 7, 11, 13, 16)
SIGN = np.where(np.isin(np.arange(1, ITEMS + 1), REVERSED), -1.0, 1.0)
BEHAVIOURS = (
    *("affected", "affected, noisy", "unaffected", "unaffected, noisy"),
    *("middle", "agrees with all", "rejects all", "random", "drifts down the page"),
)
EXPECTED = dict.fromkeys(BEHAVIOURS[:4], "usable") | dict.fromkeys(BEHAVIOURS[4:], "meaningless")


def answers(behaviour: str, generator: np.random.Generator, orders: int) -> pl.DataFrame:
    """One respondent's administrations."""
    profile = generator.uniform(-1.3, 1.3, ITEMS)
    mood = np.concatenate([[0.8], generator.uniform(-1.8, 1.4, SITUATIONS)])
    rows: list[tuple[object, ...]] = []
    permutations = [generator.permutation(ITEMS) for _ in range(orders)]
    for situation in range(SITUATIONS + 1):
        for order, places in enumerate(permutations):
            shift = mood[situation] if behaviour.startswith("affected") else 0.6
            felt = 3 + SIGN * shift + profile
            noise = 0.5 * generator.standard_t(4, ITEMS)
            given = {
                "affected": felt,
                "affected, noisy": felt + noise,
                "unaffected": felt,
                "unaffected, noisy": felt + noise,
                "middle": 3 + 0.9 * noise,
                "agrees with all": 5.3 + noise,
                "rejects all": 0.7 + noise,
                "random": generator.uniform(-0.5, 6.5, ITEMS),
                "drifts down the page": 5 - 4 * places / ITEMS + noise,
            }[behaviour]
            shown = np.clip(np.rint(given), 0, HIGHEST)
            where = ("evoked", str(situation)) if situation else ("default", None)
            rows += [
                (situation * orders + order, *where, order, 0, k + 1, int(places[k]) + 1, shown[k])
                for k in range(ITEMS)
            ]
    names = ["administration", "phase", "situation", "order_index", "repeat"]
    names += ["item", "position", "value"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def verdict(behaviour: str, seed: int, orders: int) -> str:
    """The verdict on one respondent."""
    frame = answers(behaviour, np.random.default_rng(seed), orders)
    pages = frame.sort("administration", "position").group_by("administration").agg("value")
    named = [response_pattern(page, 0, HIGHEST) for page in pages["value"].to_list()]
    patterns = {name: named.count(name) for name in set(named) if name is not None}
    return self_report_validity(
        frame,
        minimum=0,
        maximum=HIGHEST,
        reversed=REVERSED,
        subscales={"total": range(1, ITEMS + 1)},
        administrations=pages.height,
        invalid=0,
        patterns=patterns,
    ).verdict


def main() -> None:
    """Prints one line per behaviour and number of orders, then the share judged as expected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=60, help="Respondents of each behaviour.")
    times = parser.parse_args().times
    right = total = 0
    for orders in (3, 2):
        for behaviour in BEHAVIOURS:
            found = [verdict(behaviour, seed, orders) for seed in range(times)]
            counts = [found.count(name) for name in ("usable", "doubtful", "meaningless")]
            right += found.count(EXPECTED[behaviour])
            total += times
            print(f"verdicts[{behaviour},orders={orders}] {'/'.join(map(str, counts))}")
    print(f"as_expected {right / total:.3f}")


if __name__ == "__main__":
    main()
