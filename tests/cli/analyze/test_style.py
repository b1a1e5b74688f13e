"""`analyze style` as a user calls it."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import polars as pl
import pytest

from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table
from tests.helpers import command_line
from tests.helpers.welivita import write_release
from tests.report.style_frames import responses

run = functools.partial(command_line.empathylab, "analyze", "style")
as_json = functools.partial(command_line.as_json, "analyze", "style")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "replies.csv"
    responses().write_csv(path)
    return path


def test_json_holds_the_figures_of_the_contract(file: Path) -> None:
    found = as_json(file)
    assert [respondent["respondent"] for respondent in found["respondents"]] == ["warm", "dry"]
    assert found["respondents"][0]["words_per_response"] == 12.0
    assert found["predictability"]["accuracy"] == 1.0
    assert found["predictability"]["grouped_by"] == "situation"
    assert found["distinctive"]["warm"][0]["z"] > 0
    assert found["tests"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_other_tables_give_the_same(file: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / f"replies.{kind}"
    frame = responses()
    (frame.write_ndjson if kind == "jsonl" else frame.write_parquet)(other)
    assert as_json(other, "--no-predict") == as_json(file, "--no-predict")


def test_labels_of_tactics_correct_the_shares(file: Path, tmp_path: Path) -> None:
    frame = responses()
    labels = tmp_path / "labels.csv"
    asks = pl.col("text").str.contains("?", literal=True)
    frame.select(
        "respondent",
        "text",
        tactics=pl.when(asks).then(pl.lit("questioning")).otherwise(pl.lit("")),
    ).write_csv(labels)
    found = as_json(file, "--no-predict", "--tactic-labels", labels)["tactics"]
    assert {row["writer"] for row in found["labelled"]} == {"warm", "dry"}
    [asking] = [
        row for row in found["labelled"] if (row["writer"], row["tactic"]) == ("dry", "questioning")
    ]
    assert asking["recall"] == 1
    assert len(found["accuracy"]) == 20
    assert {use["basis"] for use in found["corrected"]} <= {"labels", "test set"}
    labels.write_text("respondent,text,tactics\ndry,Hm.,adivce\n", encoding="utf-8")
    code, _, err = run(file, "--tactic-labels", labels)
    assert code == 2
    assert "Did you mean 'advice'" in err


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    named = {"respondent": "who", "situation": "post", "text": "response"}
    responses().rename(named).write_csv(path)
    columns = ["--respondent-column", "who", "--situation-column", "post", "--text-column"]
    found = as_json(path, *columns, "response", "--no-predict")
    assert found["n"] == 24
    assert found["predictability"] is None


def test_a_missing_column_names_the_option_and_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    responses().rename({"text": "texts"}).write_csv(path)
    code, out, err = run(path)
    assert (code, out) == (2, "")
    assert "mine.csv: there is no column 'text'" in err
    assert "Did you mean 'texts'?" in err
    assert "--text-column" in err


def test_a_rating_column_is_related_to_features(tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    responses().with_columns(stars=pl.int_range(pl.len()) % 3).write_csv(path)
    found = as_json(path, "--rating-column", "stars", "--no-predict")
    assert {relation["n"] for relation in found["ratings"][0]["relations"]} == {24}


def test_a_rating_that_is_no_number_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    responses().with_columns(stars=pl.lit("Good")).write_csv(path)
    code, _, err = run(path, "--rating-column", "stars")
    assert code == 2
    assert (
        "rated.csv row 2: 'stars' must be a number; 24 rows have other values: 'Good' (24)" in err
    )


def test_dictionaries_of_both_kinds_are_counted(file: Path, tmp_path: Path) -> None:
    (tmp_path / "weeks.txt").write_text("week*\n")
    (tmp_path / "mine.dic").write_text("%\n1\tplace\n2\tfeeling\n%\nhome\t1\nsorry\t2\n")
    found = as_json(
        file, "--no-predict",
        "--dictionary", tmp_path / "weeks.txt", "--dictionary", tmp_path / "mine.dic",
    )  # fmt: skip
    warm = found["respondents"][0]["features"]
    assert (warm["weeks"], warm["mine:feeling"], warm["mine:place"]) == (1.0, 1.0, 0.25)
    assert [dictionary["name"] for dictionary in found["dictionaries"]] == ["weeks", "mine"]


def test_a_broken_dictionary_is_refused_with_its_line(file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.dic").write_text("%\n1\tplace\n%\nhome\t7\n")
    code, _, err = run(file, "--dictionary", tmp_path / "mine.dic")
    assert code == 2
    assert "mine.dic" in err
    assert "4" in err


def test_the_printed_tables_name_what_matters(file: Path) -> None:
    code, out, err = run(file)
    assert code == 0, err
    for words in (
        "Per response",
        "Largest differences",
        "Can the author be identified?",
        "my own week",
    ):
        assert words in out


def test_odd_names_are_printed_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    responses("[/bold] a_b <i>").write_csv(path)
    code, out, err = run(path, "--no-predict")
    assert code == 0, err
    assert "[/bold] a_b <i>" in out


def test_one_respondent_is_described_and_the_rest_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    responses().filter(respondent="dry").write_csv(path)
    code, out, err = run(path)
    assert code == 0
    assert "Per response" in out
    assert "Only dry responded" in err


def test_words_are_paragraphs_only(file: Path) -> None:
    code, out, _ = run(file, "--words")
    assert code == 0
    assert out.startswith("24 responses of warm and dry")


def test_the_table_comes_in_each_form(file: Path) -> None:
    _, markdown, _ = run(file, "--no-predict", "--table", "markdown")
    _, latex, _ = run(file, "--no-predict", "--table", "latex")
    _, csv, _ = run(file, "--no-predict", "--table", "csv")
    assert "| exclamation marks | 2.00" in markdown
    assert r"\toprule" in latex
    assert csv.startswith("respondent,feature,mean,low,high,sd,per_100_words,used,dropped\n")


def test_an_unknown_reference_ends_with_two(file: Path) -> None:
    code, _, err = run(file, "--against", "wram")
    assert code == 2
    assert "Did you mean 'warm'?" in err


def test_figures_cannot_be_written_into_a_file(file: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    code, _, err = run(file, "--no-predict", "--figures", taken)
    assert code == 2
    assert "--figures: the figures cannot be written" in err


def test_word_lists_cannot_be_written_into_a_file(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    code, _, err = run("--write-lists", taken)
    assert code == 2
    assert "--write-lists: the word lists cannot be written; got" in err


@pytest.mark.slow
def test_figures_are_written_where_asked(file: Path, tmp_path: Path) -> None:
    code, _, err = run(file, "--figures", tmp_path / "charts", "--words")
    assert code == 0
    assert "files written" in err
    assert (tmp_path / "charts" / "distinctive-1-warm.svg").exists()


def test_without_a_file_the_labs_responses_are_described(tmp_path: Path) -> None:
    write_release(tmp_path / "r.csv")
    with Lab.open(tmp_path / "lab") as lab:
        release = read_release(read_table(tmp_path / "r.csv"), where="r.csv")
        import_release(lab, release, kind="welivita", source="r.csv", fingerprint="1")
    found = as_json("--lab", tmp_path / "lab", "--no-predict")
    assert [respondent["respondent"] for respondent in found["respondents"]] == ["human", "gpt"]
    assert found["ratings"][0]["dimension"] == "empathy"


def test_a_missing_lab_is_refused(tmp_path: Path) -> None:
    code, _, err = run("--lab", tmp_path / "none")
    assert code == 2
    assert err


def test_half_characters_and_controls_in_texts_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "hard.jsonl"
    hard = ["A\\ud800b c.", "Zero\\u200dwidth here.", "Bell\\u0007 rings.", "Plain words.", "So."]
    lines = [
        f'{{"respondent": "{who}", "situation": "{number}", "text": "{who} {text}"}}'
        for number, text in enumerate(hard)
        for who in ("a", "b")
    ]
    path.write_text("\n".join(lines))
    code, out, err = run(path, "--json")
    assert code == 0, err
    assert json.loads(out)["n"] == 10


def test_a_model_can_tag_the_tactics_and_its_answers_are_kept(file: Path, tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    answer = {"first": "advice", "second": "none", "third": "none"}
    script.write_text(json.dumps([json.dumps(answer)]))
    given = (file, "--no-predict", "--tagger", f"scripted/{script}", "--lab", tmp_path / "lab")
    found = as_json(*given)
    assert found["tactics"]["tagger"] == f"scripted/{script}"
    assert {use["tactic"] for use in found["tactics"]["uses"]} == {"advice"}
    assert as_json(*given)["tactics"] == found["tactics"]


def test_answers_of_a_tagger_that_cannot_be_read_are_said(file: Path, tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text(json.dumps(["hm"]))
    code, _, err = run(
        file, "--no-predict", "--words", "--tagger", f"scripted/{script}", "--lab", tmp_path / "lab"
    )
    assert code == 0
    assert "could not be read" in err


def test_a_tagger_over_its_cap_ends_with_two(file: Path, tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text(json.dumps(["hm"]))
    code, _, err = run(
        file, "--no-predict", "--tagger", f"scripted/{script}", "--lab", tmp_path / "lab",
        "--max-total-tokens", 900,
    )  # fmt: skip
    assert code == 2
    assert "--max-total-tokens" in err
