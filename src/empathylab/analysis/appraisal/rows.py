"""The appraisal analysis as plain rows: the shape that `analyze appraisal --json` promises."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

from empathylab.analysis.appraisal.analysis import AppraisalAnalysis
from empathylab.analysis.appraisal.self_reports import SelfReport
from empathylab.situations.sources.emotionbench import factor_label, published_factors


def place_label(level: str, emotion: str | None, factor: str | None) -> str:
    """What a row is about, as the published tables call it: Overall, Anger, Anger-0.

    A factor that EmotionBench does not have is called by its name.
    """
    if level == "factor" and factor is not None:
        return factor_label(published_factors(), emotion or "", factor)
    return emotion.capitalize() if emotion else "Overall"


def change_rows(analysis: AppraisalAnalysis) -> list[dict[str, Any]]:
    """One row per respondent, scale, subscale, level and label."""
    counted = {
        (row["respondent"], row["scale"], row["level"], row["emotion"], row["factor"]): row["count"]
        for row in analysis.invalid_at_levels.iter_rows(named=True)
    }
    at_rest: dict[tuple[str, str], int] = {}
    for row in analysis.invalid.filter(phase="default").iter_rows(named=True):
        key = (row["respondent"], row["scale"])
        at_rest[key] = at_rest.get(key, 0) + row["count"]
    rows = []
    for one in analysis.changes:
        place = (one.respondent, one.scale, one.level, one.emotion, one.factor)
        row = _plain(one)
        row["label"] = place_label(one.level, one.emotion, one.factor)
        row["invalid"] = counted.get(place, 0)
        row["default_invalid"] = at_rest.get(place[:2], 0)
        rows.append({name: row.pop(name) for name in _FIRST} | row)
    return rows


def counterpart_rows(analysis: AppraisalAnalysis) -> list[dict[str, Any]]:
    """One row per change after situations as they would be had they gone well."""
    rows = []
    for one in analysis.counterparts:
        row = _plain(one)
        row["label"] = place_label(one.level, one.emotion, one.factor)
        rows.append(row)
    return rows


def invalid_rows(analysis: AppraisalAnalysis) -> list[dict[str, Any]]:
    """How many administrations could not be used, by respondent, scale, phase and reason."""
    return list(analysis.invalid.iter_rows(named=True))


def alignment_rows(analysis: AppraisalAnalysis) -> list[dict[str, Any]]:
    """One row per respondent and scale: the summary, rank agreement, coherence, distances.

    People have a row too, for the coherence of their factors; their distance is null.
    """
    pairs = dict.fromkeys((one.respondent, one.scale) for one in analysis.changes)
    summaries = {(one.respondent, one.scale): one for one in analysis.summaries}
    rows = []
    for respondent, scale in pairs:
        summary = summaries.get((respondent, scale))
        mine = {"respondent": respondent, "scale": scale}
        found = {
            name: [
                _plain(one, *mine)
                for one in part
                if (one.respondent, one.scale) == (respondent, scale)
            ]
            for name, part in (
                ("rank_agreement", analysis.ranks),
                ("factor_coherence", analysis.coherences),
                ("distances", analysis.distances),
            )
        }
        for one in found["distances"]:
            one["label"] = place_label(one["level"], one["emotion"], one["factor"])
        figures = _plain(summary, *mine) if summary else dict.fromkeys(_SUMMARY)
        rows.append(mine | figures | found)
    return rows


def validity_rows(reports: Iterable[SelfReport]) -> list[dict[str, Any]]:
    """One row per respondent and scale: the verdict, its reasons and its figures."""
    rows = []
    for report in reports:
        row = _plain(report.validity)
        for name in ("alpha", "omega"):
            row[name] = {part: _plain(one) for part, one in row[name].items()}
        row["retest"] = _plain(row["retest"]) if row["retest"] else None
        row["reasons"] = list(row["reasons"])
        mine = {"respondent": report.respondent, "scale": report.scale}
        rows.append(mine | row | {"patterns": report.patterns})
    return rows


def _plain(one: Any, *without: str) -> dict[str, Any]:
    """The fields as JSON can hold them: NaN and infinity become null."""
    return {
        field.name: _finite(getattr(one, field.name))
        for field in dataclasses.fields(one)
        if field.name not in without
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


_FIRST = ("respondent", "scale", "subscale", "level", "label", "n", "invalid")
_SUMMARY = ("distance", "low", "high", "factors", "subscales")
