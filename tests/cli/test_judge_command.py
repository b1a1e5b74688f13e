"""`empathylab judge`: from command to judgements, and what it may tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from empathylab.models import Message, Parameters, known_weights
from empathylab.store import Lab, runs_frame, schema
from empathylab.store.judgements import lab_judgements
from empathylab.study.session.service import launch
from tests.helpers.command_line import Done, empathylab
from tests.helpers.groups import unavailable
from tests.judging.judged import replied
from tests.study.examples import altered, between
from tests.study.service_examples import START, opened

KIND = "scripted/tests.cli.test_judge_command:kind"


def kind(_messages: tuple[Message, ...], parameters: Parameters) -> str:
    assert parameters.schema is not None
    found = parameters.schema["properties"].items()
    return json.dumps({key: one["enum"][-1] if "enum" in one else "Warm." for key, one in found})


def strange(_messages: tuple[Message, ...], parameters: Parameters) -> str:
    assert parameters.schema is not None
    return json.dumps(dict.fromkeys(parameters.schema["properties"], "Splendid"))


def polite(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
    return "I'm sorry, but I can't rate this reply."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lab with replies of two respondents, for the judges above."""
    with Lab.open(tmp_path / "lab") as lab:
        replied(lab, "human", "a/model", situations=4)
    return tmp_path / "lab"


def run(*arguments: str | Path, code: int = 0) -> Done:
    done = empathylab("judge", *arguments)
    assert done.exit_code == code, done.output
    return done


def found(*arguments: str | Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return content


def test_replies_to_a_set_are_judged_by_the_labs_instrument(folder: Path) -> None:
    told = found(KIND, "--set", "dialogues", "--lab", folder)
    [row] = told["judges"]
    assert (row["judge"], row["dimension"], row["answers"], row["valid"]) == (KIND, "empathy", 8, 8)
    assert set(row["shares"]) == {"Not at all", "Extremely"}  # the last shown, in both directions
    assert {respondent["respondent"] for respondent in told["respondents"]} == {"human", "a/model"}
    assert told["hidden"] is False
    [session] = told["sessions"]
    assert (session["asked"], session["missing"]) == (8, 0)


def test_a_panel_judges_side_by_side_and_goes_on_where_it_was(folder: Path) -> None:
    panel = (KIND, "scripted/tests.cli.test_judge_command:strange")
    rows = found(*panel, "--set", "dialogues", "--lab", folder)["judges"]
    assert {row["judge"]: (row["valid"], row["invalid"]) for row in rows} == {
        panel[0]: (8, {}),
        panel[1]: (0, {"out_of_range": 8}),
    }
    again = found(*panel, "--set", "dialogues", "--lab", folder)
    assert [session["already"] for session in again["sessions"]] == [8, 8]
    assert again["judges"] == rows


def test_a_judge_that_refuses_is_counted(folder: Path) -> None:
    told = found(
        "scripted/tests.cli.test_judge_command:polite", "--set", "dialogues", "--lab", folder
    )
    assert told["judges"][0]["invalid"] == {"refusal": 8}


def test_a_sample_keeps_all_replies_to_its_situations(folder: Path) -> None:
    told = found(KIND, "--set", "dialogues", "--sample", "2", "--lab", folder)
    assert told["responses"] == 4
    assert [respondent["answers"] for respondent in told["respondents"]] == [2, 2]
    more = found(KIND, "--set", "dialogues", "--sample", "3", "--lab", folder)
    assert more["sessions"][0]["reused"] == 4


def test_options_reach_the_questions(folder: Path) -> None:
    found(
        *(KIND, "--set", "dialogues", "--respondent", "human", "--dimension", "caring"),
        *("--dimension", "feeling", "--reason", "--orders", "2", "--repeats", "2"),
        *("--temperature", "0.5", "--max-tokens", "900", "--lab", folder),
    )
    with Lab.open(folder) as lab:
        frame = lab_judgements(lab)
        [settings] = (json.loads(setting) for setting in runs_frame(lab)["settings"])
    assert frame.height == 4 * 2 * 2 * 2
    assert set(frame["respondent"]) == {"human"}
    assert set(frame["said"]) == {"Warm."}
    assert settings["max_tokens"] == 900
    assert settings["temperature"] == 0.5


def test_pairs_are_counted_by_position_and_by_respondent(folder: Path) -> None:
    told = found(KIND, "--set", "dialogues", "--pairs", "--lab", folder)
    [row] = told["judges"]
    assert (row["answers"], row["tie"], row["steady"]) == (8, 8, 1.0)
    assert {respondent["respondent"]: respondent["ties"] for respondent in told["respondents"]} == {
        "human": 8,
        "a/model": 8,
    }


def test_what_is_printed_is_a_table(folder: Path) -> None:
    done = run(KIND, "--set", "dialogues", "--lab", folder)
    assert "set dialogues: 8 responses" in done.stdout
    assert "Not at all" in done.stdout
    assert "empathylab analyze judges" in done.stderr


@pytest.fixture
def under_way(folder: Path) -> Path:
    """The same lab with a study that is open."""
    with Lab.open(folder) as lab:
        opened(lab, between())
    return folder


def test_while_a_study_is_open_nothing_is_shown_by_respondent(under_way: Path) -> None:
    told = found(KIND, "--study", "small", "--lab", under_way)
    assert told["judges"][0]["valid"] == 12
    assert told["hidden"] is True
    assert told["respondents"] == []
    text = run(KIND, "--study", "small", "--lab", under_way)
    assert "still open" in text.stderr
    for name in ("first/model", "second/model"):
        assert name not in text.output


@pytest.mark.parametrize("source", [("--study", "small"), ("--set", "dialogues")])
def test_nor_can_one_arm_be_seen_by_judging_it_alone(
    under_way: Path, source: tuple[str, str]
) -> None:
    told = found(KIND, *source, "--respondent", "first/model", "--lab", under_way)
    [row] = told["judges"]
    assert set(row) == {"judge", "dimension", "answers", "valid", "invalid"}


def test_nor_by_subtracting_the_mean_of_others_from_one_of_both(under_way: Path) -> None:
    both = ("--respondent", "first/model", "--respondent", "human")
    told = found(KIND, "--set", "dialogues", *both, "--lab", under_way)
    assert set(told["judges"][0]) == {"judge", "dimension", "answers", "valid", "invalid"}
    alone = found(KIND, "--set", "dialogues", "--respondent", "human", "--lab", under_way)
    assert "mean" in alone["judges"][0]


@pytest.mark.parametrize("study", [(), ("--study", "small")])
def test_arms_of_an_open_study_are_not_compared_by_a_judge(
    under_way: Path, study: tuple[str, ...]
) -> None:
    found(KIND, "--study", "small", "--lab", under_way)
    arms = ("first/model", "second/model")
    compare = ("analyze", "compare", *arms, "--on", "judge", *study, "--lab", under_way)
    refused = empathylab(*compare)
    assert refused.exit_code == 2
    assert "study small: the study is still open" in refused.stderr
    done = empathylab(*compare, "--peek", "The board asks")
    assert done.exit_code == 0, done.output
    audit = empathylab("study", "audit", "small", "--json", "--lab", under_way).stdout
    assert audit.count("The board asks") == 1


def test_pairs_of_an_open_study_are_not_shown_by_respondent(under_way: Path) -> None:
    told = found(KIND, "--study", "small", "--pairs", "--lab", under_way)
    assert told["judges"][0]["answers"] == 12
    assert told["respondents"] == []


def test_once_it_is_closed_all_is_shown(under_way: Path) -> None:
    with Lab.open(under_way) as lab, lab.writing() as connection:
        connection.execute(update(schema.studies).values(status="closed"))
    told = found(KIND, "--study", "small", "--lab", under_way)
    assert {respondent["respondent"] for respondent in told["respondents"]} == {
        "first/model",
        "second/model",
    }


def test_a_new_version_of_a_study_is_judged_for_itself(under_way: Path) -> None:
    found(KIND, "--study", "small", "--lab", under_way)
    with Lab.open(under_way) as lab:
        launch(lab, altered(between(), version=2), now=START)
        found(KIND, "--study", "small", "--lab", under_way)
        assert lab_judgements(lab, "small").height == 12
        assert lab_judgements(lab, "small@1").height == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name what to judge with either --study or --set; got 'neither'"),
        (("--set", "dialogues", "--study", "x"), "got 'both'"),
        (("--study", "x"), "there is no study 'x'"),
        (("--set", "dialoges"), "Did you mean 'dialogues'"),
        (("--set", "posts"), "there are no replies to judge"),
        (("--set", "dialogues", "--respondent", "b"), "there is no respondent with replies 'b'"),
        (("--set", "dialogues", "--dimension", "warmth"), "there is no dimension 'warmth'"),
        (("--set", "dialogues", "--respondent", "human", "--pairs"), "replies by two respondents"),
    ],
)
def test_what_cannot_be_judged_is_said_in_a_sentence(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(KIND, *arguments, "--lab", folder, code=2)
    assert message in done.stderr
    assert "Traceback" not in done.output
    with Lab.open(folder) as lab:
        assert runs_frame(lab).height == 0


def test_a_cap_stops_the_judge_and_the_same_command_goes_on(folder: Path) -> None:
    command = (KIND, "--set", "dialogues", "--concurrency", "1", "--lab", folder)
    done = run(*command, "--max-total-tokens", "1500", code=2)
    assert "the limit stopped the run" in done.stderr
    [session] = found(*command)["sessions"]
    assert 0 < session["already"] < 8
    assert session["missing"] == 0


def test_a_lab_must_be_there(tmp_path: Path) -> None:
    done = run(KIND, "--set", "dialogues", "--lab", tmp_path / "none", code=2)
    assert "there is no lab here" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.embedded
@pytest.mark.slow
def test_the_embedded_model_judges_with_shares(folder: Path) -> None:
    if not known_weights("smollm2").installed:
        unavailable("embedded", "run `empathylab models install smollm2`")
    told = found(
        *("local/smollm2", "--set", "dialogues", "--sample", "1", "--mode", "logprob"),
        *("--lab", folder),
    )
    [row] = told["judges"]
    assert (row["answers"], row["valid"]) == (2, 2)
    assert row["entropy"] > 0
    with Lab.open(folder) as lab:
        frame = lab_judgements(lab)
    assert frame["expected"].is_between(1, 5).all()
    for shares in map(json.loads, frame["probabilities"]):
        assert sum(shares.values()) == pytest.approx(1)
