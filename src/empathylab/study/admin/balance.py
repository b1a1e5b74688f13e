"""Whether the raters of a study's arms are similar in their answers about themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from empathylab.scales.score_frames import score_frame
from empathylab.study.blocks.interface import Block
from empathylab.study.session.launched import Launched

BOUND = 0.3
"""Raters of two arms are alike where they differ by less than so many standard deviations."""


@dataclass(frozen=True, slots=True)
class ArmBalance:
    """A scale's score among the raters of one arm."""

    arm: str
    n: int
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class Balance:
    """Whether the arms have raters of the same kind, by a scale asked before any reply."""

    scale: str
    subscale: str
    arms: tuple[ArmBalance, ...]
    p: float
    """Of Welch's analysis of variance; NaN where it cannot be had."""
    verdict: Literal["alike", "different", "unclear", "too few", "one arm"]
    """`alike`: every arm is equivalent to the first within ± `BOUND` standard deviations."""


def arm_balances(launched: Launched, block: Block, given: pl.DataFrame) -> Iterator[Balance]:
    """How the arms' raters answered the scale before they saw anything, by subscale."""
    name = block.uses_scale or ""
    scale = launched.scales[name]
    names = [f"item-{item}" for item in range(1, scale.items + 1)]
    kind = pl.Struct(dict.fromkeys(names, pl.Float64))
    answers = (
        given.select("place", pl.col("given").str.json_decode(kind).alias("items"))
        .unnest("items")
        .unpivot(names, index="place", variable_name="item")
        .drop_nulls()
        .select(
            administration="place",
            scale_row=pl.lit(1, pl.Int64),
            item=pl.col("item").str.strip_prefix("item-").cast(pl.Int64),
            value="value",
        )
    )
    arms = given.select(administration="place", arm="arm").unique()
    scored = score_frame(answers, {1: scale}).join(arms, on="administration")
    parts = ["total"] if scale.total else [subscale.id for subscale in scale.subscales]
    for part in parts:
        own = scored.filter(pl.col("subscale") == part)
        yield _compared(name, part, own, list(launched.slots))


def _compared(scale: str, part: str, scored: pl.DataFrame, arms: Sequence[str]) -> Balance:
    from empathylab.stats.raters.comparability import compare_numbers

    groups = [scored.filter(pl.col("arm") == arm)["score"].to_numpy() for arm in arms]
    rows = tuple(
        ArmBalance(
            arm,
            len(group),
            float(np.mean(group)) if len(group) else math.nan,
            float(np.std(group, ddof=1)) if len(group) > 1 else math.nan,
        )
        for arm, group in zip(arms, groups, strict=True)
    )
    if len(arms) < 2:
        return Balance(scale, part, rows, math.nan, "one arm")
    if min(len(group) for group in groups) < 2 or any(not row.sd > 0 for row in rows):
        return Balance(scale, part, rows, math.nan, "too few")
    compared = compare_numbers(groups, arms, variable=part, bound=BOUND)
    if all(difference.equivalence.equivalent for difference in compared.differences):
        return Balance(scale, part, rows, compared.p, "alike")
    return Balance(scale, part, rows, compared.p, "different" if compared.p < 0.05 else "unclear")
