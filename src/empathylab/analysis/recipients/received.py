"""What recipients of a lab's studies got and said, imported or asked in the lab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import Connection

from empathylab.store.recipients import BEFORE, imported_replies
from empathylab.store.studies.archive import any_study
from empathylab.store.studies.received import feeling_scores, follow_ups, live_replies
from empathylab.study.archives.packing import is_complete, read_protocol

_PHASES = {"before": BEFORE, "after": "", "later": " later"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def received_replies(connection: Connection, study: str) -> list[dict[str, Any]]:
    """One row per participant and reply: conditions, outcomes, and values before the reply.

    Of a study of this lab the outcomes are the scores of its blocks feel, and the questions after
    the reply whose answers are numbers. Scores of closed follow-ups are outcomes of their own.
    """
    row = any_study(connection, study)
    number = int(row.id)
    live = live_replies(connection, number)
    if not live:
        return imported_replies(connection, number)
    early, late = _questions(row)
    scores = _scores(feeling_scores(connection, number))
    for later, first in follow_ups(connection, row.name):
        later_scores = _scores(feeling_scores(connection, later, ("later",)))
        for rater, own in later_scores.items():
            if rater in first:
                scores.setdefault(first[rater], {}).update(own)
    return [
        {
            "participant": reply.participant,
            "response": reply.author,
            "label": reply.label,
            "replier": reply.replier,
            "reply": reply.reply,
            "replaced": reply.fallback,
            **_answers(reply.details, early, late),
            **scores.get(reply.participant, {}),
        }
        for reply in live
    ]


def _questions(row: Any) -> tuple[list[str], list[str]]:
    """The columns about participants that were asked before the reply, and after it."""
    if not is_complete(row.protocol):
        return [], []
    recruitment = row.protocol.get("recruitment")
    study = read_protocol(row.protocol, where=f"study {row.name}", recruitment=recruitment)
    last = max((place for place, block in enumerate(study.blocks) if block.is_live), default=-1)
    parts: tuple[list[str], list[str]] = ([], [])
    for place, block in enumerate(study.blocks):
        parts[place > last].extend(column.name for column in block.columns(study.languages[0]))
    return parts


def _answers(details: Mapping[str, Any], early: list[str], late: list[str]) -> dict[str, Any]:
    """Answers that are numbers; those before the reply only where they were asked again."""
    again = {re.sub(r"[_.-](after|post)$", "", name) for name in late}
    answers = {name: _number(details.get(name)) for name in late}
    for name in early:
        asked = re.sub(r"[_.-](before|pre)$", "", name)
        if asked != name and asked in again:
            answers[f"{asked}{BEFORE}"] = _number(details.get(name))
    return answers


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    return float(value) if _NUMBER.fullmatch(str(value).strip()) else None


def _scores(frame: pl.DataFrame) -> dict[str, dict[str, float]]:
    """By participant, scores by the name of the scale and the subscale."""
    scores: dict[str, dict[str, float]] = {}
    for row in frame.iter_rows(named=True):
        part = "" if row["subscale"] == "total" else f" {row['subscale']}"
        name = f"{row['scale']}{part}{_PHASES[row['phase']]}"
        scores.setdefault(row["rater"], {})[name] = row["score"]
    return scores
