"""EmotionBench's tables: scores at baseline and changes after each emotion and factor.

Respondents stand beside each other, people last, a column per subscale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from empathylab.analysis.appraisal.result import PEOPLE, AppraisalResult, place_label
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number, signed
from empathylab.report.appraisal.charts import in_usual_order
from empathylab.stats.questionnaires.appraisal import ScaleChange

Place = tuple[str, str, str, str | None, str | None]
"""Respondent, subscale, level, emotion and factor of a change."""
_MOST = 12
_ARROWS = {"up": "↑", "down": "↓", "none": "–"}


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One scale's table."""

    scale: str
    title: str
    caption: str
    rows: tuple[dict[str, str], ...]


def side_by_side_tables(analysis: AppraisalResult) -> list[SideBySide]:
    """A table per scale, in the order of the analysis."""
    return side_by_side(analysis.changes)


def side_by_side(changes: Sequence[ScaleChange]) -> list[SideBySide]:
    """The same of changes alone."""
    return [_table(changes, scale) for scale in dict.fromkeys(change.scale for change in changes)]


def _table(changes: Sequence[ScaleChange], scale: str) -> SideBySide:
    mine = [change for change in changes if change.scale == scale]
    names = shown_respondents(mine)
    left_out = len({item.respondent for item in mine}) - len(names)
    subscales = list(dict.fromkeys(item.subscale for item in mine))
    columns = {(name, part): _head(name, part) for name in names for part in subscales}
    places: dict[Place, ScaleChange] = {
        (item.respondent, item.subscale, item.level, item.emotion, item.factor): item
        for item in mine
    }
    rows = [{"situations": "Baseline"}]
    for (name, part), head in columns.items():
        rows[0][head] = _baseline(places.get((name, part, "overall", None, None)))
    for level, emotion, factor in _order(mine):
        row = {"situations": place_label(level, emotion, factor)}
        for (name, part), head in columns.items():
            row[head] = _changed(places.get((name, part, level, emotion, factor)))
        rows.append(row)
    note = f" {left_out} more respondents are in `analyze appraisal`." if left_out else ""
    return SideBySide(
        scale,
        f"{scale.upper()}: baseline, and change after situations",
        "Baseline: mean ± standard deviation. Then the change from baseline, ↑ or ↓ where the "
        f"published test finds one at α = .01, – where it does not.{note}",
        tuple(rows),
    )


def shown_respondents(changes: list[ScaleChange]) -> list[str]:
    """Those that fit beside each other: the first ones, and people, last."""
    names = list(dict.fromkeys(change.respondent for change in changes))
    others = [name for name in names if name != PEOPLE]
    people = [PEOPLE] if PEOPLE in names else []
    return others[: _MOST - len(people)] + people


def _order(changes: list[ScaleChange]) -> list[tuple[str, str | None, str | None]]:
    """Overall, then each emotion followed by its factors."""
    found: list[tuple[str, str | None, str | None]] = [("overall", None, None)]
    for emotion in in_usual_order(str(change.emotion) for change in changes if change.emotion):
        found.append(("emotion", emotion, None))
        factors = dict.fromkeys(
            change.factor
            for change in changes
            if change.level == "factor" and change.emotion == emotion
        )
        found += [("factor", emotion, factor) for factor in factors]
    return found


def _head(respondent: str, subscale: str) -> str:
    who = name_of(respondent)
    return who if subscale == "total" else f"{who}, {subscale}"


def _baseline(one: ScaleChange | None) -> str:
    if one is None or math.isnan(one.default_mean):
        return ""
    return f"{number(one.default_mean)} ± {number(one.default_sd)}"


def _changed(one: ScaleChange | None) -> str:
    if one is None or math.isnan(one.delta):
        return ""
    return f"{signed(one.delta)} {_ARROWS[one.direction]}"
