"""Frames of scores for tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from empathylab.stats.questionnaires.appraisal import SCORES


def rest(*scores: float, **more: Any) -> list[dict[str, Any]]:
    """Scores at rest."""
    return [{"phase": "default", "score": score, **more} for score in scores]


def evoked(*scores: float, **more: Any) -> list[dict[str, Any]]:
    """Scores after a situation."""
    place = {"emotion": "anger", "factor": "queues", "situation": "one"}
    return [{"phase": "evoked", "score": score, **place, **more} for score in scores]


def person(name: str, before: float, after: float, **more: Any) -> list[dict[str, Any]]:
    """One person's two scores."""
    who = {"respondent": "human", "subject": name}
    return rest(before, **who) + evoked(after, **who, **more)


def frame(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """The rows, of one model and subscale unless they say otherwise."""
    usual = {"respondent": "model", "scale": "panas", "subscale": "positive"}
    return pl.DataFrame([{**dict.fromkeys(SCORES), **usual, **row} for row in rows], schema=SCORES)
