"""Ratings for tests of cumulative link mixed models: simulated ones, and R's frozen results."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

REFERENCE = Path(__file__).parents[2] / "reference" / "clmm.json"
"""Made by tests/reference/clmm.R."""


@functools.cache
def reference() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return found


def reference_frame(name: str) -> pl.DataFrame:
    return pl.DataFrame(reference()["data"][name])


def crossed(
    raters: int,
    situations: int,
    seed: int,
    *,
    effect: float = 0.5,
    sd: tuple[float, float] = (0.8, 0.6),
    share: float = 1.0,
) -> pl.DataFrame:
    """Every rater rates every situation (or a share of them), in one of two arms."""
    generator = np.random.default_rng(seed)
    rater, situation = np.divmod(np.arange(raters * situations), situations)
    if share < 1:
        kept = generator.random(len(rater)) < share
        rater, situation = rater[kept], situation[kept]
    arm = (rater + situation) % 2
    latent = effect * arm + generator.logistic(size=len(rater))
    latent += sd[0] * generator.normal(size=raters)[rater]
    latent += sd[1] * generator.normal(size=situations)[situation]
    return pl.DataFrame(
        {
            "rating": 1 + (latent > -1) + (latent > 1),
            "arm": np.where(arm == 0, "a", "b"),
            "rater": rater,
            "situation": situation,
        }
    )


def between(parts: int, seed: int, *, effect: float, sd: tuple[float, float]) -> pl.DataFrame:
    """Two arms of raters; ten situations to each pair of raters, as in the published study."""
    generator = np.random.default_rng(seed)
    part = np.repeat(np.arange(parts), 20)
    arm = np.tile(np.repeat([0, 1], 10), parts)
    situation = part * 10 + np.tile(np.arange(10), 2 * parts)
    rater = part * 2 + arm
    latent = effect * arm + generator.logistic(size=len(part))
    latent += sd[0] * generator.normal(size=2 * parts)[rater]
    latent += sd[1] * generator.normal(size=10 * parts)[situation]
    return pl.DataFrame(
        {
            "rating": 1 + (latent > -1.7) + (latent > 0.1),
            "arm": np.where(arm == 0, "a", "b"),
            "rater": rater,
            "situation": situation,
        }
    )
