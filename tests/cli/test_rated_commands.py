"""`data import welivita | posts | responses | ratings`, `data show`, `analyze ratings`, `stats`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command_line import as_json, empathylab
from tests.helpers.welivita import write_people, write_release


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return tmp_path / "lab"


@pytest.fixture
def released(tmp_path: Path) -> Path:
    path = tmp_path / "released.csv"
    write_release(path, arms=("human", "gpt", "llama"), raters=12, per_rater=6, good={"gpt": 0.9})
    return path


@pytest.fixture
def filled(lab: Path, released: Path) -> Path:
    code, _, err = empathylab("data", "import", "welivita", released, "--lab", lab)
    assert code == 0, err
    return lab


def test_an_import_says_what_came(lab: Path, released: Path, tmp_path: Path) -> None:
    write_people(tmp_path / "people.csv", "human", 12)
    code, out, err = empathylab(
        *("data", "import", "welivita", released, "--lab", lab),
        *("--demographics", tmp_path / "people.csv"),
    )
    assert code == 0
    assert "added (set welivita-2024, version 1, study welivita-2024)" in out
    assert "Raters who are in no demographics file: 24." in err
    again = as_json(
        *("data", "import", "welivita", released, "--lab", lab),
        *("--demographics", tmp_path / "people.csv"),
    )
    assert (again["change"], again["things"]) == ("unchanged", [])


def test_the_analysis_compares_every_arm_with_the_reference(filled: Path) -> None:
    found = as_json("analyze", "ratings", "--lab", filled)
    assert [arm["arm"] for arm in found["arms"]] == ["human", "gpt", "llama"]
    assert {test["reference"] for test in found["tests"]} == {"human"}
    assert {test["arm"] for test in found["tests"]} == {"gpt", "llama"}
    other = as_json("analyze", "ratings", "--lab", filled, "--reference", "gpt")
    assert {test["reference"] for test in other["tests"]} == {"gpt"}


def test_the_analysis_prints_tables_words_and_papers_tables(filled: Path) -> None:
    code, out, _ = empathylab("analyze", "ratings", "--lab", filled, "--by", "emotion")
    assert code == 0
    assert "rating ~ arm + (1|rater) + (1|situation)" in out
    assert "afraid" in out
    words = empathylab("analyze", "ratings", "--lab", filled, "--words")[1]
    assert "The study compares 3 arms: people (reference), gpt and llama." in words
    latex = empathylab("analyze", "ratings", "--lab", filled, "--table", "latex")[1]
    assert latex.startswith("\\begin{table}")
    markdown = empathylab("analyze", "ratings", "--lab", filled, "--table", "markdown")[1]
    assert "| gpt" in markdown


def test_exclusions_are_declared_on_the_command_line(filled: Path) -> None:
    found = as_json("analyze", "ratings", "--lab", filled, "--straight-lining")
    assert found["exclusions"]["rules"][0]["rule"] == "straight-lining"
    code, _, err = empathylab("analyze", "ratings", "--lab", filled, "--too-fast", 60)
    assert code == 0, err


def test_a_lab_without_ratings_is_one_sentence(lab: Path) -> None:
    empathylab("data", "import", "posts", lab, "--lab", lab)  # a folder is no table
    code, _, err = empathylab("analyze", "ratings", "--lab", lab)
    assert code == 2
    assert "Traceback" not in err


def test_a_study_is_shown_with_its_arms_and_counts(filled: Path) -> None:
    shown = as_json("data", "show", "welivita-2024", "--lab", filled)
    assert [arm["arm"] for arm in shown["arms"]] == ["human", "gpt", "llama"]
    assert shown["counts"]["valences"] == {"negative": 36, "positive": 36}
    code, out, _ = empathylab("data", "show", "welivita-2024", "--lab", filled)
    assert code == 0
    assert "empathylab analyze ratings --study welivita-2024" in out


def test_responses_are_shown_by_situation_and_can_be_narrowed(filled: Path) -> None:
    found = as_json("data", "show", "responses", "--lab", filled, "--respondent", "gpt")
    assert len(found["responses"]) == 72
    code, out, err = empathylab(
        "data", "show", "responses", "--lab", filled, "--emotion", "sad", "--limit", 1
    )
    assert code == 0
    assert "gpt: The gpt reply" in out
    assert "more; --limit 0 prints all" in err
    code, _, err = empathylab("data", "show", "responses", "--lab", filled, "--respondent", "gtp")
    assert code == 2
    assert "Did you mean 'gpt'" in err


def test_the_list_tells_of_responses_and_studies(filled: Path) -> None:
    found = as_json("data", "list", "--lab", filled)
    assert {response["respondent"] for response in found["responses"]} == {"human", "gpt", "llama"}
    assert found["studies"][0]["ratings"] == 216


def test_peoples_replies_to_a_built_in_set_come_from_a_csv(tmp_path: Path, lab: Path) -> None:
    shown = as_json("data", "show", "dialogues", "--lab", lab)
    key = shown["situations"][0]["id"]
    (tmp_path / "mine.csv").write_text(f"situation,text\n{key},I am so glad for you.\n")
    done = as_json(
        *("data", "import", "responses", tmp_path / "mine.csv", "--set", "dialogues"),
        *("--respondent", "human", "--lab", lab),
    )
    assert done["things"][-1] == {
        "things": "responses",
        "added": 1,
        "changed": 0,
        "removed": 0,
        "unchanged": 0,
    }
    shown = as_json("data", "show", "dialogues", "--lab", lab)
    assert shown["respondents"][0]["respondent"] == "human"


def test_peoples_replies_to_a_sample_go_to_its_set(tmp_path: Path, lab: Path) -> None:
    drawn = ("data", "sample", "dialogues", "--count", "32", "--name", "mine", "--lab", lab)
    assert empathylab(*drawn).exit_code == 0
    key = as_json("data", "show", "mine", "--lab", lab)["situations"][0]["id"]
    (tmp_path / "mine.csv").write_text(f"situation,text\n{key},I am so glad for you.\n")
    importing = ("data", "import", "responses", tmp_path / "mine.csv", "--respondent", "human")
    done = as_json(*importing, "--set", "mine", "--lab", lab)
    assert (done["situation_set"], done["things"][-1]["added"]) == ("dialogues", 1)
    unknown = empathylab(*importing, "--set", "x", "--lab", lab)
    assert "Known: appraisal," in unknown.stderr


def test_the_analysis_can_be_narrowed_to_replies_of_equal_length(filled: Path) -> None:
    made = as_json("data", "match", "welivita-2024", "--name", "equal", "--lab", filled)
    # All made-up replies have eight words.
    assert (len(made["situations"]), made["imbalance"]) == (72, 0)
    again = as_json("data", "match", "welivita-2024", "--name", "equal", "--lab", filled)
    assert again["change"] == "unchanged"
    drawn = as_json(
        *("data", "sample", "welivita-2024", "--count", 12, "--name", "few", "--lab", filled),
        *("--min-words", 0, "--duplicates", "keep"),
    )
    assert len(drawn["situations"]) == 12
    found = as_json("analyze", "ratings", "--lab", filled, "--only", "few")
    assert [arm["n"] for arm in found["arms"]] == [12, 12, 12]
    listed = as_json("data", "list", "--lab", filled)
    assert [draw["draw"] for draw in listed["draws"]] == ["equal", "few"]
    code, _, err = empathylab("data", "match", "dialogues", "--name", "x", "--lab", filled)
    assert (code, "at least two respondents" in err) == (2, True)


def test_posts_come_with_peoples_replies(tmp_path: Path, lab: Path) -> None:
    path = tmp_path / "forum.csv"
    path.write_text("domain,title,post,human_reply\nwork,Boss,He shouts a lot.,That is hard.\n")
    assert empathylab("data", "import", "posts", path, "--lab", lab)[0] == 0
    shown = as_json("data", "show", "forum", "--lab", lab)
    assert shown["situations"][0]["title"] == "Boss"
    assert shown["counts"]["topics"] == {"work": 1}


def test_a_table_of_ratings_brings_its_replies_along(tmp_path: Path, lab: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "situation,respondent,rater,rating,text,situation_text,emotion\n"
        "a,human,r1,Good,I see.,It rains.,sad\na,gpt,r2,Bad,Hm.,It rains.,sad\n"
    )
    done = as_json("data", "import", "ratings", path, "--lab", lab)
    assert done["study"] == "mine"
    assert as_json("data", "show", "mine", "--lab", lab)["ratings"] == 2
    code, _, err = empathylab("data", "import", "ratings", path, "--lab", lab, "--points", "a,b")
    assert (code, "--points needs numbers" in err) == (2, True)


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    path = tmp_path / "long.csv"
    rows = [
        f"r{r},s{s},{arm},{1 + (r * 7 + s * 3 + (arm == 'gpt') * 2) % 4}"
        for r in range(12)
        for s in range(6)
        for arm in (("human",) if r % 2 else ("gpt",))
    ]
    path.write_text("rater,situation,arm,rating\n" + "\n".join(rows) + "\n")
    return path


def test_every_missing_column_is_named_at_once(long_file: Path) -> None:
    done = empathylab("analyze", "ratings", long_file, "--situation", "post", "--arm", "system")
    assert done.exit_code == 2
    assert "there are no columns 'post', 'system'" in done.stderr
    assert "Name them: --situation COLUMN --arm COLUMN." in done.stderr


def test_levels_are_for_tables_only(filled: Path) -> None:
    done = empathylab("analyze", "ratings", "--levels", "Bad,Okay,Good", "--lab", filled)
    assert done.exit_code == 2
    assert "Remove --levels, or name a file." in done.stderr


def test_a_rating_outside_the_levels_is_named_with_file_and_row(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("rater,situation,arm,score\na,1,x,Poor\na,2,y,Great\n")
    done = empathylab("analyze", "ratings", path, "--rating", "score", "--levels", "Poor,Fair")
    assert done.exit_code == 2
    assert "words.csv row 3: 'score' must be one of Poor, Fair; got 'Great'" in done.stderr
    done = empathylab("analyze", "ratings", path, "--rating", "score")
    assert "words.csv: 'score' must contain finite numbers; 2 rows have other" in done.stderr


def test_a_spreadsheets_csv_with_semicolons_is_read_and_said_so(tmp_path: Path) -> None:
    path = tmp_path / "german.csv"
    rows = [
        f"r{r};s{s};{arm};{(r + s + k) % 5},5"
        for r in range(6)
        for s in range(6)
        for k, arm in enumerate(("KI-Größe", "KI-Mini"))
    ]
    header = "Prüfer (anonym);Beitrag;System;Gesamturteil: Empathie?"
    path.write_text("\n".join([header, *rows]), encoding="utf-8-sig")
    columns = ("--rater", "Prüfer (anonym)", "--situation", "Beitrag", "--arm", "System")
    arguments = ("analyze", "ratings", path, *columns, "--rating", "Gesamturteil: Empathie?")
    code, out, err = empathylab(*arguments)
    assert (code, "separated by semicolons" in err) == (0, True)
    assert out.startswith(
        "Ratings: arms against KI-Größe (the first by name, as no arm shows replies by people)\n"
        "Raters rated replies of several arms (within subjects): 6 raters for KI-Größe and 6 for "
        "KI-Mini.\n\n- "
    )
    assert "0.5 to 4.5" in out or "on Gesamturteil: Empathie?" in out
    words = empathylab(*arguments, "--words")[1]
    assert "Gesamturteil: Empathie? was rated on a continuous scale (ratings from 0.5" in words
    assert "--reference" not in words
    table = empathylab(*arguments, "--table", "markdown")[1]
    assert table.startswith("Ratings: arms against KI-Größe")
    assert "linear mixed model" in table


def test_words_may_differ_in_case_and_other_values_are_listed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    words = ["poor", "Fair", "GREAT", "Fiar", "k. A.", "Fiar", "gut", "Poor"]
    rows = [f"r{k},s{k % 2},{('x', 'y')[k % 2]},{word}" for k, word in enumerate(words)]
    path.write_text("\n".join(["rater,situation,arm,rating", *rows]))
    arguments = ("analyze", "ratings", path, "--levels", "Poor,Fair,Great")
    code, _, err = empathylab(*arguments)
    assert code == 2
    assert "words.csv row 5: 'rating' must be one of Poor, Fair, Great; 4 rows have other" in err
    assert "'Fiar' (2), 'gut' (1), 'k. A.' (1); got 'Fiar'" in err
    missing = [part for code in ("Fiar", "k. A.", "gut") for part in ("--missing", code)]
    found = as_json(*arguments, *missing)
    assert found["n"] == 4
    assert "4 rows without a rater, arm, situation or rating were excluded." in found["notes"]


def test_ratings_of_any_table_are_analysed_without_a_lab(long_file: Path) -> None:
    table = long_file.read_text().replace("rater,situation,arm,rating", "who,post,system,warmth")
    long_file.write_text(table + "r1,s1,human,NA\nr1,s2,gpt,\n")
    code, _, err = empathylab("analyze", "ratings", long_file)
    assert (code, "Name them: --rater COLUMN" in err) == (2, True)
    columns = ("--rater", "who", "--situation", "post", "--arm", "system", "--rating", "warmth")
    arguments = ("analyze", "ratings", long_file, *columns, "--reference", "human")
    found = as_json(*arguments)
    assert found["recognised_design"]["ratings"] == 72
    assert found["conclusions"][0]["dimension"] == "warmth"
    code, out, err = empathylab(*arguments)
    assert (code, "rated higher" in out or "Inconclusive" in out) == (0, True)
    assert "2 rows without a rater, arm, situation or rating were excluded" in err
    code, _, err = empathylab(*arguments, "--study", "mine")
    assert (code, "Remove --study" in err) == (2, True)


@pytest.mark.parametrize("kind", ["clmm", "lmm"])
def test_mixed_models_of_any_table_keep_the_contract(long_file: Path, kind: str) -> None:
    formula = "rating ~ arm + (1|rater) + (1|situation)"
    arguments = ("stats", kind, long_file, "--formula", formula, "--reference", "arm=human")
    found = as_json(*arguments, "--means", "arm")
    test = "z" if kind == "clmm" else "t"
    assert {"estimate", "se", test, "p"} <= set(found["coefficients"]["armgpt"])
    assert {"sd"} <= set(found["random_effects"]["rater"])
    assert found["n"] == 72
    assert found["converged"] is True
    assert ("1|2" in found["thresholds"]) if kind == "clmm" else found["residual_sd"] > 0
    assert found["contrasts"]["arm"]
    code, out, _ = empathylab(*arguments, "--means", "arm")
    assert code == 0
    assert "armgpt" in out
    assert "Reference level of arm: human" in out
    assert "entered the model" in empathylab(*arguments, "--words")[1]
    assert empathylab(*arguments, "--table", "csv")[1].startswith("term,")


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("rating ~ arn + (1|rater)", "Did you mean 'arm'"),
        ("rating ~ arm + (1|ratr)", "Did you mean 'rater'"),
        ("rating ~ ", ""),
    ],
)
def test_a_wrong_formula_is_one_sentence(long_file: Path, formula: str, sentence: str) -> None:
    code, _, err = empathylab("stats", "clmm", long_file, "--formula", formula)
    assert code == 2, err
    assert sentence in err
    assert "Traceback" not in err


def test_preferences_of_any_table(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    wins = ["first"] * 6 + ["second"] * 2 + ["tie"] * 2
    rows = [f"gpt,human,{one},r{place % 4}" for place, one in enumerate(wins)]
    path.write_text("first,second,outcome,rater\n" + "\n".join(rows) + "\n")
    found = as_json("stats", "preferences", path)
    # By hand: strength difference log(6/2), so that odds are 6 to 2 and ties 2 of 10.
    (pair,) = found["pairs"]
    assert pair["preferred"] == pytest.approx(0.6, abs=1e-6)
    assert pair["tie"] == pytest.approx(0.2, abs=1e-6)
    code, out, _ = empathylab("stats", "preferences", path, "--rater", "rater")
    assert code == 0
    assert "gpt would be preferred to human in 60% of comparisons, human to gpt in 20%" in out
    assert "Their strengths differ by 1.099 [" in out
    named = tmp_path / "named.csv"
    text = (
        path.read_text()
        .replace("human,first", "human,gpt")
        .replace("human,second,", "human,human,")
    )
    named.write_text(text)
    assert empathylab("stats", "preferences", named, "--rater", "rater")[1] == out
    code, _, err = empathylab("stats", "preferences", path, "--outcome", "outcom")
    assert (code, "Did you mean 'outcome'" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--rater", "rater"), "all comparisons are by one rater"),
        (("--situation", "situation"), "all comparisons are of one situation"),
    ],
)
def test_preferences_without_an_interval_say_why(
    tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    path = tmp_path / "pairs.csv"
    wins = ["first"] * 6 + ["second"] * 2
    rows = [f"{'gpt,human' if n % 2 else 'human,gpt'},{win},r,s" for n, win in enumerate(wins)]
    path.write_text("first,second,outcome,rater,situation\n" + "\n".join(rows) + "\n")
    out = empathylab("stats", "preferences", path, *options).stdout
    assert "inf" not in out
    assert "[" not in out
    assert f"No interval can be computed, because {why}." in out
    assert "shown in the same order" not in out
    found = as_json("stats", "preferences", path, *options)
    assert (found["strengths"][0]["low"], found["strengths"][0]["se"]) == (None, None)
    table = empathylab("stats", "preferences", path, *options, "--table", "csv")
    assert why in table.stderr


def test_preferences_say_if_each_pair_was_shown_in_one_order(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("first,second,outcome\n" + "a,b,first\n" * 3 + "a,b,second\n")
    caveat = "Every pair was always shown in the same order"
    assert caveat in empathylab("stats", "preferences", path).stdout
    [said] = as_json("stats", "preferences", path)["caveats"]
    assert said.startswith(caveat)


def test_thresholds_and_attention_checks_are_given_on_the_command_line(
    tmp_path: Path, lab: Path
) -> None:
    rows = [
        f"s{s},{who},{who}{r},{name},{value},reply {s} {who},story {s},sad"
        for s in range(6)
        for k, who in enumerate(("human", "gpt"))
        for r in range(6)
        for name, value in (("warmth", 1 + (s + r + k) % 3), ("degree", (s * 13 + r * 7 + k) % 100))
    ]
    head = "situation,respondent,rater,dimension,rating,text,situation_text,emotion\n"
    (tmp_path / "t.csv").write_text(head + "\n".join(rows) + "\n")
    people = [f"{who}{r},{int(r == 0)}" for who in ("human", "gpt") for r in range(6)]
    (tmp_path / "people.csv").write_text("rater,checks\n" + "\n".join(people) + "\n")
    code, _, err = empathylab(
        *("data", "import", "ratings", tmp_path / "t.csv", "--lab", lab),
        *("--raters", tmp_path / "people.csv"),
    )
    assert code == 0, err
    found = as_json(
        *("analyze", "ratings", "--lab", lab, "--good-from", "degree=50"),
        *("--failed-attention", "checks"),
    )
    assert {test["dimension"] for test in found["tests"]} == {"warmth", "degree"}
    assert found["exclusions"]["kept"] == {"human": 5, "gpt": 5}
    assert [model["n"] for model in found["exclusions"]["mixed_models"]] == [60, 60]
    assert [mean["dimension"] for mean in found["means"]] == ["degree"]
    out = empathylab("analyze", "ratings", "--lab", lab, "--table", "csv", "--by", "all")[1]
    assert out.startswith("dimension,arm,situations,good,good (reference),")
    assert "\ndegree,gpt,all," in out
    for wrong in ("x", "=3", "degree=high"):
        code, _, err = empathylab("analyze", "ratings", "--lab", lab, "--good-from", wrong)
        assert (code, "--good-from needs a number, or DIMENSION=NUMBER" in err) == (2, True)
    code, _, err = empathylab(
        "analyze", "ratings", "--lab", lab, "--good-from", 3, "--good-from", "warmth=2"
    )
    assert (code, "either one number or named dimensions" in err) == (2, True)


def test_a_margin_makes_a_conclusion_of_equivalence_possible(filled: Path) -> None:
    found = as_json("analyze", "ratings", "--lab", filled, "--margin", "99.9")
    assert found["margins"] == {"empathy": 99.9}
    kinds = {conclusion["kind"] for conclusion in found["conclusions"]}
    assert "inconclusive" not in kinds
    out = empathylab("analyze", "ratings", "--lab", filled, "--margin", "empathy=99.9")[1]
    assert "margin of ±99.9 percentage points" in out
    code, _, err = empathylab("analyze", "ratings", "--lab", filled, "--margin", "wide")
    assert (code, "--margin needs a number, or DIMENSION=NUMBER" in err) == (2, True)
    code, _, err = empathylab("analyze", "ratings", "--lab", filled, "--margin", "200")
    assert (code, "must be between 0 and 100 percentage points" in err) == (2, True)


def test_only_without_rated_situations_says_so(filled: Path) -> None:
    code, _, err = empathylab("analyze", "ratings", "--lab", filled, "--only", "dialogues")
    assert code == 2
    assert "no reply to a situation of dialogues was rated" in err


def test_a_reference_without_its_factor_says_what_is_needed(long_file: Path) -> None:
    formula = ("--formula", "rating ~ arm + (1|rater)")
    code, _, err = empathylab("stats", "clmm", long_file, *formula, "--reference", "gpt")
    assert code == 2
    assert "--reference needs FACTOR=LEVEL" in err


@pytest.mark.parametrize("kind", ["clmm", "lmm"])
def test_words_for_nothing_are_missing_values(long_file: Path, kind: str) -> None:
    content = long_file.read_text()
    for place, gap in enumerate(("NA", "n/a", "NaN", "none")):
        content += f"r9,s{place},human,{gap}\n"
    long_file.write_text(content)
    formula = ("--formula", "rating ~ arm + (1|rater)")
    found = as_json("stats", kind, long_file, *formula)
    assert (found["n"], sum(found["dropped"].values())) == (72, 4)
    long_file.write_text(content[: content.index("r9,s1,human,n/a")])
    assert "1 row left out" in empathylab("stats", kind, long_file, *formula)[2]


def test_a_single_preference_without_an_outcome_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    wins = ["first"] * 6 + ["second"] * 2 + ["NA"]
    path.write_text("first,second,outcome\n" + "\n".join(f"gpt,human,{win}" for win in wins) + "\n")
    code, _, err = empathylab("stats", "preferences", path)
    assert code == 0, err
    assert "1 row with an empty cell left out." in err


def test_a_match_that_leaves_one_situation_says_so_without_nan(tmp_path: Path, lab: Path) -> None:
    texts = {"a": ("one two three", "one two three"), "b": ("one", "one two three four five")}
    rows = [
        f"{key},{who},r1,1,{text},story {key},sad"
        for key, both in texts.items()
        for who, text in zip(("human", "gpt"), both, strict=True)
    ]
    path = tmp_path / "mine.csv"
    head = "situation,respondent,rater,rating,text,situation_text,emotion\n"
    path.write_text(head + "\n".join(rows) + "\n")
    assert empathylab("data", "import", "ratings", path, "--lab", lab)[0] == 0
    made = as_json("data", "match", "mine", "--name", "equal", "--lab", lab)
    assert (made["situations"], made["imbalance"]) == (["a"], None)
    assert "1 was kept, where gpt and human replied" in made["paragraph"]
    assert "cannot be computed" in made["paragraph"]
    out = empathylab("data", "match", "mine", "--name", "same", "--lab", lab)[1]
    assert "same: added, 1 situation\n" in out


def test_typing_errors_in_a_table_are_told_with_a_paragraph_too(tmp_path: Path) -> None:
    rows = [
        f"r{r},s{s},{arm},{1 + (r + s + k) % 4}"
        for r in range(6)
        for s in range(5)
        for k, arm in enumerate(("human", "gpt"))
    ]
    path = tmp_path / "typed.csv"
    path.write_text("\n".join(["rater,situation,arm,rating", *rows, "r0,s9,GPT,44"]))
    done = empathylab("analyze", "ratings", path, "--words")
    assert "The arms 'GPT' (1 rating) and 'gpt' (30 ratings) differ only in" in done.stderr
    assert "1 of 61 ratings of rating is 44; the others are between 1 and 4." in done.stderr
    assert "differ only in" not in done.stdout
    done = empathylab("analyze", "ratings", path, "--levels", "1,2,3,4")
    assert done.exit_code == 2
    assert "typed.csv row 62: 'rating' must be one of 1, 2, 3, 4; got '44'" in done.stderr
