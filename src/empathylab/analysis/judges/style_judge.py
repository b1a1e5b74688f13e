"""A judge that costs nothing: it rates a reply by how it is written, learnt from people's ratings.

An ordinal regression on the features of `style` and on n-grams. It knows nothing of the situation,
so it is a baseline: a model that judges should do better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.analysis.judges.ordinal_ridge import OrdinalRidge, fit_ordinal_ridge
from empathylab.errors import InputError
from empathylab.stats.arrays import Array
from empathylab.style import features
from empathylab.style.authorship.classifier import Counts, ngram_counts, situation_folds, weighted

Flags = NDArray[np.bool_]

STYLE_JUDGE = "style"
"""The judge's name on its card."""
PENALTY = 5.0
"""Of the squares of weights; between 1 and 10 it makes little difference."""
FEWEST_SITUATIONS = 10
_MOST_CATEGORIES = 10
_FOLDS = 5
_IDENTITY = ("respondent", "situation", "sample")


@dataclass(frozen=True, slots=True)
class StyleText:
    """Replies as numbers: features of style, and counts of n-grams."""

    dense: Array
    counts: Counts

    def matrix(self, training: Flags) -> Any:
        """Predictors of all replies, their weights and scales learnt from the training ones.

        The features of style together weigh as much as either kind of n-gram.
        """
        import scipy.sparse as sp

        mean, sd = self.dense[training].mean(axis=0), self.dense[training].std(axis=0)
        used = sd > 1e-9
        scaled = (self.dense[:, used] - mean[used]) / sd[used]
        # An extreme value must not decide alone.
        scaled = np.clip(scaled, -4, 4) / max(1.0, np.sqrt(used.sum()))
        blocks = [sp.csr_matrix(scaled)]
        if self.counts.blocks:
            blocks.append(weighted(self.counts, training))
        whole = sp.hstack(blocks, format="csr", dtype=np.float64)
        # What occurs in fewer than two training replies has no column left.
        return whole[:, np.unique(whole.indices)]


def style_text(frame: pl.DataFrame) -> StyleText:
    """The replies' features and n-grams, a row each; nothing is learnt yet."""
    texts = frame.select(pl.col("text").fill_null(""), respondent=pl.lit(""), situation=pl.lit(""))
    # As predictors all values help, of short texts, too.
    measured = features(texts, sentiment=False, shortest=0)
    values = measured.select(pl.exclude(_IDENTITY).cast(pl.Float64).fill_null(0.0)).to_numpy()
    dense = np.sign(values) * np.log1p(np.abs(values))
    return StyleText(np.asarray(dense, dtype=np.float64), ngram_counts(texts["text"]))


def style_judgements(frame: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
    """What the judge says of each reply after training on people's ratings of other situations.

    One row of `frame` is one person's rating of one reply: response, situation, text and rating.
    Situations are dealt into folds; the replies of each are rated by a model trained on the others.
    Returns `response`, `rating` (a category, used as often as people use it) and `expected` (the
    mean predicted rating). Ratings in many degrees are predicted in ten groups.

    Raises InputError with fewer than 10 situations or ratings that are all the same.
    """
    rows = frame.drop_nulls(["response", "situation", "text", "rating"])
    replies = rows.unique("response", keep="first", maintain_order=True)
    situations = replies["situation"].cast(pl.String).to_list()
    if len(set(situations)) < FEWEST_SITUATIONS:
        raise InputError(
            "the style judge needs rated replies to more situations",
            got=len(set(situations)),
            remedy=f"Give ratings of replies to at least {FEWEST_SITUATIONS}.",
        )
    place = replies.select("response", _reply=pl.int_range(pl.len()))
    of = rows.join(place, on="response", how="left", maintain_order="left")["_reply"].to_numpy()
    values = _grouped(rows["rating"].cast(pl.Float64).to_numpy())
    fold = situation_folds(situations, _FOLDS, seed=seed)
    prepared = style_text(replies)
    ratings, expected = np.zeros(len(replies)), np.zeros(len(replies))
    for number in np.unique(fold):
        out = fold == number
        matrix = prepared.matrix(~out)
        train = ~out[of]
        if len(np.unique(values[train])) < 2:
            ratings[out] = expected[out] = values[train][0]
            continue
        fitted = fit_ordinal_ridge(matrix[of[train]], values[train], penalty=PENALTY)
        expected[out] = fitted.expected(matrix[out])
        ratings[out] = as_often(fitted, fitted.scores(matrix[out]), values[train])
    return pl.DataFrame({"response": replies["response"], "rating": ratings, "expected": expected})


def as_often(fitted: OrdinalRidge, scores: Array, ratings: Array) -> Array:
    """A category for each score, the categories as frequent as among the ratings.

    The likeliest category would nearly always be the most common one, which is uninformative.
    """
    categories = np.asarray(fitted.categories)
    counts = np.array([(ratings == category).sum() for category in categories])
    below = np.cumsum(counts)[:-1] / counts.sum()
    ranks = (np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 0.5) / len(scores)
    return np.asarray(categories[np.searchsorted(below, ranks)])


def _grouped(values: Array) -> Array:
    """The ratings; those in many degrees as the means of ten groups of like size."""
    if len(np.unique(values)) <= _MOST_CATEGORIES:
        return values
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _MOST_CATEGORIES + 1)[1:-1]))
    group = np.searchsorted(edges, values, side="right")
    sums, sizes = np.bincount(group, values), np.bincount(group)
    return np.asarray((sums / np.maximum(sizes, 1))[group])
