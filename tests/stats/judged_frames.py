"""Frames of people's ratings beside a judge's, for the tests of judges."""

from __future__ import annotations

import numpy as np
import polars as pl


def arithmetic() -> pl.DataFrame:
    """Sixty ratings by arithmetic, the same as in tests/reference/clusters.R."""
    i = np.arange(60)
    rater, situation = i % 12, i // 4
    words, own = 10 + (i * 37) % 90, (i % 3 == 0).astype(int)
    people = 1 + (i * i * 7 + rater * 3 + situation * situation) % 5
    judge = np.minimum(5, people + (i * i + rater) % 3 - (words > 50) + own)
    return pl.DataFrame(
        {
            "rater": rater,
            "situation": situation,
            "words": words,
            "respondent": np.where(own > 0, "kin", "other"),
            "rating": people,
            "prediction": judge,
        }
    )


def judged(
    seed: int,
    *,
    own_bonus: float = 0.0,
    length_bonus: float = 0.0,
    situations: int = 40,
    raters: int = 30,
) -> pl.DataFrame:
    """Three respondents' replies, each rated by two people and by a judge that may be biased."""
    rng = np.random.default_rng(seed)
    situation = np.repeat(np.arange(situations), 6)
    respondent = np.tile(np.repeat(np.arange(3), 2), situations)
    reply = situation * 3 + respondent
    words = np.exp(rng.normal(3.5, 0.5, situations * 3) + 0.3 * np.tile(np.arange(3), situations))
    quality = rng.normal(size=situations * 3) + rng.normal(size=situations).repeat(3)
    quality += 0.4 * (np.log(words) - 3.5)
    rater = rng.integers(raters, size=len(reply))
    people = quality[reply] + rng.normal(size=raters)[rater] * 0.5 + rng.normal(size=len(reply))
    judge = quality + rng.normal(size=len(quality))
    judge += own_bonus * (np.arange(len(quality)) % 3 == 0) + length_bonus * np.log(words)
    return pl.DataFrame(
        {
            "situation": situation,
            "respondent": np.array(["kin", "rival", "human"])[respondent],
            "rater": rater,
            "rating": people,
            "prediction": judge[reply],
            "words": np.rint(words[reply]).astype(int),
        }
    )
