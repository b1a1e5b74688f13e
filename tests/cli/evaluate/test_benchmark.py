"""`empathylab evaluate --against` and `analyze leaderboard`, from command to figures."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from empathylab.models import known_weights
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab, runs_frame
from empathylab.store.imports.releases import import_release
from empathylab.store.ratings import ratings_frame
from empathylab.store.selections import lab_selections
from empathylab.study.added_arms.human_sample import choose_human_sample
from empathylab.study.added_arms.joining import add_arm
from empathylab.study.session.service import StudyService
from empathylab.tables import read_table
from tests.helpers.command_line import Done, empathylab
from tests.helpers.endpoint import Served
from tests.helpers.groups import unavailable
from tests.judging.measured import (
    ARMS,
    STUDY,
    add_replies,
    friendly_endpoint,
    released_lab,
    situation_ids,
    two_arms,
    write_ratings,
)
from tests.study.archived import finished, rate_all
from tests.study.service_examples import START, Clock, furnish, someone

WARM = "scripted/tests.judging.measured:warm"
COLD = "scripted/tests.judging.measured:cold"
JUDGE = "scripted/tests.judging.measured:judge"


def run(*arguments: str | Path, code: int = 0) -> Done:
    done = empathylab(*arguments)
    assert done.exit_code == code, done.output
    return done


def found(*arguments: str | Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lab with a published study of four arms, for the models above."""
    with Lab.open(tmp_path / "lab") as lab:
        released_lab(lab, tmp_path)
    return tmp_path / "lab"


def measure(folder: Path, *options: str | Path) -> tuple[str | Path, ...]:
    return ("evaluate", WARM, "--against", STUDY, "--judge", JUDGE, "--lab", folder, *options)


def test_a_new_model_is_measured_without_a_new_study(folder: Path) -> None:
    predicted = found(*measure(folder))
    [result] = predicted["results"]
    assert (result["respondent"], result["judge"], result["basis"]) == (WARM, JUDGE, "judge")
    assert predicted["prompt"] == "empathic-listener@1"
    assert result["calibration"]["respondents"] == list(ARMS)
    assert result["calibration"]["study"] == STUDY
    share = result["estimates"][0]
    assert (share["outcome"], share["label"], share["level"]) == ("share", "Good", "all")
    assert 0 <= share["low"] < share["estimate"] < share["high"] <= 1
    levels = {(estimate["level"], estimate["group"]) for estimate in result["estimates"]}
    assert levels == {("all", None), ("valence", "positive"), ("valence", "negative")}
    assert {difference["from"] for difference in result["differences"]} == set(ARMS)
    # The judge gives the warm replies its best, as it gives gpt's, which people like best.
    human = next(
        difference for difference in result["differences"] if difference["from"] == "human"
    )
    assert human["difference"] > 0.2


def test_it_says_that_it_rests_on_the_judge_and_by_how_much_it_could_be_off(folder: Path) -> None:
    [result] = found(*measure(folder))["results"]
    assert result["rests_on_judge_alone"] is True
    assert {error["respondent"] for error in result["transfer"]["errors"]} == set(ARMS)
    text = run(*measure(folder)).stdout
    assert "rests on how the judge" in text
    assert "calibrated on other respondents" in text
    assert "its error was" in text
    page = (folder / "reports" / f"leaderboard-{STUDY}.html").read_text()
    assert "rests on how the judge" in page
    assert "estimated by a judge" in page


def test_the_judge_rates_the_studys_replies_and_the_new_ones_once(folder: Path) -> None:
    sessions = found(*measure(folder))["sessions"]
    assert [(session["protocol"], session["asked"]) for session in sessions] == [
        ("respond", 48),
        ("judge", 192),
        ("judge", 48),
    ]
    again = found(*measure(folder))["sessions"]
    assert all(item["asked"] == 0 for item in again)


def test_a_model_that_replied_by_these_words_is_not_asked_again(folder: Path) -> None:
    with Lab.open(folder) as lab:
        keys = situation_ids(lab)
        add_replies(lab, WARM, dict.fromkeys(keys[:40], "I can hear you, my friend."))
        add_replies(lab, WARM, dict.fromkeys(keys, "Otherwise."), prompt="plain-listener@1")
    predicted = found(*measure(folder))
    assert [session["asked"] for session in predicted["sessions"]] == [8, 192, 48]
    # What was asked for in other words is not judged.
    assert predicted["results"][0]["estimates"][0]["n_judged"] == 48


def test_one_who_cannot_be_reached_any_more_is_measured_by_its_replies(folder: Path) -> None:
    with Lab.open(folder) as lab:
        add_replies(lab, "gone/model", dict.fromkeys(situation_ids(lab), "I can hear you."))
    predicted = found(
        *("evaluate", "gone/model", "--against", STUDY, "--judge", "style", "--lab", folder)
    )
    assert predicted["sessions"] == []
    assert predicted["results"][0]["judge"] == "style"


def test_several_judges_are_also_taken_together(folder: Path) -> None:
    predicted = found(*measure(folder, "--judge", "scripted/tests.judging.measured:strict"))
    assert [result["judge"] for result in predicted["results"]] == [
        JUDGE,
        "scripted/tests.judging.measured:strict",
        "panel",
    ]


def test_a_part_of_the_situations_can_do(folder: Path) -> None:
    predicted = found(*measure(folder, "--sample", "24"))
    assert predicted["situations"] == 24
    assert [session["asked"] for session in predicted["sessions"]] == [24, 96, 24]
    assert predicted["results"][0]["estimates"][0]["n_judged"] == 24


def test_a_part_stays_a_part_where_the_lab_holds_more(folder: Path) -> None:
    found(*measure(folder))
    for count in (24, 5):
        [result] = found(*measure(folder, "--sample", str(count)))["results"]
        assert (result["situations"], result["estimates"][0]["n_judged"]) == (count, count)
    assert (
        "judge scripted/tests.judging.measured:judge; 5 situations"
        in run(*measure(folder, "--sample", "5")).stdout
    )
    [whole] = found(*measure(folder))["results"]
    assert whole["situations"] == 48


def test_a_second_way_of_asking_hides_nobody(folder: Path) -> None:
    found(*measure(folder))
    predicted = found(
        *("evaluate", COLD, "--against", STUDY, "--judge", JUDGE, "--mode", "logprob"),
        *("--lab", folder),
    )
    assert "asked with 2 setups" in " ".join(predicted["results"][0]["rests_on"])
    board = found("analyze", "leaderboard", "--lab", folder)
    judges = {row["respondent"]: row["judge"] for row in board["respondents"]}
    assert (judges[WARM], judges[COLD]) == (JUDGE, JUDGE)
    assert sum("asked with 2 setups" in note for note in board["notes"]) == 1


def test_that_the_style_judge_stands_in_for_models_is_said(folder: Path) -> None:
    found(*measure(folder))
    with Lab.open(folder) as lab:
        add_replies(lab, "a/newcomer", dict.fromkeys(situation_ids(lab), "I see what you mean."))
    board = found("analyze", "leaderboard", "--lab", folder)
    judges = {row["respondent"]: row["judge"] for row in board["respondents"]}
    assert (judges[WARM], judges["a/newcomer"]) == (JUDGE, "style")
    assert any("No model has rated enough of a/newcomer" in note for note in board["notes"])


def test_a_judge_that_refuses_much_takes_nothing_from_people(folder: Path, tmp_path: Path) -> None:
    with Lab.open(folder) as lab:
        keys = situation_ids(lab)[:24]
    write_ratings(tmp_path / "fresh.csv", WARM, keys, 0.7)
    found(*measure(folder))
    run(
        *("data", "import", "ratings", tmp_path / "fresh.csv", "--set", STUDY, "--study", STUDY),
        *("--labels", "Bad,Okay,Good", "--lab", folder),
    )
    [result] = found(
        *("evaluate", WARM, "--against", STUDY, "--judge", "scripted/tests.judging.measured:picky"),
        *("--lab", folder),
    )["results"]
    share = result["estimates"][0]
    assert (share["n_ratings"], result["basis"]) == (24, "people and judge")
    assert share["n_unjudged"] >= 10
    assert "has not rated" in " ".join(result["rests_on"])


def test_fresh_ratings_are_used_and_tighten_the_interval(folder: Path, tmp_path: Path) -> None:
    before = found(*measure(folder))["results"][0]["estimates"][0]
    widths = [before["high"] - before["low"]]
    for count in (16, 40):
        with Lab.open(folder) as lab:
            write_ratings(tmp_path / "fresh.csv", WARM, situation_ids(lab)[:count], 0.7)
        run(
            *(
                "data",
                "import",
                "ratings",
                tmp_path / "fresh.csv",
                "--set",
                STUDY,
                "--study",
                STUDY,
            ),
            *("--labels", "Bad,Okay,Good", "--replace", "--lab", folder),
        )
        [result] = found(*measure(folder))["results"]
        share = result["estimates"][0]
        assert result["basis"] == "people and judge"
        assert result["rests_on_judge_alone"] is False
        assert (share["n_ratings"], share["n_judged"]) == (count, 48 - count)
        widths.append(share["high"] - share["low"])
    assert widths[0] > widths[1] > widths[2]


def test_the_sample_for_people_is_random_stored_and_the_same_again(folder: Path) -> None:
    [sample] = found(*measure(folder, "--human-sample", "12"))["human_samples"]
    assert len(sample["situations"]) == 12
    assert "study add-arm welivita-2024 --respondent" in sample["command"]
    assert "data import ratings FILE --set welivita-2024" in sample["advice"]
    with Lab.open(folder) as lab:
        kept = lab_selections(lab)[sample["selection"]]
        keys = situation_ids(lab)
    assert list(kept.situations) == sample["situations"]
    assert kept.recipe["seed"] == sample["seed"]
    assert sample["situations"] != keys[:12]
    assert found(*measure(folder, "--human-sample", "12"))["human_samples"] == [sample]
    assert "study add-arm" in run(*measure(folder, "--human-sample", "12")).stdout


def test_the_first_raters_of_a_new_arm_get_the_sample(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        finished(lab, people=11)
        furnish(lab, "third/model")
        sample = choose_human_sample(lab, "small", "third/model", 3)
        assert (sample.raters, len(sample.situations)) == (2, 4)  # whole packets of two
        add_arm(lab, "small", "third/model", now=START)
        service = StudyService(lab, "small", clock=Clock())
        for number in range(sample.raters):
            rate_all(service, someone(service, f"new {number}"), "3")
        fresh = ratings_frame(lab, "small").filter(respondent="third/model")
        assert set(fresh["situation"]) == set(sample.situations)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--against", STUDY), "--judge style"),
        (("--against", "welivita", "--judge", "style"), "Did you mean 'welivita-2024'"),
        (
            ("--against", STUDY, "--judge", "style", "--dimension", "warmth"),
            "no dimension 'warmth'",
        ),
        (("--against", STUDY, "--judge", "style", "--human-sample", "99"), "1 to 48"),
        (("--judge", "style"), "--against"),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_sentence(
    folder: Path, options: tuple[str, ...], message: str
) -> None:
    done = run("evaluate", WARM, *options, "--lab", folder, code=2)
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_a_study_that_no_person_rated_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        finished(lab, people=0)
    done = run(
        *("evaluate", "local/smollm2", "--against", "small", "--judge", "style"),
        *("--lab", tmp_path / "lab"),
        code=2,
    )
    assert "no person has rated" in done.stderr
    with Lab.open(tmp_path / "lab") as lab:
        assert runs_frame(lab).is_empty()


def test_an_open_study_is_not_looked_at(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        finished(lab, people=4, close=False)
    for command in (
        ("evaluate", "a/b", "--against", "small", "--judge", "style"),
        ("analyze", "leaderboard", "--study", "small"),
    ):
        done = run(*command, "--lab", tmp_path / "lab", code=2)
        assert "still open" in done.stderr


def test_one_who_wrote_two_arms_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab") as lab:
        two_arms(lab, tmp_path)
    done = run(
        *("evaluate", "gpt", "--against", STUDY, "--judge", "style", "--lab", tmp_path / "lab"),
        code=2,
    )
    assert "in several arms of the study" in done.stderr
    assert "gpt (llama)" in done.stderr


def test_a_judge_without_a_usable_answer_is_said(folder: Path) -> None:
    done = run(
        *(
            "evaluate",
            WARM,
            "--against",
            STUDY,
            "--judge",
            "scripted/tests.judging.measured:strange",
        ),
        *("--lab", folder),
        code=2,
    )
    assert "the judge has not rated any of the replies" in done.stderr


def test_the_leaderboard_tells_measured_from_estimated(folder: Path, tmp_path: Path) -> None:
    found("evaluate", WARM, COLD, "--against", STUDY, "--judge", JUDGE, "--lab", folder)
    page, table = tmp_path / "board.html", tmp_path / "board.csv"
    predicted = found("analyze", "leaderboard", "--lab", folder, "--html", page, "--csv", table)
    rows = predicted["respondents"]
    by_name = {row["respondent"]: row for row in rows}
    assert set(by_name) == {*ARMS, WARM, COLD}
    assert [row["estimate"] for row in rows] == sorted(
        (row["estimate"] for row in rows), reverse=True
    )
    assert {by_name[name]["basis"] for name in ARMS} == {"people"}
    assert {by_name[name]["basis"] for name in (WARM, COLD)} == {"judge"}
    assert by_name[WARM]["judge"] == JUDGE
    assert by_name[WARM]["judged_first"] is not None
    assert all(row["rank_low"] <= row["rank_high"] for row in rows)
    with table.open(newline="") as file:
        assert [row["respondent"] for row in csv.DictReader(file)] == [*by_name]
    html = page.read_text()
    assert html.count("<li class=") == 6
    assert "http://" not in html
    assert "https://" not in html
    assert "estimated by a judge" in run("analyze", "leaderboard", "--lab", folder).stdout


def test_where_several_judged_the_leaderboard_takes_their_mean(folder: Path) -> None:
    strict = "scripted/tests.judging.measured:strict"
    results = found(*measure(folder, "--judge", strict))["results"]
    panel = next(result for result in results if result["judge"] == "panel")["estimates"][0]
    predicted = found("analyze", "leaderboard", "--lab", folder)
    row = next(
        respondent for respondent in predicted["respondents"] if respondent["respondent"] == WARM
    )
    assert (row["judge"], row["low"], row["high"]) == ("panel", panel["low"], panel["high"])
    assert row["judged_first"] is not None
    assert any(f"the mean of {JUDGE}, {strict}" in note for note in predicted["notes"])
    named = found("analyze", "leaderboard", "--judge", strict, "--lab", folder)["respondents"]
    assert {item["judge"] for item in named} == {None, strict}


def test_the_leaderboard_takes_the_judge_that_is_named(folder: Path) -> None:
    found(*measure(folder))
    predicted = found("analyze", "leaderboard", "--judge", "style", "--lab", folder)
    assert {row["judge"] for row in predicted["respondents"]} == {None, "style"}


def test_end_to_end_over_a_loopback_endpoint(folder: Path) -> None:
    with friendly_endpoint() as (address, asked):
        predicted = found(
            *("evaluate", "my/one", "--against", STUDY, "--judge", "my/two", "--sample", "12"),
            *("--base-url", address, "--lab", folder),
        )
    assert [(session["model"], session["asked"]) for session in predicted["sessions"]] == [
        ("my/one", 12),
        ("my/two", 48),
        ("my/two", 12),
    ]
    [result] = predicted["results"]
    assert result["estimates"][0]["n_judged"] == 12
    assert result["estimates"][0]["estimate"] > 0.5
    # The judge does not learn who wrote a reply.
    assert not [item for item in asked if "my/one" in item or "my/two" in item]


@pytest.mark.embedded
@pytest.mark.slow
def test_the_embedded_model_is_measured_and_judges(tmp_path: Path) -> None:
    if not known_weights("smollm2").installed:
        unavailable("embedded", "run `empathylab models install smollm2`")
    with Lab.open(tmp_path / "lab") as lab:
        released_lab(lab, tmp_path, arms=("human", "gpt"))
    predicted = found(
        *("evaluate", "local/smollm2", "--against", STUDY, "--judge", "local/smollm2"),
        *("--sample", "1", "--lab", tmp_path / "lab"),
    )
    [result] = predicted["results"]
    assert (result["judge"], result["basis"]) == ("local/smollm2", "judge")
    assert any("same family" in statement for statement in result["rests_on"])


@pytest.mark.shared_data
@pytest.mark.slow
def test_the_published_study_measures_a_new_model(
    shared_data: Path, tmp_path: Path, endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shared_data / "welivita" / "dataset_and_ratings.csv"
    with Lab.open(tmp_path / "lab") as lab:
        release = read_release(read_table(path), where=path.name)
        import_release(lab, release, kind="welivita", source=path.name, fingerprint="1")
    predicted = found(
        *("evaluate", WARM, "--against", STUDY, "--judge", "style", "--judge", "my/two"),
        *("--sample", "200", "--judge-base-url", endpoint.base_url, "--lab", tmp_path / "lab"),
    )
    results = {result["judge"]: result for result in predicted["results"]}
    assert set(results) == {"style", "my/two"}
    for result in results.values():
        assert result["calibration"]["respondents"] == ["human", "chatgpt_empathy"]
        share = result["estimates"][0]
        assert share["n_judged"] == 200
        assert share["if_it_errs_alike"][0] < share["estimate"] < share["if_it_errs_alike"][1]
    board = found("analyze", "leaderboard", "--lab", tmp_path / "lab")["respondents"]
    people = {item["respondent"]: item for item in board if item["basis"] == "people"}
    assert people["chatgpt_empathy"]["estimate"] == pytest.approx(0.6475)


def test_a_single_situation_gives_an_estimate_and_no_false_certainty(folder: Path) -> None:
    [result] = found(*measure(folder, "--sample", "1"))["results"]
    share = result["estimates"][0]
    assert share["n_judged"] == 1
    assert (share["low"], share["high"]) == (0.0, 1.0)


def write_filed(path: Path, *, covered: int) -> None:
    """A table with four respondents that people and a model rated, and one that the model rated."""
    level = {"human": 0, "gpt": 3, "llama": 1, "mixtral": 2, "late/model": 2}
    rows = []
    for who, high in level.items():
        for number in range(12):
            one = {
                "situation": f"s{number}",
                "respondent": who,
                "text": f"Reply {number} of {who}.",
                "situation_text": f"Situation {number}.",
            }
            value = 1 + (number % 4 < high) + (number % 3 == 0)
            if who != "late/model":
                person = {"rater": f"{who}-{number // 3}", "rater_kind": "person"}
                rows.append(one | person | {"rating": value})
            if who != "late/model" or number < covered:
                rows.append(one | {"rater": "filed", "rater_kind": "model", "rating": value})
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def filed_lab(tmp_path: Path, covered: int) -> Path:
    write_filed(tmp_path / "filed.csv", covered=covered)
    run("data", "import", "ratings", tmp_path / "filed.csv", "--lab", tmp_path / "lab")
    return tmp_path / "lab"


def against_filed(folder: Path) -> tuple[str | Path, ...]:
    return ("evaluate", "late/model", "--against", "filed", "--judge", "filed", "--lab", folder)


def test_a_judge_of_an_imported_table_is_used_and_nobody_is_asked(tmp_path: Path) -> None:
    folder = filed_lab(tmp_path, covered=12)
    predicted = found(*against_filed(folder))
    [result] = predicted["results"]
    assert (result["judge"], result["basis"], result["situations"]) == ("filed", "judge", 12)
    assert result["calibration"]["respondents"] == ["human", "gpt", "llama", "mixtral"]
    assert predicted["sessions"] == []
    mean = next(estimate for estimate in result["estimates"] if estimate["outcome"] == "mean")
    # It says just what people said of the others, and 22 / 12 of this one.
    assert mean["estimate"] == pytest.approx(22 / 12)
    board = found("analyze", "leaderboard", "--study", "filed", "--lab", folder)
    [late] = [
        respondent
        for respondent in board["respondents"]
        if respondent["respondent"] == "late/model"
    ]
    assert (late["basis"], late["judge"]) == ("judge", "filed")


def test_an_imported_judge_that_rated_too_few_of_the_replies_is_refused(tmp_path: Path) -> None:
    folder = filed_lab(tmp_path, covered=9)
    said = " ".join(run(*against_filed(folder), code=2).output.split())
    assert "imported ratings of the judge filed cover 9 of the replies of late/model" in said
    with Lab.open(folder) as lab:
        assert runs_frame(lab).is_empty()
