"""A simple, strong classifier of authors by n-grams, and its predictions for unseen texts.

TF-IDF of character 2–4-grams and word 1–2-grams with logistic regression. N-grams are counted once
for all texts, as counting learns nothing; which of them are used, and their weights, come from the
training texts of each fold alone.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.compute import one_thread
from empathylab.stats.arrays import Array, Numbers
from empathylab.style.authorship.logistic import TOLERANCE, Logistic, fit_logistic
from empathylab.style.text import ngrams
from empathylab.style.text.tokens import word_lists

LONGEST = 20_000
"""Characters of a text that are looked at."""
# Of all texts together: more would need gigabytes, and say little more about style.
_MOST_CHARACTERS = 8_000_000
_FEWEST_TEXTS = 2
_COST = 10.0
_PREDICTION_TOLERANCE = 1e-4
"""Enough for predictions: closer to the optimum, 1 in 100 changes of those that are guesses."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each n-gram stands in each text; one block per kind of n-gram."""

    blocks: tuple[Any, ...]
    names: tuple[NDArray[np.object_], ...]
    kinds: tuple[str, ...]


def ngram_counts(texts: pl.Series, *, characters: tuple[int, int] = (2, 4)) -> Counts:
    """Character n-grams and words with pairs of words, of each text's first 20,000 characters.

    Of fewer, the same for all texts, where they would be more than eight million together. N-grams
    of a single text are left out: nothing can be learnt from them.
    """
    texts = texts.str.head(_longest(texts))
    counts = {
        "characters": ngrams.ngrams(ngrams.characters(texts), characters, fewest=_FEWEST_TEXTS),
        "words": ngrams.ngrams(
            ngrams.words(word_lists(texts, fold=False)), (1, 2), fewest=_FEWEST_TEXTS
        ),
    }
    held = {kind: block for kind, block in counts.items() if block is not None}
    return Counts(
        blocks=tuple(block for block, _ in held.values()),
        names=tuple(names for _, names in held.values()),
        kinds=tuple(held),
    )


def _longest(texts: pl.Series) -> int:
    """How many characters of each text are looked at."""
    lengths = texts.str.len_chars().fill_null(0).to_numpy()

    def taken(most: int) -> int:
        return int(np.minimum(lengths, most).sum(dtype=np.int64))

    return max(1, bisect.bisect_right(range(LONGEST + 1), _MOST_CHARACTERS, key=taken) - 1)


def weighted(counts: Counts, training: NDArray[np.bool_]) -> Any:
    """TF-IDF of all texts, its weights learnt from the training texts.

    1 + ln(count), times 1 + ln((1 + n) / (1 + texts that have it)); rows of each block have
    length 1. N-grams in fewer than two training texts weigh nothing.
    """
    import scipy.sparse as sp

    blocks = []
    for block in counts.blocks:
        texts = np.bincount(block[training].indices, minlength=block.shape[1])
        idf = np.log((1 + training.sum()) / (1 + texts)) + 1
        kept = (texts >= _FEWEST_TEXTS)[block.indices]
        column = block.indices[kept]
        values = ((1 + np.log(block.data[kept])) * idf[column]).astype(np.float32)
        ends = np.concatenate([[0], np.cumsum(kept)])[block.indptr]
        made = sp.csr_matrix((values, column, ends), shape=block.shape)
        length = np.sqrt(np.asarray(made.multiply(made).sum(axis=1)).ravel())
        scale = 1 / np.where(length > 0, length, 1)
        made.data *= np.repeat(scale, np.diff(made.indptr)).astype(np.float32)
        blocks.append(made)
    return sp.hstack(blocks, format="csr", dtype=np.float32)


def situation_folds(situations: Sequence[str], folds: int, *, seed: int = 0) -> Numbers:
    """The fold of each response: all responses to a situation in one, folds of like size."""
    different, place, sizes = np.unique(
        np.asarray(situations), return_inverse=True, return_counts=True
    )
    shuffled = np.random.default_rng(seed).permutation(len(different))
    # The largest situations are dealt out first.
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    fold = np.zeros(len(different), dtype=np.int64)
    fold[order] = np.arange(len(different)) % folds
    return fold[place]


class Predictions(NamedTuple):
    """Whom classifiers name as the author of each text, and the classifier of each fold."""

    authors: Numbers
    fitted: dict[int, Logistic]
    """None of a fold whose training texts have one author or no features."""


def out_of_fold(
    counts: Counts,
    writers: Numbers,
    fold: Numbers,
    starts: Mapping[int, Logistic] = MappingProxyType({}),
) -> Predictions:
    """The author of each text, predicted by a classifier that saw no text of its fold.

    `starts` are the classifiers of other features of the same texts, with the same folds: they
    save two thirds of the steps.
    """
    predicted, fitted = np.zeros(len(writers), dtype=np.int64), {}
    for number in map(int, np.unique(fold)):
        training = fold != number
        features = weighted(counts, training)
        predicted[~training], found = _predicted(features, writers, training, starts.get(number))
        if found is not None:
            fitted[number] = found
    return Predictions(predicted, fitted)


def out_of_fold_dense(values: Array, writers: Numbers, fold: Numbers) -> Numbers:
    """The same from a few numbers per text, standardised by the training texts."""
    predicted = np.zeros(len(writers), dtype=np.int64)
    for number in np.unique(fold):
        training = fold != number
        mean, sd = values[training].mean(axis=0), values[training].std(axis=0)
        standard = (values - mean) / np.where(sd > 0, sd, 1)
        predicted[~training], _ = _predicted(standard, writers, training)
    return predicted


def coefficients(features: Any, writers: Numbers) -> Array:
    """Per writer, the weight of each feature, over the mean weight for all writers."""
    if not features.shape[1]:
        return np.zeros((len(np.unique(writers)), 0))
    weights = _fitted(features, writers, TOLERANCE).weights.T.astype(float)
    centred: Array = weights - weights.mean(axis=0)
    return centred


def _predicted(
    features: Any, writers: Numbers, training: NDArray[np.bool_], start: Logistic | None = None
) -> tuple[Numbers, Logistic | None]:
    known, sizes = np.unique(writers[training], return_counts=True)
    seen, unseen = features[training], features[~training]
    if not isinstance(features, np.ndarray):
        # A column that no training text has gets no weight, and would only take time.
        used = np.flatnonzero(np.bincount(seen.indices, minlength=seen.shape[1]))
        seen, unseen = seen[:, used], unseen[:, used]
    if len(known) == 1 or not seen.shape[1]:
        return np.full(int((~training).sum()), known[sizes.argmax()]), None
    classes = np.searchsorted(known, writers[training])
    fitted = _fitted(seen, classes, _PREDICTION_TOLERANCE, start)
    names: Numbers = known[fitted.predict(unseen)]
    return names, fitted


def _fitted(
    features: Any, classes: Numbers, tolerance: float, start: Logistic | None = None
) -> Logistic:
    # Threads cost more here than they give: tenfold on a busy machine.
    with one_thread():
        return fit_logistic(features, classes, cost=_COST, tolerance=tolerance, start=start)
