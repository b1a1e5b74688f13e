"""Each respondent under each simulator, and respondents compared with each other."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import polars as pl

from empathylab.protocols.converse.outcomes import COMPLETED, RESPONDENT_FAULTS
from empathylab.stats.conversations import MeanDifference, clustered_mean, persona_difference
from empathylab.stats.corrections import holm


@dataclass(frozen=True, slots=True)
class RespondentResult:
    """One respondent with one simulator."""

    respondent: str
    simulator: str
    n: int
    """Conversations that are scored."""
    mean_final: float
    low: float
    high: float
    success: int | None
    """Scored conversations that ended at or above their threshold; None without thresholds."""
    failure: int | None
    success_at: float | None
    """The threshold, where all scored conversations have the same."""
    failure_below: float | None
    turns_mean: float
    """Replies per scored conversation."""
    outcomes: dict[str, int]
    """Of all conversations; faults of imported ones are counted beside their score."""
    personas: int
    flagged: int
    """Imported conversations that are scored although a fault was found in them."""
    mean_unflagged: float
    """The mean without those."""
    mean_with_faults: float
    """The mean where a conversation that the respondent broke off counts as 0."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two respondents with one simulator, or one respondent with two simulators."""

    kind: str
    """`respondents` or `simulators`."""
    respondent: str
    reference: str
    simulator: str
    reference_simulator: str
    difference: MeanDifference
    p_holm: float = math.nan


def respondent_results(conversations: pl.DataFrame, *, confidence: float) -> list[RespondentResult]:
    """One row per respondent and simulator, the highest mean of each simulator first."""
    results = [
        _result(part, str(respondent), str(simulator), confidence)
        for (respondent, simulator), part in conversations.group_by(
            "respondent", "simulator", maintain_order=True
        )
    ]
    return sorted(
        results,
        key=lambda item: (item.simulator, math.isnan(item.mean_final), -item.mean_final),
    )


def _result(
    part: pl.DataFrame, respondent: str, simulator: str, confidence: float
) -> RespondentResult:
    scored = part.filter("scored")
    mean = clustered_mean(scored["final"], scored["persona"].to_list(), confidence=confidence)
    flagged = scored.filter(pl.col("faults").list.len() > 0)
    outcomes = Counter(part["outcome"].to_list())
    outcomes.update(fault for faults in part["faults"] for fault in faults)
    broken = part.filter(pl.col("outcome").is_in(list(RESPONDENT_FAULTS))).height
    total = float(scored["final"].sum())
    unflagged = scored.filter(pl.col("faults").list.len() == 0)["final"]
    return RespondentResult(
        respondent=respondent,
        simulator=simulator,
        n=mean.n,
        mean_final=mean.estimate,
        low=mean.low,
        high=mean.high,
        success=_count(part, pl.col("final") >= pl.col("success_at"), "success_at"),
        failure=_count(part, pl.col("final") < pl.col("failure_below"), "failure_below"),
        success_at=_threshold(scored["success_at"]),
        failure_below=_threshold(scored["failure_below"]),
        turns_mean=_mean(scored["exchanges"]),
        outcomes=dict(sorted(outcomes.items(), key=lambda item: (item[0] != COMPLETED, item[0]))),
        personas=mean.clusters,
        flagged=flagged.height,
        mean_unflagged=_mean(unflagged),
        mean_with_faults=total / (mean.n + broken) if mean.n + broken else math.nan,
    )


def _count(part: pl.DataFrame, condition: pl.Expr, threshold: str) -> int | None:
    if part[threshold].null_count() == part.height:
        return None
    return part.filter(pl.col("scored") & condition).height


def _threshold(values: pl.Series) -> float | None:
    thresholds = values.unique().to_list()
    return thresholds[0] if len(thresholds) == 1 else None


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else math.nan


def comparisons(conversations: pl.DataFrame, *, confidence: float) -> list[Comparison]:
    """All pairs of respondents with each simulator, and each respondent's simulators in pairs.

    Holm's correction is over the pairs of one simulator, and over the pairs of one respondent.
    """
    scored = conversations.filter("scored")
    means: dict[tuple[str, str], dict[str, float]] = {}
    groups = scored.group_by("respondent", "simulator", "persona", maintain_order=True)
    for respondent, simulator, persona, final in groups.agg(pl.col("final").mean()).iter_rows():
        means.setdefault((respondent, simulator), {})[persona] = final
    tested: list[Comparison] = []
    for simulator in dict.fromkeys(simulator for _, simulator in means):
        names = [respondent for respondent, used in means if used == simulator]
        names.sort(key=lambda name: -fmean(means[name, simulator].values()))
        pairs = [(one, other, simulator, simulator) for one, other in combinations(names, 2)]
        tested += _tested("respondents", pairs, means, confidence)
    for respondent in dict.fromkeys(respondent for respondent, _ in means):
        used = [simulator for name, simulator in means if name == respondent]
        pairs = [(respondent, respondent, one, other) for one, other in combinations(used, 2)]
        tested += _tested("simulators", pairs, means, confidence)
    return tested


def _tested(
    kind: str,
    pairs: list[tuple[str, str, str, str]],
    means: dict[tuple[str, str], dict[str, float]],
    confidence: float,
) -> list[Comparison]:
    tests = [
        persona_difference(means[one, first], means[other, second], confidence=confidence)
        for one, other, first, second in pairs
    ]
    corrected: list[float] = holm([test.p for test in tests]).tolist() if tests else []
    return [
        Comparison(kind, one, other, first, second, test, float(p))
        for (one, other, first, second), test, p in zip(pairs, tests, corrected, strict=True)
    ]
