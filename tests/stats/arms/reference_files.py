"""What R says of small invented files; `tests/reference/rated_arms.R` made the numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

FOLDER = Path(__file__).parents[2] / "reference"
R: dict[str, Any] = json.loads((FOLDER / "rated_arms.json").read_text(encoding="utf-8"))


def rated() -> pl.DataFrame:
    """Three arms with 20 raters each, between subjects."""
    return pl.read_csv(FOLDER / "rated_arms.csv")


def paired() -> pl.DataFrame:
    """25 raters who rate all three arms."""
    return pl.read_csv(FOLDER / "paired_arms.csv")


def raters() -> pl.DataFrame:
    """105 raters of three arms, with TEQ, age and country."""
    return pl.read_csv(FOLDER / "raters.csv")
