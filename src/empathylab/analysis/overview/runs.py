"""The runs that the report rests on: what was planned, answered and paid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from empathylab.analysis.text.numbers import number, percent

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run: what was planned, and its results."""

    run: int
    protocol: str
    respondent: str
    reported_model: str | None
    settings: dict[str, Any]
    planned: int
    answered: int
    reused: int
    retries: int
    valid: int
    invalid: tuple[tuple[str, str | None, int], ...]
    """Outcome, reason and count of every answer that could not be used."""
    failed: tuple[tuple[str, int, str], ...]
    """Kind, count and an example message of requests without an answer."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    software: str
    started_at: datetime
    finished_at: datetime | None
    last_answer_at: datetime | None

    @property
    def unanswered(self) -> int:
        return self.planned - self.answered

    @property
    def invalid_count(self) -> int:
        return sum(count for _, _, count in self.invalid)


def run_caveats(run: RunSummary) -> list[str]:
    """What is missing from a run, a sentence each."""
    sentences = []
    if run.unanswered:
        sentences.append(
            f"The {run.protocol} run of {run.respondent} is incomplete: {run.unanswered} of "
            f"{run.planned} requests have no answer yet. Run the same command again to resume."
        )
    if run.invalid_count:
        sentences.append(
            f"{run.invalid_count} of {run.answered} answers of the {run.protocol} run of "
            f"{run.respondent} could not be used ({percent(run.invalid_count / run.answered)}"
            f"{_counted_twice(run)}); the report lists the reasons."
        )
    return sentences


def _counted_twice(run: RunSummary) -> str:
    """Why more answers than requests may be unusable: a reply may have been asked for again."""
    return ", with first replies that were asked for again" if run.settings.get("retries") else ""


def runs_caveats(runs: Sequence[RunSummary]) -> list[str]:
    """What is missing from the runs; one sentence for many of the same protocol."""
    sentences = []
    for protocol in dict.fromkeys(run.protocol for run in runs):
        mine = [run for run in runs if run.protocol == protocol]
        faulty = [run for run in mine if run.unanswered or run.invalid_count]
        if len(faulty) <= _MOST_NAMED:
            sentences += [sentence for run in mine for sentence in run_caveats(run)]
            continue
        if unanswered := sum(run.unanswered for run in mine):
            several = sum(run.unanswered > 0 for run in mine)
            sentences.append(
                f"{several} of {len(mine)} {protocol} runs are incomplete: {number(unanswered, 0)} "
                f"of {number(sum(run.planned for run in mine), 0)} requests have no answer yet. "
                "Run the same command again to resume."
            )
        if invalid := sum(run.invalid_count for run in mine):
            answered = sum(run.answered for run in mine)
            worst = max(mine, key=lambda run: run.invalid_count / max(1, run.answered))
            most = percent(worst.invalid_count / max(1, worst.answered))
            sentences.append(
                f"{number(invalid, 0)} of {number(answered, 0)} answers of {len(mine)} {protocol} "
                f"runs could not be used ({percent(invalid / answered)}; at most {most}, of "
                f"{worst.respondent}); the report lists the reasons."
            )
    return sentences


def run_summary(row: dict[str, Any], outcomes: pl.DataFrame, failures: pl.DataFrame) -> RunSummary:
    """A row of `runs_frame` with the run's outcomes and failures."""
    answered, reused = row["answered"] or 0, row["reused"] or 0
    usable = outcomes.filter(outcome="valid")["count"].sum()
    return RunSummary(
        **{name: row[name] for name in ("run", "protocol", "respondent", "reported_model")},
        **{name: row[name] for name in ("planned", "cost", "software", "started_at")},
        settings=json.loads(row["settings"]),
        finished_at=row["finished_at"],
        last_answer_at=row["last_answer_at"],
        answered=answered,
        reused=reused,
        retries=max(0, (row["attempts"] or 0) - (answered - reused)),
        valid=int(usable),
        invalid=tuple(
            outcomes.filter(pl.col("outcome") != "valid")
            .select("outcome", "reason", "count")
            .iter_rows()
        ),
        failed=tuple(failures.select("kind", "count", "message").iter_rows()),
        prompt_tokens=row["prompt_tokens"] or 0,
        completion_tokens=row["completion_tokens"] or 0,
    )
