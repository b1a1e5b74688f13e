"""Everything the report shows, read from the lab."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from empathylab import __version__
from empathylab.analysis.appraisal.analysis import AppraisalAnalysis, analysis_of
from empathylab.analysis.appraisal.self_reports import SelfReport, reports_of
from empathylab.analysis.benchmark.analysis import Leaderboard
from empathylab.analysis.benchmark.embargo import report_board
from empathylab.analysis.judges.analysis import JudgesAnalysis, analyse_judges
from empathylab.analysis.ratings.analysis import RatingsAnalysis, analyse_ratings
from empathylab.analysis.run_selection import shown_runs
from empathylab.analysis.style.analysis import StyleAnalysis
from empathylab.analysis.style.lab import report_style
from empathylab.errors import UserError
from empathylab.situations import builtin_versions
from empathylab.stats.lengths import length_distributions
from empathylab.stats.mixed.threads import one_thread
from empathylab.store import (
    Lab,
    failures_frame,
    now,
    outcomes_frame,
    responses_frame,
    runs_frame,
)
from empathylab.store.appraisals import read_appraisals
from empathylab.store.judgements import lab_judgements, lab_preferences
from empathylab.store.rated import lab_studies
from empathylab.study.admin.embargo import is_running
from empathylab.study.session.service import StudyService

# Protocols whose models read responses: they are raters here, not respondents.
_READERS = ["tag", "judge", "compare"]
# A page with more text than this is slow to open and too large to send.
_MOST_CHARACTERS = 5_000_000
_LONGEST_TEXT = 120_000


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
    group: str
    """Its emotion, or the topic of a post."""
    title: str | None
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
    mean_words: float | None
    median_words: float | None
    quartiles: tuple[float, float] | None
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
    ratings: tuple[RatingsAnalysis, ...]
    judges: tuple[JudgesAnalysis, ...]
    """Of the studies whose responses models have judged."""
    style: StyleAnalysis | None
    unrated: tuple[str, ...]
    """Why a study's ratings are not analysed, a sentence each; of a running one how far it is."""
    situations: tuple[Replies, ...]
    situations_replied: int
    """To how many situations there are replies; of very many, some are shown."""
    lengths: tuple[ReplyLengths, ...]
    sets: tuple[dict[str, Any], ...]
    leaderboards: tuple[Leaderboard, ...] = ()
    """Of the studies against which more were measured than the ratings' own section compares."""


def collect(lab: Lab) -> ReportData:
    """The run of each kind and respondent that was used last, with all that came of it."""
    import scipy.linalg  # noqa: F401 - only what is loaded can be held to one thread

    with one_thread():
        return _collected(lab)


def _collected(lab: Lab) -> ReportData:
    all_runs = runs_frame(lab)
    shown = shown_runs(all_runs)
    chosen = shown["run"].to_list()
    appraisals = read_appraisals(lab)
    analysis = analysis_of(appraisals)
    replied = responses_frame(lab).filter(pl.col("run").is_in(chosen) | pl.col("run").is_null())
    outcomes, failures = outcomes_frame(lab), failures_frame(lab)
    rated, unrated = _rated(lab)
    # These say what they leave out, so they come before it is told.
    judged = tuple(_judged(lab, unrated))
    boards = tuple(_boards(lab, [one.study.name for one in rated], unrated))
    return ReportData(
        made_at=now(),
        version=__version__,
        respondents=tuple(
            dict.fromkeys(
                [
                    # A model that tags sentences for the style section is asked, not measured.
                    *shown.filter(~pl.col("protocol").is_in(_READERS))["respondent"],
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
        self_reports=tuple(reports_of(lab, appraisals)),
        ratings=tuple(rated),
        judges=judged,
        style=report_style(lab),
        unrated=tuple(unrated),
        situations=tuple(_grouped(_most_told(replied))),
        situations_replied=replied.select("set", "situation").n_unique(),
        lengths=tuple(_lengths(replied)),
        sets=tuple(_used_sets(shown)),
        leaderboards=boards,
    )


def _rated(lab: Lab) -> tuple[list[RatingsAnalysis], list[str]]:
    """Every study's analysis; a study that cannot be analysed must not cost the report."""
    found, problems = [], []
    for name, study in lab_studies(lab).items():
        if is_running(study):
            problems.append(_progress(lab, name))
            continue
        if not study.dimensions:
            continue  # people were measured in it, or wrote; the other sections show them
        try:
            found.append(analyse_ratings(lab, name))
        except UserError as error:
            problems.append(f"The ratings of the study {name} are not analysed: {error}")
    return found, problems


def _judged(lab: Lab, problems: list[str]) -> Iterable[JudgesAnalysis]:
    """The cards of every closed study's judges; what cannot be calibrated is said."""
    for name, study in lab_studies(lab).items():
        if is_running(study) or not _has_judges(lab, name):
            continue
        try:
            yield analyse_judges(lab, name)
        except UserError as error:
            problems.append(f"The judges of the study {name} are not held against people: {error}")


def _has_judges(lab: Lab, study: str) -> bool:
    """Whether a model has rated the study's responses, or chosen between them."""
    found = (read(lab, study) for read in (lab_judgements, lab_preferences))
    return any(not one.is_empty() for one in found)


def _boards(lab: Lab, studies: Iterable[str], problems: list[str]) -> Iterable[Leaderboard]:
    """The leaderboard of every rated study that has one to show.

    Without what judges said of replies that another study, which still takes people, shows.
    """
    for name in studies:
        try:
            board = report_board(lab, name)
        except UserError as error:
            problems.append(f"The leaderboard of the study {name} is not shown: {error}")
        else:
            if board is not None:
                yield board


def _progress(lab: Lab, name: str) -> str:
    """How far a running study is; its results would be a peek."""
    status = StudyService(lab, name).actions.status()
    finished, places = (
        sum(getattr(arm, field) for arm in status.arms) for field in ("finished", "places")
    )
    return (
        f"The study {name} ({status.title}) is still {status.status}: {finished} of {places} "
        f"places are finished, with {status.ratings:,} ratings. Results are shown once it is "
        "closed."
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
            group=first["emotion"] or first["topic"] or "",
            title=first["title"],
            valence=first["valence"],
            text=first["situation_text"],
            utterance=first["utterance"],
            replies=tuple(
                reply | {"text": _cut(reply["text"])}
                for reply in group.select(columns).iter_rows(named=True)
            ),
        )


def _cut(text: str | None) -> str | None:
    """A text that is longer than any reply is cut, and says so; the lab keeps all of it."""
    if text is None or len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]} … [{len(text) - _LONGEST_TEXT:,} more characters in the lab]"


def _most_told(replied: pl.DataFrame) -> pl.DataFrame:
    """Of very much text the situations with most replies side by side, some of each emotion."""
    place = ["set", "situation"]
    size = pl.col("text").str.len_chars().fill_null(0).sum()
    told = replied.group_by(place, maintain_order=True).agg(
        pl.col("respondent").n_unique().alias("respondents"),
        pl.coalesce(pl.col("emotion").first(), pl.col("topic").first()).alias("group"),
        (size + pl.col("situation_text").first().str.len_chars().fill_null(0)).alias("size"),
    )
    if told["size"].sum() <= _MOST_CHARACTERS:
        return replied
    turn = pl.int_range(pl.len()).over("respondents", "group")
    kept = told.sort("respondents", turn, descending=[True, False], maintain_order=True)
    # The first situation is shown however long its replies are.
    room = pl.col("size").cum_sum().shift(1, fill_value=0) < _MOST_CHARACTERS
    return replied.join(kept.filter(room).select(place), on=place, how="semi")


def _lengths(replied: pl.DataFrame) -> Iterable[ReplyLengths]:
    for (respondent,), group in replied.group_by("respondent", maintain_order=True):
        found = length_distributions(group.filter(outcome="valid"), quantiles=(0.25, 0.5, 0.75))
        lengths = found[0] if found and found[0].n else None
        yield ReplyLengths(
            respondent=str(respondent),
            asked=group.height,
            replies=lengths.n if lengths else 0,
            mean_words=lengths.mean if lengths else None,
            median_words=lengths.quantiles[0.5] if lengths else None,
            quartiles=(lengths.quantiles[0.25], lengths.quantiles[0.75]) if lengths else None,
            shortest=lengths.shortest if lengths else None,
            longest=lengths.longest if lengths else None,
        )


def _used_sets(runs: pl.DataFrame) -> Iterable[dict[str, Any]]:
    named = {str(json.loads(text).get("situations", "")) for text in runs["settings"]}
    for one in builtin_versions().values():
        if f"{one.id} (version {one.version})" in named:
            yield {
                "id": one.id,
                "version": one.version,
                "title": one.title,
                "description": one.description,
            }
