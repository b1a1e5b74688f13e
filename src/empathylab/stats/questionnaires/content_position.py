"""How much of the answers goes by what items say, and how much by where they stand on the page."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.notes import Note, note


class Shares(NamedTuple):
    """How the variance of answers within administrations divides."""

    content: float
    position: float
    position_error: float
    noise: float
    content_error: float = math.nan


def content_and_position(values: Array, places: Codes, contexts: Codes) -> Shares | Note:
    """How much of the answers' variance items and places explain; or why that is not known.

    Rows are administrations, columns items; `places` says where each item stood (from 0),
    `contexts` which administrations belong to one situation. Answers, minus their administration's
    mean, are fitted by least squares as item (within situation) + place + noise. A factor's share
    is the variance of its fitted effects, minus what noise alone would put there, over all
    variance; so random answers give about 0 and answers by position give 1 however few the orders
    are (a difference of R² would give at most ½ with two). Where orders leave groups of places
    unconnected (no item ever moves between them), differences between the groups count for
    neither. Only situations seen in two orders or more are used; the others are put together as
    one. Not for answers of which some are missing: leave their administration out.

    Andrews, M. J., Gill, L., Schank, T., & Upward, R. (2008). Journal of the Royal Statistical
    Society A 171, 673–697 (the same correction, for workers and firms).
    """
    k = values.shape[1]
    known = k > 0 and (np.sort(places, axis=1) == np.arange(k)).all(axis=1)
    if not np.any(known):
        return note("unknown_positions")
    values, places, contexts = values[known], places[known], contexts[known]
    contexts = _crossed(places, contexts)
    used = contexts >= 0
    if not used.any():
        return note("one_item_order")
    centred = values[used] - values[used].mean(axis=1, keepdims=True)
    if (centred**2).sum() <= 1e-12 * (values**2).sum():
        return note("equal_answers")
    shares = _shares(centred, places[used], np.unique(contexts[used], return_inverse=True)[1])
    return shares or note("few_administrations", administrations=int(used.sum()))


def _shares(centred: Array, places: Codes, contexts: Codes) -> Shares | None:
    """The fit; None where too little is left over to estimate the noise."""
    n, k = centred.shape
    sizes = np.bincount(contexts)
    groups, weight = len(sizes), np.repeat(sizes, k)
    cell = contexts[:, None] * k + np.arange(k)
    seen = np.bincount((cell * k + places).ravel(), minlength=groups * k * k).reshape(-1, k)
    means = np.bincount(cell.ravel(), centred.ravel()) / weight
    # Items taken out, what is left of the places' normal equations is a graph's Laplacian.
    laplacian = n * np.eye(k) - (seen / weight[:, None]).T @ seen
    island = _islands(laplacian)
    islands = int(island.max()) + 1
    df = (n - groups) * (k - 1) - (k - islands)
    if df < k - 1:
        return None
    inverse = np.linalg.pinv(laplacian, rtol=1e-9, hermitian=True)
    by_place = inverse @ np.bincount(places.ravel(), (centred - means[cell]).ravel())
    by_item = means - seen @ by_place / weight
    noise = float(((centred - by_item[cell] - by_place[places]) ** 2).sum()) / df
    home = island[seen.argmax(axis=1)]
    by_item -= (np.bincount(home, weight * by_item) / np.bincount(home, weight))[home]
    spread = n * float(np.trace(inverse))
    content_noise = (groups - 1) * (k - 1) + spread
    total = float((centred**2).sum())
    return Shares(
        content=(float((weight * by_item**2).sum()) - noise * content_noise) / total,
        position=(n * float((by_place**2).sum()) - noise * spread) / total,
        position_error=noise * n * math.sqrt(2 * float((inverse**2).sum())) / total,
        noise=noise * n * (k - 1) / total,
        content_error=noise * math.sqrt(2 * content_noise) / total,
    )


def order_sensitivity(values: Array, contexts: Codes, orders: Codes) -> tuple[float, float] | None:
    """How far answers to an item differ between orders, relative to chance and in scale points.

    The mean absolute difference of an item's two answers, over all pairs of administrations of
    one situation in different orders (each situation weighted by its administrations), and the
    same over what two answerers would show who draw at random from all these answers: 0 where
    order makes no difference, 1 where answers are as different as chance. Unsteady answers raise
    it too: compare with `retest`. None without such pairs, or where all answers are the same.
    """
    k = values.shape[1]
    if values.size == 0:
        return None
    sizes = np.bincount(contexts)
    code = contexts * (int(orders.max()) + 1) + orders
    _, first, page = np.unique(code, return_index=True, return_inverse=True)
    home, page_sizes = contexts[first], np.bincount(page)
    pairs = (sizes**2 - np.bincount(home, page_sizes**2, len(sizes))) / 2
    columns = np.arange(k)
    context_sums = _pair_sums(contexts[:, None] * k + columns, values, len(sizes) * k)
    page_sums = _pair_sums(page[:, None] * k + columns, values, len(first) * k)
    sums = context_sums.reshape(-1, k).sum(axis=1)
    sums -= np.bincount(home, page_sums.reshape(-1, k).sum(axis=1), len(sizes))
    used = pairs > 0
    if not used.any():
        return None
    difference = float(np.average(sums[used] / (pairs[used] * k), weights=sizes[used]))
    pool = values[used[contexts]]
    chance = float(_pair_sums(np.zeros(pool.shape, dtype=np.int64), pool, 1)[0])
    if chance <= 0:
        return None
    return difference / (2 * chance / (pool.size * (pool.size - 1))), difference


def _pair_sums(groups: Codes, values: Array, n_groups: int) -> Array:
    """The sum of |x − y| over all pairs of each group, by sorting instead of pairing."""
    flat, order = groups.ravel(), np.lexsort((values.ravel(), groups.ravel()))
    group, value = flat[order], values.ravel()[order]
    sizes = np.bincount(group, minlength=n_groups)
    rank = np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]
    sums = np.bincount(group, (2 * rank - sizes[group] + 1) * value, n_groups)
    return np.asarray(sums, dtype=np.float64)


def _crossed(places: Codes, contexts: Codes) -> Codes:
    """Contexts seen in two orders or more; the others as one, or −1 if that has one order only."""
    _, first, context = np.unique(contexts, return_index=True, return_inverse=True)
    differs = (places != places[first[context]]).any(axis=1)
    crossed = np.bincount(context, differs)[context] > 0
    lone = places[~crossed]
    together = len(first) if (lone != lone[:1]).any() else -1
    return np.where(crossed, context, together)


def _islands(laplacian: Array) -> Codes:
    """Which places are connected: by items that stood in both within one situation."""
    from scipy.sparse.csgraph import connected_components

    linked = laplacian - np.diag(np.diag(laplacian)) < -1e-9
    return np.asarray(connected_components(linked, directed=False)[1], dtype=np.int64)
