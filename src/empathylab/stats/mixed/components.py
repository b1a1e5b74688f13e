"""Which ratings can be worked on without the others, because they share no level with them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Codes, Indices

_BATCH = 8_192
"""Ratings worked on together: enough to keep numpy busy, few enough to stay in the cache."""


class Components(NamedTuple):
    """The sets of levels that are connected: two levels are where a rating has both."""

    total: int
    labels: list[Indices]
    """The component of each level, per grouping."""


def level_components(codes: Sequence[Codes], sizes: Sequence[int]) -> Components:
    """The connected components of the groupings' levels."""
    if len(codes) == 1:
        return Components(sizes[0], [np.arange(sizes[0])])
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    ends = np.concatenate([one + first for one, first in zip(codes[1:], offsets[1:], strict=False)])
    starts = np.tile(codes[0], len(codes) - 1)
    ones = np.ones(len(ends), dtype=np.int8)
    graph = coo_array((ones, (starts, ends)), shape=(offsets[-1], offsets[-1])).tocsr()
    count, labels = connected_components(graph, directed=False)
    labels = labels.astype(np.intp)
    spans = itertools.pairwise(offsets.tolist())
    return Components(int(count), [labels[first:last] for first, last in spans])


def largest_core(components: Components, sizes: Sequence[int]) -> int:
    """The most levels outside the largest grouping that are connected with each other."""
    count, component = components
    leaf = int(np.argmax(sizes))
    held = np.zeros(count, dtype=np.intp)
    for number, labels in enumerate(component):
        if number != leaf:
            held += np.bincount(labels, minlength=count)
    return int(held.max(initial=0))


def independent_batches(components: Components, codes: Codes) -> list[Indices]:
    """Sets of ratings that share no level with each other, components of one shape together.

    `codes` are the levels of the first grouping.
    """
    count, component = components
    shapes = np.array([np.bincount(item, minlength=count) for item in component])
    order = np.lexsort(shapes)
    of_rating = component[0][codes]
    held = np.bincount(of_rating, minlength=count)
    batch = np.empty(count, dtype=np.intp)
    # A batch ends with the component in which it gets full.
    batch[order] = (np.cumsum(held[order]) - held[order]) // _BATCH
    numbers = batch[of_rating]
    sorted_ratings = np.argsort(numbers, kind="stable")
    ends = np.flatnonzero(np.diff(numbers[sorted_ratings])) + 1
    return [np.asarray(part, dtype=np.intp) for part in np.split(sorted_ratings, ends)]
