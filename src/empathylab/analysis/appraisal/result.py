"""The result of the appraisal analysis: its rows, conclusions and caveats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.appraisal.caveats import (
    doubts,
    few_scores,
    no_interval,
    order_caveat,
    order_caveats,
)
from empathylab.analysis.appraisal.exclusions import StudyExclusions, exclusion_sentences
from empathylab.analysis.appraisal.self_reports import SelfReport
from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.preregistration.record import Preregistered
from empathylab.analysis.ratings.exclusions import rule_text
from empathylab.analysis.results import (
    Conclusion,
    ModelChoice,
    Result,
    row_frames,
)
from empathylab.analysis.text.numbers import number, signed
from empathylab.scales import Scale
from empathylab.situations.sources.emotionbench import factor_label, published_factors
from empathylab.stats.intervals import Interval
from empathylab.stats.questionnaires.alignment import AlignmentSummary, Distance, RankAgreement
from empathylab.stats.questionnaires.appraisal import ScaleChange, change_interval
from empathylab.stats.questionnaires.coherence import FactorCoherence
from empathylab.stats.questionnaires.reliability import Reliability

PEOPLE = "human"
_FIRST = ("respondent", "scale", "subscale", "level", "label", "n", "invalid")
_SUMMARY = ("distance", "low", "high", "factors", "subscales")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AppraisalExclusions:
    """The analysis repeated without the participants that the studies' own rules exclude."""

    studies: tuple[StudyExclusions, ...]
    result: AppraisalResult | None
    """None where no person is excluded, or every one."""


@dataclass(frozen=True, slots=True)
class AppraisalResult(Result):
    """Changes from baseline, distances from people, and which answers could not be used."""

    main_table: ClassVar[str] = "changes"
    changes: tuple[ScaleChange, ...]
    counterparts: tuple[ScaleChange, ...]
    """Changes after the positive counterparts of situations; overall and per emotion."""
    distances: tuple[Distance, ...]
    ranks: tuple[RankAgreement, ...]
    summaries: tuple[AlignmentSummary, ...]
    coherences: tuple[FactorCoherence, ...]
    invalid: pl.DataFrame
    """Administrations that could not be used: respondent, scale, phase, outcome, reason, count."""
    invalid_at_levels: pl.DataFrame
    """How many of those followed a situation, per respondent, scale, level, emotion, factor."""
    scores: pl.DataFrame
    """One row per score; the columns of `stats.questionnaires.appraisal.SCORES` and more."""
    scales: tuple[Scale, ...]
    """Those that were answered; empty for a table of scores."""
    alpha: float = 0.01
    self_reports: tuple[SelfReport, ...] = ()
    exclusions: AppraisalExclusions | None = None
    preregistrations: Mapping[str, Preregistered] = field(default_factory=dict, hash=False)
    """By study that measured people; those without one are not there."""

    @property
    def design(self) -> Mapping[str, Any]:
        """Who answered which scale, how often, and whether scores are paired by person."""
        evoked = self.scores.filter(phase="evoked")
        return {
            "respondents": list(dict.fromkeys(change.respondent for change in self.changes)),
            "scales": list(dict.fromkeys(change.scale for change in self.changes)),
            "situations": evoked["situation"].n_unique(),
            "item_orders": {
                change.respondent: {
                    "baseline": change.baseline_orders,
                    "shared": change.shared_orders,
                }
                for change in self.changes
                if change.level == "overall" and change.baseline_orders
            },
            "baseline_scores": self.scores.height - evoked.height,
            "evoked_scores": evoked.height,
            "paired": [
                str(name)
                for name in self.scores.filter(pl.col("subject").is_not_null())[
                    "respondent"
                ].unique(maintain_order=True)
            ],
        }

    @property
    def model(self) -> ModelChoice | None:
        """The published test, and the interval that allows for repeated situations."""
        if not self.changes:
            return None
        return ModelChoice(
            name="t test of scores after situations against baseline",
            reason=(
                f"Student's t test, or Welch's where an F test at α = {self.alpha:g} finds "
                "unequal variances; paired by person for people. Intervals treat the "
                "administrations of a situation as one cluster, and item orders as a random "
                "sample. Orders that both occasions share are compared with each other."
            ),
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The overall change of each respondent and subscale, then the distances from people."""
        doubted = {
            (report.respondent, report.scale): sentence
            for report in self.self_reports
            for sentence in doubts([report])
        }
        overall = [change for change in self.changes if change.level == "overall"]
        changes = [
            _change_conclusion(change, doubted.get((change.respondent, change.scale)))
            for change in overall
            if not math.isnan(change.delta)
        ]
        return (*changes, *(distance_conclusion(summary) for summary in self.summaries))

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about self-reports, item orders, few situations, and who was excluded."""
        caveats = [*doubts(self.self_reports), *order_caveats(self.changes)]
        caveats += few_scores(self.changes)
        if self.exclusions is not None:
            caveats += exclusion_sentences(self.exclusions.studies)
        return (*caveats, *self.deviations)

    @property
    def deviations(self) -> list[str]:
        """What studies did differently from what was preregistered."""
        return [
            f"Deviation from the preregistration of {study}: {sentence}"
            for study, registration in self.preregistrations.items()
            for sentence in registration.deviations
        ]

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Changes, counterparts, summaries of the distance from people, and invalid answers."""
        rows = {
            "changes": change_rows(self),
            "counterparts": counterpart_rows(self),
            "distances": json_value(self.summaries),
        }
        return row_frames(rows) | {"invalid": self.invalid}

    def to_dict(self) -> Row:
        """What `analyze appraisal --json` prints."""
        return {
            "alpha": self.alpha,
            "rows": change_rows(self),
            "counterparts": counterpart_rows(self),
            "alignment": alignment_rows(self),
            "validity": validity_rows(self.self_reports),
            "invalid": self.invalid.to_dicts(),
            "exclusions": _exclusions_dict(self.exclusions),
            **picked(self, "preregistrations conclusions caveats"),
        }

    def only(self, respondent: str | None = None, scale: str | None = None) -> AppraisalResult:
        """The part of one respondent or scale; distances from people stay as computed."""

        def fits(part: Any) -> bool:
            return respondent in (None, part.respondent) and scale in (None, part.scale)

        names = ("changes", "counterparts", "distances", "ranks", "summaries", "coherences")
        kept: Row = {
            name: tuple(part for part in getattr(self, name) if fits(part)) for name in names
        }
        columns = {"respondent": respondent, "scale": scale}
        for column, value in columns.items():
            if value is not None:
                kept["invalid"] = kept.get("invalid", self.invalid).filter(pl.col(column) == value)
        pairs = {(change.respondent, change.scale) for change in kept["changes"]}
        kept["self_reports"] = tuple(
            report for report in self.self_reports if (report.respondent, report.scale) in pairs
        )
        if self.exclusions is not None and self.exclusions.result is not None:
            narrowed = self.exclusions.result.only(respondent, scale)
            kept["exclusions"] = dataclasses.replace(self.exclusions, result=narrowed)
        return dataclasses.replace(self, **kept)


def interval_of(change: ScaleChange) -> Interval | None:
    """The 95% interval of a change, clustered by situation and item order; None without one."""
    return change_interval(change)


def baselines(scores: pl.DataFrame) -> pl.DataFrame:
    """Mean and standard deviation at baseline of each respondent; `scores` are of one subscale."""
    return (
        scores.filter(pl.col("phase") == "default")
        .group_by("respondent", maintain_order=True)
        .agg(pl.col("score").mean().alias("mean"), pl.col("score").std().fill_null(0).alias("sd"))
    )


def place_label(level: str, emotion: str | None, factor: str | None) -> str:
    """What a row is about, as the published tables call it: Overall, Anger, Anger-0.

    A factor that EmotionBench does not have is called by its name.
    """
    if level == "factor" and factor is not None:
        return factor_label(published_factors(), emotion or "", factor)
    return emotion.capitalize() if emotion else "Overall"


def change_rows(result: AppraisalResult) -> list[Row]:
    """One row per respondent, scale, subscale, level and label."""
    evoked_invalid = {
        (row["respondent"], row["scale"], row["level"], row["emotion"], row["factor"]): row["count"]
        for row in result.invalid_at_levels.iter_rows(named=True)
    }
    baseline_invalid: dict[tuple[str, str], int] = {}
    for row in result.invalid.filter(phase="default").iter_rows(named=True):
        pair = (row["respondent"], row["scale"])
        baseline_invalid[pair] = baseline_invalid.get(pair, 0) + row["count"]
    rows = []
    for change in result.changes:
        key = (change.respondent, change.scale, change.level, change.emotion, change.factor)
        row = _labelled(change)
        row["invalid"] = evoked_invalid.get(key, 0)
        row["default_invalid"] = baseline_invalid.get(key[:2], 0)
        rows.append({name: row.pop(name) for name in _FIRST} | row)
    return rows


def counterpart_rows(result: AppraisalResult) -> list[Row]:
    """One row per change after the positive counterparts of situations."""
    return [_labelled(change) for change in result.counterparts]


def alignment_rows(result: AppraisalResult) -> list[Row]:
    """One row per respondent and scale: the summary, rank agreement, coherence, distances.

    People have a row too, for the coherence of their factors; their distance is null.
    """
    summaries = {(summary.respondent, summary.scale): summary for summary in result.summaries}
    parts: dict[str, Sequence[Any]] = {
        "rank_agreement": result.ranks,
        "factor_coherence": result.coherences,
        "distances": result.distances,
    }
    rows = []
    for pair in dict.fromkeys((change.respondent, change.scale) for change in result.changes):
        summary = summaries.get(pair)
        lists = {
            name: [
                _without_pair(entry) for entry in part if (entry.respondent, entry.scale) == pair
            ]
            for name, part in parts.items()
        }
        for row in lists["distances"]:
            row["label"] = place_label(row["level"], row["emotion"], row["factor"])
        figures = _without_pair(summary) if summary else dict.fromkeys(_SUMMARY)
        rows.append({"respondent": pair[0], "scale": pair[1]} | figures | lists)
    return rows


def validity_rows(reports: Iterable[SelfReport]) -> list[Row]:
    """One row per respondent and scale: the verdict, its reasons and its figures."""
    return [
        {"respondent": report.respondent, "scale": report.scale}
        | json_value(report.validity)
        | {name: _reliabilities(getattr(report.validity, name)) for name in ("alpha", "omega")}
        | {"patterns": dict(report.patterns)}
        for report in reports
    ]


def _reliabilities(reliabilities: Mapping[str, Reliability]) -> Row:
    """By subscale; the notes as one text."""
    rows: Row = {}
    for name, one in reliabilities.items():
        row = json_value(one)
        row["note"] = "; ".join(row.pop("notes"))
        rows[name] = row
    return rows


def _labelled(change: ScaleChange) -> Row:
    row: Row = json_value(change)
    return row | {"label": place_label(change.level, change.emotion, change.factor)}


def _without_pair(entry: Any) -> Row:
    row: Row = json_value(entry)
    return {name: value for name, value in row.items() if name not in ("respondent", "scale")}


def _exclusions_dict(exclusions: AppraisalExclusions | None) -> Row | None:
    if exclusions is None:
        return None
    result = exclusions.result
    rows = None
    if result is not None:
        rows = [row for row in change_rows(result) if row["respondent"] == PEOPLE]
    return {
        "studies": [
            {
                "study": study.study,
                "rules": list(map(rule_text, study.rules)),
                "rules_not_applied": list(study.rules_not_applied),
                "people": study.people,
                "left_out": [
                    {"rater": person.rater, "reasons": list(map(rule_text, person.reasons))}
                    for person in study.excluded
                ],
            }
            for study in exclusions.studies
        ],
        "rows": rows,
        "alignment": None if result is None else alignment_rows(result),
    }


def _change_conclusion(change: ScaleChange, doubt: str | None) -> Conclusion:
    interval = interval_of(change)
    who = "People" if change.respondent == PEOPLE else change.respondent
    scale = change.scale.upper()
    subscale = "" if change.subscale == "total" else f", {change.subscale}"
    spread = (
        f"95% CI {signed(interval.low)} to {signed(interval.high)}"
        if interval
        else f"no interval: {no_interval(change)}"
    )
    differs = interval is not None and not interval.low <= 0 <= interval.high
    untested = interval is None and change.cluster_delta != 0
    caveats = [text for text in (doubt, order_caveat(change)) if text]
    return Conclusion(
        kind="different" if differs else "inconclusive" if interval or untested else "descriptive",
        sentence=f"{who}, {scale}{subscale}: {signed(change.cluster_delta)} points after "
        f"situations, compared with baseline ({spread}).",
        subject=change.respondent,
        reference="baseline",
        dimension=f"{change.scale} {change.subscale}",
        estimate=change.cluster_delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        unit="points",
        p=change.cluster_p,
        n=change.n,
        model="mean difference, clustered by situation and item order"
        if change.baseline_orders > 1
        else "mean difference, clustered by situation",
        basis=f"{number(change.n, 0)} scores after {number(change.clusters, 0)} situations, "
        f"{number(change.default_n, 0)} at baseline",
        caveats=tuple(caveats),
    )


def distance_conclusion(summary: AlignmentSummary) -> Conclusion:
    return Conclusion(
        kind="descriptive",
        sentence=distance_sentence(summary),
        subject=summary.respondent,
        reference=PEOPLE,
        dimension=summary.scale,
        estimate=summary.distance,
        low=summary.low,
        high=summary.high,
        basis=f"{summary.factors} factors, {summary.subscales} subscales",
    )


def distance_sentence(summary: AlignmentSummary) -> str:
    """How far a respondent's changes are from people's."""
    return (
        f"{summary.respondent}, {summary.scale}: {number(summary.distance, 2)} from people "
        f"({number(summary.low, 2)} to {number(summary.high, 2)}; 1 = the SD of people's changes)"
    )
