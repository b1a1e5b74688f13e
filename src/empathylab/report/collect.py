"""Everything the report shows, read from the lab."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

import polars as pl

from empathylab import __version__
from empathylab.report.appraisal_analysis import AppraisalAnalysis, analyse_appraisals
from empathylab.report.self_reports import SelfReport, self_reports
from empathylab.situations import builtin_sets
from empathylab.store import (
    Lab,
    failures_frame,
    now,
    outcomes_frame,
    responses_frame,
    runs_frame,
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run: what it was to do, and what came of it."""

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


@dataclass(frozen=True, slots=True)
class Replies:
    """One situation with the replies to it."""

    set: str
    situation: str
    emotion: str
    valence: str | None
    text: str
    utterance: str | None
    replies: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ReplyLengths:
    """How much a respondent wrote, in words, over its usable replies."""

    respondent: str
    asked: int
    replies: int
    median_words: float | None
    shortest: int | None
    longest: int | None


@dataclass(frozen=True, slots=True)
class ReportData:
    """What a report shows."""

    made_at: datetime
    version: str
    respondents: tuple[str, ...]
    runs: tuple[RunSummary, ...]
    left_out_runs: int
    """Older runs of the same kind, which the report does not count again."""
    analysis: AppraisalAnalysis
    self_reports: tuple[SelfReport, ...]
    situations: tuple[Replies, ...]
    lengths: tuple[ReplyLengths, ...]
    sets: tuple[dict[str, Any], ...]


def collect(lab: Lab) -> ReportData:
    """The run of each kind and respondent that was used last, with all that came of it."""
    all_runs = runs_frame(lab)
    shown = _shown(all_runs)
    chosen = shown["run"].to_list()
    analysis = analyse_appraisals(lab)
    replied = responses_frame(lab).filter(pl.col("run").is_in(chosen) | pl.col("run").is_null())
    outcomes, failures = outcomes_frame(lab), failures_frame(lab)
    return ReportData(
        made_at=now(),
        version=__version__,
        respondents=tuple(
            dict.fromkeys(
                [
                    *shown["respondent"],
                    *(one.respondent for one in analysis.changes),
                    *replied["respondent"],
                ]
            )
        ),
        runs=tuple(
            _summary(row, outcomes.filter(run=row["run"]), failures.filter(run=row["run"]))
            for row in shown.iter_rows(named=True)
        ),
        left_out_runs=all_runs.height - shown.height,
        analysis=analysis,
        self_reports=tuple(self_reports(lab)),
        situations=tuple(_grouped(replied)),
        lengths=tuple(_lengths(replied)),
        sets=tuple(_used_sets(shown)),
    )


def _shown(runs: pl.DataFrame) -> pl.DataFrame:
    """The last run of each respondent, protocol and instrument: pooling would count twice."""
    settings = [json.loads(text) for text in runs["settings"]]
    instruments = [str(one.get("scale") or one.get("situations")) for one in settings]
    return (
        runs.with_columns(pl.Series("instrument", instruments, dtype=pl.String))
        .unique(["respondent", "protocol", "instrument"], keep="last", maintain_order=True)
        .drop("instrument")
        .sort("run")
    )


def _summary(row: dict[str, Any], outcomes: pl.DataFrame, failures: pl.DataFrame) -> RunSummary:
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


def _grouped(replied: pl.DataFrame) -> Iterable[Replies]:
    columns = ["respondent", "text", "outcome", "reason", "sample"]
    for (_, _), group in replied.group_by("set", "situation", maintain_order=True):
        first = group.row(0, named=True)
        yield Replies(
            set=first["set"],
            situation=first["situation"],
            emotion=first["emotion"],
            valence=first["valence"],
            text=first["situation_text"],
            utterance=first["utterance"],
            replies=tuple(group.select(columns).iter_rows(named=True)),
        )


def _lengths(replied: pl.DataFrame) -> Iterable[ReplyLengths]:
    for (respondent,), group in replied.group_by("respondent", maintain_order=True):
        words = [len(text.split()) for text in group.filter(outcome="valid")["text"]]
        yield ReplyLengths(
            respondent=str(respondent),
            asked=group.height,
            replies=len(words),
            median_words=median(words) if words else None,
            shortest=min(words, default=None),
            longest=max(words, default=None),
        )


def _used_sets(runs: pl.DataFrame) -> Iterable[dict[str, Any]]:
    named = {str(json.loads(text).get("situations", "")).split(" ")[0] for text in runs["settings"]}
    for set_id, one in builtin_sets().items():
        if set_id in named:
            yield {"id": set_id, "title": one.title, "description": one.description}
