"""Corrected p values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from empathylab.stats.corrections import benjamini_hochberg, bonferroni, holm

FIVE = [0.01, 0.02, 0.03, 0.04, 0.05]
# The fifteen p values of Benjamini & Hochberg's (1995) example on myocardial infarction; they
# report that their procedure rejects the four smallest at .05, Bonferroni's the three smallest.
INFARCTION = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def test_bonferroni_multiplies_by_the_number_of_tests() -> None:
    assert bonferroni(FIVE) == pytest.approx([0.05, 0.10, 0.15, 0.20, 0.25])


def test_holm_steps_down() -> None:
    assert holm(FIVE) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])


def test_benjamini_hochberg_steps_up() -> None:
    assert benjamini_hochberg(FIVE) == pytest.approx([0.05] * 5)


def test_results_come_in_the_order_given() -> None:
    assert holm([0.04, 0.01]) == pytest.approx([0.04, 0.02])
    assert benjamini_hochberg([0.04, 0.01]) == pytest.approx([0.04, 0.02])


def test_the_published_example_rejects_as_many_as_published() -> None:
    assert (benjamini_hochberg(INFARCTION) <= 0.05).sum() == 4
    assert (bonferroni(INFARCTION) <= 0.05).sum() == 3


def test_a_test_that_was_not_made_is_not_counted() -> None:
    for correct in (bonferroni, holm, benjamini_hochberg):
        found = correct([0.01, math.nan, 0.02])
        assert math.isnan(found[1])
        assert found[[0, 2]] == pytest.approx(correct([0.01, 0.02]))


def test_no_tests_give_nothing() -> None:
    for correct in (bonferroni, holm, benjamini_hochberg):
        assert correct([]).size == 0


def test_a_p_value_above_1_is_an_error() -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        holm([1.5])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_keep_their_order_of_strictness(p: list[float]) -> None:
    assert np.all(benjamini_hochberg(p) <= holm(p) + 1e-12)
    assert np.all(holm(p) <= bonferroni(p) + 1e-12)
    assert np.all(benjamini_hochberg(p) >= np.array(p) - 1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_agrees_with_scipy(p: list[float]) -> None:
    from scipy.stats import false_discovery_control

    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p), abs=1e-12)
