"""Everything the report shows: the results of all topics, read from the lab."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import polars as pl
from sqlalchemy import select

from empathylab import __version__
from empathylab.analysis import judges, preferences, ratings, recipients, scores
from empathylab.analysis.appraisal.analysis import analyse_appraisals
from empathylab.analysis.appraisal.caveats import doubts, few_scores, order_caveats
from empathylab.analysis.appraisal.result import (
    AppraisalResult,
    change_rows,
    counterpart_rows,
    validity_rows,
)
from empathylab.analysis.appraisal.self_reports import SelfReport
from empathylab.analysis.benchmark.leaderboard import LeaderboardResult, report_leaderboard
from empathylab.analysis.conversations import ConversationsAnalysis, report_conversations
from empathylab.analysis.json_values import picked
from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.overview.replies import (
    Replies,
    ReplyLengths,
    replies_by_situation,
    reply_lengths,
)
from empathylab.analysis.overview.runs import RunSummary, run_summary, runs_caveats
from empathylab.analysis.overview.sources import DataSource, data_sources
from empathylab.analysis.preferences import PreferencesResult
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.recipients import RecipientsResult
from empathylab.analysis.results import (
    AnalysisResult,
    Conclusion,
    ModelChoice,
    Result,
    row_frames,
)
from empathylab.analysis.run_selection import RunRow, run_matrix, selected_runs
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.scores.estimates import Comparison
from empathylab.analysis.scores.gates import Gate
from empathylab.analysis.scores.prose import HIDDEN_SCORES
from empathylab.analysis.style.analysis import report_style
from empathylab.analysis.style.result import StyleResult
from empathylab.compute import one_thread
from empathylab.errors import UserError
from empathylab.situations import builtin_versions
from empathylab.stats.questionnaires.appraisal import ScaleChange
from empathylab.store import Lab, responses_frame, runs_frame, schema
from empathylab.store.administrations import read_appraisals
from empathylab.store.inserts import now
from empathylab.store.judgements import (
    hides_scores,
    lab_judgements,
    lab_preferences,
    rubric_scores,
)
from empathylab.store.queries import failures_frame, outcomes_frame
from empathylab.store.ratings import is_unrated, lab_studies, preferences_frame
from empathylab.store.recipients import recipient_studies
from empathylab.study.admin.embargo import is_running
from empathylab.study.session.service import StudyService

Topic = TypeVar("Topic")
# Protocols whose models read responses: they are raters here, not respondents.
_READERS = ["tag", "judge", "compare", "converse", "rubric", "planted"]


@dataclass(frozen=True, slots=True)
class LabOverview(Result):
    """The whole lab: who was measured, and the results of every topic."""

    made_at: datetime
    version: str
    respondents: tuple[str, ...]
    runs: tuple[RunSummary, ...]
    left_out_runs: int
    """Other runs of the same kind, which the report does not count again."""
    appraisal: AppraisalResult
    situations_replied: int
    """To how many situations there are replies; of very many, some are shown."""
    lengths: tuple[ReplyLengths, ...]
    sets: tuple[dict[str, Any], ...]
    ratings: tuple[RatingsResult, ...] = ()
    judges: tuple[JudgesResult, ...] = ()
    """Of the studies whose responses models have judged."""
    style: StyleResult | None = None
    unrated: tuple[str, ...] = ()
    """Why a study's ratings are not analysed, a sentence each; of a running one its progress."""
    situations: tuple[Replies, ...] = ()
    conversations: ConversationsAnalysis | None = None
    leaderboards: tuple[LeaderboardResult, ...] = ()
    """Of the studies with more respondents than the section on ratings compares."""
    scores: tuple[ScoresResult, ...] = ()
    """By the rubric, one result for each judge; those that are fit first."""
    recipients: tuple[RecipientsResult, ...] = ()
    """Of the studies in which the people rated whom the replies were for."""
    preferences: tuple[PreferencesResult, ...] = ()
    """Of the studies whose raters chose between two replies."""
    sources: tuple[DataSource, ...] = ()
    """What the results rest on: counts, licences and what was left out."""
    matrix: tuple[RunRow, ...] = ()
    """All runs of the lab, and which of them the results rest on."""
    gates: tuple[Gate, ...] = ()
    """The conditions of the evaluation that wrote the report."""
    comparisons: tuple[Comparison, ...] = ()
    """Of its runs with the baseline."""
    people: frozenset[str] = frozenset()
    """Respondents, and arms with their replies, that are people."""

    @property
    def is_empty(self) -> bool:
        """Whether the lab has no results."""
        return not (self.respondents or self.recipients)

    @property
    def self_reports(self) -> tuple[SelfReport, ...]:
        """Whether the questionnaires can be believed."""
        return self.appraisal.self_reports

    @property
    def design(self) -> Mapping[str, Any]:
        """Who was measured, and by what."""
        return {
            "respondents": list(self.respondents),
            "scales": self.appraisal.design["scales"],
            "situations_replied": self.situations_replied,
            "studies": [result.study.name for result in self.ratings],
            "recipients": [result.study for result in self.recipients],
            "preferences": [result.study for result in self.preferences],
            "runs": len(self.runs),
        }

    @property
    def model(self) -> ModelChoice | None:
        """None: each topic chooses its own."""
        return None

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """Those of every topic, in the order of the report."""
        parts: list[AnalysisResult | None] = [self.appraisal, *self.leaderboards, *self.judges]
        parts += [*self.preferences, *self.recipients, self.conversations, self.style]
        return tuple(conclusion for part in parts if part for conclusion in part.conclusions)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know before relying on the results."""
        return tuple(self.cautions())

    def cautions(self, respondents: Collection[str] | None = None) -> list[str]:
        """The caveats of some respondents, or of all."""

        def wanted(part: SelfReport | RunSummary | ScaleChange) -> bool:
            return respondents is None or part.respondent in respondents

        caveats = doubts(filter(wanted, self.self_reports))
        caveats += runs_caveats(list(filter(wanted, self.runs)))
        caveats += order_caveats(filter(wanted, self.appraisal.changes))
        caveats += few_scores(filter(wanted, self.appraisal.changes))
        caveats += self.unrated
        if self.left_out_runs:
            other = f"{self.left_out_runs} other runs of the same kind in this lab are not shown"
            if self.left_out_runs == 1:
                other = "1 other run of the same kind in this lab is not shown"
            caveats.append(
                f"{other}, so that nothing counts twice. To choose which: empathylab runs list, "
                "then empathylab runs pin RUN."
            )
        return caveats

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Changes from baseline and the lengths of replies."""
        lengths = [dataclasses.asdict(length) for length in self.lengths]
        return {"changes": self.appraisal.to_frame()} | row_frames({"replies": lengths})

    def to_dict(self) -> dict[str, Any]:
        """The part of `evaluate --json` that describes the lab."""
        return {
            "changes": change_rows(self.appraisal),
            "counterparts": counterpart_rows(self.appraisal),
            "validity": validity_rows(self.self_reports),
            "replies": [dataclasses.asdict(length) for length in self.lengths],
            "cautions": list(self.caveats),
            **self.stated(),
        }


def from_lab(lab: Lab, *, first: Collection[int] = ()) -> LabOverview:
    """The results of all topics; of the runs of each kind, the one that `run_selection` chooses.

    The runs in `first` come before all others.
    """
    # Style takes longest, and most of that time is spent in libraries that let other threads work.
    with one_thread(), ThreadPoolExecutor(max_workers=1) as beside:
        return _collected(lab, first, beside.submit(report_style, lab))


def _collected(lab: Lab, first: Collection[int], style: Future[StyleResult | None]) -> LabOverview:
    all_runs = runs_frame(lab)
    shown = selected_runs(all_runs, first=first)
    chosen = shown["run"].to_list()
    read = read_appraisals(lab)
    asked = pl.col("run").is_null() | pl.col("run").is_in(chosen)
    appraisal = analyse_appraisals(
        lab, dataclasses.replace(read, administrations=read.administrations.filter(asked))
    )
    replied = responses_frame(lab).filter(pl.col("run").is_in(chosen) | pl.col("run").is_null())
    studies = lab_studies(lab)
    closed = [name for name, study in studies.items() if not is_running(study)]
    unrated = [_progress(lab, name) for name in studies if name not in closed]
    # A study without dimensions measured people, or let them write; other sections show it.
    compared = [name for name in closed if not preferences_frame(lab, name).is_empty()]
    asked_for_ratings = [
        name
        for name in closed
        if studies[name].dimensions and not (name in compared and is_unrated(lab, name))
    ]
    not_rated = "The ratings of the study {} are not analysed"
    rated = _analysed(lab, asked_for_ratings, ratings.from_lab, unrated, not_rated)
    with_judges = [name for name in closed if _has_judges(lab, name)]
    not_judged = "The judges of the study {} are not validated"
    judged = _analysed(lab, with_judges, judges.from_lab, unrated, not_judged)
    names = [result.study.name for result in rated]
    not_ranked = "The leaderboard of the study {} is not shown"
    boards = _analysed(lab, names, report_leaderboard, unrated, not_ranked)
    not_compared = "The comparisons of the study {} are not analysed"
    preferred = _analysed(lab, compared, preferences.from_lab, unrated, not_compared)
    helping = [name for name, study in recipient_studies(lab).items() if not is_running(study)]
    not_helped = "The recipients of the study {} are not analysed"
    helped = _analysed(lab, helping, recipients.from_lab, unrated, not_helped)
    if hides_scores(lab, chosen):
        unrated.append(HIDDEN_SCORES)
    talks = report_conversations(lab)
    return LabOverview(
        made_at=now(),
        version=__version__,
        respondents=tuple(
            dict.fromkeys(
                [
                    # A model that tags sentences for the style section is asked, not measured.
                    *shown.filter(~pl.col("protocol").is_in(_READERS))["respondent"],
                    *(() if talks is None else (talk.respondent for talk in talks.respondents)),
                    *(change.respondent for change in appraisal.changes),
                    *replied["respondent"],
                ]
            )
        ),
        runs=_run_summaries(lab, shown),
        left_out_runs=all_runs.height - shown.height,
        appraisal=appraisal,
        ratings=rated,
        judges=judged,
        style=style.result(),
        unrated=tuple(unrated),
        situations=tuple(replies_by_situation(replied)),
        situations_replied=replied.select("set", "situation").n_unique(),
        lengths=tuple(reply_lengths(replied)),
        sets=tuple(_used_sets(shown)),
        conversations=talks,
        leaderboards=boards,
        scores=tuple(sorted(_scored(lab, chosen, judged), key=lambda result: not result.fit)),
        recipients=helped,
        preferences=preferred,
        sources=data_sources(lab, appraisal, rated, preferred, helped, talks),
        matrix=run_matrix(all_runs, first=first),
        people=_people(lab, rated, preferred),
    )


def _people(
    lab: Lab, rated: Iterable[RatingsResult], preferred: Iterable[PreferencesResult]
) -> frozenset[str]:
    columns = schema.respondents.c
    with lab.reading() as connection:
        known = connection.execute(select(columns.name).where(columns.kind == "human"))
        names = set(known.scalars())
    arms = {
        arm
        for result in rated
        for arm, respondent in result.ratings.select("arm", "respondent").unique().iter_rows()
        if respondent in names
    }
    for result in preferred:
        arms |= {arm for arm, author in result.authors.items() if author in names}
    return frozenset(names | arms)


def of_runs(lab: Lab, runs: Collection[int]) -> LabOverview:
    """The results of these runs of scales and replies alone: what a command has just measured."""
    chosen = list(runs)
    shown = runs_frame(lab).filter(pl.col("run").is_in(chosen))
    read = read_appraisals(lab)
    own = read.administrations.filter(pl.col("run").is_in(chosen))
    replied = responses_frame(lab).filter(pl.col("run").is_in(chosen))
    with one_thread():
        appraisal = analyse_appraisals(lab, dataclasses.replace(read, administrations=own))
    return LabOverview(
        made_at=now(),
        version=__version__,
        respondents=tuple(dict.fromkeys(shown["respondent"])),
        runs=_run_summaries(lab, shown),
        left_out_runs=0,
        appraisal=appraisal,
        situations_replied=replied.select("set", "situation").n_unique(),
        lengths=tuple(reply_lengths(replied)),
        sets=tuple(_used_sets(shown)),
    )


def _run_summaries(lab: Lab, runs: pl.DataFrame) -> tuple[RunSummary, ...]:
    outcomes, failures = outcomes_frame(lab), failures_frame(lab)
    return tuple(
        run_summary(row, outcomes.filter(run=row["run"]), failures.filter(run=row["run"]))
        for row in runs.iter_rows(named=True)
    )


def _analysed(
    lab: Lab,
    studies: Iterable[str],
    analyse: Callable[[Lab, str], Topic | None],
    problems: list[str],
    problem: str,
) -> tuple[Topic, ...]:
    """The results of the studies; where one has none, its `problem` is added to `problems`.

    A study that cannot be analysed must not cost the report.
    """
    results = []
    for name in studies:
        try:
            results.append(analyse(lab, name))
        except UserError as error:
            place = f"study {name}: "  # the problem has named it
            problems.append(f"{problem.format(name)}: {str(error).removeprefix(place)}")
    return tuple(result for result in results if result is not None)


def _scored(
    lab: Lab, runs: Collection[int], judged: Collection[JudgesResult]
) -> Iterable[ScoresResult]:
    """What each judge says of the shown runs' replies, by the rubric."""
    frame = rubric_scores(lab, runs)
    for judge in frame["judge"].unique(maintain_order=True):
        result = scores.from_lab(lab, judge, runs=runs, validated=tuple(judged))
        if result.respondents:
            yield result


def _has_judges(lab: Lab, study: str) -> bool:
    """Whether a model has rated the study's responses, or chosen between them."""
    return any(not read(lab, study).is_empty() for read in (lab_judgements, lab_preferences))


def _progress(lab: Lab, name: str) -> str:
    """The progress of a running study; its results are hidden."""
    status = StudyService(lab, name).actions.status()
    finished = sum(arm.finished for arm in status.arms)
    places = sum(arm.places for arm in status.arms)
    ratings = f", with {status.ratings:,} ratings" if status.ratings else ""
    return (
        f"The study {name} ({status.title}) is still {status.status}: {finished} of {places} "
        f"slots are finished{ratings}. Results are shown once it is closed."
    )


def _used_sets(runs: pl.DataFrame) -> Iterable[dict[str, Any]]:
    named = {str(json.loads(text).get("situations", "")) for text in runs["settings"]}
    for built_in in builtin_versions().values():
        if f"{built_in.id} (version {built_in.version})" in named:
            yield picked(built_in, "id version title description")
