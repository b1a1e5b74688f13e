"""Whether a judge is biased, allowing for its own use of the scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arguments import without_gaps
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.clusters.robust import (
    cluster_codes,
    cluster_covariance,
    cluster_ways,
    fewest_clusters,
    least_squares,
)
from empathylab.stats.judges.bias import Bias, tested_bias, untested_bias

_FIRM = 3.3
"""The t value from which others' ratings predict a person's well enough to measure by: F of 10
(Staiger & Stock 1997, Econometrica 65, 557–586)."""


@dataclass(frozen=True, slots=True)
class _Rows:
    judge: Array
    people: Array
    lean: Array
    clusters: tuple[Codes, ...]
    dropped: int
    confidence: float

    def kept(self, chosen: NDArray[np.bool_]) -> _Rows:
        ways = tuple(codes[chosen] for codes in self.clusters)
        judge, people, lean = (person[chosen] for person in (self.judge, self.people, self.lean))
        dropped = self.dropped + int((~chosen).sum())
        return _Rows(judge, people, lean, ways, dropped, self.confidence)

    def centred(self, groups: Codes) -> _Rows:
        values = (self.judge, self.people, self.lean)
        judge, people, lean = (centred(value, groups) for value in values)
        return replace(self, judge=judge, people=people, lean=lean)


def scaled_bias(
    frame: pl.DataFrame,
    lean: str,
    *,
    response: str = "response",
    within: str | None = None,
    rating: str = "rating",
    prediction: str = "prediction",
    rater: str | None = "rater",
    situation: str | None = "situation",
    confidence: float = 0.95,
) -> Bias:
    """How much the judge's value rises with `lean`, beyond its own scale times people's ratings.

    The judge is regressed on people's rating and `lean`, so that one that only narrows or widens
    the scale has no bias; the estimate is in the judge's points. A single rating measures what
    people think with error, which would make the judge's scale look narrower than it is, and
    differences that people see look like bias. So the rating is predicted from the other people's
    of the same response (instrumental variable), whose errors are their own. One row is one
    person's rating beside the judge's; `within` names groups whose own level is taken out first.
    Ratings of one rater and of one situation may be correlated.

    Where fewer than half of the responses have two ratings, or these hardly agree, the scale is
    not known, and a judge with a wider scale than people's looks as if it leaned towards all that
    people like: then there is no estimate, and the note says so.
    """
    wanted = (lean, rating, prediction, response, *([] if within is None else [within]))
    whole = without_gaps(frame, *wanted)
    ways = cluster_ways(whole, rater, situation)
    judge, people, leans = (
        whole[item].cast(pl.Float64).to_numpy() for item in (prediction, rating, lean)
    )
    rows = _Rows(judge, people, leans, tuple(ways), len(frame) - len(whole), confidence)
    groups = np.zeros(len(whole), np.int64) if within is None else cluster_codes(whole[within])
    if len(judge) < 3 or not _vary(rows.centred(groups).lean):
        return _untested(rows, "few_rows" if len(judge) < 3 else "nothing_to_compare")
    bias = _instrumented(rows, cluster_codes(whole[response]), groups)
    return _untested(rows, "unknown_scale") if bias is None else bias


def centred(values: Array, groups: Codes) -> Array:
    """The values minus their group's mean."""
    _, place = np.unique(groups, return_inverse=True)
    means = np.bincount(place, values) / np.maximum(np.bincount(place), 1)
    return np.asarray(values - means[place])


def _instrumented(rows: _Rows, responses: Codes, groups: Codes) -> Bias | None:
    """The bias, estimated with others' ratings of the same response; None if there are too few."""
    _, place, sizes = np.unique(responses, return_inverse=True, return_counts=True)
    if not len(sizes) or (sizes > 1).mean() < 0.5:
        return None
    several = sizes[place] > 1
    sums = np.bincount(place, rows.people)
    others = ((sums[place] - rows.people) / np.maximum(sizes[place] - 1, 1))[several]
    kept, groups = rows.kept(several), groups[several]
    kept, others = kept.centred(groups), centred(others, groups)
    if not _vary(kept.lean, others, kept.people) or _dependent(kept.lean, others):
        return None
    first = least_squares(np.column_stack([kept.lean, others]), kept.people, kept.clusters)
    firm = _FIRM * math.sqrt(max(float(first.covariance[1, 1]), 0.0))
    if first.df < 1 or not float(first.coefficients[1]) > firm:
        return None
    return _estimated(kept, np.column_stack([kept.lean, others]))


def _estimated(rows: _Rows, instruments: Array) -> Bias:
    design = np.column_stack([rows.lean, rows.people])
    inverse = np.linalg.inv(instruments.T @ design)
    coefficients = inverse @ instruments.T @ rows.judge
    scores = instruments * (rows.judge - design @ coefficients)[:, None]
    covariance = inverse @ cluster_covariance(scores, rows.clusters) @ inverse.T
    n = len(rows.judge)
    return tested_bias(
        float(coefficients[0]),
        float(covariance[0, 0]),
        fewest_clusters(n, rows.clusters) - 1,
        largest=max(float(np.abs(values).max()) for values in (rows.judge, rows.people)),
        n=n,
        dropped=rows.dropped,
        confidence=rows.confidence,
    )


def _untested(rows: _Rows, code: str) -> Bias:
    return untested_bias(code, len(rows.judge), rows.dropped, rows.confidence)


def _vary(*values: Array) -> bool:
    return all(
        len(value) > 2 and float(np.ptp(value)) > 1e-9 * (1 + np.abs(value).max())
        for value in values
    )


def _dependent(first: Array, second: Array) -> bool:
    """Whether one is but a multiple of the other."""
    return abs(float(np.corrcoef(first, second)[0, 1])) > 1 - 1e-9
