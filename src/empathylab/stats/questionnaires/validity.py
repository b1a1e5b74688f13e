"""Whether a self-report depends on what the items say or on where they stand on the page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.questionnaires.reliability import (
    Correlation,
    Reliability,
    cronbach_alpha,
    mcdonald_omega,
    retest_correlation,
)

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Verdict = Literal["usable", "doubtful", "meaningless"]

# Meaningless: most of what was said cannot be a report about oneself.
MOSTLY = 0.5
"""Share of invalid or patterned administrations: from half on, they are the rule."""
CHANCE = 0.9
"""Order sensitivity: a correlation of about .2 (see `SENSITIVE`); next to nothing is said twice."""
# Doubtful: scores may be used, but not without saying this.
MANY = 0.2
"""Share of invalid or patterned administrations: one in five is no accident, and what is left may
be a selection."""
SENSITIVE = 0.7
"""Order sensitivity: for normal answers it is √(1 − r), so this is a correlation of about .5
between two orders, as `STEADY` asks of two answerings in one."""
POSITION = 0.1
"""Position's share: below a tenth it is no reason for anything."""
CONSISTENT = 0.6
"""Alpha: below it, most textbooks call a scale's consistency poor."""
STEADY = 0.5
"""Test–retest correlation: below it, one answering explains less than a quarter of the next."""
# What it takes to judge.
FEWEST_ADMINISTRATIONS = 5
"""Valid administrations: with fewer, one odd answer is 20 % and more of all."""
FEWEST_FOR_ALPHA = 10
"""Administrations: with fewer, alpha's interval spans most of its range."""
FEWEST_SITUATIONS = 5
"""Different situations, rest among them: without differences to report there is no consistency."""
FEWEST_FOR_RETEST = 20
"""Pairs of answers: r = .5 differs from 0 at the 5 % level from about 16 on."""
MATTERS = 0.1
"""Difference between orders, as a share of the range: a smaller one changes no score much."""
NOISE = 2.0
"""Standard errors that position's share must exceed, so that noise is not taken for position."""

_OF_ADMINISTRATION = ("administration", "phase", "situation", "order_index", "repeat")
COLUMNS = (*_OF_ADMINISTRATION, "item", "position", "value")
"""The columns that are needed: one row for each answer of a valid administration."""


@dataclass(frozen=True, slots=True)
class Validity:
    """What speaks for and against taking a respondent's answers to a scale as a self-report."""

    verdict: Verdict
    reasons: tuple[str, ...]
    """Why, weightiest first; then what could not be judged."""
    administrations: int
    """All, invalid ones included."""
    valid: int
    """Those that have answers."""
    invalid_share: float
    """NaN where nothing was administered."""
    pattern_share: float
    """Valid administrations that follow a pattern; NaN where none is valid."""
    content_share: float | None
    """Share of the variance within administrations that items explain; None where unknown."""
    position_share: float | None
    """The same for the place on the page. Both are about 0 for random answers, may fall below."""
    position_error: float | None
    """Standard error of the position's share of a respondent who ignores position."""
    noise_share: float | None
    """What neither explains. What lacks to 1 cannot be told apart with the orders used."""
    order_sensitivity: float | None
    """0 where the order makes no difference, 1 where answers differ as by chance."""
    order_difference: float | None
    """Mean absolute difference of an item's answers between orders, as a share of the range."""
    orders: int
    """Different item orders among the complete administrations."""
    situations: int
    """Different situations, rest counted as one."""
    incomplete: int
    """Valid administrations that lack an answer: left out except from alpha and omega, which
    leave out those that lack an answer within the subscale."""
    alpha: dict[str, Reliability]
    omega: dict[str, Reliability]
    retest: Correlation | None
    """Same situation, same order, next repeat; None where nothing was repeated."""


class Shares(NamedTuple):
    """How the variance of answers within administrations divides."""

    content: float
    position: float
    position_error: float
    noise: float


class _Pages(NamedTuple):
    """One row per administration, one column per item; only those without a gap."""

    values: Array
    places: Codes
    """Where each item stood, from 0; −1 where that is not known."""
    contexts: Codes
    orders: Codes


def self_report_validity(
    answers: pl.DataFrame,
    *,
    minimum: int,
    maximum: int,
    reversed: Collection[int],  # noqa: A002  # the scale's word
    subscales: Mapping[str, Sequence[int]],
    administrations: int,
    invalid: int,
    patterns: Mapping[str, int],
) -> Validity:
    """A verdict on one respondent's answers to one scale, with its reasons and figures.

    `answers` has the columns of `COLUMNS`, for valid administrations only; `situation` is null at
    rest, `position` counts from 1. `patterns` counts the valid administrations that follow one
    ("straight", "counting", "long run"). What was asked after a situation and after its positive
    counterpart needs different names in `situation`.

    The figures are those of `content_and_position`, `order_sensitivity`, `cronbach_alpha`,
    `mcdonald_omega` and `retest_correlation`; the rules are the constants of this module. A
    `usable` verdict says that nothing found here speaks against the answers, not that they are
    true. Not for people who answered once each: their differences are between persons.
    """
    values, pages, items, situations = _pages(answers.select(COLUMNS))
    keyed = np.where(np.isin(items, list(reversed)), minimum + maximum - values, values)
    parts = {name: keyed[:, np.isin(items, list(part))] for name, part in subscales.items()}
    shares = content_and_position(pages.values, pages.places, pages.contexts)
    unknown = shares if isinstance(shares, str) else ""
    content, position, error, noise = (None,) * 4 if isinstance(shares, str) else shares
    differences = order_sensitivity(pages.values, pages.contexts, pages.orders)
    sensitivity, difference = differences or (None, None)
    valid = len(values)
    found = Validity(
        verdict="usable",
        reasons=(),
        administrations=administrations,
        valid=valid,
        invalid_share=invalid / administrations if administrations else math.nan,
        pattern_share=sum(patterns.values()) / valid if valid else math.nan,
        content_share=content,
        position_share=position,
        position_error=error,
        noise_share=noise,
        order_sensitivity=sensitivity,
        order_difference=None if difference is None else difference / (maximum - minimum),
        orders=len(np.unique(pages.orders)),
        situations=situations,
        incomplete=len(values) - len(pages.values),
        alpha={name: cronbach_alpha(part) for name, part in parts.items()},
        omega={name: mcdonald_omega(part) for name, part in parts.items()},
        retest=_retest(pages),
    )
    # Where all items point one way, the same answer to all of them can be meant.
    one_way = not reversed and len(subscales) < 2
    telling = patterns.get("counting", 0) / max(valid, 1) if one_way else found.pattern_share
    return _judged(found, telling, unknown)


def content_and_position(values: Array, places: Codes, contexts: Codes) -> Shares | str:
    """How much of the answers' variance items and places explain; or why that is not known.

    Rows are administrations, columns items; `places` says where each item stood (from 0),
    `contexts` which administrations belong to one situation. Answers, less their administration's
    mean, are fitted by least squares as item (within situation) + place + noise. A factor's share
    is the variance of its fitted effects, less what noise alone would put there, over all
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
        return "no complete administration has known positions"
    values, places, contexts = values[known], places[known], contexts[known]
    contexts = _crossed(places, contexts)
    used = contexts >= 0
    if not used.any():
        return "only one item order was used"
    centred = values[used] - values[used].mean(axis=1, keepdims=True)
    if (centred**2).sum() <= 1e-12 * (values**2).sum():
        return "every administration gave all items the same answer"
    shares = _shares(centred, places[used], np.unique(contexts[used], return_inverse=True)[1])
    return shares or f"{used.sum()} administrations are too few to tell content from position"


def _shares(centred: Array, places: Codes, contexts: Codes) -> Shares | None:
    """The fit; None where too little is left over to tell how much is noise."""
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
    )


def order_sensitivity(values: Array, contexts: Codes, orders: Codes) -> tuple[float, float] | None:
    """How different answers to an item are in another order, relative to chance and as such.

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
    apart = _pair_sums(contexts[:, None] * k + columns, values, len(sizes) * k)
    alike = _pair_sums(page[:, None] * k + columns, values, len(first) * k)
    sums = apart.reshape(-1, k).sum(axis=1)
    sums -= np.bincount(home, alike.reshape(-1, k).sum(axis=1), len(sizes))
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


def _pages(frame: pl.DataFrame) -> tuple[Array, _Pages, Codes, int]:
    """Answers by administration and item (NaN where missing), those without a gap, the items'
    numbers and how many situations there are."""
    if frame.select("administration", "item").is_duplicated().any():
        raise ValueError("an administration answers an item more than once")
    meta = frame.unique("administration", keep="first").sort("repeat", "administration")
    rows = frame.join(meta.select("administration").with_row_index("row"), on="administration")
    items, column = np.unique(rows["item"].to_numpy(), return_inverse=True)
    cell = (rows["row"].to_numpy(), column)
    values = np.full((len(meta), len(items)), np.nan)
    values[cell] = rows["value"].cast(pl.Float64).to_numpy()
    places = np.full(values.shape, -1, dtype=np.int64)
    places[cell] = rows["position"].cast(pl.Int64).fill_null(0).to_numpy() - 1
    names = meta.select(
        pl.concat_str("phase", pl.col("situation").fill_null(""), separator="\n", ignore_nulls=True)
    )
    contexts = np.unique(names.to_series().to_list(), return_inverse=True)[1].astype(np.int64)
    whole = np.isfinite(values).all(axis=1)
    order = meta["order_index"].fill_null(0).to_numpy()[:, None]
    # Where the places are known, they are the order, whatever number it was given.
    shown = np.where(places[whole] < 0, -1 - order[whole], places[whole])
    orders = np.unique(shown, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    pages = _Pages(values[whole], places[whole], contexts[whole], orders)
    return values, pages, items, len(np.unique(contexts))


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


def _retest(pages: _Pages) -> Correlation | None:
    """Each administration against the next of the same situation and order, item by item."""
    key = pages.contexts * (int(pages.orders.max(initial=0)) + 1) + pages.orders
    by_key = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[by_key]) == 0)
    if len(again) == 0:
        return None
    first, second = pages.values[by_key[again]], pages.values[by_key[again + 1]]
    return retest_correlation(first.ravel(), second.ravel())


def _judged(found: Validity, telling: float, unknown: str) -> Validity:
    """The same with verdict and reasons."""
    against = sorted(_findings(found, telling), key=lambda finding: finding[0] != "meaningless")
    reasons = [sentence for _, sentence in against]
    verdict = against[0][0] if against else "usable"
    if unknown:
        reasons.append(f"Content cannot be told from position: {unknown}.")
        # What was not tested cannot be vouched for.
        verdict = "doubtful" if verdict == "usable" else verdict
    elif not against:
        reasons.append(_explained(found))
    return replace(found, verdict=verdict, reasons=tuple(reasons))


def _findings(found: Validity, telling: float) -> Iterator[tuple[Verdict, str]]:
    """What speaks against the answers, and how much."""
    if found.valid < FEWEST_ADMINISTRATIONS:
        yield (
            "doubtful",
            f"Valid administrations: {found.valid}, fewer than {FEWEST_ADMINISTRATIONS}.",
        )
    if found.invalid_share >= MANY:
        of = f"of {found.administrations} administrations are invalid."
        yield _grade(found.invalid_share >= MOSTLY), f"{found.invalid_share:.0%} {of}"
    if found.pattern_share >= MANY:
        of = f"of {found.valid} valid administrations follow a pattern on the page."
        yield _grade(telling >= MOSTLY), f"{found.pattern_share:.0%} {of}"
    position, least = _number(found.position_share), NOISE * _number(found.position_error)
    if position >= max(POSITION, least):
        yield _grade(position > _number(found.content_share)), _explained(found)
    sensitivity, difference = _number(found.order_sensitivity), _number(found.order_difference)
    if sensitivity >= SENSITIVE and difference >= MATTERS:
        much = f"{sensitivity:.0%} of what chance would do, {difference:.0%} of the range"
        sentence = f"Answers to an item differ between orders of the items by {much}."
        yield _grade(sensitivity >= CHANCE), sentence
    if found.situations >= FEWEST_SITUATIONS:
        for name, alpha in found.alpha.items():
            if alpha.n >= FEWEST_FOR_ALPHA and alpha.estimate < CONSISTENT:
                of = f"over {alpha.n:,} administrations, below {CONSISTENT:.2f}"
                yield "doubtful", f"Cronbach's alpha of {name} is {alpha.estimate:.2f} {of}."
    retest = found.retest
    if retest and retest.n >= FEWEST_FOR_RETEST and retest.estimate < STEADY:
        again = f"{retest.estimate:.2f} over {retest.n:,} answers, below {STEADY:.2f}"
        yield "doubtful", f"Asked again in the same order, answers correlate at {again}."


def _number(figure: float | None) -> float:
    """NaN for an unknown figure, so that no rule applies to it."""
    return math.nan if figure is None else figure


def _grade(worst: bool) -> Verdict:
    return "meaningless" if worst else "doubtful"


def _explained(found: Validity) -> str:
    content, position = (
        max(0, share or 0) for share in (found.content_share, found.position_share)
    )
    items = f"What the items say explains {content:.0%} of the differences between answers"
    return f"{items}, their place on the page {position:.0%}."
