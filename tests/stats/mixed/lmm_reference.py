"""What lme4, lmerTest and emmeans say of small simulated studies; tests/reference/lmm.R made it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from empathylab.stats.mixed.linear.model import Lmm, lmm

_FILE = Path(__file__).parents[2] / "reference" / "lmm.json"


@cache
def reference() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded


def tags() -> list[str]:
    return [fit["tag"] for fit in reference()["fits"]]


def expected(tag: str) -> dict[str, Any]:
    found: dict[str, Any] = next(fit for fit in reference()["fits"] if fit["tag"] == tag)
    return found


def study(name: str) -> pl.DataFrame:
    return pl.DataFrame(reference()["sets"][name])


@cache
def fitted(tag: str) -> Lmm:
    one = expected(tag)
    return lmm(study(one["set"]), one["formula"], reml=one["reml"])


def as_r_names(group: str) -> str:
    """R writes the inner group of a nested pair first."""
    return ":".join(reversed(group.split(":")))
