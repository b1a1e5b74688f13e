"""Each respondent left out in turn, and predicted from a judge's ratings and the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.arrays import Array
from empathylab.stats.judges.inverse_prediction import StraightLine
from empathylab.stats.judges.transfer_lines import Shares, through_means, through_ratings


@dataclass(frozen=True, slots=True)
class TransferError:
    """The error of the judge for a respondent that it was not calibrated on."""

    respondent: str
    predicted: float
    """From the judge's ratings of this respondent and people's ratings of the others."""
    people: float
    """What people said."""
    n: int
    """People's ratings of this respondent."""
    leverage: float
    """How far the line of the others was stretched to reach this one: 1 / others, or more."""
    lean: float = math.nan
    """How far the judge lies above the others' line of it on people, in units of the scatter."""

    @property
    def error(self) -> float:
        """Above 0 where the judge predicts too much."""
        return self.predicted - self.people


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The rows that the judge rated, as arrays, so that each of many can be left out in turn."""

    names: tuple[str, ...]
    who: NDArray[np.int64]
    rated: NDArray[np.bool_]
    y: Array
    f: Array

    @classmethod
    def of(cls, ratings: pl.DataFrame) -> JudgedRows:
        """From the columns respondent, rating and prediction."""
        rows = ratings.drop_nulls(["prediction", "respondent"])
        names, who = np.unique(rows["respondent"].to_numpy(), return_inverse=True)
        return cls(
            tuple(names.tolist()),
            who,
            rows["rating"].is_not_null().to_numpy(),
            rows["rating"].fill_null(0.0).to_numpy(),
            rows["prediction"].to_numpy(),
        )

    def left_out(self, name: str, newcomer: str, *, means: bool) -> TransferError:
        """The respondent predicted from the others, without the new respondent."""
        mine = self._of(name)
        rest = self.rated & ~mine & ~self._of(newcomer)
        own = mine & self.rated
        if not own.any() or not rest.any():
            raise cannot_calibrate(name, judged=bool(mine.any()))
        y, f = self.y[rest], self.f[rest]
        shares = Shares.of(self.who[rest])
        reading = (through_means if means else through_ratings)(y, f, self.f[mine], shares)
        people, level = float(self.y[own].mean()), float(self.f[mine].mean())
        lean = StraightLine.through(shares.means(y), shares.means(f)).missed(people, level)
        return TransferError(name, reading.estimate, people, int(own.sum()), reading.leverage, lean)

    def _of(self, name: str) -> NDArray[np.bool_]:
        place = self.names.index(name) if name in self.names else -1
        return np.asarray(self.who == place)


def cannot_calibrate(name: str, *, judged: bool) -> InputError:
    """The error where the judge has not rated a respondent, or people no other one."""
    return InputError(
        "there is nothing to calibrate the judge on"
        if judged
        else "the judge has not rated any replies of this respondent",
        got=name,
        remedy="Let the judge rate the new replies, and replies that people have rated.",
    )
