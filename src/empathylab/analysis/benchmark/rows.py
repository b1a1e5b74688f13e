"""The leaderboard as rows: for a table that is read, for a file, and as JSON."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from empathylab.analysis.benchmark.analysis import Leaderboard
from empathylab.analysis.benchmark.document import against_document
from empathylab.analysis.benchmark.leaderboard import Entry
from empathylab.analysis.benchmark.prose import interval, rests_on, shown, what

HOW = {
    "people": "measured by people",
    "people and judge": "people, with a judge",
    "judge": "estimated by a judge",
}


def ranks(one: Entry) -> str:
    """The ranks that the respondent may have."""
    same = one.rank_low == one.rank_high
    return f"{one.rank_low}" if same else f"{one.rank_low}–{one.rank_high}"


def days(first: date | None, last: date | None) -> str:
    """A day, or from one to the other; a dash where they are not known."""
    if first is None or last is None:
        return "–"
    return f"{first}" if first == last else f"{first} to {last}"


def leaderboard_rows(board: Leaderboard) -> list[dict[str, Any]]:
    """The entries as they are read, rounded."""
    return [
        {
            "ranks": ranks(one),
            "respondent": one.respondent,
            "how": HOW[one.found.basis],
            what(one.estimate.outcome): shown(one.estimate.estimate, one.estimate.outcome),
            "95% interval": interval(one.estimate),
            "ratings by people": f"{one.estimate.n_ratings:,}",
            "rated on": days(one.rated_first, one.rated_last),
            "judge": one.found.judge or "–",
            "judged on": days(one.judged_first, one.judged_last),
        }
        for one in board.entries
    ]


def leaderboard_table(board: Leaderboard) -> list[dict[str, Any]]:
    """The entries for a file, unrounded, a column for each thing; empty where there is none."""
    return [_flat(one, board) for one in board.entries]


def _flat(one: Entry, board: Leaderboard) -> dict[str, Any]:
    head, found = one.estimate, one.found
    mean = found.estimate("mean")
    judged = found.judge is not None
    return {
        "study": board.ground.study.name,
        "dimension": found.dimension,
        "rank_low": one.rank_low,
        "rank_high": one.rank_high,
        "respondent": one.respondent,
        "basis": found.basis,
        "judge": found.judge,
        "outcome": what(head.outcome),
        "estimate": _number(head.estimate),
        "low": _number(head.low),
        "high": _number(head.high),
        "like_low": _number(head.like_low),
        "like_high": _number(head.like_high),
        "beyond_calibration": head.beyond if found.basis == "judge" else None,
        "alike_low": _number(head.alike_low),
        "alike_high": _number(head.alike_high),
        "mean": None if mean is None else _number(mean.estimate),
        "mean_low": None if mean is None else _number(mean.low),
        "mean_high": None if mean is None else _number(mean.high),
        "ratings_by_people": head.n_ratings,
        "replies_judged_only": head.n_judged,
        "rated_first": _day(one.rated_first),
        "rated_last": _day(one.rated_last),
        "judged_first": _day(one.judged_first),
        "judged_last": _day(one.judged_last),
        "calibrated_on": "; ".join(found.calibrated_on) if judged else None,
        "calibration_ratings": found.calibration_ratings if judged else None,
        "typical_transfer_error": _number(head.typical_error),
        "rests_on": " ".join(rests_on(found)),
    }


def leaderboard_document(board: Leaderboard) -> dict[str, Any]:
    """The leaderboard as JSON, with all estimates of each respondent."""
    return {
        "study": board.ground.study.name,
        "version": board.ground.study.version,
        "title": board.study.title,
        "protocol_hash": board.study.protocol_hash,
        "dimension": board.ground.dimension.name,
        "prompt": board.asked.prompt,
        "situations": len(board.study.situations),
        "respondents": [
            _flat(one, board) | {"found": against_document(one.found)} for one in board.entries
        ],
        "comparisons": [
            {
                "upper": one.upper,
                "lower": one.lower,
                "difference": one.difference,
                "low": _number(one.low),
                "high": _number(one.high),
                "apart": one.apart,
                "paired": one.paired,
                "shared_situations": one.shared,
            }
            for one in board.pairs
        ],
        "notes": [*([board.asked.note] if board.asked.note else []), *board.notes],
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
