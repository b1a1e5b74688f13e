"""What the results rest on: how much of it, under which licence, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.appraisal.result import AppraisalResult
from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.preferences import PreferencesResult
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.recipients import RecipientsResult
from empathylab.analysis.text.apa import counted
from empathylab.store import Lab
from empathylab.store.provenance import imported_files, used_situation_sets


@dataclass(frozen=True, slots=True)
class DataSource:
    """One thing that results rest on."""

    kind: str
    """`situations`, `scale`, `study`, `recipients`, `conversations` or `file`."""
    name: str
    count: str
    left_out: str
    """What of it no result counts, and why; empty where all of it counts."""
    licence: str
    """Empty where none is recorded."""


def data_sources(
    lab: Lab,
    appraisal: AppraisalResult,
    ratings: Sequence[RatingsResult],
    preferences: Sequence[PreferencesResult],
    recipients: Sequence[RecipientsResult],
    conversations: ConversationsAnalysis | None,
) -> tuple[DataSource, ...]:
    """All of them, in the order of the report."""
    return (
        *(_study(result) for result in ratings),
        *(_preferences(result) for result in preferences),
        *(_recipients(result) for result in recipients),
        *(() if conversations is None else (_conversations(conversations),)),
        *_scales(appraisal),
        *_sets(lab),
        *_files(lab),
    )


def _study(result: RatingsResult) -> DataSource:
    left_out = []
    if result.incomplete_rows:
        left_out.append(counted(result.incomplete_rows, "incomplete row"))
    if result.exclusions is not None:
        raters = len(result.exclusions.exclusions.excluded)
        if raters:
            left_out.append(
                f"{counted(raters, 'rater')} excluded by the study's rules, in a second analysis"
            )
    ratings = counted(result.ratings.height, "rating")
    raters = result.ratings["rater"].n_unique()
    replies = result.ratings["response"].n_unique() if "response" in result.ratings.columns else 0
    of = f" of {counted(replies, 'reply', 'replies')}" if replies else ""
    count = f"{ratings}{of} by {counted(raters, 'rater')}"
    return DataSource("study", result.study.title, count, "; ".join(left_out), "")


def _preferences(result: PreferencesResult) -> DataSource:
    dropped = result.fitted.dropped
    left_out = counted(dropped, "incomplete comparison") if dropped else ""
    return DataSource("study", result.title, result.basis, left_out, "")


def _recipients(result: RecipientsResult) -> DataSource:
    design = result.design
    people = counted(design["participants"], "participant")
    replies = counted(design["replies"], "reply", "replies")
    dropped = {name: count for name, count in design["dropped"].items() if count}
    left_out = "; ".join(
        f"{counted(count, 'row')} without {name}" for name, count in dropped.items()
    )
    return DataSource("recipients", result.title, f"{people}, {replies}", left_out, "")


def _conversations(result: ConversationsAnalysis) -> DataSource:
    whole, scored = result.design["conversations"], result.design["scored"]
    left_out = (
        f"{counted(whole - scored, 'conversation')} without a score" if whole > scored else ""
    )
    return DataSource(
        "conversations", "All conversations", counted(whole, "conversation"), left_out, ""
    )


def _scales(result: AppraisalResult) -> Iterator[DataSource]:
    answered = result.scores
    for scale in result.scales:
        own = answered.filter(scale=scale.id)
        if own.is_empty():
            continue
        given = own["administration"].n_unique() if "administration" in own.columns else own.height
        invalid = int(result.invalid.filter(scale=scale.id)["count"].sum() or 0)
        left_out = f"{counted(invalid, 'administration')} that could not be used" if invalid else ""
        respondents = own["respondent"].n_unique()
        count = f"{counted(given, 'administration')} to {counted(respondents, 'respondent')}"
        name = f"{scale.id.upper()}: {scale.name}"
        yield DataSource("scale", name, count, left_out, scale.licence)


def _sets(lab: Lab) -> Iterator[DataSource]:
    for row in used_situation_sets(lab).iter_rows(named=True):
        name = f"{row['set']}, version {row['version']}"
        yield DataSource(
            "situations", name, counted(row["situations"], "situation"), "", row["licence"]
        )


def _files(lab: Lab) -> Iterator[DataSource]:
    day = pl.col("added_at").dt.strftime("%Y-%m-%d")
    licence = pl.col("summary").str.json_path_match("$.licence")
    files = imported_files(lab).with_columns(day=day, licence=licence)
    for (kind,), part in files.group_by("kind", maintain_order=True):
        names = part["source"].to_list()
        shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        count = f"{counted(len(names), 'file')}, imported on {part['day'][-1]}"
        licences = dict.fromkeys(part["licence"].drop_nulls())
        yield DataSource("file", f"{kind}: {shown}", count, "", ", ".join(licences))
