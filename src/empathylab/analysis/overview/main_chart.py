"""The chart of the first screen: the estimates behind the first conclusion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from empathylab.analysis.appraisal.result import PEOPLE, interval_of
from empathylab.analysis.conversations.prose import title_with_simulator
from empathylab.analysis.json_values import finite
from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.headlines.scales import main_changes, subscale_names
from empathylab.analysis.overview.levels import rating_levels
from empathylab.analysis.recipients.prose import author, cell_name

_MOST_ROWS = 10
_MOST_PANELS = 4
_MOST_IN_PANELS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MainRow:
    """One estimate of the main chart."""

    respondent: str
    panel: str
    """What was measured, where the chart shows several things: a dimension or subscale."""
    estimate: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MainChart:
    """The estimates behind the first conclusion."""

    title: str
    rows: tuple[MainRow, ...]
    lowest: float | None
    highest: float | None
    """The ends of the scale; None where it has none."""
    percent: bool = False
    zero: bool = False
    """Whether the estimates are changes, so that 0 means no change."""
    guide: float | None = None
    """A value to compare the estimates with."""
    omitted: int = 0
    """Respondents between the highest and the lowest that are not shown."""
    coloured: bool = True
    """Whether the rows are respondents, each of which has its colour."""
    interval: str = "95% CI"
    """What the line around an estimate is; empty where there is none."""

    @property
    def compact(self) -> bool:
        """Whether panels below each other would be too tall for a phone."""
        panels = len({row.panel for row in self.rows}) > 1
        several = len({row.respondent for row in self.rows}) > 1
        return panels and several and len(self.rows) > _MOST_IN_PANELS

    @property
    def tallness(self) -> int:
        """How many characters of sentences its rows take the room of."""
        return (6 if self.compact else 12) * len(self.rows)


def main_chart(data: LabOverview) -> MainChart | None:
    makers: tuple[Callable[[LabOverview], MainChart | None], ...] = (
        _ratings,
        _preferences,
        _recipients,
        _scores,
        _conversations,
        _scales,
        _lengths,
    )
    return next((chart for make in makers if (chart := make(data)) is not None), None)


def _ratings(data: LabOverview) -> MainChart | None:
    """All dimensions of the first study that share a scale; one where there are many arms."""
    if not data.ratings:
        return None
    study = data.ratings[0]
    levels = rating_levels(study)
    if not levels:
        return None
    first = levels[0]
    comparable = [
        level
        for level in levels
        if (level.good, level.lowest, level.highest) == (first.good, first.lowest, first.highest)
    ]
    dimensions = list(dict.fromkeys(level.dimension for level in comparable))
    if len(study.arms) > 3 or len(dimensions) > _MOST_PANELS:
        dimensions = dimensions[:1]
    rows = [
        MainRow(
            respondent=level.arm,
            panel=level.dimension,
            estimate=level.estimate,
            low=finite(level.low),
            high=finite(level.high),
            n=level.n,
        )
        for level in comparable
        if level.dimension in dimensions
    ]
    of = f" on {first.dimension}" if len(dimensions) == 1 else ""
    ends = f", from {first.lowest:g} to {first.highest:g}"
    what = f"Replies rated {first.good}{of}" if first.good else f"Mean rating{of}{ends}"
    return _drawn(
        what, rows, (first.lowest, first.highest), keep=study.reference, percent=bool(first.good)
    )


def _preferences(data: LabOverview) -> MainChart | None:
    """How often the raters of the first study chose each arm."""
    if not data.preferences:
        return None
    result = data.preferences[0]
    rows = [
        MainRow(
            respondent=arm,
            panel="",
            estimate=chosen.estimate,
            low=finite(chosen.low),
            high=finite(chosen.high),
            n=result.fitted.n,
        )
        for arm, chosen in result.proportions.items()
    ]
    chart = _drawn(result.proportions_title, rows, (0.0, 1.0), percent=True)
    return replace(chart, guide=0.5)


def _recipients(data: LabOverview) -> MainChart | None:
    """The first outcome of the first study by author and label."""
    if not data.recipients:
        return None
    outcome = data.recipients[0].outcomes[0]
    both = all(cell.response and cell.label for cell in outcome.cells)
    rows = [
        MainRow(
            respondent=cell_name(replace(cell, response=None)) if both else cell_name(cell),
            panel=f"Replies by {author(cell.response or '')}" if both else "",
            estimate=cell.mean,
            low=finite(cell.low),
            high=finite(cell.high),
            n=cell.n,
        )
        for cell in outcome.cells
    ]
    screen = _drawn(f"Mean {outcome.outcome}, rated by recipients", rows, None)
    return replace(screen, coloured=False)


def _scores(data: LabOverview) -> MainChart | None:
    if not data.scores:
        return None
    scores = data.scores[0]
    names = [scored.respondent for scored in scores.respondents]
    alone = len(names) == 1  # a single dot would show little: all that the judge scored
    rows = [
        MainRow(
            respondent=scored.respondent
            if names.count(scored.respondent) == 1
            else f"{scored.respondent} (run {scored.run})",
            panel=score.dimension if alone else "",
            estimate=score.mean,
            low=finite(score.low),
            high=finite(score.high),
            n=scored.n,
        )
        for scored in scores.respondents
        for score in (scored.scores if alone else scored.scores[:1])
    ]
    title = "Scores from 1 to 5 by a judge" if alone else "Empathy from 1 to 5, scored by a judge"
    return _drawn(title, rows, (1.0, 5.0)) if rows else None


def _conversations(data: LabOverview) -> MainChart | None:
    talks = data.conversations
    if talks is None:
        return None
    known = [
        respondent
        for respondent in talks.respondents
        if respondent.n and respondent.simulator not in talks.failed_simulators
    ]
    simulators = list(dict.fromkeys(item.simulator for item in known))
    rows = [
        MainRow(
            respondent=item.respondent,
            panel=item.simulator if len(simulators) > 1 else "",
            estimate=item.mean_final,
            low=None if not math.isfinite(item.low) else max(0.0, item.low),
            high=None if not math.isfinite(item.high) else min(100.0, item.high),
            n=item.n,
        )
        for item in known
    ]
    title = title_with_simulator("Feeling at the end, from 0 to 100", known)
    return _drawn(title, rows, (0.0, 100.0)) if rows else None


def _scales(data: LabOverview) -> MainChart | None:
    by_subscale = main_changes(data)
    rows, names = [], subscale_names(data)
    for subscale, changes in list(by_subscale.items())[:_MOST_PANELS]:
        for change in changes:
            interval = interval_of(change)
            rows.append(
                MainRow(
                    respondent=change.respondent,
                    panel=names.get((change.scale, subscale), subscale)
                    if len(by_subscale) > 1
                    else "",
                    estimate=change.cluster_delta,
                    low=interval.low if interval else None,
                    high=interval.high if interval else None,
                    n=change.n,
                )
            )
    if not rows:
        return None
    scale = next(iter(by_subscale.values()))[0].scale.upper()
    title = f"Change in {scale} after imagined situations, points"
    return _drawn(title, rows, None, keep=PEOPLE, zero=True)


def _lengths(data: LabOverview) -> MainChart | None:
    rows = [
        MainRow(
            respondent=length.respondent,
            panel="",
            estimate=length.median_words,
            low=length.quartiles[0] if length.quartiles else None,
            high=length.quartiles[1] if length.quartiles else None,
            n=length.replies,
        )
        for length in data.lengths
        if length.median_words is not None
    ]
    return _drawn("Median words per reply", rows, None, interval="middle half") if rows else None


def _drawn(
    title: str,
    rows: list[MainRow],
    ends: tuple[float, float] | None,
    *,
    keep: str | None = None,
    percent: bool = False,
    zero: bool = False,
    interval: str = "95% CI",
) -> MainChart:
    """The chart; of very many respondents the highest, the lowest and the one to keep."""
    first = rows[0].panel
    order = [
        row.respondent for row in sorted(rows, key=lambda row: -row.estimate) if row.panel == first
    ]
    names = dict.fromkeys([*order, *(row.respondent for row in rows)])
    kept = list(names)
    panels = len({row.panel for row in rows})
    most = max(4, _MOST_ROWS // panels if panels > 1 and len(kept) > 5 else _MOST_ROWS)
    if len(kept) > most:
        half = most // 2
        kept = [*kept[:half], *kept[-(most - half - 1) :]]
        middle = [keep] if keep is not None and keep in names and keep not in kept else []
        kept = [*kept[:half], *middle, *kept[half:]]
    place = {name: number for number, name in enumerate(kept)}
    shown = [row for row in rows if row.respondent in place]
    order_of_panels = list(dict.fromkeys(row.panel for row in rows))
    shown.sort(key=lambda row: (order_of_panels.index(row.panel), place[row.respondent]))
    return MainChart(
        title=title,
        rows=tuple(shown),
        lowest=ends[0] if ends else None,
        highest=ends[1] if ends else None,
        percent=percent,
        zero=zero,
        omitted=len(names) - len(kept),
        interval=interval if any(row.low is not None for row in shown) else "",
    )
