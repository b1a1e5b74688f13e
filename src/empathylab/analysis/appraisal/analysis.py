"""The appraisals of a lab, or a table of scores, analysed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import polars as pl

from empathylab.analysis.appraisal.exclusions import study_exclusions
from empathylab.analysis.appraisal.result import AppraisalExclusions, AppraisalResult
from empathylab.analysis.appraisal.self_reports import last_used_runs, self_reports
from empathylab.analysis.cache import cached
from empathylab.analysis.preregistration.deviations import preregistered_measurement
from empathylab.analysis.preregistration.record import Preregistered
from empathylab.errors import InputError, UnknownName
from empathylab.scales import find_scale
from empathylab.scales.score_frames import score_frame
from empathylab.stats.questionnaires.alignment import (
    alignment_summaries,
    distances,
    rank_agreements,
)
from empathylab.stats.questionnaires.appraisal import SCORES, at_levels, scale_changes
from empathylab.stats.questionnaires.coherence import factor_coherence
from empathylab.store import Lab
from empathylab.store.administrations import (
    Appraisals,
    measured_participants,
    read_appraisals,
    read_positions,
)
from empathylab.store.ratings import lab_studies
from empathylab.store.studies.results import HUMAN
from empathylab.study.admin.embargo import is_running
from empathylab.tables import column_named

_OPTIONAL = ("emotion", "factor", "situation", "subject", "order_index")
_BY_REASON = ("respondent", "scale", "phase", "outcome", "reason")
_BY_LEVEL = ("respondent", "scale", "level", "emotion", "factor")


def from_lab(
    lab: Lab,
    *,
    respondent: str | None = None,
    scale: str | None = None,
    alpha: float = 0.01,
    exclude: bool = True,
    study: str | None = None,
) -> AppraisalResult:
    """The analysis of the lab's administrations, or only of one respondent or one scale.

    If a respondent has several runs of a scale, the most recent counts. All imported
    administrations count. Positive counterparts are reported separately: they are not part of the
    published procedure. With `study`, only the people of this study are used. With `exclude`, a
    second analysis applies the exclusion rules of the studies. Raises InputError if no scale was
    answered after a situation.
    """
    read = read_appraisals(lab)
    if study is not None:
        read = _people_of(lab, read, study)
    whole = analyse_appraisals(lab, read, alpha=alpha, exclude=exclude)
    if not whole.changes:
        raise _nothing_answered(lab)
    return whole.only(respondent, _known_scale(whole, respondent, scale))


def from_table(scores: pl.DataFrame, *, alpha: float = 0.01) -> AppraisalResult:
    """The analysis of a table of scores: respondent, scale, subscale, phase, score.

    `phase` is `default` (baseline) or `evoked` (after a situation). Optional columns: `emotion`,
    `factor`, `situation`, `order_index` (the order of the items), and `subject`, which pairs the
    scores of a person.
    """
    for name in SCORES:
        if name not in _OPTIONAL:
            column_named(scores, name, where="scores")
    complete = scores.with_columns(
        pl.lit(None, dtype=SCORES[name]).alias(name)
        for name in _OPTIONAL
        if name not in scores.columns
    )
    typed = complete.with_columns(pl.col(name).cast(kind) for name, kind in SCORES.items())
    return _estimates(typed, alpha)


def analyse_appraisals(
    lab: Lab, read: Appraisals, *, alpha: float = 0.01, exclude: bool = False
) -> AppraisalResult:
    """The analysis of administrations that have been read; empty where there are none."""
    positions = read_positions(lab)

    def estimate() -> AppraisalResult:
        reports = tuple(self_reports(read, positions))
        return dataclasses.replace(estimate_appraisals(read, alpha), self_reports=reports)

    result = cached(lab, "appraisal", [read, positions, alpha], estimate)
    excluded = _without_excluded(lab, read, alpha) if exclude else None
    return dataclasses.replace(
        result, exclusions=excluded, preregistrations=_preregistrations(lab, read, excluded)
    )


def _preregistrations(
    lab: Lab, read: Appraisals, excluded: AppraisalExclusions | None
) -> dict[str, Preregistered]:
    """Of the studies whose people are analysed."""
    applied = {study.study: study.rules for study in (excluded.studies if excluded else ())}
    subjects = read.administrations["subject"].drop_nulls().unique()
    measured = measured_participants(lab).filter(pl.col("subject").is_in(subjects.implode()))
    known = lab_studies(lab)
    registrations = {}
    for (name, version), people in measured.group_by("study", "version", maintain_order=True):
        study = f"{name}@{version}" if f"{name}@{version}" in known else str(name)
        registration = preregistered_measurement(
            lab, study, people=people["rater"].n_unique(), rules=applied.get(study, ())
        )
        if registration is not None:
            registrations[study] = registration
    return registrations


def estimate_appraisals(read: Appraisals, alpha: float = 0.01) -> AppraisalResult:
    """The estimates alone, without the validity of self-reports and exclusions."""
    used = last_used_runs(read.administrations)
    asked = used.filter(~pl.col("counterpart"))
    positive = used.filter(pl.col("counterpart") | (pl.col("phase") == "default"))
    unusable = asked.filter(pl.col("outcome") != "valid")
    counterparts = []
    if used["counterpart"].any():
        changes = scale_changes(_scores(positive, read), alpha=alpha)
        counterparts = [change for change in changes if change.level != "factor"]
    return dataclasses.replace(
        _estimates(_scores(asked, read), alpha),
        counterparts=tuple(counterparts),
        invalid=unusable.group_by(_BY_REASON, maintain_order=True).agg(count=pl.len()),
        invalid_at_levels=at_levels(unusable.filter(phase="evoked"))
        .group_by(_BY_LEVEL)
        .agg(count=pl.len()),
        scales=tuple(read.scales.values()),
    )


def _estimates(scores: pl.DataFrame, alpha: float) -> AppraisalResult:
    changes = scale_changes(scores, alpha=alpha)
    from_people = distances(changes)
    return AppraisalResult(
        changes=tuple(changes),
        counterparts=(),
        distances=tuple(from_people),
        ranks=tuple(rank_agreements(from_people)),
        summaries=tuple(alignment_summaries(from_people)),
        coherences=tuple(factor_coherence(scores)),
        invalid=_no_counts(_BY_REASON),
        invalid_at_levels=_no_counts(_BY_LEVEL),
        scores=scores,
        scales=(),
        alpha=alpha,
    )


def _no_counts(columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "count": pl.UInt32})


def _without_excluded(lab: Lab, read: Appraisals, alpha: float) -> AppraisalExclusions | None:
    """The analysis without excluded participants; None where no study has exclusion rules."""
    studies = study_exclusions(lab)
    if not studies:
        return None
    excluded = [subject for study in studies for subject in study.subjects]
    asked = read.administrations
    kept = asked.filter(~pl.col("subject").is_in(excluded).fill_null(value=False))
    changed = kept.height < asked.height and kept.filter(respondent=HUMAN).height > 0
    repeated = None
    if changed:
        repeated = estimate_appraisals(dataclasses.replace(read, administrations=kept), alpha)
    return AppraisalExclusions(studies, repeated)


def _scores(asked: pl.DataFrame, read: Appraisals) -> pl.DataFrame:
    valid = asked.filter(pl.col("outcome") == "valid")
    rows = valid.select("administration", "scale_row")
    scores = score_frame(read.answers.join(rows, on="administration"), read.scales)
    return valid.join(scores, on="administration", maintain_order="left_right")


def _people_of(lab: Lab, read: Appraisals, study: str) -> Appraisals:
    """The same with the people of one study only; models stay."""
    measured = measured_participants(lab).with_columns(
        versioned=pl.col("study") + "@" + pl.col("version").cast(pl.String)
    )
    names = sorted({*measured["study"], *measured["versioned"]})
    if study not in names:
        raise UnknownName("study that measured people", study, names)
    chosen = measured.filter((pl.col("study") == study) | (pl.col("versioned") == study))
    theirs = pl.col("subject").is_in(chosen["subject"].to_list()).fill_null(value=False)
    kept = read.administrations.filter((pl.col("kind") != HUMAN) | theirs)
    return dataclasses.replace(read, administrations=kept)


def _nothing_answered(lab: Lab) -> InputError:
    running = [study.name for study in lab_studies(lab).values() if is_running(study)]
    closing = f", or close the study first ({', '.join(running)})" if running else ""
    return InputError(
        "the lab has no scale that was answered after a situation",
        remedy="Run `empathylab appraise MODEL` or `empathylab data import emotionbench PATH`"
        f"{closing}.",
    )


def _known_scale(result: AppraisalResult, respondent: str | None, scale: str | None) -> str | None:
    """The scale's id; raises UnknownName unless both are among what was analysed."""
    respondents = {change.respondent for change in result.changes}
    if respondent is not None and respondent not in respondents:
        raise UnknownName("respondent", respondent, respondents)
    if scale is None:
        return None
    scales = {change.scale for change in result.changes}
    known = find_scale(scale, result.scales)
    if known is None or known.id not in scales:
        raise UnknownName("scale", scale, scales)
    return known.id
