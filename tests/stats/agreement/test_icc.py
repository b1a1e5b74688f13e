"""Intraclass correlations and variance components."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from empathylab.stats.agreement import (
    agreement,
    intraclass_correlations,
    rating_table,
    variance_components,
)
from empathylab.stats.agreement.components import icc_statistic
from empathylab.stats.notes import Note, note
from empathylab.stats.questionnaires.reliability import retest_correlation
from tests.stats.agreement.examples import SHROUT_FLEISS, long

# Made by tests/reference/agreement.R: psych::ICC and sums of squares of lm().
R = json.loads((Path(__file__).parents[2] / "reference" / "agreement_r.json").read_text())


def gapped() -> list[list[float | None]]:
    """Shrout and Fleiss' table less three cells, a row per rater."""
    cells = SHROUT_FLEISS.copy()
    cells[1, 3] = cells[2, 2] = cells[4, 1] = np.nan
    return [[None if math.isnan(x) else float(x) for x in row] for row in cells.T]


@pytest.mark.parametrize("row", R["icc"], ids=lambda row: row["type"])
def test_all_six_forms_are_those_of_psych(row: dict[str, float]) -> None:
    found = getattr(intraclass_correlations(SHROUT_FLEISS), str(row["type"]).lower())
    assert found.estimate == pytest.approx(row["icc"], abs=1e-10)
    assert found.low == pytest.approx(row["low"], abs=1e-8)
    assert found.high == pytest.approx(row["high"], abs=1e-8)
    assert (found.interval, found.n, found.dropped) == ("F", 6, 0)


def test_the_forms_are_those_shrout_and_fleiss_print() -> None:
    found = intraclass_correlations(SHROUT_FLEISS)
    forms = (found.icc1, found.icc2, found.icc3, found.icc1k, found.icc2k, found.icc3k)
    assert [round(form.estimate, 2) for form in forms] == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]


def test_the_retest_icc_is_the_same_icc2() -> None:
    pairs = SHROUT_FLEISS[:, [0, 3]]
    icc = intraclass_correlations(pairs).icc2.estimate
    assert retest_correlation(*pairs.T).icc == pytest.approx(icc)


def test_icc3_by_hand() -> None:
    # A constant shift between raters: all variance but that lies between situations.
    found = intraclass_correlations(np.array([[1, 3], [2, 4], [4, 6.0]]))
    assert found.icc3.estimate == 1
    assert found.icc2.estimate < 1
    assert math.isnan(found.icc3.low)


def test_rows_with_a_gap_are_left_out_and_counted() -> None:
    found = intraclass_correlations(np.vstack([SHROUT_FLEISS, [1, np.nan, 3, 4]]))
    assert found.icc2.estimate == pytest.approx(R["icc"][1]["icc"])
    assert (found.icc2.n, found.icc2.dropped) == (6, 1)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (np.zeros((0, 2)), note("few_complete_situations", n=0)),
        (np.array([[1.0, 2.0]]), note("few_complete_situations", n=1)),
        (np.array([[1.0], [2.0]]), note("one_rater")),
        (np.ones((4, 3)), note("no_variance")),
    ],
)
def test_too_little_has_no_icc_and_says_why(table: np.ndarray, expected: Note) -> None:
    found = intraclass_correlations(table).icc2
    assert math.isnan(found.estimate)
    assert found.note == expected


def test_raters_who_contradict_each_other_leave_icc2_without_an_interval() -> None:
    """Equal means of situations and of raters: by hand (0 − r) / (0 + r + 2(0 − r)/4) = −2."""
    found = intraclass_correlations(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [2.0, 1.0]]))
    assert found.icc2.estimate == pytest.approx(-2)
    assert math.isnan(found.icc2.low)
    assert math.isnan(found.icc2.high)


def test_components_without_gaps_give_shrout_and_fleiss_icc() -> None:
    found = variance_components(rating_table(long(SHROUT_FLEISS.T.tolist())))
    assert found.icc == pytest.approx(R["icc"][1]["icc"], abs=1e-10)
    assert found.consistency == pytest.approx(R["icc"][2]["icc"], abs=1e-10)


def test_components_with_gaps_are_those_of_rs_sums_of_squares() -> None:
    found = variance_components(rating_table(long(gapped())))
    for name, value in R["components"].items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-8)


def test_resampled_components_start_from_the_same_estimate() -> None:
    table = rating_table(long(gapped()))
    once = icc_statistic(table)(np.ones((1, 6)))[0]
    assert once == pytest.approx(variance_components(table).icc, abs=1e-9)


def test_a_resample_is_as_good_as_a_table_with_the_situation_twice() -> None:
    cells = gapped()
    twice = [[*row, row[2]] for row in cells]
    weights = np.ones((1, 6))
    weights[0, 2] = 2
    found = icc_statistic(rating_table(long(cells)))(weights)[0]
    assert found == pytest.approx(variance_components(rating_table(long(twice))).icc, abs=1e-9)


def test_gaps_give_a_bootstrap_interval_and_no_gaps_an_f_interval() -> None:
    with_gaps = agreement(long(gapped()), dimension=None).dimensions[0].icc
    whole = agreement(long(SHROUT_FLEISS.T.tolist()), dimension=None).dimensions[0].icc
    assert (with_gaps.interval, whole.interval) == ("bootstrap over situations", "F")
    assert with_gaps.low < with_gaps.estimate < with_gaps.high


def test_raters_who_share_nothing_have_no_components_and_say_why() -> None:
    found = variance_components(rating_table(long([[1, 2, None, None], [None, None, 3, 4]])))
    assert math.isnan(found.icc)
    assert found.note == note("components_unknown")


def test_simulated_components_are_recovered_with_half_the_cells_missing() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1, 800)) * 2 + rng.normal(size=(60, 1)) + rng.normal(size=(60, 800))
    cells = np.where(rng.random((60, 800)) < 0.5, None, values).tolist()
    found = variance_components(rating_table(long(cells)))
    assert found.situation == pytest.approx(4, rel=0.15)
    assert found.rater == pytest.approx(1, rel=0.5)
    assert found.residual == pytest.approx(1, rel=0.03)
