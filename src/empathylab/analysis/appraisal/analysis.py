"""The lab's appraisals analysed: change from rest, alignment with people, what was invalid."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.scales import Scale
from empathylab.scales.score_frames import score_frame
from empathylab.stats.questionnaires.alignment import (
    AlignmentSummary,
    Distance,
    RankAgreement,
    alignment_summaries,
    distances,
    rank_agreements,
)
from empathylab.stats.questionnaires.appraisal import ScaleChange, at_levels, scale_changes
from empathylab.stats.questionnaires.coherence import FactorCoherence, factor_coherence
from empathylab.store import Lab
from empathylab.store.administrations import Appraisals, read_appraisals

_COUNTED = ["respondent", "scale", "level", "emotion", "factor"]


@dataclass(frozen=True, slots=True)
class AppraisalAnalysis:
    """What `empathylab analyze appraisal` shows."""

    changes: tuple[ScaleChange, ...]
    counterparts: tuple[ScaleChange, ...]
    """The same after situations as they would be had they gone well; overall and per emotion."""
    distances: tuple[Distance, ...]
    ranks: tuple[RankAgreement, ...]
    summaries: tuple[AlignmentSummary, ...]
    coherences: tuple[FactorCoherence, ...]
    invalid: pl.DataFrame
    """Administrations that could not be used: respondent, scale, phase, outcome, reason, count."""
    invalid_at_levels: pl.DataFrame
    """How many of those followed a situation, per respondent, scale, level, emotion, factor."""
    scores: pl.DataFrame
    """One row per score; the columns of `stats.appraisal.SCORES` and more."""
    scales: tuple[Scale, ...]
    """Those that were answered."""


def analyse_appraisals(
    lab: Lab, *, respondent: str | None = None, scale: str | None = None, alpha: float = 0.01
) -> AppraisalAnalysis:
    """The analysis of the lab's administrations, or of one respondent's or one scale's.

    Of a respondent's runs of a scale only the one used last counts; what was imported counts all.
    Positive counterparts stand apart: they are no part of the published procedure.
    """
    return analysis_of(read_appraisals(lab, respondent=respondent, scale=scale), alpha=alpha)


def analysis_of(read: Appraisals, *, alpha: float = 0.01) -> AppraisalAnalysis:
    """The analysis of administrations that have been read."""
    used = last_used_runs(read.administrations)
    asked = used.filter(~pl.col("counterpart"))
    gone_well = used.filter(pl.col("counterpart") | (pl.col("phase") == "default"))
    scores = _scores(asked, read)
    unusable = asked.filter(pl.col("outcome") != "valid")
    changes = scale_changes(scores, alpha=alpha)
    apart = distances(changes)
    return AppraisalAnalysis(
        changes=tuple(changes),
        counterparts=tuple(
            one
            for one in scale_changes(_scores(gone_well, read), alpha=alpha)
            if one.level != "factor"
        )
        if used["counterpart"].any()
        else (),
        distances=tuple(apart),
        ranks=tuple(rank_agreements(apart)),
        summaries=tuple(alignment_summaries(apart)),
        coherences=tuple(factor_coherence(scores)),
        invalid=unusable.group_by(
            "respondent", "scale", "phase", "outcome", "reason", maintain_order=True
        ).agg(pl.len().alias("count")),
        invalid_at_levels=at_levels(unusable.filter(pl.col("phase") == "evoked"))
        .group_by(_COUNTED)
        .agg(pl.len().alias("count")),
        scores=scores,
        scales=tuple(read.scales.values()),
    )


def narrowed(
    analysis: AppraisalAnalysis, respondent: str | None, scale: str | None
) -> AppraisalAnalysis:
    """What is of that respondent and scale; distances from people stay as people were read."""

    def fits(one: Any) -> bool:
        return respondent in (None, one.respondent) and scale in (None, one.scale)

    wanted = [("respondent", respondent), ("scale", scale)]
    given = {name: value for name, value in wanted if value is not None}
    parts = ("changes", "counterparts", "distances", "ranks", "summaries", "coherences")
    kept: dict[str, Any] = {
        name: tuple(one for one in getattr(analysis, name) if fits(one)) for name in parts
    }
    if given:
        kept["invalid"] = analysis.invalid.filter(**given)
    return dataclasses.replace(analysis, **kept)


def last_used_runs(asked: pl.DataFrame) -> pl.DataFrame:
    """Those of each respondent's run of a scale that was used last, and all imported ones."""
    newest = pl.col("run_used_at").max().over("respondent", "scale")
    return asked.filter(pl.col("run").is_null() | (pl.col("run_used_at") == newest))


def _scores(asked: pl.DataFrame, read: Appraisals) -> pl.DataFrame:
    valid = asked.filter(pl.col("outcome") == "valid")
    rows = valid.select("administration", "scale_row")
    found = score_frame(read.answers.join(rows, on="administration"), read.scales)
    return valid.join(found, on="administration", maintain_order="left_right")
