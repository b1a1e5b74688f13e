"""What a reader sees first: the question, the main conclusions, one chart and one caveat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.headlines import Headline, headlines
from empathylab.analysis.overview.headlines.ratings import other_dimensions, rating_headlines
from empathylab.analysis.overview.main_chart import MainChart, main_chart
from empathylab.analysis.overview.question import question
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.results import Result

MOST_SHOWN, _MOST_WIDE = 3, 4
"""Sentences that fit beside a chart and a caveat, on a phone and on a wide screen."""
_MOST_CAVEAT = 210
_MOST_CHARACTERS, _MOST_CHARACTERS_WIDE = 600, 850
_HOLDS = (
    "The result applies to these situations, these raters and this wording of the question; other "
    "situations can give another result."
)


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
        question=question(data), headlines=headlines(data), chart=main_chart(data), caveats=()
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
            if topic in ("ratings", "preferences"):
                yield _HOLDS
            elif topic in ("replies", "style") and not data.caveats:
                yield "No one has rated these replies, so the lab does not show which are better."
        for result in results[1:]:
            yield from _result_caveats(result)
    yield from data.caveats


def _results(data: LabOverview, topic: str) -> Sequence[Result]:
    results: dict[str, Sequence[Result]] = {
        "ratings": data.ratings,
        "preferences": data.preferences,
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
