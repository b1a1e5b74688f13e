"""The exported tables of pages: times, attention checks, comments, live turns, and what those
answered who did not finish.
"""

from __future__ import annotations

from datetime import datetime

from empathylab.store.studies.live import exported_turns
from empathylab.study.exports.partial_answers import PartialAnswers
from empathylab.study.exports.source import Record, StudySource
from empathylab.study.session.launched import load_launched


def pages(source: StudySource) -> list[Record]:
    """How long each page took, and how often it was left."""
    return [
        {
            "rater": page.person,
            "page": page.step,
            "position": position,
            "seconds": page.timing.get("seconds"),
            "browser_seconds": page.timing.get("reported"),
            "away_seconds": page.timing.get("away"),
            "focus_losses": page.timing.get("losses"),
            "corrections": page.corrections,
            **_signals(page.timing.get("signals")),
        }
        for position, page in source.numbered_pages
    ]


def attention(source: StudySource) -> list[Record]:
    """How attention checks were answered."""
    blocks = source.study.blocks if source.study else ()
    checks = {block.id: block for block in blocks if block.checks_attention}
    return [
        {
            "rater": page.person,
            "check": page.step,
            "position": position,
            "asked": page.given.get("check"),
            "chosen": page.given.get("question"),
            "right": checks[page.step].passed(page.given),
        }
        for position, page in source.numbered_pages
        if page.step in checks
    ]


def comments(source: StudySource) -> list[Record]:
    """Free words, those that were not left empty."""
    blocks = source.study.blocks if source.study else ()
    free = {block.id for block in blocks if block.holds_comments}
    return [
        {
            "rater": page.person,
            "block": page.step,
            "position": position,
            "text": page.given["comment"],
        }
        for position, page in source.numbered_pages
        if page.step in free and page.given.get("comment")
    ]


def partial_answers(source: StudySource) -> list[Record]:
    """Answers of people who did not finish."""
    if source.row.launched_at is None:
        return []
    finished = set(source.names.values())
    places = [place for place in source.places if place.person not in finished]
    launched = load_launched(source.connection, f"{source.row.name}@{source.row.version}")
    return list(PartialAnswers(launched, source.blind).rows(places, source.page_rows))


def live_turns(source: StudySource) -> list[Record]:
    """What participants wrote, and what they were answered."""
    return [
        {
            "rater": turn.person,
            "block": turn.step,
            "author": turn.author,
            "kind": turn.kind,
            "label": turn.label,
            "position": turn.position,
            "sender": turn.sender,
            "text": turn.text,
            "masked": turn.masked,
            "outcome": turn.outcome,
            "reason": turn.reason,
            "rejected": turn.rejected,
            "due_seconds": _between(turn.asked_at, turn.due_at),
            "waited_seconds": _between(turn.asked_at, turn.shown_at),
            "model": turn.model,
            "model_seconds": turn.latency,
            "prompt_tokens": turn.prompt_tokens,
            "completion_tokens": turn.completion_tokens,
            "cost": turn.cost,
            "ended_because": turn.ended_because,
            "excluded": source.excluded.get(turn.person),
        }
        for turn in exported_turns(source.connection, source.row.id)
    ]


def _signals(stored: Record | None) -> Record:
    if stored is None:
        return {}
    counts = {"pastes": "pastes", "pasted_characters": "pasted", "keys": "keys"}
    whole = {column: int(stored[name]) for column, name in counts.items() if name in stored}
    return {
        **whole,
        "key_interval_ms": stored.get("interval"),
        "key_interval_sd_ms": stored.get("spread"),
        "hidden_field": bool(stored.get("trap")),
    }


def _between(begin: datetime, end: datetime | None) -> float | None:
    return None if end is None else round((end - begin).total_seconds(), 3)
