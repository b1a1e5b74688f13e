"""The scores of a log's samples: checks, scales, conversations, people's ratings and judges'."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
from inspect_ai.log import EvalMetric, EvalSample, EvalScore
from inspect_ai.scorer import Score

from empathylab.stats.conversations import clustered_mean
from empathylab.store.transfer import Records


class SampleScores:
    """Looks up the scores that the lab has for the rows of a sample."""

    def __init__(self, tables: Mapping[str, pl.DataFrame]) -> None:
        self._ratings = _by(tables["ratings"], "response")
        self._judgements = _by(tables["judgements"].filter(outcome="valid"), "response")
        self._scales = _by(tables["scores"], "administration")

    def of(self, rows: Records) -> dict[str, Score]:
        """The scores of a sample by name."""
        by_name: dict[str, Score] = {}
        for row in rows["responses"]:
            by_name["reply_checks"] = Score(
                value=float(row["outcome"] == "valid"),
                answer=row["text"],
                explanation=_outcome(row),
            )
            by_name |= _people(self._ratings.get(row["id"], []))
            by_name |= _judges(self._judgements.get(row["id"], []))
        for row in rows["administrations"]:
            scores = {
                scale["subscale"]: scale["score"] for scale in self._scales.get(row["id"], [])
            }
            by_name["scale_scores"] = (
                Score(value=scores) if scores else Score.unscored(explanation=_outcome(row))
            )
        for row in rows["conversations"]:
            outcome = {name: row[name] for name in ("start", "final", "exchanges", "ended_by")}
            scored = row["outcome"] == "completed" and row["final"] is not None
            value = row["final"] if scored else math.nan
            by_name["conversation"] = Score(
                value=value, explanation=_outcome(row), metadata=outcome
            )
        for row in rows["judgements"]:
            value = math.nan if row["value"] is None else row["value"]
            by_name[f"judged {row['dimension']}"] = Score(value=value, explanation=_outcome(row))
        for row in rows["preferences"]:
            value = row["preferred"] or math.nan
            by_name[f"preferred {row['dimension']}"] = Score(value=value, explanation=_outcome(row))
        return by_name


def _by(frame: pl.DataFrame, column: str) -> dict[int, list[dict[str, Any]]]:
    grouped: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        grouped[row[column]].append(row)
    return grouped


def _outcome(row: Mapping[str, Any]) -> str:
    return f"{row['outcome']}: {row['reason']}" if row["reason"] else str(row["outcome"])


def _people(ratings: Iterable[Mapping[str, Any]]) -> dict[str, Score]:
    """A score for each study and dimension: the mean, with every rater's own rating."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in ratings:
        groups[f"people {row['study']} {row['dimension']}"].append(row)
    return {
        name: Score(
            value=sum(row["rating"] for row in rows) / len(rows),
            explanation=f"{len(rows)} ratings",
            metadata={
                "ratings": [
                    {key: row[key] for key in ("rater", "arm", "rating", "label")} for row in rows
                ]
            },
        )
        for name, rows in groups.items()
    }


def _judges(judgements: Iterable[Mapping[str, Any]]) -> dict[str, Score]:
    groups: dict[str, list[float]] = defaultdict(list)
    for row in judgements:
        groups[f"judge {row['judge']} {row['dimension']}"].append(row["value"])
    return {
        name: Score(value=sum(values) / len(values), metadata={"values": values})
        for name, values in groups.items()
    }


def results(samples: Iterable[EvalSample]) -> list[EvalScore]:
    """The mean of every score with its interval; a sample's epochs count as one cluster."""
    values: dict[str, dict[str, list[tuple[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for name, score in (sample.scores or {}).items():
            parts = score.value if isinstance(score.value, dict) else {name: score.value}
            for part, value in parts.items():
                if isinstance(value, int | float) and not math.isnan(value):
                    values[name][part].append((str(sample.id), float(value)))
    return [
        EvalScore(name=part, scorer=name, scored_samples=len(pairs), metrics=_metrics(pairs))
        for name, parts in values.items()
        for part, pairs in parts.items()
    ]


def _metrics(pairs: list[tuple[str, float]]) -> dict[str, EvalMetric]:
    mean = clustered_mean([value for _, value in pairs], [cluster for cluster, _ in pairs])
    numbers = {"mean": mean.estimate, "low": mean.low, "high": mean.high}
    return {
        name: EvalMetric(name=name, value=value)
        for name, value in numbers.items()
        if not math.isnan(value)
    }
