"""The first page: who was measured, how, and the main results, each respondent in one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from empathylab.analysis.appraisal.result import PEOPLE, interval_of
from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.preferences import PreferencesResult
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.recipients import RecipientsResult
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number, signed, with_ends
from empathylab.stats.arms import Estimate
from empathylab.stats.questionnaires.appraisal import ScaleChange

Row = dict[str, str]
_MOST_NAMED = 8
_MOST_CHANGES = 3
_MOST_RATED = 4
_NOTHING = "–"
_RATED = "Differences in percentage points, with 95% intervals clustered by {}."
_CHOSEN = "Estimates with 95% intervals clustered by rater and situation; counts as they were made."
_MEANS = "Means and their differences, with 95% intervals clustered by {}."
_ASKED = (
    "Changes from baseline in points of the scale, with 95% intervals clustered by situation and "
    "item order. A distance of 1 is the standard deviation of people's changes."
)


@dataclass(frozen=True, slots=True)
class OverviewTable:
    """A small table of the first page."""

    title: str
    note: str
    rows: tuple[Row, ...]


def measured_sentences(data: LabOverview) -> list[tuple[str, str]]:
    """Who was measured and how: a word and a sentence each; nothing for what was not done."""
    sentences = [("Who", _who(data))] if data.respondents else []
    if data.appraisal.changes:
        sentences.append(("Questionnaires", _questionnaires(data)))
    if data.situations_replied:
        replies = sum(length.asked for length in data.lengths)
        situations = number(data.situations_replied, 0)
        sentences.append(("Replies", f"{number(replies, 0)} to {situations} situations."))
    sentences += [("Ratings", _rated(rating)) for rating in data.ratings]
    sentences += [("Comparisons", _compared(result)) for result in data.preferences]
    sentences += [("Recipients", _helped(result)) for result in data.recipients]
    sentences += [("Scores", _scored(scores)) for scores in data.scores if scores.respondents]
    if data.conversations is not None:
        sentences.append(("Conversations", _talked(data.conversations)))
    return sentences


def _who(data: LabOverview) -> str:
    models = [name for name in data.respondents if name != PEOPLE]
    named = ", ".join(models[:_MOST_NAMED])
    more = len(models) - _MOST_NAMED
    if more > 0:
        named += f" and {more} more"
    people = " and people" if PEOPLE in data.respondents else ""
    if not models:
        return "People."
    if len(models) == 1:
        return f"{named}{people}."
    return f"{len(models)} respondents{people}: {named}."


def _questionnaires(data: LabOverview) -> str:
    scales = list(dict.fromkeys(change.scale.upper() for change in data.appraisal.changes))
    situations = data.appraisal.scores.filter(phase="evoked")["situation"].n_unique()
    return (
        f"{', '.join(scales)}, at baseline and after imagining {number(situations, 0)} situations."
    )


def _rated(study: RatingsResult) -> str:
    return (
        f"{number(study.ratings.height, 0)} by {number(study.raters.height, 0)} people, "
        f"{study.study.design} subjects ({study.study.title})."
    )


def _compared(result: PreferencesResult) -> str:
    people = counted(result.raters, "person", "people")
    return f"{number(result.fitted.n, 0)} of two replies, by {people} ({result.title})."


def _helped(result: RecipientsResult) -> str:
    design = result.design
    return (
        f"{counted(design['participants'], 'person', 'people')} rated "
        f"{counted(design['replies'], 'reply', 'replies')} to them ({result.title})."
    )


def _scored(scores: ScoresResult) -> str:
    replies = sum(respondent.n for respondent in scores.respondents)
    return f"{counted(replies, 'reply', 'replies')}, scored by {scores.judge}."


def _talked(talks: ConversationsAnalysis) -> str:
    conversations = talks.conversations.height
    respondents = len({respondent.respondent for respondent in talks.respondents})
    return f"{number(conversations, 0)} with {counted(respondents, 'respondent')}."


def overview_tables(data: LabOverview) -> list[OverviewTable]:
    """The main results with their 95% intervals, a row per respondent, people first.

    One table for ratings of the replies, one for questionnaires; none where nothing was measured.
    """
    rated = [
        _table(
            f"How people rated the replies{_of(study, data)}",
            _rated_note(study),
            _ratings(study),
            data,
        )
        for study in data.ratings
    ]
    preferred = [
        _table(
            result.proportions_title + (f": {result.study}" if len(data.preferences) > 1 else ""),
            _CHOSEN,
            _chosen(result),
            data,
        )
        for result in data.preferences
    ]
    asked = _changes(data) | _distances(data) | _verdicts(data)
    tables = [
        *rated,
        *preferred,
        _table("Questionnaires", _ASKED, asked, data),
        _table("Replies", "", _lengths(data), data),
    ]
    return [item for item in tables if item.rows]


def _of(study: RatingsResult, data: LabOverview) -> str:
    return f": {study.study.name}" if len(data.ratings) > 1 else ""


def _table(title: str, note: str, columns: dict[str, Row], data: LabOverview) -> OverviewTable:
    """Only respondents and columns with results."""
    names = sorted(data.respondents, key=lambda name: name != PEOPLE)
    kept = {head: cells for head, cells in columns.items() if any(n in cells for n in names)}
    rows = [
        {"respondent": name} | {head: cells.get(name, _NOTHING) for head, cells in kept.items()}
        for name in names
        if any(name in cells for cells in kept.values())
    ]
    return OverviewTable(title, note, tuple(rows))


def _changes(data: LabOverview) -> dict[str, Row]:
    """Of PANAS, which most are measured with; else of the scale that was answered first."""
    overall = [change for change in data.appraisal.changes if change.level == "overall"]
    scales = list(dict.fromkeys(item.scale for item in overall))
    shown = "panas" if "panas" in scales else scales[0] if scales else ""
    rows: dict[str, Row] = {}
    for item in overall:
        head = f"{item.scale.upper()} {item.subscale}, change"
        if item.scale == shown and (head in rows or len(rows) < _MOST_CHANGES):
            rows.setdefault(head, {})[item.respondent] = _change(item)
    return rows


def _change(change: ScaleChange) -> str:
    if math.isnan(change.delta):
        return _NOTHING
    return with_ends(change.cluster_delta, *(interval_of(change) or (None, None)), written=signed)


def _distances(data: LabOverview) -> dict[str, Row]:
    return {
        "distance from people": {
            summary.respondent: with_ends(summary.distance, summary.low, summary.high, digits=2)
            for summary in sorted(data.appraisal.summaries, key=lambda item: item.scale == "panas")
        }
    }


def _verdicts(data: LabOverview) -> dict[str, Row]:
    """The worst verdict on each respondent's scales."""
    order = ("meaningless", "doubtful", "usable")
    worst: Row = {}
    for report in data.self_reports:
        known = worst.get(report.respondent, "usable")
        worst[report.respondent] = min(known, report.validity.verdict, key=order.index)
    return {"self-report": worst}


def _rated_note(study: RatingsResult) -> str:
    by_mean = set(study.scales.by_mean) >= set(study.comparison.scales)
    return (_MEANS if by_mean else _RATED).format(study.recognised.clusters)


def _ratings(study: RatingsResult) -> dict[str, Row]:
    """The proportion of good ratings, or the mean, of each arm's author."""
    writers = _writers(study)
    rows: dict[str, Row] = {}
    # Good ratings are counted, or means taken, as the scale asks for.
    named = study.dimensions[:_MOST_RATED]
    for dimension in named:
        if dimension in study.scales.by_mean or dimension not in study.comparison.scales:
            continue
        of = f" ({dimension})" if len(study.dimensions) > 1 else ""
        percentages = rows.setdefault(f"rated good{of}", {})
        gaps = rows.setdefault(f"difference from {name_of(study.reference)}, points{of}", {})
        for count in study.comparison.counts:
            if count.kind == "all" and count.dimension == dimension and count.n:
                cell = f"{number(100 * count.good / count.n)}% of {number(count.n, 0)}"
                percentages |= dict.fromkeys(writers.get(count.arm, ()), cell)
        for test in study.comparison.tests:
            if test.kind == "all" and test.dimension == dimension and test.n and test.n_reference:
                cell = _points(test.clustered.difference)
                gaps |= dict.fromkeys(writers.get(test.arm, ()), cell)
    for two in (item for item in study.means if item.dimension in named):
        if two.dimension in study.comparison.scales and two.dimension not in study.scales.by_mean:
            continue
        cells = rows.setdefault(f"mean {two.dimension}", {})
        gaps = rows.setdefault(f"{two.dimension}, difference from {name_of(two.reference)}", {})
        for mean in two.means:
            if mean.kind == "all":
                cell = with_ends(*mean.mean, digits=2)
                cells |= dict.fromkeys(writers.get(mean.arm, ()), cell)
        for gap in two.differences:
            if gap.kind == "all":
                cell = with_ends(*gap.difference, digits=2, written=signed)
                gaps |= dict.fromkeys(writers.get(gap.arm, ()), cell)
    return {head: cells for head, cells in rows.items() if cells}


def _points(estimate: Estimate) -> str:
    return with_ends(*(100 * end for end in estimate), written=signed)


def _writers(study: RatingsResult) -> dict[str, Sequence[str]]:
    """The author of each arm's replies; arms of several respondents are skipped."""
    pairs = study.ratings.select("arm", "respondent").unique(maintain_order=True).rows()
    writers: dict[str, list[str]] = {}
    for arm, respondent in pairs:
        writers.setdefault(arm, []).append(respondent)
    return {arm: names for arm, names in writers.items() if len(names) == 1}


def _chosen(result: PreferencesResult) -> dict[str, Row]:
    """How often the arm of each author is chosen; authors of several arms are skipped."""
    arms: dict[str, list[str]] = {}
    for strength in result.fitted.strengths:
        name = strength.respondent
        arms.setdefault(result.authors.get(name, name), []).append(name)
    alone = {names[0]: author for author, names in arms.items() if len(names) == 1}
    rows: dict[str, Row] = {"chosen, %": {}, "preferred": {}, "not preferred": {}, "ties": {}}
    for strength in result.fitted.strengths:
        if author := alone.get(strength.respondent):
            chosen = result.proportions[strength.respondent]
            rows["chosen, %"][author] = with_ends(*(100 * end for end in chosen), digits=0)
            rows["preferred"][author] = number(strength.wins, 0)
            rows["not preferred"][author] = number(strength.losses, 0)
            rows["ties"][author] = number(strength.ties, 0)
    return rows


def _lengths(data: LabOverview) -> dict[str, Row]:
    return {
        "usable replies": {
            length.respondent: f"{number(length.replies, 0)} of {number(length.asked, 0)}"
            for length in data.lengths
        },
        "words per reply": {
            length.respondent: number(length.mean_words)
            for length in data.lengths
            if length.mean_words
        },
    }
