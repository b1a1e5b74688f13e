"""Whether a self-report depends on what the items say or on where they stand on the page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.notes import Note, note
from empathylab.stats.questionnaires.content_position import (
    content_and_position,
    order_sensitivity,
)
from empathylab.stats.questionnaires.reliability import (
    Correlation,
    Reliability,
    cronbach_alpha,
    mcdonald_omega,
    retest_correlation,
)

Verdict = Literal["usable", "doubtful", "meaningless"]

# Meaningless: most of what was said cannot be a report about oneself.
MOSTLY = 0.5
"""Proportion of invalid or patterned administrations: from half on, they are the rule."""
CHANCE = 0.9
"""Order sensitivity: a correlation of about .2 (see `SENSITIVE`); next to nothing is said twice."""
# Doubtful: scores may be used, but not without saying this.
MANY = 0.2
"""Proportion of invalid or patterned administrations: one in five is no accident, and what is left
may be a selection."""
SENSITIVE = 0.7
"""Order sensitivity: for normal answers it is √(1 − r), so this is a correlation of about .5
between two orders, as `STEADY` asks of two answerings in one."""
POSITION = 0.1
"""Position's share: below a tenth it is no reason for anything."""
FLAT = 0.1
"""Content's share: below a tenth, what the items say makes next to no difference."""
MIDDLE, SIDE = 0.15, 0.25
"""Distance of the mean answer from the middle, as a proportion of the range: near it, or beside."""
CONSISTENT = 0.6
"""Alpha, upper end of its interval: below it, most textbooks call a scale's consistency poor."""
STEADY = 0.5
"""Test–retest correlation, upper end of its interval: below it, one answering explains less than a
quarter of the next."""
# What it takes to judge.
MIN_ADMINISTRATIONS = 5
"""Valid administrations: with fewer, one odd answer is 20 % and more of all."""
MIN_FOR_ALPHA = 10
"""Administrations: with fewer, alpha's interval spans most of its range."""
MOVED = 0.001
"""p of the F test that scores differ between situations: only then is there something for items to
be consistent about. A respondent that nothing moves is no worse a reporter for it."""
MIN_FOR_RETEST = 20
"""Pairs of answers: r = .5 differs from 0 at the 5 % level from about 16 on."""
MATTERS = 0.1
"""Difference between orders, as a proportion of the range: a smaller one changes no score much."""
UNASSIGNED = 0.05
"""Proportion of the variance that belongs to content or position, from which on it is named."""
NOISE = 2.0
"""Standard errors that position's share must exceed, so that noise is not taken for position."""

_OF_ADMINISTRATION = ("administration", "phase", "situation", "order_index", "repeat")
COLUMNS = (*_OF_ADMINISTRATION, "item", "position", "value")
"""The columns that are needed: one row for each answer of a valid administration."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The evidence on whether a respondent's answers to a scale are a valid self-report."""

    verdict: Verdict
    reasons: tuple[Note, ...]
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
    """Proportion of the variance within administrations that items explain; None where unknown."""
    position_share: float | None
    """The same for the place on the page. Both are about 0 for random answers, may fall below."""
    position_error: float | None
    """Standard error of the position's proportion of a respondent who ignores position."""
    content_error: float | None
    """The same of content's share, of one who ignores content."""
    mean_answer: float
    """The mean answer as a proportion of the range, items not turned; NaN without answers."""
    moved: Mapping[str, float]
    """By subscale, p of the F test that scores differ between situations; NaN where each situation
    was answered once."""
    noise_share: float | None
    """What neither explains. The rest cannot be separated with the orders used."""
    order_sensitivity: float | None
    """0 where the order makes no difference, 1 where answers differ as by chance."""
    order_difference: float | None
    """Mean absolute difference of an item's answers between orders, in units of the range."""
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
    values, pages, items, contexts = _pages(answers.select(COLUMNS))
    situations = len(np.unique(contexts))
    keyed = np.where(np.isin(items, list(reversed)), minimum + maximum - values, values)
    parts = {name: keyed[:, np.isin(items, list(part))] for name, part in subscales.items()}
    shares = content_and_position(pages.values, pages.places, pages.contexts)
    unknown = shares if isinstance(shares, Note) else None
    content, position, error, noise, content_error = (
        (None,) * 5 if isinstance(shares, Note) else shares
    )
    differences = order_sensitivity(pages.values, pages.contexts, pages.orders)
    sensitivity, difference = differences or (None, None)
    valid = len(values)
    figures = Validity(
        verdict="usable",
        reasons=(),
        administrations=administrations,
        valid=valid,
        invalid_share=invalid / administrations if administrations else math.nan,
        pattern_share=sum(patterns.values()) / valid if valid else math.nan,
        content_share=content,
        position_share=position,
        position_error=error,
        content_error=content_error,
        mean_answer=float(np.nanmean(values) - minimum) / (maximum - minimum)
        if valid
        else math.nan,
        moved={name: _moved(part, contexts) for name, part in parts.items()},
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
    telling = patterns.get("counting", 0) / max(valid, 1) if one_way else figures.pattern_share
    return _judged(figures, telling, unknown, one_way)


def _pages(frame: pl.DataFrame) -> tuple[Array, _Pages, Codes, Codes]:
    """Answers by administration and item (NaN where missing), those without a gap, the items'
    numbers and the situations' numbers."""
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
    return values, pages, items, contexts


def _retest(pages: _Pages) -> Correlation | None:
    """Each administration against the next of the same situation and order, item by item."""
    key = pages.contexts * (int(pages.orders.max(initial=0)) + 1) + pages.orders
    by_key = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[by_key]) == 0)
    if len(again) == 0:
        return None
    first, second = pages.values[by_key[again]], pages.values[by_key[again + 1]]
    return retest_correlation(first.ravel(), second.ravel())


def _moved(part: Array, contexts: Codes) -> float:
    """p of the F test that a subscale's scores differ between situations; NaN without repeats."""
    from scipy.special import fdtrc

    whole = np.isfinite(part).all(axis=1)
    _, place, sizes = np.unique(contexts[whole], return_inverse=True, return_counts=True)
    between, within = len(sizes) - 1, int(whole.sum()) - len(sizes)
    if between < 1 or within < 1 or part.shape[1] == 0:
        return math.nan
    score = part[whole].mean(axis=1)
    means = np.bincount(place, score) / sizes
    left = float(((score - means[place]) ** 2).sum())
    explained = float((sizes * (means - score.mean()) ** 2).sum())
    if left <= 1e-12:
        return 0.0 if explained > 1e-9 else 1.0
    return float(fdtrc(between, within, explained / between / (left / within)))


def _judged(figures: Validity, telling: float, unknown: Note | None, one_way: bool) -> Validity:
    """The same with verdict and reasons."""
    against = sorted(
        _findings(figures, telling, one_way), key=lambda finding: finding[0] != "meaningless"
    )
    reasons = [reason for _, reason in against]
    verdict = against[0][0] if against else "usable"
    if unknown is not None:
        reasons.append(note("content_unknown", because=unknown.code, **unknown.values))
        # What was not tested cannot be vouched for.
        verdict = "doubtful" if verdict == "usable" else verdict
    elif not against:
        reasons.append(_explained(figures))
    if verdict == "usable" and _unmoved(figures):
        reasons.append(note("scores_unmoved"))
    return replace(figures, verdict=verdict, reasons=tuple(reasons))


def _findings(figures: Validity, telling: float, one_way: bool) -> Iterator[tuple[Verdict, Note]]:
    """What speaks against the answers, and how much."""
    if figures.valid < MIN_ADMINISTRATIONS:
        few = note("few_valid", valid=figures.valid, needed=MIN_ADMINISTRATIONS)
        yield "doubtful", few
    if figures.invalid_share >= MANY:
        invalid = note(
            "many_invalid", share=figures.invalid_share, administrations=figures.administrations
        )
        yield _grade(figures.invalid_share >= MOSTLY), invalid
    if figures.pattern_share >= MANY:
        patterned = note("many_patterns", share=figures.pattern_share, valid=figures.valid)
        yield _grade(telling >= MOSTLY), patterned
    position, noise = _number(figures.position_share), NOISE * _number(figures.position_error)
    if position >= max(POSITION, noise):
        yield _grade(position > _number(figures.content_share)), _explained(figures)
    sensitivity, difference = _number(figures.order_sensitivity), _number(figures.order_difference)
    if sensitivity >= SENSITIVE and difference >= MATTERS:
        differ = note("orders_differ", sensitivity=sensitivity, difference=difference)
        yield _grade(sensitivity >= CHANCE), differ
    yield from _content_free(figures, one_way)
    for name, alpha in figures.alpha.items():
        judged = alpha.n >= MIN_FOR_ALPHA and figures.moved[name] < MOVED
        if judged and alpha.high < CONSISTENT:
            low = note("low_alpha", scale=name, alpha=alpha.estimate, n=alpha.n, high=alpha.high)
            yield "doubtful", low
    retest = figures.retest
    if retest and retest.n >= MIN_FOR_RETEST and retest.high < STEADY:
        again = note("low_retest", r=retest.estimate, n=retest.n, high=retest.high)
        yield "doubtful", again


def _content_free(figures: Validity, one_way: bool) -> Iterator[tuple[Verdict, Note]]:
    """That answers do not depend on what the items say: middle answers, agreement with all."""
    content = _number(figures.content_share)
    position = _number(figures.position_share)
    chance = NOISE * _number(figures.content_error)
    sure = content < FLAT and chance < FLAT
    placed = max(POSITION, NOISE * _number(figures.position_error))
    if not content < max(FLAT, chance) or position >= placed:
        return
    away = figures.mean_answer - 0.5
    how = (
        "middle"
        if abs(away) < MIDDLE
        else "agree"
        if away >= SIDE
        else "reject"
        if away <= -SIDE
        else "random"
    )
    # Where all items point one way, the same answer to all can be meant.
    free = note("content_free", answers=how, content=max(0.0, content))
    yield _grade(sure and not one_way), free


def _number(figure: float | None) -> float:
    """NaN for an unknown figure, so that no rule applies to it."""
    return math.nan if figure is None else figure


def _grade(worst: bool) -> Verdict:
    return "meaningless" if worst else "doubtful"


def _explained(figures: Validity) -> Note:
    content, position = (
        max(0, share or 0) for share in (figures.content_share, figures.position_share)
    )
    shares = {"content": content, "position": position}
    left = 1 - content - position - max(0.0, figures.noise_share or 0)
    if left >= UNASSIGNED:
        return note("partly_explained", **shares, unassigned=left, orders=figures.orders)
    return note("explained", **shares)


def _unmoved(figures: Validity) -> bool:
    """Whether scores were compared between situations and none differs."""
    known = [p for p in figures.moved.values() if not math.isnan(p)]
    return bool(known) and figures.situations > 1 and min(known) >= MOVED
