"""`analyze agreement` as a user calls it."""

from __future__ import annotations

import functools
from pathlib import Path

import polars as pl
import pytest

from tests.helpers import command_line
from tests.stats.agreement.examples import KRIPPENDORFF, long

run = functools.partial(command_line.empathylab, "analyze", "agreement")
as_json = functools.partial(command_line.as_json, "analyze", "agreement")


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    """A long CSV with two dimensions and gaps."""
    warmth = long(KRIPPENDORFF).with_columns(dimension=pl.lit("warmth"))
    clarity = long([[1, 2, 3, 3], [1, 2, 3, 4]]).with_columns(dimension=pl.lit("clarity"))
    path = tmp_path / "ratings.csv"
    pl.concat([warmth, clarity]).write_csv(path)
    return path


def test_json_holds_the_figures_of_the_contract(ratings: Path) -> None:
    found = as_json(ratings, "--bootstrap", 50)
    warmth = found["dimensions"][0]
    assert warmth["dimension"] == "warmth"
    assert warmth["krippendorff_alpha"] == pytest.approx(0.815387503755)
    assert warmth["krippendorff_alpha_low"] < warmth["krippendorff_alpha_high"]
    assert 0 < warmth["icc"] <= 1
    assert (warmth["n_raters"], warmth["n_situations"], warmth["n_ratings"]) == (4, 12, 41)
    pair = found["pairs"][0]
    assert (pair["dimension"], pair["rater_a"], pair["rater_b"]) == ("warmth", "r0", "r1")
    assert {"n", "weighted_kappa", "kappa", "spearman", "percent"} <= set(pair)


def test_what_is_not_defined_is_null_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    long([[1, 1, 1], [1, 1, 1]]).write_csv(path)
    found = as_json(path)
    assert found["dimensions"][0]["krippendorff_alpha"] is None
    assert found["dimensions"][0]["notes"]["krippendorff_alpha"] == "all ratings are the same"
    assert found["pairs"][0]["weighted_kappa"] is None
    assert found["pairs"][0]["percent"] == 100


def test_a_table_without_dimensions_is_one(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    long(KRIPPENDORFF).write_csv(path)
    assert [dimension["dimension"] for dimension in as_json(path)["dimensions"]] == ["rating"]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_other_kinds_of_tables_give_the_same(ratings: Path, ending: str) -> None:
    frame = pl.read_csv(ratings)
    path = ratings.with_suffix(f".{ending}")
    frame.write_ndjson(path) if ending == "jsonl" else frame.write_parquet(path)
    assert as_json(path, "--bootstrap", 20) == as_json(ratings, "--bootstrap", 20)


def test_columns_go_by_role(ratings: Path, tmp_path: Path) -> None:
    names = {"situation": "item", "rater": "who", "dimension": "what", "rating": "value"}
    path = tmp_path / "named.csv"
    pl.read_csv(ratings).rename(names).write_csv(path)
    options = [part for role, column in names.items() for part in (f"--{role}", column)]
    assert as_json(path, *options)["pairs"] == as_json(ratings)["pairs"]


def test_words_need_the_levels_of_the_scale(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text(
        "situation,rater,rating\ns,a,Good\ns,b,Okay\nt,a,Bad\nt,b,Bad\n", encoding="utf-8"
    )
    found = as_json(path, "--levels", "Bad,Okay,Good")
    assert found["pairs"][0]["percent"] == 50
    code, _, err = run(path)
    assert code == 2
    assert "words.csv row 2: 'rating' must be a number; 4 rows have other values: 'Bad' (2)" in err


def test_levels_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    long([[1, 2, 1], [1, 2, 2]]).write_csv(path)
    found = as_json(path, "--levels", "1,2,3", "--bootstrap", 0)
    assert found["dimensions"][0]["gwet_ac1"] == pytest.approx(5 / 9)


def test_people_read_a_table_and_hear_what_was_left_out(ratings: Path) -> None:
    code, out, err = run(ratings, "--bootstrap", 20)
    assert code == 0
    assert "alpha (ordinal)" in out
    assert "weighted kappa" in out
    assert "0.82 (" in out
    assert "7 of 56 rows without a rating" in err


def test_of_many_pairs_the_first_are_printed_and_the_rest_counted(tmp_path: Path) -> None:
    path = tmp_path / "crowd.csv"
    long([[1, 2, 1 + index % 3] * 4 for index in range(13)]).write_csv(path)
    _, out, err = run(path, "--bootstrap", 0)
    assert out.count("r0, r") == 12
    assert "… and 18 more pairs" in err


def test_an_unknown_column_gets_the_nearest_and_exit_2(ratings: Path) -> None:
    code, _, err = run(ratings, "--rater", "ratr")
    assert code == 2
    assert "ratings.csv: there is no column 'ratr'. Did you mean 'rater'" in err


def test_other_column_names_get_the_options_that_map_them(tmp_path: Path) -> None:
    path = tmp_path / "named.csv"
    path.write_text("item,who,rating\ns,a,1\n", encoding="utf-8")
    code, _, err = run(path)
    assert code == 2
    assert "Name the column with --situation COLUMN and --rater COLUMN." in err


def test_a_rater_who_rates_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("situation,rater,rating\ns,a,1\ns,a,2\n", encoding="utf-8")
    code, _, err = run(path)
    assert code == 2
    assert "rater 'a' rated 's' more than once" in err


@pytest.mark.shared_data
def test_the_published_expert_pairs_come_out_of_the_command(shared_data: Path) -> None:
    found = as_json(shared_data / "kumar" / "empatheticdialogues_ratings.csv", "--bootstrap", 0)
    pairs = {
        (pair["dimension"], *pair["raters"]): pair["weighted_kappa"] for pair in found["pairs"]
    }
    # Kumar et al. (2025), the nine expert pairs.
    published = {
        ("empathy", "expert1", "expert2"): 0.51,
        ("empathy", "expert2", "expert3"): 0.62,
        ("empathy", "expert1", "expert3"): 0.53,
        ("fluency", "expert1", "expert2"): 0.28,
        ("fluency", "expert2", "expert3"): 0.11,
        ("fluency", "expert1", "expert3"): 0.41,
        ("relevance", "expert1", "expert2"): 0.44,
        ("relevance", "expert2", "expert3"): 0.58,
        ("relevance", "expert1", "expert3"): 0.49,
    }
    assert {key: round(pairs[key], 2) for key in published} == published


@pytest.mark.parametrize(
    ("levels", "row", "wrong"), [("Bad,Good", 3, "Okay"), ("Bad,Okay", 4, "Good")]
)
def test_a_rating_outside_the_levels_is_named_with_file_and_row(
    tmp_path: Path, levels: str, row: int, wrong: str
) -> None:
    path = tmp_path / "words.csv"
    path.write_text("situation,rater,rating\n1,a,Bad\n1,b,Okay\n2,a,Good\n2,b,NA\n")
    done = run(path, "--levels", levels)
    assert done.exit_code == 2
    sentence = f"words.csv row {row}: 'rating' must be one of {levels.replace(',', ', ')}; got "
    assert f"{sentence}'{wrong}'" in " ".join(done.stderr.split())


def test_a_number_outside_the_levels_is_named_with_file_and_row(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("situation,rater,rating\n1,a,1\n1,b,2\n2,a,3\n2,b,1\n")
    done = run(path, "--levels", "1,2")
    assert "numbers.csv row 4: 'rating' must be one of 1, 2; got '3'" in done.stderr


def test_pairs_that_share_few_items_are_counted_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    rows = [f"s{s},r{r},{1 + (s + r) % 3}" for s in range(12) for r in range(2)]
    rows += [f"s{s},r2,2" for s in range(3)]
    path.write_text("\n".join(["situation,rater,rating", *rows]))
    code, out, err = run(path, "--bootstrap", 0)
    assert code == 0
    assert "r0, r1" in out
    assert "r0, r2" not in out
    assert "fewer than 10 shared items are not shown (2): --json has them." in err
    assert len(as_json(path, "--bootstrap", 0)["pairs"]) == 3


def test_people_and_models_as_raters_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "kinds.csv"
    rows = [f"s{s},p{r},person,{1 + s % 5}" for s in range(12) for r in range(2)]
    rows += [f"s{s},gpt,model,{5 - s % 5}" for s in range(12)]
    path.write_text("\n".join(["situation,rater,rater_kind,rating", *rows]))
    err = run(path, "--bootstrap", 0)[2]
    assert "people and models, and these figures mix them; people alone: alpha 1.00 on" in err


def test_ordinal_and_exact_agreement_that_differ_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "near.csv"
    rows = [f"s{s},r{r},{1 + (s % 6) + r}" for s in range(24) for r in range(2)]
    path.write_text("\n".join(["situation,rater,rating", *rows]))
    assert "count exact agreement only" in run(path, "--bootstrap", 0)[2]


def test_a_situation_and_an_arm_together_are_a_reply(tmp_path: Path) -> None:
    arms = [
        long(KRIPPENDORFF).with_columns(system=pl.lit(name), shift=pl.lit(place))
        for place, name in enumerate(("gpt", "human"))
    ]
    frame = pl.concat(arms).with_columns(pl.col("rating") + pl.col("shift")).drop("shift")
    path, named = tmp_path / "arms.csv", tmp_path / "replies.csv"
    frame.write_csv(path)
    frame.with_columns(reply=pl.col("situation") + pl.col("system")).write_csv(named)
    code, _, err = run(path)
    assert (code, "name the arm" in err) == (2, True)
    found = as_json(path, "--arm", "system", "--bootstrap", 100)
    assert found == as_json(named, "--situation", "reply", "--bootstrap", 100)
    assert found["dimensions"][0]["n_clusters"] == 12
    code, _, err = run(path, "--arm", "sytem")
    assert (code, "Did you mean 'system'" in err) == (2, True)
