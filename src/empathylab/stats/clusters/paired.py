"""Two runs, respondents or prompts compared on the same units, beside the unpaired comparison.

Miller, E. (2024). Adding error bars to evals. arXiv 2411.00640, sections 3 and 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns, without_gaps
from empathylab.stats.clusters.regression import clustered_regression
from empathylab.stats.clusters.robust import cluster_codes
from empathylab.stats.t_tests import TTest, t_test


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference, first minus second, on the units that both have."""

    paired: TTest
    unpaired: TTest
    """The difference of the two means over the same units, as if the samples were independent."""
    mean_first: float
    mean_second: float
    correlation: float
    """Of the two over units; NaN where one does not vary."""
    n_pairs: int
    clusters: int
    dropped_first: int
    """Units that only the first has."""
    dropped_second: int
    """Units that only the second has."""
    averaged: int
    """Pairs with a side that is the mean of several values."""


def paired_difference(
    frame: pl.DataFrame,
    first: str,
    second: str,
    *,
    unit: str,
    label: str,
    value: str,
    cluster: str | None = None,
    confidence: float = 0.95,
) -> PairedDifference:
    """The mean difference `first` − `second` of a value over units, paired, with CR2.

    A long frame: `label` says whose `value` it is and `unit` what it was measured on; several
    values of one unit (repeated draws) are averaged. Units are independent, or clustered by
    `cluster`. Units that only one of the two has are left out and counted, and rows with a
    missing value are ignored.
    """
    require_columns(frame, unit, label, value, cluster)
    if not (frame[value].dtype.is_numeric() or frame[value].dtype == pl.Boolean):
        raise InputError(
            f"{value!r} must contain numbers", got=frame[value][0], remedy="Name another column."
        )
    known = without_gaps(frame, unit, label, value).with_columns(
        pl.col(label).cast(pl.String), pl.col(value).cast(pl.Float64)
    )
    labels = known[label].unique(maintain_order=True).to_list()
    for name in (first, second):
        if name not in labels:
            raise UnknownName(f"value of {label!r}", name, labels)
    if first == second:
        raise InputError(f"{first!r} is compared with itself", remedy="Name two that differ.")
    whole = known.filter(pl.col(label).is_in([first, second]))
    groups = [pl.col(cluster).first().alias("cluster")] if cluster else []
    wide = whole.group_by(unit, maintain_order=True).agg(
        pl.col(value).filter(pl.col(label) == first).mean().alias("one"),
        pl.col(value).filter(pl.col(label) == second).mean().alias("two"),
        pl.len().alias("values"),
        *groups,
    )
    both = wide.drop_nulls(["one", "two"])
    codes = cluster_codes(both["cluster" if cluster else unit])
    count = len(np.unique(codes))
    if count < 2:
        raise InputError(
            f"{first!r} and {second!r} share {both.height} unit(s) in {count} cluster(s)",
            remedy="Compare on at least two units that both have.",
        )
    one, two = both["one"].to_numpy(), both["two"].to_numpy()
    ones = np.ones((len(one), 1))
    along = np.array([1.0])
    fits = [clustered_regression(ones, values, [codes]) for values in (one - two, one, two)]
    tests = [fit.test(along, confidence) for fit in fits]
    varies = np.ptp(one) > 0 and np.ptp(two) > 0
    return PairedDifference(
        paired=tests[0],
        unpaired=_unpaired(tests[1], tests[2], confidence),
        mean_first=float(one.mean()),
        mean_second=float(two.mean()),
        correlation=float(np.corrcoef(one, two)[0, 1]) if varies else math.nan,
        n_pairs=len(one),
        clusters=count,
        dropped_first=int(wide["two"].null_count()),
        dropped_second=int(wide["one"].null_count()),
        averaged=both.filter(pl.col("values") > 2).height,
    )


def _unpaired(first: TTest, second: TTest, confidence: float) -> TTest:
    """The difference of independent means, with Welch's degrees of freedom."""
    estimate, se = first.estimate - second.estimate, math.hypot(first.se, second.se)
    below = sum(test.se**4 / test.df for test in (first, second) if test.se > 0)
    return t_test(estimate, se, se**4 / below if below > 0 else math.nan, confidence)
