"""Scripted models whose replies depend on the situation alone, not on the wording of a prompt.

Used by name: `scripted/tests.golden.scripted:invented_reply`.
"""

from __future__ import annotations

import csv
import functools
import os
from pathlib import Path
from typing import Any

from tests.golden import invented


@functools.cache
def _invented() -> list[dict[str, str]]:
    return list(invented.situations())


@functools.cache
def _released() -> list[dict[str, str]]:
    release = Path(os.environ["EMPATHYLAB_SHARED_DATA"]) / "welivita" / "dataset_and_ratings.csv"
    with release.open(encoding="utf-8", newline="") as file:
        return [
            {"situation": row["dialog_id"], "emotion": row["emotion"], "told": row["speaker_uttr"]}
            for row in csv.DictReader(file)
        ]


def invented_reply(messages: tuple[Any, ...], _parameters: object) -> str:
    """A kind reply to a situation made up here."""
    asked = "\n".join(message.content for message in messages)
    told = next(item for item in _invented() if item["situation_text"] in asked)
    return invented.reply("kind/model", told)


def released_reply(messages: tuple[Any, ...], _parameters: object) -> str:
    """A kind reply to a released situation; a plain one where its text was cleaned."""
    asked = "\n".join(message.content for message in messages)
    told = next((item for item in _released() if item["told"] in asked), None)
    return "I hear you." if told is None else invented.reply("kind/model", told)
