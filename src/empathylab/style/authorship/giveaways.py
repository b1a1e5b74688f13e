"""N-grams that give a respondent away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empathylab.stats.arrays import Array, Numbers
from empathylab.style.authorship.classifier import Counts, coefficients

_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Giveaway:
    """An n-gram that identifies a respondent."""

    respondent: str
    kind: str
    """`characters` or `words`."""
    term: str
    """As in the text, a space written as ␣ among characters."""
    weight: float
    """Its coefficient, over the mean of all respondents."""
    contribution: float
    """Weight times how much more of it the respondent has."""
    share: float
    """Of the respondent's responses, those that hold it."""
    against_share: float


def find_giveaways(
    counts: Counts, features: Any, writers: Numbers, names: Sequence[str], top: int
) -> tuple[Giveaway, ...]:
    """Per respondent and kind, the n-grams that do most to identify it, up to `top`.

    `features` are the counts, weighted by all texts.
    """
    weights = coefficients(features, writers)
    present = features.copy()
    present.data = (present.data > 0).astype(np.float32)
    starts = np.cumsum([0, *(block.shape[1] for block in counts.blocks)])
    giveaways = []
    for number, name in enumerate(names):
        mine = writers == number
        more = _column_mean(features[mine]) - _column_mean(features[~mine])
        share, against = _column_mean(present[mine]), _column_mean(present[~mine])
        gain = np.where(more > 0, weights[number] * more, 0.0)
        for block, kind in enumerate(counts.kinds):
            inside = gain[starts[block] : starts[block + 1]]
            for place in _best(inside, counts.names[block], kind, top):
                at = starts[block] + place
                term = str(counts.names[block][place])
                giveaways.append(
                    Giveaway(
                        respondent=name,
                        kind=kind,
                        term=term.replace(" ", "␣") if kind == "characters" else term,
                        weight=float(weights[number, at]),
                        contribution=float(inside[place]),
                        share=float(share[at]),
                        against_share=float(against[at]),
                    )
                )
    return tuple(giveaways)


def _best(gain: Array, names: NDArray[np.object_], kind: str, top: int) -> list[int]:
    """The n-grams that gain most; of those that hold one another, only the first."""
    chosen: list[int] = []
    edge = " " if kind == "words" else ""
    listed: list[str] = []
    for place in np.argsort(-gain, kind="stable")[: _CANDIDATES * top]:
        name = f"{edge}{names[place]}{edge}"
        if gain[place] > 0 and not any(name in other or other in name for other in listed):
            listed.append(name)
            chosen.append(int(place))
            if len(chosen) == top:
                break
    return chosen


def _column_mean(matrix: Any) -> Array:
    mean: Array = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel() / matrix.shape[0]
    return mean
