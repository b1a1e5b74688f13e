"""One of two occasions that are compared: a lab, or a lab up to or from a day."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import polars as pl

from empathylab.analysis.appraisal.self_reports import (
    SelfReport,
    last_used_runs,
    self_reports,
)
from empathylab.analysis.drift.judges import judged_between
from empathylab.analysis.judges.frames import JudgedRatings
from empathylab.analysis.run_selection import selected_runs
from empathylab.scales import Scale
from empathylab.scales.score_frames import score_frame
from empathylab.stats.questionnaires.appraisal import SCORES
from empathylab.store import Lab, responses_frame, runs_frame
from empathylab.store.administrations import read_appraisals, read_positions
from empathylab.store.provenance import (
    administration_times,
    dated_ratings,
    response_times,
    scale_versions,
    set_versions,
)
from empathylab.store.ratings import Study, lab_studies
from empathylab.study.admin.embargo import is_running
from empathylab.tables import column_named

# Protocols whose models read responses: they are raters here, not respondents.
_MEASURING = ["appraise", "respond"]
_NEEDED = {"respondent", "situation", "text", "scale", "subscale", "phase", "score"}
_SCORES = {
    "administration": pl.Int64,
    "scale_row": pl.Int64,
    **SCORES,
    "order_index": pl.Int64,
    "repeat": pl.Int64,
    "answered_at": pl.Datetime,
}
_REPLIES = {
    "respondent": pl.String,
    "situation": pl.String,
    "sample": pl.Int64,
    "text": pl.String,
    "outcome": pl.String,
    "answered_at": pl.Datetime,
}
_VERSIONS = {"set": pl.String, "version": pl.Int64, "fingerprint": pl.String}
_RUNS = {
    "respondent": pl.String,
    "protocol": pl.String,
    "settings": pl.String,
    "reported_model": pl.String,
    "software": pl.String,
}


@dataclass(frozen=True, slots=True)
class Window:
    """Which measurements of a lab count; without ends, all."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def whole(self) -> bool:
        return self.since is None and self.until is None

    def holds(self, moment: str) -> pl.Expr:
        """Whether the column's moment is inside; null where it is not known, unless all count."""
        rule = pl.lit(True)
        if self.until is not None:
            rule = rule & (pl.col(moment) < self.until)
        if self.since is not None:
            rule = rule & (pl.col(moment) >= self.since)
        return rule


@dataclass(frozen=True, slots=True)
class RatedStudy:
    """A study's ratings by people on one occasion."""

    study: Study
    ratings: pl.DataFrame
    """Empty where the study is still running: its results are hidden."""
    undated: int
    """Ratings without a date, which cannot be put before or after a day."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What one occasion measured."""

    title: str
    administrations: pl.DataFrame
    """Of each respondent and scale the run used last, and all that was imported."""
    scores: pl.DataFrame
    """One row per score of a valid administration."""
    scales: dict[int, Scale]
    scale_versions: pl.DataFrame
    set_versions: pl.DataFrame
    responses: pl.DataFrame
    runs: pl.DataFrame
    """Those whose answers count here."""
    verdicts: tuple[SelfReport, ...]
    studies: dict[str, RatedStudy]
    reused: tuple[str, ...]
    """Respondents some of whose answers were reused from before, not asked again."""
    first: datetime | None
    last: datetime | None
    judged: dict[str, JudgedRatings] = field(default_factory=dict)
    """By closed study the judges' ratings of its responses, beside people's."""

    @property
    def answered(self) -> list[str]:
        """Who answered a scale or replied here, in the order of the lab."""
        names = [*self.administrations["respondent"], *self.responses["respondent"]]
        return list(dict.fromkeys(names))

    @property
    def respondents(self) -> list[str]:
        """Who was measured here: by their answers, or by ratings of their replies."""
        rated = (name for study in self.studies.values() for name in study.ratings["respondent"])
        return list(dict.fromkeys([*self.answered, *rated]))


def read_occasion(lab: Lab, title: str, window: Window | None = None) -> Occasion:
    """The lab's measurements within the window.

    A run counts before a day if it began before, and an answer where it was given; an answer reused
    from before the day is no measurement after it. Of imported data the day of the import counts,
    of ratings the day they were given.
    """
    window = window or Window()
    read = read_appraisals(lab)
    dated = read.administrations.join(
        administration_times(lab), on="administration", how="left", maintain_order="left"
    )
    inside = dated.filter(_inside(window))
    used = last_used_runs(inside).filter(~pl.col("counterpart"))
    all_responses = responses_frame(lab).join(
        response_times(lab), on="response", how="left", maintain_order="left"
    )
    written = all_responses.filter(_inside(window))
    asked = {*inside["run"].drop_nulls(), *written["run"].drop_nulls()}
    runs = runs_frame(lab).filter(
        pl.col("protocol").is_in(_MEASURING), pl.col("run").is_in(sorted(asked))
    )
    shown = selected_runs(runs)
    written = written.filter(pl.col("run").is_null() | pl.col("run").is_in(shown["run"].to_list()))
    moments = pl.concat([used["measured_at"], written["measured_at"]])
    everything = used["administration"].to_list()
    return Occasion(
        title=title,
        administrations=used.with_columns(situation=_situation_key()),
        scores=_scores(used, read.answers, read.scales),
        scales=read.scales,
        scale_versions=scale_versions(lab),
        set_versions=set_versions(lab),
        responses=written.with_columns(situation=_situation_key()),
        runs=shown,
        verdicts=tuple(self_reports(read, read_positions(lab), only=everything))
        if everything
        else (),
        studies={name: _rated(lab, study, window) for name, study in lab_studies(lab).items()},
        reused=_reused(dated, all_responses, window),
        first=moments.min(),  # type: ignore[arg-type]
        last=moments.max(),  # type: ignore[arg-type]
        judged=_judged(lab, window),
    )


def occasion_of_tables(frame: pl.DataFrame, title: str) -> Occasion:
    """An occasion with the scores or the replies of a table, and nothing else."""
    is_scores = "score" in frame.columns
    scores = _table_of(frame if is_scores else pl.DataFrame(), _SCORES, title)
    replies = _table_of(frame if not is_scores else pl.DataFrame(), _REPLIES, title)
    valid = pl.coalesce("outcome", pl.lit("valid"))
    return Occasion(
        title=title,
        administrations=scores.drop("subscale", "score"),
        scores=scores,
        scales={},
        scale_versions=scores.select("scale", "scale_row")
        .unique()
        .with_columns(version=pl.lit(1), fingerprint=pl.lit("table")),
        set_versions=pl.DataFrame(schema=_VERSIONS),
        responses=replies.with_columns(outcome=valid),
        runs=pl.DataFrame(schema=_RUNS),
        verdicts=(),
        studies={},
        reused=(),
        first=None,
        last=None,
    )


def _table_of(frame: pl.DataFrame, schema: dict[str, Any], where: str) -> pl.DataFrame:
    """The columns of the schema; optional ones empty where the table lacks them."""
    if not frame.columns:
        return pl.DataFrame(schema=schema)
    for name in _NEEDED.intersection(schema):
        column_named(frame, name, where=where)
    rows = frame.with_row_index("administration")
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in schema.items()
    ).with_columns(
        pl.lit(0).cast(pl.Int64).alias(name) for name in ("scale_row",) if name in schema
    )


def _judged(lab: Lab, window: Window) -> dict[str, JudgedRatings]:
    judged = {
        name: judged_between(lab, name, since=window.since, until=window.until)
        for name, study in lab_studies(lab).items()
        if study.dimensions and not is_running(study)
    }
    return {name: one for name, one in judged.items() if one is not None}


def without_repetition(before: Occasion, after: Occasion) -> tuple[Occasion, tuple[str, ...]]:
    """`after` without what `before` holds too, and whose answers that were.

    A lab that was copied and went on, or a file that both labs imported, would otherwise be
    compared with itself.
    """
    key = ["respondent", "scale", "phase", "situation", "subject", "order_index", "repeat"]
    same = _repeated(_with_answers(before), _with_answers(after), [*key, "given"], "answered_at")
    written = ["respondent", "situation", "sample", "text"]
    copied = _repeated(before.responses, after.responses, written, "answered_at")
    kept, replies = after.administrations.filter(~same), after.responses.filter(~copied)
    who = dict.fromkeys(
        [
            *after.administrations.filter(same)["respondent"],
            *after.responses.filter(copied)["respondent"],
        ]
    )
    studies = {
        name: _new_ratings(before.studies.get(name), one) for name, one in after.studies.items()
    }
    new = replace(
        after,
        administrations=kept,
        scores=after.scores.join(kept.select("administration"), on="administration", how="semi"),
        responses=replies,
        studies=studies,
    )
    return new, tuple(who)


def _inside(window: Window) -> pl.Expr:
    rule = window.holds("measured_at")
    if window.until is not None:
        rule &= pl.col("run_started_at").is_null() | (pl.col("run_started_at") < window.until)
    return rule


def _situation_key() -> pl.Expr:
    """A situation by its set, name and words: one that was reworded is another."""
    text = pl.col("situation_text").hash(seed=0).cast(pl.String)
    return pl.concat_str("set", "situation", text, separator="/")


def _scores(used: pl.DataFrame, answers: pl.DataFrame, scales: dict[int, Scale]) -> pl.DataFrame:
    valid = used.filter(pl.col("outcome") == "valid").with_columns(situation=_situation_key())
    rows = valid.select("administration", "scale_row")
    scores = score_frame(answers.join(rows, on="administration"), scales)
    return valid.join(scores, on="administration", maintain_order="left_right")


def _rated(lab: Lab, study: Study, window: Window) -> RatedStudy:
    ratings = dated_ratings(lab, study.name).with_columns(situation=_situation_key())
    if is_running(study):
        return RatedStudy(study, ratings.clear(), 0)
    if window.whole:
        return RatedStudy(study, ratings, 0)
    undated = ratings["rated_at"].null_count()
    return RatedStudy(study, ratings.filter(window.holds("rated_at")), undated)


def _reused(
    administrations: pl.DataFrame, responses: pl.DataFrame, window: Window
) -> tuple[str, ...]:
    if window.since is None:
        return ()
    old = (
        pl.col("taken_over")
        & (pl.col("measured_at") < window.since)
        & (pl.col("run_started_at") >= window.since)
    )
    who = [*administrations.filter(old)["respondent"], *responses.filter(old)["respondent"]]
    return tuple(dict.fromkeys(who))


def _with_answers(occasion: Occasion) -> pl.DataFrame:
    """Administrations with their scores as one text, to find those that are the same."""
    given = occasion.scores.group_by("administration").agg(
        pl.concat_str("subscale", pl.col("score").cast(pl.String), separator=":")
        .sort()
        .str.join(",")
        .alias("given")
    )
    return occasion.administrations.join(
        given, on="administration", how="left", maintain_order="left"
    )


def _repeated(before: pl.DataFrame, after: pl.DataFrame, key: list[str], moment: str) -> pl.Series:
    """Which rows of `after` are in `before`: the same in the key, and not known to be of two times.

    What was imported may lack its moment; then the same words are the same thing.
    """
    numbered = after.select(*key, moment).with_row_index("row")
    others = before.select(*key, pl.col(moment).alias("other"))
    met = numbered.join(others, on=key, nulls_equal=True)
    unknown = pl.col(moment).is_null() | pl.col("other").is_null()
    same = met.filter(unknown | (pl.col(moment) == pl.col("other")))
    return numbered["row"].is_in(same["row"].unique().implode())


def _new_ratings(before: RatedStudy | None, after: RatedStudy) -> RatedStudy:
    if before is None:
        return after
    key = ["rater", "respondent", "set", "situation", "sample", "dimension", "rating"]
    same = _repeated(before.ratings, after.ratings, key, "rated_at")
    return replace(after, ratings=after.ratings.filter(~same))
