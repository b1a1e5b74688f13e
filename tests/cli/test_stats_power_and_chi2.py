"""`stats power` and `stats chi2` as a user calls them."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.helpers import command_line
from tests.stats.arms.reference_files import FOLDER, R

run = functools.partial(command_line.empathylab, "stats")
as_json = functools.partial(command_line.as_json, "stats")


def test_the_published_sample_size_is_answered_in_words() -> None:
    code, out, _ = run("power", "--effect-w", 0.3, "--df", 8)
    assert code == 0
    assert "8 degrees of freedom on 253 independent observations in total" in out
    assert "power of 95.0% at α = .05" in out


def test_json_holds_the_numbers_and_the_words() -> None:
    found = as_json("power", "--effect-w", 0.3, "--df", 8)
    assert found["chi_square"]["n"] == 253
    assert "253" in found["words"]


def test_a_given_size_is_answered_with_its_power() -> None:
    found = as_json("power", "--effect-w", 0.3, "--n", 145)
    assert found["chi_square"]["power"] == pytest.approx(R["power_145_1"])


def test_a_size_alone_is_answered_with_the_smallest_effect() -> None:
    found = as_json("power", "--n", 253, "--df", 8)
    assert found["chi_square"]["w"] == pytest.approx(0.3, abs=0.001)


def test_two_shares_are_answered_with_raters() -> None:
    code, out, _ = run("power", "--share", 0.65, "--share-reference", 0.5, "--power", 0.9)
    assert code == 0
    assert "With 227 independent ratings per arm" in out
    assert "That takes 43 raters per arm with 10 ratings each (430 ratings per arm)" in out
    assert "design effect of 1.90" in out


def test_two_shares_and_a_size_are_answered_with_the_power() -> None:
    found = as_json("power", "--share", 0.65, "--share-reference", 0.5, "--n", 100)
    assert found["two_shares"]["power"] == pytest.approx(R["two_shares_100"])


def test_a_margin_is_answered_with_raters() -> None:
    found = as_json("power", "--margin", 0.05)
    assert found["raters"]["raters"] == 73
    difference = as_json("power", "--margin", 0.05, "--share-reference", 0.5)
    assert "the difference between two arms' proportions" in difference["words"]


def test_raters_who_rate_once_have_no_design_effect() -> None:
    found = as_json("power", "--margin", 0.05, "--ratings-per-rater", 1)
    assert found["raters"]["raters"] == 385
    assert "design effect" not in found["words"]


def test_a_simulation_is_answered_in_words() -> None:
    found = as_json(
        *("power", "--odds-ratio", 4, "--raters", 20, "--ratings-per-rater", 5),
        *("--rater-sd", 0.5, "--simulations", 5, "--seed", 3),
    )
    assert found["simulation"]["mixed_model"]["estimate"] > 0.5
    assert "An odds ratio of 4.00 (20 raters per arm with 5 ratings each" in found["words"]
    assert "the plain chi-square, which treats ratings as independent" in found["words"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "there is no effect to compute the power for"),
        (("--odds-ratio", 2), "Add --raters"),
        (("--share", 0.6), "two proportions"),
        (("--effect-w", -1), "above 0"),
        (("--odds-ratio", 2, "--raters", 20, "--shares", "a,b"), "numbers separated by commas"),
        (("--odds-ratio", 2, "--raters", 20, "--shares", "0.5,0.1"), "add up to 1"),
    ],
)
def test_a_question_that_cannot_be_answered_says_what_is_missing(
    arguments: tuple[object, ...], message: str
) -> None:
    code, _, err = run("power", *arguments)
    assert code == 2
    assert message in err


def test_chi2_counts_and_tests_any_file() -> None:
    found = as_json("chi2", FOLDER / "rated_arms.csv", "--rows", "arm", "--columns", "rating")
    assert (found["rows"], found["columns"]) == (["human", "alpha", "beta"], ["1", "2", "3"])
    assert sum(map(sum, found["counts"])) == found["n"] == 336
    assert found["chi2"] == pytest.approx(R["full"]["statistic"])
    assert (found["df"], found["dropped"], found["clustered"]) == (4, 0, None)


def test_chi2_allows_for_raters() -> None:
    path = FOLDER / "rated_arms.csv"
    found = as_json("chi2", path, "--rows", "arm", "--columns", "rating", "--cluster", "rater")
    assert found["clustered"]["p"] == pytest.approx(R["rao_scott_full"]["p"])
    assert "Allowing for 60 clusters (design effect 1.0" in found["words"]


def test_chi2_prints_a_table_and_a_sentence() -> None:
    code, out, _ = run("chi2", FOLDER / "rated_arms.csv", "--rows", "arm", "--columns", "rating")
    assert code == 0
    assert "human" in out.splitlines()[1]
    assert "arm and rating: χ²(4, N = 336) = 21.89, p < .001, Cramér's V = .18." in out


def test_chi2_prints_the_counts_alone_for_a_paper() -> None:
    arguments = ("chi2", FOLDER / "rated_arms.csv", "--rows", "arm", "--columns", "rating")
    code, out, _ = run(*arguments, "--table", "markdown")
    assert code == 0
    assert out.startswith("| arm | 1 | 2 | 3 |")


def test_chi2_leaves_out_empty_cells_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("arm,rating\na,1\na,2\nb,1\nb,\n", encoding="utf-8")
    code, out, err = run("chi2", path, "--rows", "arm", "--columns", "rating")
    assert code == 0
    assert "Fisher's exact test" in out
    assert "1 row with an empty cell left out." in err


def test_chi2_says_why_there_is_no_test(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("arm,rating,who\na,1,x\nb,1,x\n", encoding="utf-8")
    arguments = ("chi2", path, "--rows", "arm", "--columns", "rating", "--cluster", "who")
    found = as_json(*arguments)
    assert found["p"] is None
    assert found["words"] == "arm and rating cannot be tested: only one column has counts."


def test_chi2_of_an_unknown_column_gets_the_nearest_name() -> None:
    code, _, err = run("chi2", FOLDER / "rated_arms.csv", "--rows", "arms", "--columns", "rating")
    assert code == 2
    assert "'arm'" in err


def test_chi2_of_levels_called_like_the_rows_keeps_every_column(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("arm,rating\na,arm\na,p\nb,arm\nb,arm\n", encoding="utf-8")
    out = run("chi2", path, "--rows", "arm", "--columns", "rating", "--table", "csv")[1]
    assert out.splitlines() == ["arm,rating: arm,rating: p", "a,1,1", "b,2,0"]


def test_chi2_takes_words_for_nothing_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("arm,rating\na,1\na,2\nb,1\nb,NA\nb,null\n", encoding="utf-8")
    found = as_json("chi2", path, "--rows", "arm", "--columns", "rating")
    assert (found["columns"], found["dropped"]) == (["1", "2"], 2)
