"""Simulated respondents whose way of answering is known, and what is said about them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from empathylab.analysis.text.notes import note_text
from empathylab.stats.questionnaires.content_position import (
    Shares,
    content_and_position,
    order_sensitivity,
)
from empathylab.stats.questionnaires.validity import (
    COLUMNS,
    Validity,
    _content_free,
    _moved,
    self_report_validity,
)

Array = np.ndarray[Any, Any]
Answer = Callable[[np.random.Generator, Array, Array], Array]

ITEMS = 20
POSITIVE = [1, 3, 5, 9, 10, 12, 14, 16, 17, 19]
SUBSCALES = {"positive": POSITIVE, "negative": sorted({*range(1, 21)} - {*POSITIVE})}
SIGN = np.where(np.isin(np.arange(1, 21), POSITIVE), 1, -1)


def texts(found: Validity) -> list[str]:
    return [note_text(reason) for reason in found.reasons]


def rounded(values: Array) -> Array:
    return np.clip(np.rint(values), 1, 5)


def by_content(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return rounded(felt)


def noisy(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return rounded(felt + rng.normal(0, 0.7, felt.shape))


def straight(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return np.full(felt.shape, 3.0)


def counting(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return place % 5 + 1.0


def at_random(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return rng.integers(1, 6, felt.shape).astype(float)


def half_and_half(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return np.where(rng.random(felt.shape) < 0.5, rounded(felt), place % 5 + 1.0)


def pages(
    answer: Answer, *, seed: int = 0, situations: int = 20, orders: int = 4, repeats: int = 1
) -> pl.DataFrame:
    """At rest and after each situation, which moves positive and negative items apart."""
    rng = np.random.default_rng(seed)
    design = list(itertools.product(range(situations + 1), range(orders), range(repeats)))
    situation, order, repeat = np.array(design).T
    n = len(design)
    places = np.array([rng.permutation(ITEMS) for _ in range(orders)])[order]
    mood = np.concatenate([[1.2], rng.normal(-0.4, 1, situations)])[:, None]
    felt = 3 + SIGN * mood + rng.normal(0, 0.4, ITEMS) + rng.normal(0, 0.4, mood.shape)
    felt = felt + rng.normal(0, 0.4, (situations + 1, ITEMS))
    values = answer(rng, felt[situation], places)
    spread = {"administration": range(n), "s": situation, "order_index": order, "repeat": repeat}
    named = pl.col("s") > 0
    return (
        pl.DataFrame({name: np.repeat(np.asarray(of), ITEMS) for name, of in spread.items()})
        .with_columns(
            item=pl.Series(np.tile(np.arange(1, ITEMS + 1), n)),
            position=pl.Series(places.ravel() + 1),
            value=pl.Series(values.ravel()),
            phase=pl.when(named).then(pl.lit("evoked")).otherwise(pl.lit("default")),
            situation=pl.when(named).then(pl.format("situation {}", "s")),
        )
        .select(COLUMNS)
    )


def judged(
    frame: pl.DataFrame,
    *,
    invalid: int = 0,
    patterns: Mapping[str, int] | None = None,
    reverse: tuple[int, ...] = (),
    subscales: Mapping[str, list[int]] = SUBSCALES,
) -> Validity:
    return self_report_validity(
        frame,
        minimum=1,
        maximum=5,
        reversed=reverse,
        subscales=subscales,
        administrations=frame["administration"].n_unique() + invalid,
        invalid=invalid,
        patterns=patterns or {},
    )


def arrays(frame: pl.DataFrame) -> tuple[Array, Array, Array, Array]:
    rows = frame.sort("administration", "item")
    by_row = rows.unique("administration", keep="first").sort("administration")
    contexts = np.unique(by_row["situation"].fill_null("").to_list(), return_inverse=True)[1]
    shape = (-1, ITEMS)
    values = rows["value"].to_numpy().reshape(shape)
    return values, rows["position"].to_numpy().reshape(shape) - 1, contexts, by_row["order_index"]


def test_answers_by_content_are_usable() -> None:
    found = judged(pages(by_content))
    assert found.verdict == "usable"
    assert found.content_share == pytest.approx(1)
    assert found.position_share == pytest.approx(0)
    assert found.order_sensitivity == 0
    assert len(found.reasons) == 1
    assert "explains 100% of the variance" in texts(found)[0]


def test_a_straight_liner_is_meaningless() -> None:
    found = judged(pages(straight), patterns={"straight": 84, "counting": 0, "long run": 0})
    assert found.verdict == "meaningless"
    assert "100% of 84 valid administrations follow a pattern" in texts(found)[0]
    assert found.content_share is None
    assert "gave all items the same answer" in texts(found)[1]
    assert math.isnan(found.alpha["positive"].estimate)


@pytest.mark.parametrize("orders", [2, 3, 8])
def test_a_counter_is_meaningless_however_few_the_orders(orders: int) -> None:
    found = judged(pages(counting, orders=orders))
    assert found.verdict == "meaningless"
    assert found.position_share is not None
    assert found.position_share > 0.9
    assert found.content_share == pytest.approx(0, abs=0.01)


def test_a_counter_is_found_by_its_pattern_in_a_single_order() -> None:
    found = judged(pages(counting, orders=1), patterns={"counting": 21})
    assert found.verdict == "meaningless"


def test_random_answers_are_not_usable_and_depend_on_nothing() -> None:
    found = [judged(pages(at_random, seed=seed, situations=8)) for seed in range(20)]
    assert {item.verdict for item in found} <= {"meaningless", "doubtful"}
    assert np.mean([item.content_share for item in found]) == pytest.approx(0, abs=0.03)
    assert np.mean([item.position_share for item in found]) == pytest.approx(0, abs=0.01)
    assert np.mean([item.order_sensitivity for item in found]) == pytest.approx(1, abs=0.02)


def test_random_answers_in_one_order_are_doubtful_by_their_retest() -> None:
    found = judged(pages(at_random, orders=1, repeats=2))
    assert found.verdict == "doubtful"
    # Scores do not differ between situations, so alpha is not held against them.
    assert not any("Cronbach's alpha" in reason for reason in texts(found))
    assert any("Asked again in the same order" in reason for reason in texts(found))


def unmoved(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return rounded(felt[:1] + rng.normal(0, 0.7, felt.shape))


def middle(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return rounded(3 + rng.normal(0, 0.6, felt.shape))


def agreeing(rng: np.random.Generator, felt: Array, place: Array) -> Array:
    return rounded(4.5 + rng.normal(0, 0.6, felt.shape))


@pytest.mark.parametrize("seed", range(5))
def test_a_respondent_that_nothing_moves_is_usable_and_it_is_said(seed: int) -> None:
    found = judged(pages(unmoved, seed=seed))
    assert found.verdict == "usable"
    assert min(found.moved.values()) >= 0.001
    assert "do not differ between situations" in texts(found)[-1]


@pytest.mark.parametrize(
    ("answer", "words"), [(middle, "stay near the middle"), (agreeing, "agree with all items")]
)
def test_answers_without_content_are_meaningless(answer: Answer, words: str) -> None:
    for seed in range(5):
        found = judged(pages(answer, seed=seed))
        assert found.verdict == "meaningless"
        assert any(words in reason for reason in texts(found))


def test_the_same_answer_to_all_can_be_meant_where_items_point_one_way() -> None:
    found = judged(pages(agreeing), subscales={"total": list(range(1, 21))})
    assert [reason for reason in texts(found) if "agree with all items" in reason]
    free = [
        grade for grade, reason in _content_free(found, True) if reason.values["answers"] == "agree"
    ]
    assert free == ["doubtful"]


def test_what_two_orders_cannot_tell_apart_is_named() -> None:
    found = judged(pages(by_content, orders=2, situations=3, seed=3))
    left = 1 - sum(max(0, s or 0) for s in (found.content_share, found.position_share))
    left -= max(0, found.noise_share or 0)
    named = any("cannot be assigned to either" in reason for reason in texts(found))
    assert named == (left >= 0.05)


def test_the_f_test_of_situations_is_scipys() -> None:
    rng = np.random.default_rng(8)
    values, contexts = rng.normal(size=(12, 3)), np.repeat(np.arange(4), 3)
    groups = [values[contexts == k].mean(axis=1) for k in range(4)]
    assert _moved(values, contexts) == pytest.approx(stats.f_oneway(*groups).pvalue)


def test_half_by_content_and_half_by_position_is_not_usable() -> None:
    found = judged(pages(half_and_half))
    assert found.verdict != "usable"
    # The shares of a mixture of two independent ways: a quarter each, half of it noise.
    assert found.content_share == pytest.approx(0.25, abs=0.08)
    assert found.position_share == pytest.approx(0.25, abs=0.08)


def test_a_noisy_but_honest_respondent_is_seldom_suspected() -> None:
    verdicts = [judged(pages(noisy, seed=seed)).verdict for seed in range(50)]
    assert verdicts.count("usable") >= 48


def test_position_is_seldom_suspected_with_few_administrations() -> None:
    found = [judged(pages(noisy, seed=seed, situations=6, orders=2)) for seed in range(50)]
    assert sum(item.verdict == "usable" for item in found) >= 45
    assert not any(item.verdict == "meaningless" for item in found)


def test_opposite_situations_do_not_hide_content() -> None:
    # Items have no common level here: positive ones are high in half the situations only.
    frame = pages(noisy, situations=39)
    turned = pl.col("situation").str.extract(r"(\d+)").cast(pl.Int64).fill_null(0) % 2 == 0
    frame = frame.with_columns(value=pl.when(turned).then(6 - pl.col("value")).otherwise("value"))
    found = judged(frame)
    assert found.content_share is not None
    assert found.content_share > 0.5


def test_a_single_order_says_so() -> None:
    found = judged(pages(noisy, orders=1))
    assert (found.content_share, found.position_share, found.order_sensitivity) == (None,) * 3
    assert found.verdict == "doubtful"  # not tested, so not vouched for
    assert any("only one item order was used" in reason for reason in texts(found))
    assert found.orders == 1


def test_orders_that_differ_between_situations_only_still_tell() -> None:
    frame = pages(counting, orders=4).filter(
        pl.col("order_index") == pl.col("administration") // 4 % 4
    )
    found = judged(frame)
    assert found.position_share == pytest.approx(1)
    assert found.order_sensitivity is None


def test_an_order_is_known_by_its_positions_not_its_number() -> None:
    frame = pages(noisy, orders=1).with_columns(order_index=pl.col("administration"))
    assert judged(frame).orders == 1


def test_unknown_positions_leave_order_sensitivity() -> None:
    found = judged(pages(noisy).with_columns(position=pl.lit(None, dtype=pl.Int64)))
    assert found.content_share is None
    assert found.order_sensitivity is not None
    assert "no complete administration has known positions" in texts(found)[-1]


@pytest.mark.parametrize(("administrations", "invalid"), [(0, 0), (3, 0)])
def test_an_empty_frame_is_doubtful(administrations: int, invalid: int) -> None:
    found = self_report_validity(
        pl.DataFrame(schema=list(COLUMNS)),
        minimum=1,
        maximum=5,
        reversed=[],
        subscales=SUBSCALES,
        administrations=administrations,
        invalid=invalid,
        patterns={},
    )
    assert found.verdict == "doubtful"
    assert texts(found)[0] == "Valid administrations: 0, fewer than 5."
    assert math.isnan(found.alpha["positive"].estimate)
    assert found.retest is None


def test_four_administrations_are_too_few() -> None:
    found = judged(pages(by_content, situations=0))
    assert found.verdict == "doubtful"
    assert texts(found)[0] == "Valid administrations: 4, fewer than 5."


@pytest.mark.parametrize(
    ("invalid", "verdict"), [(20, "usable"), (21, "doubtful"), (84, "meaningless")]
)
def test_invalid_administrations_count(invalid: int, verdict: str) -> None:
    assert judged(pages(by_content), invalid=invalid).verdict == verdict


@pytest.mark.parametrize(
    ("runs", "verdict"), [(16, "usable"), (17, "doubtful"), (42, "meaningless")]
)
def test_patterns_count(runs: int, verdict: str) -> None:
    assert judged(pages(by_content), patterns={"long run": runs}).verdict == verdict


def test_equal_answers_are_only_doubtful_where_all_items_point_one_way() -> None:
    total = {"total": list(range(1, 21))}
    assert judged(pages(straight), patterns={"straight": 84}, subscales=total).verdict == "doubtful"
    found = judged(pages(straight), patterns={"straight": 84}, subscales=total, reverse=(2, 4))
    assert found.verdict == "meaningless"


def test_reversed_items_are_turned_for_alpha() -> None:
    total = {"total": list(range(1, 21))}
    turned = judged(pages(noisy), subscales=total, reverse=tuple(SUBSCALES["negative"]))
    assert turned.alpha["total"].estimate > 0.9
    assert judged(pages(noisy), subscales=total).alpha["total"].estimate < 0.6


def test_alpha_is_not_held_against_repeats_at_rest() -> None:
    found = judged(pages(noisy, situations=0, orders=4, repeats=5))
    assert found.alpha["positive"].estimate < 0.6
    assert found.verdict == "usable"


def test_retest_pairs_the_same_order_only() -> None:
    found = judged(pages(counting, repeats=2))
    assert found.retest is not None
    assert found.retest.estimate == pytest.approx(1)
    assert found.retest.n == 84 * ITEMS
    assert judged(pages(counting)).retest is None


def test_an_administration_with_a_gap_is_left_out() -> None:
    frame = pages(by_content)
    found = judged(frame.filter((pl.col("administration") > 0) | (pl.col("item") > 1)))
    assert (found.valid, found.incomplete) == (84, 1)
    assert (found.alpha["positive"].dropped, found.alpha["negative"].dropped) == (1, 0)
    assert found.verdict == "usable"


def test_an_item_answered_twice_is_refused() -> None:
    frame = pages(by_content, situations=1)
    with pytest.raises(ValueError, match="more than once"):
        judged(pl.concat([frame, frame.head(1)]))


def test_two_items_in_both_orders_by_hand() -> None:
    # Twice each order; answers 4 and 2 by content. Mean 3, so every answer is 1 off, by its item.
    values = np.array([[4.0, 2.0]] * 4)
    places = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    shares = content_and_position(values, places, np.zeros(4, dtype=np.int64))
    assert shares == pytest.approx(Shares(1, 0, 0, 0, 0))


def test_shares_are_those_of_a_regression_on_dummies() -> None:
    # The same by another route: all dummies, numpy's least squares, covariance of coefficients.
    values, places, contexts, _ = arrays(pages(noisy, situations=4, orders=3, repeats=2))
    n, groups = len(values), contexts.max() + 1
    y = (values - values.mean(axis=1, keepdims=True)).ravel()
    x = np.zeros((y.size, (groups + 1) * ITEMS))
    x[np.arange(y.size), (contexts[:, None] * ITEMS + np.arange(ITEMS)).ravel()] = 1
    x[np.arange(y.size), groups * ITEMS + places.ravel()] = 1
    pages_of = x.reshape(n, ITEMS, -1)
    x = (pages_of - pages_of.mean(axis=1, keepdims=True)).reshape(y.size, -1)
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-10)
    beta = inverse @ x.T @ y
    noise = ((y - x @ beta) ** 2).sum() / (n * (ITEMS - 1) - np.linalg.matrix_rank(x))
    shares = []
    for part in (slice(0, groups * ITEMS), slice(groups * ITEMS, None)):
        fitted = x[:, part] @ beta[part]
        bias = noise * np.trace(x[:, part] @ inverse[part, part] @ x[:, part].T)
        shares.append((fitted @ fitted - bias) / (y @ y))
    found = content_and_position(values, places, contexts)
    assert isinstance(found, Shares)
    assert (found.content, found.position) == (pytest.approx(shares[0]), pytest.approx(shares[1]))


def test_the_error_of_positions_share_is_its_spread() -> None:
    found = [judged(pages(noisy, seed=seed, situations=0, orders=6)) for seed in range(60)]
    spread = np.std([item.position_share for item in found])
    error = np.mean([item.position_error for item in found])
    assert spread == pytest.approx(error, rel=0.4)


def test_order_sensitivity_by_hand() -> None:
    # One situation, two orders. Answers 1, 3 and 2, 3: differences 1 and 0, mean 1/2. The six
    # pairs among 1, 3, 2, 3 differ by 2, 1, 2, 1, 0, 1: mean 7/6.
    found = order_sensitivity(np.array([[1.0, 3], [2, 3]]), np.zeros(2, int), np.array([0, 1]))
    assert found == (pytest.approx(0.5 / (7 / 6)), pytest.approx(0.5))


def test_order_sensitivity_is_that_of_all_pairs() -> None:
    values, _, contexts, orders = arrays(pages(noisy, situations=4, orders=3, repeats=2))
    orders = np.asarray(orders)
    means = [
        np.mean(
            [
                np.abs(values[a] - values[b]).mean()
                for a, b in itertools.combinations(np.flatnonzero(contexts == context), 2)
                if orders[a] != orders[b]
            ]
        )
        for context in range(contexts.max() + 1)
    ]
    flat = values.ravel()
    chance = np.abs(flat[:, None] - flat).sum() / (flat.size * (flat.size - 1))
    found = order_sensitivity(values, contexts, orders)
    assert found == (pytest.approx(np.mean(means) / chance), pytest.approx(np.mean(means)))
