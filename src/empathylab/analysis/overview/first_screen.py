"""What a reader sees first: the question, the main conclusions, one chart and one caveat."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from empathylab.analysis.appraisal.result import PEOPLE, interval_of
from empathylab.analysis.conversations.prose import title_with_simulator
from empathylab.analysis.json_values import finite
from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.headlines import Headline, headlines
from empathylab.analysis.overview.headlines.ratings import other_dimensions, rating_headlines
from empathylab.analysis.overview.headlines.scales import main_changes, subscale_names
from empathylab.analysis.overview.levels import rating_levels
from empathylab.analysis.overview.question import question
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.recipients.prose import author, cell_name
from empathylab.analysis.results import Result

MOST_SHOWN, _MOST_WIDE = 3, 4
"""Sentences that fit beside a chart and a caveat, on a phone and on a wide screen."""
_MOST_ROWS = 10
_MOST_PANELS = 4
_MOST_IN_PANELS = 5
_MOST_CAVEAT = 210
_MOST_CHARACTERS, _MOST_CHARACTERS_WIDE = 600, 850
_HOLDS = (
    "The result applies to these situations, these raters and this wording of the question; other "
    "situations can give another result."
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstScreen:
    """The report in a few lines."""

    question: str
    headlines: tuple[Headline, ...]
    """Of all topics; the first `MOST_SHOWN` stand on the first screen."""
    chart: MainChart | None
    caveats: tuple[str, ...]
    """What limits the conclusions, the most important first."""

    @property
    def caveat(self) -> str | None:
        """The most important caveat, as short as a phone needs it."""
        return _first_sentences(self.caveats[0]) if self.caveats else None

    @property
    def shown(self) -> tuple[Headline, ...]:
        """Those of the first screen on a phone."""
        # A tall chart leaves less room for sentences.
        room = _MOST_CHARACTERS - (self.chart.tallness if self.chart else 0)
        return _fitting(self._ranked[:MOST_SHOWN], room)

    @property
    def shown_wide(self) -> tuple[Headline, ...]:
        """What a wide screen shows besides: the first of topics that a phone has no room for."""
        known = {headline.section for headline in self.shown}
        more: dict[str, Headline] = {}
        for headline in self._ranked:
            if headline.section not in known:
                more.setdefault(headline.section, headline)
        together = _fitting([*self.shown, *more.values()], _MOST_CHARACTERS_WIDE)[:_MOST_WIDE]
        return together[len(self.shown) :]

    @property
    def others(self) -> str | None:
        """What the ratings show on dimensions whose conclusions have no room; None without any."""
        mine = {headline.anchor for headline in self.shown if headline.section == "ratings"}
        left = [item for item in self.headlines if item.anchor in mine and item not in self.shown]
        return other_dimensions([item.conclusion for item in left])

    @property
    def _ranked(self) -> list[Headline]:
        """The first of each topic before the second of any."""
        turns: dict[str, int] = {}
        order = []
        for place, headline in enumerate(self.headlines):
            turn = turns[headline.section] = turns.get(headline.section, 0) + 1
            order.append((turn, place, headline))
        main = [item for item in order if item[2].section not in ("style", "replies")] or order
        return [headline for _, _, headline in sorted(main, key=lambda item: item[:2])]


def _fitting(headlines: Sequence[Headline], room: int) -> tuple[Headline, ...]:
    """The first, and those after it that have room, in characters."""
    kept = list(headlines[:1])
    for headline in headlines[1:]:
        if sum(len(str(item)) for item in (*kept, headline)) <= room:
            kept.append(headline)
    return tuple(kept)


def first_screen(data: LabOverview) -> FirstScreen:
    """The first screen of this lab."""
    first = FirstScreen(
        question=question(data), headlines=headlines(data), chart=_chart(data), caveats=()
    )
    return replace(first, caveats=tuple(dict.fromkeys(_caveats(data, first))))


def _first_sentences(caveat: str) -> str:
    """As many of its sentences as fit on a phone."""
    if len(caveat) <= _MOST_CAVEAT:
        return caveat
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z0-9])", caveat)
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + len(sentence) > _MOST_CAVEAT:
            break
        kept += f" {sentence}"
    return kept


def _chart(data: LabOverview) -> MainChart | None:
    makers: tuple[Callable[[LabOverview], MainChart | None], ...] = (
        _ratings,
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


def _caveats(data: LabOverview, first: FirstScreen) -> Iterator[str]:
    """What limits the first conclusion most, then what limits the others."""
    yield from (caveat for caveat in data.caveats if "are meaningless" in caveat)
    topics = list(dict.fromkeys(headline.section for headline in first.headlines))
    for place, topic in enumerate(topics):
        results = _results(data, topic)
        for result in results[:1]:
            yield from _result_caveats(result)
        if place == 0:
            # Those of the lab are mostly about answers to scales.
            if any(headline.section == "scales" for headline in first.shown):
                yield from data.caveats
            if topic == "ratings":
                yield _HOLDS
            elif topic in ("replies", "style") and not data.caveats:
                yield "No one has rated these replies, so the lab does not show which are better."
        for result in results[1:]:
            yield from _result_caveats(result)
    yield from data.caveats


def _results(data: LabOverview, topic: str) -> Sequence[Result]:
    results: dict[str, Sequence[Result]] = {
        "ratings": data.ratings,
        "recipients": data.recipients,
        "scores": data.scores,
        "conversations": (data.conversations,) if data.conversations else (),
        "judges": data.judges,
    }
    return results.get(topic, ())


def _result_caveats(result: Result) -> Iterator[str]:
    if isinstance(result, RatingsResult):
        for conclusion in rating_headlines(result):
            yield from conclusion.caveats
    yield from result.caveats
