"""What changed, as plain values: what `analyze changes --json` prints and tables show."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from empathylab.analysis.drift.analysis import Changes
from empathylab.analysis.drift.judges import JudgeShift
from empathylab.analysis.drift.occasions import Side
from empathylab.analysis.drift.ratings import RatingShift
from empathylab.analysis.drift.replies import FeatureShift, UsableShift
from empathylab.analysis.text.numbers import number, p_value, signed
from empathylab.stats.over_time import ScoreShift

ALPHA = 0.05
"""Below it a corrected p counts as a change in summaries; the figures are given either way."""
Row = dict[str, Any]


def changes_document(changes: Changes) -> dict[str, Any]:
    """Everything, unrounded; null where a figure is not defined."""
    return {
        "before": _side(changes.before),
        "after": _side(changes.after),
        "confidence": changes.confidence,
        "respondents": {
            "both": list(changes.both),
            "before_only": list(changes.only_before),
            "after_only": list(changes.only_after),
        },
        "scores": [_score(one) for one in changes.scores],
        "verdicts": [
            {
                "respondent": one.respondent,
                "scale": one.scale,
                "before": one.before,
                "after": one.after,
                "changed": one.changed,
            }
            for one in changes.verdicts
        ],
        "usable_replies": [_usable(one) for one in changes.usable],
        "style": [_feature(one) for one in changes.style],
        "ratings": [_rating(one) for one in changes.ratings],
        "judges": [_judge(one) for one in changes.judges],
        "judge_verdicts": [
            {
                "study": one.study,
                "judge": one.judge,
                "dimension": one.dimension,
                "before": one.before,
                "after": one.after,
                "changed": one.changed,
            }
            for one in changes.judge_verdicts
        ],
        "settings": [
            {
                "respondent": one.respondent or None,
                "protocol": one.protocol or None,
                "setting": one.setting,
                "before": one.before,
                "after": one.after,
            }
            for one in changes.settings
        ],
        "not_compared": [{"what": one.what, "why": one.why} for one in changes.incomparable],
    }


def changed_rows(rows: list[Row]) -> list[Row]:
    """Those whose corrected p says that they changed."""
    return [row for row in rows if row["p_holm"] is not None and row["p_holm"] < ALPHA]


def tested_rows(document: dict[str, Any]) -> list[Row]:
    """Every row of the document that could be tested, emotions left out."""
    parts = ("scores", "usable_replies", "style", "ratings", "judges")
    rows = [row for part in parts for row in document[part] if row.get("emotion") is None]
    return [row for row in rows if row["p"] is not None]


def shown_rows(rows: list[Row], names: dict[str, str], *, digits: int = 1) -> list[Row]:
    """Rows as people read them: the columns named, then the figures. Shares are in percent."""
    return [
        {heading: row[name] if row[name] is not None else "all" for name, heading in names.items()}
        | _figures(row, digits)
        for row in rows
    ]


def _figures(row: Row, digits: int) -> Row:
    share = row.get("measure") in ("good", "usable")
    times, unit = (100, "%") if share else (1, "")
    values = {
        name: None if row[name] is None else times * row[name]
        for name in ("before", "after", "difference", "low", "high")
    }
    interval = "–"
    if values["low"] is not None and values["high"] is not None:
        interval = f"[{signed(values['low'], digits)}, {signed(values['high'], digits)}]"
    moved = values["difference"]
    return {
        "before": number(values["before"], digits) + unit,
        "after": number(values["after"], digits) + unit,
        "difference": signed(moved, digits) if moved is not None else "–",
        "interval": interval,
        "p Holm": "–" if row["p_holm"] is None else p_value(row["p_holm"]),
        "n": f"{row['n_before']}, {row['n_after']}",
    }


def _side(side: Side) -> Row:
    return {
        "title": side.title,
        "first": _moment(side.first),
        "last": _moment(side.last),
        "administrations": side.administrations.height,
        "responses": side.responses.height,
        "ratings": sum(one.ratings.height for one in side.studies.values()),
    }


def _score(one: ScoreShift) -> Row:
    shift = one.shift
    return {
        "respondent": one.respondent,
        "scale": one.scale,
        "subscale": one.subscale,
        "measure": one.measure,
        "emotion": one.emotion,
        "before": plain(shift.before),
        "after": plain(shift.after),
        "difference": plain(shift.difference),
        "low": plain(shift.low),
        "high": plain(shift.high),
        "p": plain(shift.p),
        "p_holm": plain(one.p_holm),
        "p_bh": plain(one.p_bh),
        "n_before": shift.n_before,
        "n_after": shift.n_after,
        "paired": shift.paired,
        "note": shift.note or None,
    }


def _usable(one: UsableShift) -> Row:
    found = one.difference
    return {
        "respondent": one.respondent,
        "measure": "usable",
        "before": one.before,
        "after": one.after,
        "difference": one.after - one.before,
        "low": plain(found.difference.low),
        "high": plain(found.difference.high),
        "p": plain(found.p),
        "p_holm": plain(one.p_holm),
        "n_before": one.n_before,
        "n_after": one.n_after,
        "situations": found.raters,
        "note": _situations(found.note) or None,
    }


def _feature(one: FeatureShift) -> Row:
    found = one.difference
    return {
        "respondent": one.respondent,
        "feature": found.feature,
        "before": plain(found.against_mean),
        "after": plain(found.mean),
        "difference": plain(found.difference),
        "low": plain(found.low),
        "high": plain(found.high),
        "effect": plain(found.effect),
        "p": plain(found.p),
        "p_holm": plain(found.p_holm),
        "p_bh": plain(found.p_benjamini_hochberg),
        "n_before": found.against_n,
        "n_after": found.n,
        "paired": found.paired,
    }


def _rating(one: RatingShift) -> Row:
    found = one.difference
    return {
        "study": one.study,
        "arm": one.arm,
        "dimension": one.dimension,
        "measure": one.measure,
        "before": one.before,
        "after": one.after,
        "difference": one.after - one.before,
        "low": plain(found.difference.low),
        "high": plain(found.difference.high),
        "p": plain(found.p),
        "p_holm": plain(one.p_holm),
        "p_bh": plain(one.p_bh),
        "n_before": one.n_before,
        "n_after": one.n_after,
        "raters": found.raters,
        "note": found.note or None,
    }


def _judge(one: JudgeShift) -> Row:
    return {
        "study": one.study,
        "judge": one.judge,
        "dimension": one.dimension,
        "measure": one.measure,
        "before": plain(one.before),
        "after": plain(one.after),
        "difference": plain(one.after - one.before),
        "low": plain(one.low),
        "high": plain(one.high),
        "p": plain(one.p),
        "p_holm": plain(one.p_holm),
        "p_bh": plain(one.p_bh),
        "n_before": one.n_before,
        "n_after": one.n_after,
        "note": one.note or None,
    }


def plain(value: float) -> float | None:
    """The number, or null where it is none."""
    return value if math.isfinite(value) else None


def _situations(note: str) -> str:
    """The note of a test between raters, where the units are situations."""
    words = {"an arm": "an occasion", "rating": "reply", "rater": "situation"}
    for old, new in words.items():
        note = note.replace(old, new)
    return note.replace("replys", "replies")


def _moment(value: datetime | None) -> str | None:
    return value.isoformat() if value is not None else None
