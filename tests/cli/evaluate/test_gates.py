"""`empathylab evaluate` with a judge and with gates: what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.helpers.command_line import Done, as_json, empathylab

MODEL = "scripted/tests.judging.scoring_judges:model"
GOOD = "scripted/tests.judging.scoring_judges:good"
FLAT = "scripted/tests.judging.scoring_judges:flat"
STRICT = "scripted/tests.judging.scoring_judges:strict"
OTHER = "scripted/tests.judging.scoring_judges:better"
MUMBLING = "scripted/tests.judging.scoring_judges:mumbling"
BROKEN = "scripted/tests.judging.scoring_judges:broken"
SILENT = "scripted/tests.judging.scoring_judges:silent"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab with the model's replies, for copies."""
    folder = tmp_path_factory.mktemp("evaluated")
    run(MODEL, cwd=folder)
    return folder / "lab"


@pytest.fixture(scope="module")
def judged(evaluated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same lab with the judge's scores."""
    folder = tmp_path_factory.mktemp("judged")
    shutil.copytree(evaluated, folder / "lab")
    run(MODEL, "--judge", GOOD, cwd=folder)
    return folder / "lab"


@pytest.fixture(autouse=True)
def _lab_in_own_folder(
    request: pytest.FixtureRequest, evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = request.getfixturevalue("judged") if "judged" in request.fixturenames else evaluated
    shutil.copytree(chosen, tmp_path / "lab")
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, code: int = 0, cwd: Path | None = None) -> Done:
    done = empathylab("evaluate", "--situations", "1", "--planted", "2", *arguments, cwd=cwd)
    assert done.exit_code == code, done.output
    return done


def found(*arguments: str, code: int = 0) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run(*arguments, "--json", code=code).stdout)
    return content


def test_without_a_judge_the_summary_says_how_to_score_the_replies() -> None:
    done = run(MODEL)
    assert "Replies were not scored" in done.stdout
    assert "--judge" in done.stdout
    content = found(MODEL)
    [respondent] = content["respondents"]
    assert respondent["replies"]["n"] == respondent["replies"]["usable"] == 32
    assert respondent["replies"]["scored"] == 0
    assert respondent["replies"]["judge"] is None
    assert content["gates"] == []


def test_two_models_that_a_judge_scored_are_compared() -> None:
    scored = found(MODEL, OTHER, "--judge", STRICT)["respondents"]
    means = [one["replies"]["scores"]["empathy"]["mean"] for one in scored]
    compared = as_json("analyze", "compare", MODEL, OTHER, "--on", "judge")
    assert compared["what"] == "empathy"
    assert compared["n_pairs"] == 32
    assert compared["difference"] == pytest.approx(means[0] - means[1])
    by_cause = as_json("analyze", "compare", MODEL, OTHER, "--on", "judge", "--dimension", "cause")
    assert by_cause["what"] == "cause"


def test_the_json_has_scores_with_the_judges_card() -> None:
    condition = ("--fail-under", "replies.empathy=3.5")
    content = found(MODEL, "--judge", GOOD, *condition, "--lab", "new")
    [respondent] = content["respondents"]
    replies = respondent["replies"]
    assert respondent["respondent"] == MODEL
    assert (replies["n"], replies["scored"], replies["judge"]) == (32, 32, GOOD)
    assert set(replies["scores"]) == {
        *("empathy", "feeling", "cause", "care", "valence", "lecture", "overvalidation", "safe"),
    }
    empathy = replies["scores"]["empathy"]
    assert 3 < empathy["low"] < empathy["mean"] < empathy["high"] < 4
    assert replies["judge_card"]["fit"] is True
    assert replies["judge_card"]["compared_with_people"] == []
    assert "not compared with people" in " ".join(replies["judge_card"]["sentences"])
    assert {row["scale"] for row in respondent["scales"]} == {"panas"}
    assert respondent["outcomes"] == {"valid": 44}
    [gate] = content["gates"]
    assert gate["passed"] is True
    assert gate["value"] == empathy["mean"]
    assert Path(content["report"]).is_file()
    assert content["changes"]  # keys of earlier versions stay


@pytest.mark.usefixtures("judged")
def test_a_gate_that_fails_is_exit_1_with_one_line() -> None:
    done = run(MODEL, "--judge", GOOD, "--fail-under", "replies.empathy=4.5", code=1)
    failed = [line for line in done.stderr.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1
    assert "replies.empathy >= 4.5" in failed[0]


def test_a_gate_on_scores_of_an_unfit_judge_is_exit_1() -> None:
    done = run(MODEL, "--judge", FLAT, "--fail-under", "replies.empathy=1", code=1)
    assert "is not fit" in done.stderr
    assert f"The judge {FLAT} is not fit" in done.stdout


def test_nothing_usable_is_exit_1_without_any_gate() -> None:
    done = run(SILENT, code=1)
    assert "none of" in done.stderr
    assert "got a usable answer" in done.stderr


def test_too_many_unusable_answers_are_exit_1() -> None:
    run(MODEL, "--max-unusable", "0%")
    done = run(SILENT, "--max-unusable", "10%", code=1)
    assert "unusable answers <= 10%: 100% of" in done.stderr


def replies_run(model: str) -> str:
    rows = as_json("runs", "list")["runs"]
    numbers = [
        row["run"] for row in rows if (row["respondent"], row["protocol"]) == (model, "respond")
    ]
    return str(numbers[-1])


def test_a_worse_model_fails_against_a_baseline_and_an_equal_one_passes() -> None:
    baseline = replies_run(MODEL)
    margin = ("--baseline", baseline, "--no-worse-than", "0.2", "--judge", STRICT)
    assert found(MODEL, *margin)["gates"][0]["passed"] is True
    content = found(OTHER, *margin, code=1)
    [gate] = content["gates"]
    assert gate["value"] < -1
    assert gate["reason"].startswith(f"Run {replies_run(OTHER)} is worse than run {baseline} by 2.")
    assert "; 0.20 is allowed (over 32 shared situations)" in gate["reason"]


def test_the_baseline_keeps_the_name_that_the_user_gave() -> None:
    empathylab("runs", "name", replies_run(MODEL), "release-1")
    margin = ("--baseline", "release-1", "--no-worse-than", "0.2", "--judge", STRICT)
    [gate] = found(OTHER, *margin, code=1)["gates"]
    assert gate["condition"].endswith("no worse than release-1 by 0.2")
    assert "is worse than release-1 by 2." in gate["reason"]


def test_a_failed_comparison_shows_what_was_lost_everywhere(tmp_path: Path) -> None:
    empathylab("runs", "name", replies_run(MODEL), "release-1")
    margin = ("--baseline", "release-1", "--no-worse-than", "0.2", "--judge", STRICT)
    file = tmp_path / "gates.xml"
    done = run(OTHER, *margin, "--summary", "md", "--junit", str(file), code=1)
    later = f"run {replies_run(OTHER)}"
    assert "## Change from release-1" in done.stdout
    [difference] = [line for line in done.stdout.splitlines() if line.startswith("| difference")]
    assert len(re.findall(r"−\d\.\d\d", difference)) >= 6
    header = f"| situation | release-1 | {later} | reply of release-1 | reply of {later} |"
    lines = done.stdout.splitlines()
    start = lines.index(header)
    rows = [line for line in lines[start + 2 : start + 7] if line.startswith("| ")]
    assert len(rows) == 5
    [failure] = ElementTree.parse(file).getroot().iter("failure")  # noqa: S314 - our own file
    sentence = str(failure.text).splitlines()[1]
    assert sentence.startswith(f"{later.capitalize()} minus release-1, by dimension: ")
    first = rows[0].split(" | ")[0].removeprefix("| ")
    assert f"Largest losses: {first} (" in sentence
    assert sentence in run(OTHER, *margin, code=1).stdout
    page = unescape(Path("lab/reports/report.html").read_text())
    assert "<strong>Failed:</strong>" in page
    assert "Change from release-1, by dimension" in page
    assert "Situations that lost most since release-1" in page


def test_gates_on_replies_of_an_earlier_session_say_so() -> None:
    earlier = f"The replies of {MODEL} (run {replies_run(MODEL)}) are from an earlier session."
    unusable = ("--max-unusable", "10%")
    assert earlier in run(MODEL, *unusable, "--summary", "md").stdout
    assert earlier not in run(MODEL).stdout  # nothing is decided by them
    assert "from an earlier session" not in run(MODEL, *unusable, "--fresh").stdout


def test_more_replies_of_each_emotion_can_be_asked_for() -> None:
    replies = found(MODEL, "--replies", "2", "--judge", GOOD)["respondents"][0]["replies"]
    assert (replies["n"], replies["scored"]) == (64, 64)


RELEASE = ("--baseline", "release", "--no-worse-than", "0.2", "--name", "release")


def test_a_first_build_passes_without_a_baseline_and_later_ones_are_compared(
    tmp_path: Path,
) -> None:
    build = (*RELEASE, "--judge", STRICT, "--allow-missing-baseline", "--fresh")
    file = tmp_path / "gates.xml"
    done = run(OTHER, *build, "--junit", str(file), "--summary", "md")
    reason = "the lab does not have release yet, so there was nothing to compare with"
    assert f"no worse than release by 0.2: {reason}" in done.stderr
    assert f"| not checked: {reason} |" in done.stdout
    assert f"Run {replies_run(OTHER)} is now named release." in done.stderr
    root = ElementTree.parse(file).getroot()  # noqa: S314 - written by the command above
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("1", "0", "1")
    [skipped] = root.iter("skipped")
    assert skipped.get("message") == reason
    better = run(MODEL, *build)
    assert "passed: " in better.stdout
    assert named() == {"release": replies_run(MODEL)}
    worse = run(OTHER, *build, code=1)
    assert f"A condition failed, so run {replies_run(OTHER)} was not named release." in (
        worse.stderr
    )
    assert named() == {"release": replies_run(MODEL)}


def named() -> dict[str, str]:
    """The names of runs, with the run that has each."""
    return {row["name"]: str(row["run"]) for row in as_json("runs", "list")["runs"] if row["name"]}


def test_a_missing_baseline_is_exit_2_unless_it_may_be_missing() -> None:
    done = run(MODEL, *RELEASE, "--judge", STRICT, code=2)
    assert "--baseline: there is no run 'release'" in done.stderr
    assert "In a first build, add --allow-missing-baseline." in done.stderr
    assert named() == {}


def test_a_run_with_missing_answers_gets_no_name() -> None:
    limited = ("--name", "release", "--max-total-tokens", "2000", "--fresh")
    done = run(MODEL, *limited, code=2)
    assert "Answers are missing, so no run was named release." in done.stderr
    assert named() == {}


GATE = ("--fail-under", "replies.empathy=1")


def test_replies_without_a_score_are_said_with_the_mean() -> None:
    done = run(MODEL, "--judge", MUMBLING, *GATE)
    assert "passed: " in done.stdout
    assert "13 of 32 replies have no full score" in done.stdout


def test_too_many_replies_without_a_score_fail_a_condition_on_scores() -> None:
    done = run(MODEL, "--judge", MUMBLING, *GATE, "--max-unusable", "30%", code=1)
    assert "13 of 32 replies have no full score; the mean of the others is" in done.stderr
    run(MODEL, "--judge", MUMBLING, *GATE, "--max-unusable", "41%")


def test_missing_scores_fail_a_comparison_with_a_baseline() -> None:
    margin = ("--baseline", replies_run(MODEL), "--no-worse-than", "4", "--judge", MUMBLING)
    assert "situations that both replied to have no scores of both" in run(OTHER, *margin).stdout
    done = run(OTHER, *margin, "--max-unusable", "10%", code=1)
    assert "situations that both replied to have no scores of both. Run" in done.stderr


def test_a_judge_that_cannot_be_read_is_said_to_be_just_that() -> None:
    done = run(MODEL, "--judge", BROKEN, *GATE, code=1)
    quoted = "answers could not be used, the first was 'I would rather not say.'"
    assert f"32 of 32 replies of {MODEL} have no full score by the judge {BROKEN}: 224 of 224" in (
        done.stderr
    )
    assert f"no usable scores of the 12 planted replies: 84 of 84 {quoted}" in done.stdout
    assert "name a judge" not in done.output


def test_a_judge_that_was_stopped_is_not_called_unfit() -> None:
    done = run(MODEL, "--judge", GOOD, *GATE, "--max-total-tokens", "20000", "--lab", "new", code=1)
    assert "is not fit" not in done.output
    assert re.search(
        r"It is not known whether the judge .* it answered \d+ of 84 requests", done.stdout
    )
    assert f"by the judge {GOOD}: it answered 0 of 224 requests" in done.stderr
    assert f"the limit stopped the run of {GOOD} with" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fail-under", "replies.empathie=3"], "Did you mean 'replies.empathy'"),
        (["--fail-under", "replies.empathy"], "Write it like replies.empathy=3.5"),
        (["--fail-under", "replies.empathy=35"], "between 1 and 5; got 'replies.empathy=35'"),
        (["--max-unusable", "150%"], "between 0% and 100%"),
        (["--no-worse-than", "0.2"], "--baseline RUN"),
        (["--baseline", "99", "--no-worse-than", "0.2"], "there is no run '99'"),
        (["--fail-under", "replies.empathy=1"], "Name a model with --judge"),
        (["--allow-missing-baseline"], "there is no comparison with a baseline"),
        (["--name", "12"], "a run's name must not be a number"),
        ([OTHER, "--name", "release"], "this evaluation has 2 runs of replies"),
        (["--judge", "a/b", "--judge", "c/d"], "only one model can score the replies"),
    ],
)
def test_gates_that_cannot_be_read_are_exit_2_before_anything_is_asked(
    arguments: list[str], sentence: str
) -> None:
    done = run(MODEL, *arguments, code=2)
    assert sentence in done.stderr
    assert "respond" not in done.stderr


def test_a_model_that_judges_itself_is_warned_of() -> None:
    done = run(MODEL, "--judge", "self", code=0)
    assert "Warning: each model scores its own replies" in done.stderr


@pytest.mark.usefixtures("judged")
def test_a_junit_file_has_a_case_for_each_condition(tmp_path: Path) -> None:
    file = tmp_path / "out" / "gates.xml"
    gates = ("--fail-under", "replies.empathy=4.5", "--max-unusable", "10%")
    run(MODEL, "--judge", GOOD, *gates, "--junit", str(file), code=1)
    root = ElementTree.parse(file).getroot()  # noqa: S314 - written by the command above
    assert root.tag == "testsuites"
    [suite] = root.findall("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    cases = suite.findall("testcase")
    assert all(case.get("classname") == MODEL and case.get("name") for case in cases)
    [failed] = [case for case in cases if case.find("failure") is not None]
    assert "replies.empathy >= 4.5" in str(failed.get("name"))


@pytest.mark.usefixtures("judged")
def test_a_junit_file_that_cannot_be_written_is_one_sentence_below_the_results(
    tmp_path: Path,
) -> None:
    (tmp_path / "taken").write_text("")
    file = tmp_path / "taken" / "gates.xml"
    done = run(MODEL, "--judge", GOOD, "--max-unusable", "10%", "--junit", str(file), code=2)
    assert "empathy" in done.stdout
    assert f"{file}: the file cannot be written; got " in done.stderr


def test_a_folder_as_junit_file_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    done = run(MODEL, "--max-unusable", "10%", "--junit", str(tmp_path), code=2)
    assert done.stderr == f"Error: --junit {tmp_path}: this is a folder. Name a file in it.\n"


def junit_error(*arguments: str, code: int) -> str:
    """The error in the JUnit file of an evaluation that ends so."""
    done = empathylab("evaluate", MODEL, "--planted", "2", "--junit", "gates.xml", *arguments)
    assert done.exit_code == code, done.output
    root = ElementTree.parse("gates.xml").getroot()  # noqa: S314 - written by the command above
    assert root.get("errors") == "1"
    [error] = root.iter("error")
    assert error.get("message") == error.text
    return str(error.text)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fail-under", "replies.empathie=3"], "Did you mean 'replies.empathy'"),
        (["--situations", "0"], "Invalid value for '--situations'"),
        (["--judge", "openai/gpt-4o", "--fresh"], "OPENAI_API_KEY"),
        (["--max-total-tokens", "2000", "--fresh"], "the limit stopped the run"),
    ],
)
def test_a_junit_file_says_what_stopped_the_evaluation(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert sentence in junit_error(*arguments, code=2)


def test_a_markdown_summary_says_what_stopped_the_evaluation() -> None:
    done = run(MODEL, "--judge", "openai/gpt-4o", "--fresh", "--summary", "md", code=2)
    assert done.stdout.startswith("# EmpathyLab\n\n**The evaluation stopped:** openai/gpt-4o: ")
    assert "OPENAI_API_KEY is not set" in done.stdout
    assert run(MODEL, "--judge", "openai/gpt-4o", "--fresh", code=2).stdout == ""


def test_a_junit_file_of_a_stopped_evaluation_has_the_gates_too() -> None:
    junit_error("--max-total-tokens", "2000", "--fresh", "--max-unusable", "10%", code=1)
    assert 'name="' + MODEL + ": unusable answers" in Path("gates.xml").read_text()


def test_a_junit_file_of_an_interrupted_evaluation_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("empathylab.api.workspace.Workspace.run", interrupt)
    assert junit_error(code=130) == "interrupted"


@pytest.mark.usefixtures("judged")
def test_the_report_shows_the_gates_of_its_evaluation_near_the_top() -> None:
    baseline = ("--baseline", replies_run(MODEL), "--no-worse-than", "0.2", "--judge", STRICT)
    [_, gate] = found(OTHER, *baseline, "--max-unusable", "10%", code=1)["gates"]
    page = unescape(Path("lab/reports/report.html").read_text()).replace("<wbr>", "")
    assert "Release gate of 2 conditions: 1 failed, 1 passed." in page
    section = page[page.index('<section id="gates"') :]
    section = section[: section.index("</section>")]
    assert gate["condition"] in section
    assert gate["reason"] in section
    assert page.index('<section id="overview"') < page.index('<section id="gates"')
    assert page.index('<section id="gates"') < page.index('<section id="scores"')


@pytest.mark.usefixtures("judged")
def test_the_report_of_an_evaluation_without_conditions_shows_no_gate() -> None:
    run(MODEL)
    assert 'id="gates"' not in Path("lab/reports/report.html").read_text()


@pytest.mark.usefixtures("judged")
def test_the_markdown_summary_is_a_table_of_conditions_and_of_scores() -> None:
    done = run(
        MODEL, "--judge", GOOD, "--fail-under", "replies.empathy=4.5", "--summary", "md", code=1
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "# EmpathyLab"
    assert any(line.startswith(f"| {MODEL}: replies.empathy >= 4.5 |") for line in lines)
    assert any(line.startswith("| respondent | run | judge | n | empathy |") for line in lines)
    for table in (line for line in lines if line.startswith("| ---")):
        assert table.endswith("|")
