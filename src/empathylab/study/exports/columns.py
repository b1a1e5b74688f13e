"""The columns of an exported study's tables, with their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from empathylab.study.archives.packing import SITUATION_FIELDS

Types = Mapping[str, Any]
TEXT, WHOLE, NUMBER, FLAG = pl.String, pl.Int64, pl.Float64, pl.Boolean

RATINGS: Types = {
    "rater": TEXT,
    "arm": TEXT,
    "respondent": TEXT,
    "response": WHOLE,
    "set": TEXT,
    "situation": TEXT,
    "emotion": TEXT,
    "valence": TEXT,
    "topic": TEXT,
    "dimension": TEXT,
    "rating": NUMBER,
    "label": TEXT,
    "seconds": NUMBER,
    "day": TEXT,
}
RATERS: Types = {
    "rater": TEXT,
    "kind": TEXT,
    "arm": TEXT,
    "status": TEXT,
    "outcome": TEXT,
    "excluded": TEXT,
    "language": TEXT,
    "day": TEXT,
    "seconds": NUMBER,
    "ratings": WHOLE,
}
SCALE_ANSWERS: Types = {
    "rater": TEXT,
    "scale": TEXT,
    "phase": TEXT,
    "situation": TEXT,
    "item": WHOLE,
    "position": WHOLE,
    "value": NUMBER,
}
WRITTEN: Types = {
    "rater": TEXT,
    "set": TEXT,
    "situation": TEXT,
    "text": TEXT,
    "excluded": TEXT,
}
PAGES: Types = {
    "rater": TEXT,
    "page": TEXT,
    "seconds": NUMBER,
    "browser_seconds": NUMBER,
    "away_seconds": NUMBER,
    "focus_losses": WHOLE,
    "corrections": WHOLE,
}
ATTENTION: Types = {"rater": TEXT, "check": TEXT, "chosen": WHOLE, "right": FLAG}
COMMENTS: Types = {"rater": TEXT, "block": TEXT, "text": TEXT}
PARTIAL: Types = {
    "rater": TEXT,
    "page": TEXT,
    "arm": TEXT,
    "situation": TEXT,
    "response": WHOLE,
    "question": TEXT,
    "answer": TEXT,
}
ARMS: Types = {
    "arm": TEXT,
    "respondent": TEXT,
    "kind": TEXT,
    "responses": WHOLE,
    "raters": WHOLE,
    "ratings": WHOLE,
    "first": TEXT,
    "last": TEXT,
}
RESPONSES: Types = {
    "response": WHOLE,
    "respondent": TEXT,
    "kind": TEXT,
    "set": TEXT,
    "situation": TEXT,
    "sample": WHOLE,
    "prompt": TEXT,
    "text": TEXT,
}
SITUATIONS: Types = {"set": TEXT, "situation": TEXT, **dict.fromkeys(SITUATION_FIELDS, TEXT)}


def framed(rows: Sequence[Mapping[str, Any]], types: Types) -> pl.DataFrame:
    """The rows as a table with these columns; what a row does not hold is null."""
    return pl.DataFrame(
        [pl.Series(name, [row.get(name) for row in rows], kind) for name, kind in types.items()]
    )
