"""How much more the number of right identifications varies because classifiers share texts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from empathylab.stats.arrays import Array, Numbers

_MOST_RESPONSES = 1_500
_DRAWS = 100
_OFTEN = 0.03
"""The share of rows from which a column counts as frequent."""
_PENALTY = 0.4
"""Of the squared weights, beside the squared errors: what logistic regression's comes to."""


def refitting_factor(
    features: Any, situations: Numbers, writers: Numbers, fold: Numbers, *, seed: int
) -> float:
    """The standard deviation of right identifications if all write alike, over that of classifiers
    that stay as they are; 1 at least.

    Two alike texts in different folds are each judged by a classifier that has seen the other: both
    are identified right, or both wrong. So identifications are not independent, and a test that
    exchanges respondents without training again finds authors too often. Here respondents are
    exchanged within situations and classifiers trained again, 100 times. In place of logistic
    regression it is ridge regression, which costs no more than a product of matrices each time.
    `features` are weighted by all texts, not by each fold's training texts, so that one product
    serves all folds; that changes the factor by less than 0.01, its Monte-Carlo error is 7%. Of
    more than 1,500 responses, situations are drawn at random.
    """
    from scipy.linalg import cho_factor, cho_solve

    generator = np.random.default_rng(seed)
    rows = _drawn(situations, generator)
    place, writer, parts = situations[rows], writers[rows], fold[rows]
    kinds = int(writers.max()) + 1
    dealt = np.stack(
        [writer[np.lexsort((generator.random(len(rows)), place))] for _ in range(_DRAWS)]
    )
    truth = np.eye(kinds)[dealt.T]
    products = _products(features[rows])
    predicted = np.zeros_like(dealt)
    for number in np.unique(parts):
        seen = parts != number
        if not seen.any():
            continue
        mean = truth[seen].mean(axis=0)
        centred = (truth[seen] - mean).reshape(int(seen.sum()), -1)
        inner = products[np.ix_(seen, seen)] + _PENALTY * np.eye(len(centred))
        # Solved for the few texts that are judged, not for the many exchanged respondents.
        judging = cho_solve(cho_factor(inner), products[np.ix_(seen, ~seen)]).T
        scores = judging @ centred
        refitted = scores.reshape(-1, _DRAWS, kinds) + mean
        predicted[:, ~seen] = refitted.argmax(axis=2).T
    right = (predicted == dealt).sum(axis=1)
    fixed = np.mean([_variance(place, writer, names) for names in predicted])
    return max(1.0, math.sqrt(float(right.var(ddof=1)) / fixed)) if fixed > 0 else 1.0


def _products(features: Any) -> Array:
    """The inner products of all rows.

    Columns that many rows have make almost all the work of a sparse product, and are multiplied as
    dense ones, which is several times faster.
    """
    by_column = features.tocsc()
    often = np.diff(by_column.indptr) > _OFTEN * features.shape[0]
    dense = by_column[:, often].toarray().astype(np.float64)
    rare = by_column[:, ~often].tocsr()
    return np.asarray(dense @ dense.T + (rare @ rare.T).toarray(), dtype=np.float64)


def _drawn(situations: Numbers, generator: np.random.Generator) -> Numbers:
    """Rows sorted by situation, of as many situations as may be used."""
    sizes = np.bincount(situations)
    order = generator.permutation(len(sizes))
    kept = order[np.cumsum(sizes[order]) <= max(_MOST_RESPONSES, int(sizes[order[0]]))]
    rows = np.flatnonzero(np.isin(situations, kept))
    return rows[np.argsort(situations[rows], kind="stable")]


def _variance(place: Numbers, writer: Numbers, predicted: Numbers) -> float:
    """Of right identifications where respondents are exchanged within situations.

    Hoeffding, W. (1951). Annals of Mathematical Statistics 22, 558–566.
    """
    size = int(place.max()) + 1, int(max(writer.max(), predicted.max())) + 1
    wrote, named = np.zeros(size), np.zeros(size)
    np.add.at(wrote, (place, writer), 1)
    np.add.at(named, (place, predicted), 1)
    n = np.maximum(wrote.sum(axis=1), 1)
    both = (wrote * named).sum(axis=1)
    squares = both - (wrote * named * (wrote + named)).sum(axis=1) / n + both**2 / n**2
    return float((squares / np.maximum(n - 1, 1)).sum())
