"""Analyses of variance against car::Anova; tests/reference/anova.R made the numbers."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.anova import anova
from empathylab.stats.anova.effect_sizes import partial_eta_squared

R: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "reference" / "anova.json").read_text(encoding="utf-8")
)
SHARED = Path(os.environ.get("EMPATHYLAB_SHARED_DATA", "/nowhere"))
RECIPIENTS = SHARED / "recipients" / "recipients.csv"


def made_up() -> pl.DataFrame:
    """The data of anova.R."""
    i = np.arange(90)
    a = np.array(["x", "y", "z"])[(i * i) % 3 + (i % 7 == 0)]
    b = np.array(["p", "q"])[(i % 5 < 2).astype(int)]
    c = i % 11
    y = (i * 37) % 23 + 3 * (a == "y") - 2 * (b == "q") * (a == "x") + 0.4 * c
    return pl.DataFrame({"a": a, "b": b, "c": c, "y": y})


@pytest.mark.parametrize(
    ("name", "formula"), [("factorial", "y ~ a * b"), ("covariate", "y ~ a * b + c")]
)
def test_terms_are_those_of_car(name: str, formula: str) -> None:
    found = {(term.term, term.type): term for term in anova(made_up(), formula).terms}
    assert len(found) == len(R[name])
    for row in R[name]:
        one = found[row["term"], row["type"]]
        assert one.f == pytest.approx(row["F"], rel=1e-9)
        assert (one.df, one.df_residual) == (row["df"], row["df_residual"])
        assert one.p == pytest.approx(row["p"], rel=1e-8)
        assert one.partial_eta2 == pytest.approx(row["partial_eta2"], rel=1e-9)
        assert one.partial_eta2_low == pytest.approx(row["low"], abs=1e-6)
        assert one.partial_eta2_high == pytest.approx(row["high"], abs=1e-6)


@pytest.mark.skipif(not RECIPIENTS.is_file(), reason="needs the published recipients")
@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("feelheard", (22.0076194299, 30.2692463098, 0.0062301956094)),
        ("understoodme", (29.9456001087, 28.5547600178, 0.069439608635)),
        ("connection", (19.2168701142, 38.9503665753, 0.09108398304)),
    ],
)
def test_published_recipients_have_the_type_iii_tests_of_car(
    response: str, expected: tuple[float, ...]
) -> None:
    found = anova(pl.read_csv(RECIPIENTS), f"{response} ~ response * label")
    third = [term for term in found.terms if term.type == "III"]
    assert [item.term for item in third] == ["response", "label", "response:label"]
    assert [item.f for item in third] == pytest.approx(expected, rel=1e-9)
    assert [cell.n for cell in found.cells] == [124, 110, 110, 111]


def test_balanced_cells_give_one_answer_for_both_types() -> None:
    frame = pl.DataFrame(
        {
            "a": ["x"] * 8 + ["y"] * 8,
            "b": (["p"] * 4 + ["q"] * 4) * 2,
            "y": [1, 2, 3, 4, 2, 4, 6, 8, 5, 5, 6, 8, 3, 1, 2, 2],
        }
    )
    found = anova(frame, "y ~ a * b").terms
    assert [item.f for item in found[:3]] == pytest.approx([item.f for item in found[3:]])


def test_cells_hold_the_students_interval_of_their_mean() -> None:
    # By hand: 40, 50, 60 have mean 50 and SD 10; t(2) at 97.5% is 4.302653.
    frame = pl.DataFrame({"a": ["x"] * 3 + ["y"] * 2, "y": [40, 50, 60, 70, 80]})
    cell = anova(frame, "y ~ a").cells[0]
    assert (cell.levels, cell.n, cell.mean, cell.sd) == ({"a": "x"}, 3, 50, 10)
    assert cell.high == pytest.approx(50 + 4.302653 * 10 / math.sqrt(3), abs=1e-5)


def test_no_effect_has_an_interval_from_zero() -> None:
    assert partial_eta_squared(0.0, 2, 30).low == 0
    assert partial_eta_squared(0.0, 2, 30).high == 0


def test_a_combination_without_rows_leaves_type_iii_undefined() -> None:
    frame = made_up().filter(~((pl.col("a") == "z") & (pl.col("b") == "q")))
    found = anova(frame, "y ~ a * b")
    assert found.empty_cells == 1
    assert all(math.isnan(term.f) for term in found.terms if term.type == "III")
    assert all(math.isfinite(term.f) for term in found.terms if term.type == "II")


def test_missing_values_are_left_out_and_counted() -> None:
    frame = made_up().with_columns(
        y=pl.when(pl.int_range(pl.len()) < 4).then(None).otherwise(pl.col("y"))
    )
    found = anova(frame, "y ~ a")
    assert (found.n, sum(found.dropped.values())) == (86, 4)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ a + (1|b)", "no random terms"),
        ("y ~ 1", "no terms"),
        ("y ~ 0 + a", "intercept"),
        ("y ~ same", "one level only"),
        ("same ~ a", "must contain numbers"),
        ("constant ~ a", "is the same"),
        ("exact ~ a", "exactly"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_a_sentence(formula: str, said: str) -> None:
    frame = made_up().with_columns(
        same=pl.lit("k"), constant=pl.lit(2.0), exact=(pl.col("a") == "x").cast(pl.Float64)
    )
    with pytest.raises(InputError, match=said):
        anova(frame, formula)
