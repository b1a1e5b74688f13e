"""A judge alone measures a new model: coverage of the interval that `benchmark` publishes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from designs.simulation import Array, Codes, Counts, names
from empathylab.analysis.benchmark.estimates import measure_respondent
from empathylab.analysis.benchmark.frames import ReferenceRatings
from empathylab.situations.sources.released import Dimension
from empathylab.store.judged_responses import JudgedStudy

_DIMENSION = Dimension("empathy", (0.0, 1.0), ("Other", "Good"))
_SITUATIONS = 40
_SPREAD = 0.12
"""Of replies of one respondent, in chances of a good rating."""


@dataclass(frozen=True, slots=True)
class TransferDesign:
    """A judge that follows people along a line, and leans toward or against respondents."""

    name: str
    others: int
    """Respondents whom people rated, between 35% and 70% good ratings."""
    better: float = 0.0
    """By how much the newcomer exceeds the middle of the others; 0: a draw like them."""
    lean_sd: float = 0.04
    raters: int = 20
    """Of each respondent, ten ratings each."""

    def count(self, seed: int) -> Counts:
        """Whether the interval covers the newcomer's level, and whether it excludes anything."""
        random = np.random.default_rng(seed)
        levels = random.uniform(0.35, 0.70, self.others + 1)
        if self.better:
            levels[-1] = 0.525 + self.better
        chances = _kept(levels[:, None] + random.normal(0, _SPREAD, (self.others + 1, _SITUATIONS)))
        lean = random.normal(0, self.lean_sd, (self.others + 1, 1))
        told = 0.15 + 0.7 * chances + lean + random.normal(0, 0.1, chances.shape)
        rater = np.repeat(np.arange(self.others * self.raters), 10)
        respondent = rater // self.raters
        draws = [random.permutation(_SITUATIONS)[:10] for _ in range(self.others * self.raters)]
        situation = np.concatenate(draws)
        shift = random.normal(0, 0.1, int(rater.max()) + 1)[rater]
        good = random.random(len(rater)) < _kept(chances[respondent, situation] + shift)
        people = _rows(respondent, situation).with_columns(
            rater=pl.Series(names("p", rater)),
            rating=good.astype(float),
            top=good.astype(float),
        )
        new = np.full(_SITUATIONS, self.others)
        replies = _rows(new, np.arange(_SITUATIONS))
        predicted = pl.DataFrame(
            {
                "response": np.arange(told.size),
                "predicted": told.ravel(),
                "predicted_top": told.ravel(),
            }
        )
        reference = ReferenceRatings(JudgedStudy(1, "s", 1, {}), _DIMENSION, "between", people)
        found = measure_respondent(
            reference, str(self.others), replies, predicted, judge="judge", parts=False
        ).headline
        truth = float(_kept(levels[-1] + _SPREAD * _NORMAL).mean())
        return {
            "coverage": (int(found.low <= truth <= found.high), 1),
            "informative": (int(found.rules_out), 1),
        }


def _kept(chances: Array) -> Array:
    return np.clip(chances, 0.02, 0.98)


def _rows(respondent: Codes, situation: Codes) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "response": respondent * _SITUATIONS + situation,
            "respondent": names("", respondent),
            "situation": names("s", situation),
            "emotion": pl.Series([None] * len(respondent), dtype=pl.String),
            "valence": pl.Series([None] * len(respondent), dtype=pl.String),
            "text": "",
        }
    )


_NORMAL = np.random.default_rng(0).normal(size=200_000)

DESIGNS = [
    TransferDesign("judge_alone_6_others", 6),
    TransferDesign("judge_alone_6_others_better_newcomer", 6, better=0.3),
    TransferDesign("judge_alone_10_others_better_newcomer", 10, better=0.3),
    TransferDesign("judge_alone_4_others", 4),
    TransferDesign("judge_alone_3_others", 3),
]
