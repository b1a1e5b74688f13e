"""The commands of a study before, while and after people come."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import Result
from typer.testing import CliRunner

from empathylab.cli import analyze, data, study
from empathylab.errors import InputError, UnknownName, UserError
from empathylab.store import Lab
from empathylab.store.inserts import now
from empathylab.store.ratings import lab_study
from empathylab.store.studies.records import add_audit, find_study
from empathylab.study import PRESETS, parse_study, preset_text, read_study
from empathylab.study.session.service import StudyService
from tests.helpers.studies import furnished, study_file
from tests.study.examples import APPRAISAL, BETWEEN
from tests.study.service_examples import opened, someone, walk


def ran(*arguments: object, app: Any = study.app, given: str | None = None) -> Result:
    """The command's result; its errors are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)
    if isinstance(result.exception, UserError):
        raise result.exception
    return result


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A lab whose small study is open, with all four raters of a first round."""
    with Lab.open(tmp_path / "lab") as lab:
        service, _ = opened(lab)
        for number in range(4):
            walk(service, someone(service, f"person-{number}"))
    return tmp_path / "lab"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_new_study_bears_the_files_name_and_all_else_is_the_preset(
    tmp_path: Path, preset: str
) -> None:
    made = json.loads(ran("new", tmp_path / "My Study 2", "--preset", preset, "--json").stdout)
    file = tmp_path / "My Study 2.yaml"
    assert made["file"] == str(file)
    assert "e-mail address" in made["fill_in"]
    assert read_study(file).name == made["study"] == "my-study-2"
    assert file.read_text().splitlines()[8:] == preset_text(preset).splitlines()[8:]


def test_a_new_study_never_overwrites_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("precious")
    with pytest.raises(InputError, match="this file already exists"):
        ran("new", file)
    assert file.read_text() == "precious"


def test_a_new_study_in_no_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file cannot be written"):
        ran("new", tmp_path / "nowhere" / "mine.yaml")


def test_a_check_shows_every_page_and_how_many_raters_are_needed(tmp_path: Path) -> None:
    furnished(tmp_path / "lab")
    before = (tmp_path / "lab" / "lab.sqlite").read_bytes()
    done = ran("check", study_file(tmp_path), "--lab", tmp_path / "lab", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["ready"]
    assert found["raters"] == 12
    assert [item["page"] for item in found["pages"]["en"]][-5:] == [
        *("rate 1 of 2", "attention", "rate 2 of 2", "comment", "debrief")
    ]
    assert [(arm["responses"], arm["missing"]) for arm in found["arms"]] == [(6, 0), (6, 0)]
    assert (tmp_path / "lab" / "lab.sqlite").read_bytes() == before


def test_a_check_in_words_says_what_to_do_next(tmp_path: Path) -> None:
    furnished(tmp_path / "lab")
    done = ran("check", study_file(tmp_path), "--lab", tmp_path / "lab")
    assert "12 raters must finish, each with a batch of 2." in done.stdout
    assert "Arm one: 6 raters, for 12 ratings of 6 responses." in done.stdout
    assert "can be launched" in done.stderr


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"situations": "{set: dialogues, count: 999}"},
            "asks for 999 situations, but there are 192",
        ),
        ({"situations": "{set: dialoges}"}, "Did you mean 'dialogues'"),
        (
            {"batch_size": "2\nquotas: [{by: sex, counts: {female: 2, male: 3}}]"},
            "The quota by 'sex' admits 5 people, but the study has 12 slots",
        ),
    ],
)
def test_a_check_says_what_stands_in_the_way_and_ends_with_2(
    tmp_path: Path, changes: dict[str, str], sentence: str
) -> None:
    furnished(tmp_path / "lab")
    done = ran("check", study_file(tmp_path, **changes), "--lab", tmp_path / "lab")
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_a_check_without_a_lab_names_arms_and_scales_that_lack_something(tmp_path: Path) -> None:
    done = ran("check", study_file(tmp_path), "--lab", tmp_path / "lab", "--json")
    assert done.exit_code == 2
    problems = " ".join(json.loads(done.stdout)["problems"])
    assert "The arm 'one' has no responses of first/model" in problems
    assert "The wording of the Toronto Empathy Questionnaire does not ship" in problems
    assert not (tmp_path / "lab").exists()


def test_a_check_of_a_study_without_arms_needs_no_lab(tmp_path: Path) -> None:
    done = ran("check", study_file(tmp_path, APPRAISAL), "--lab", tmp_path / "lab")
    assert done.exit_code == 0
    assert "imagine" in done.stdout


def test_an_unknown_key_is_named_with_file_and_line(tmp_path: Path) -> None:
    file = study_file(tmp_path, BETWEEN.replace("batch_size", "bach_size"))
    with pytest.raises(
        UnknownName, match=r"small.yaml line \d+: .*'bach_size'. Did you mean 'batch_size'"
    ):
        ran("check", file, "--lab", tmp_path / "lab")


def test_the_status_counts_people_and_not_their_ratings_by_arm(rated: Path) -> None:
    found = json.loads(ran("status", "small", "--lab", rated, "--json").stdout)
    assert (found["arrivals"], found["ratings"], found["status"]) == (4, 8, "open")
    assert [(arm["arm"], arm["places"], arm["finished"]) for arm in found["arms"]] == [
        ("one", 6, 0),
        ("two", 6, 0),
    ]
    assert all(arm["coarse"] for arm in found["arms"])
    said = ran("status", "small", "--lab", rated).stdout
    assert "4 people arrived; 8 ratings so far." in said
    assert "Good" not in said


def test_a_status_is_watched_until_it_is_interrupted(rated: Path) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", "from empathylab.cli.study import app; app()"),
            *("status", "small", "--watch", "--every", "0.2", "--json", "--lab", str(rated)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    process.kill()
    process.communicate(timeout=60)
    assert [json.loads(line)["arrivals"] for line in lines] == [4, 4, 4]


def test_every_act_is_done_and_in_the_audit_log(rated: Path) -> None:
    with Lab.open(rated) as lab:
        person = StudyService(lab, "small").actions.participants()[0].person
    for act in (
        ("pause", "small"),
        ("resume", "small"),
        ("stop-arm", "small", "one"),
        ("resume", "small", "--arm", "one"),
        ("exclude", "small", "--person", person, "--reason", "a mistake"),
        ("exclude", "small", "--person", person, "--undo"),
        ("exclude", "small", "--person", person, "--reason", "asked for it"),
        ("close", "small", "--yes"),
    ):
        assert ran(*act, "--lab", rated).exit_code == 0
    rows = json.loads(ran("audit", "small", "--lab", rated, "--json").stdout)["audit"]
    assert [row["action"] for row in rows] == [
        *("launch", "pause", "resume", "stop arm", "resume arm"),
        *("exclude", "undo exclusion", "exclude", "close"),
    ]
    user = pwd.getpwuid(os.getuid()).pw_name
    assert {row["who"] for row in rows[1:]} == {f"command line ({user})"}
    details = {"person": person, "reason": "asked for it", "status": "finished"}
    assert rows[7]["details"] == details
    with Lab.open(rated) as lab:
        assert StudyService(lab, "small").actions.status().ratings == 6


def test_an_owner_without_a_password_is_given_a_link(rated: Path) -> None:
    url = "https://lab.example.org/study"
    done = ran("console-link", "small", "--url", url, "--lab", rated)
    assert done.stdout.startswith(f"{url}/console/welcome?link=")
    assert "--url" not in done.stderr
    local = ran("console-link", "small", "--lab", rated, "--json")
    assert "port 8000. Give another" in local.stderr
    told = json.loads(local.stdout)
    assert told["console_link"].startswith("http://127.0.0.1:8000/console/welcome?link=")
    rows = json.loads(ran("audit", "small", "--lab", rated, "--json").stdout)["audit"]
    assert [row["action"] for row in rows[1:]] == ["owner link"] * 2
    with pytest.raises(InputError, match="not the address of a page"):
        ran("console-link", "small", "--url", "lab.example.org", "--lab", rated)


def test_closing_asks_first_and_a_no_changes_nothing(rated: Path) -> None:
    for answer in ("n\n", ""):
        with pytest.raises(InputError, match="the study was not closed"):
            ran("close", "small", "--lab", rated, given=answer)
    assert json.loads(ran("status", "small", "--lab", rated, "--json").stdout)["status"] == "open"
    assert ran("close", "small", "--lab", rated, given="y\n").exit_code == 0


def test_a_person_is_forgotten_by_the_platforms_id_after_a_question(rated: Path) -> None:
    with pytest.raises(InputError, match="nothing was deleted"):
        ran("forget", "small", "--platform-id", "person-2", "--lab", rated, given="n\n")
    done = ran("forget", "small", "--platform-id", "person-2", "--lab", rated, given="y\n")
    assert "1 slot emptied" in done.stdout
    with pytest.raises(InputError, match="no participant has this ID"):
        ran("forget", "small", "--platform-id", "person-2", "--lab", rated, "--yes")
    with Lab.open(rated) as lab:
        status = StudyService(lab, "small").actions.status()
    assert (status.arrivals, status.ratings) == (4, 6)


@pytest.mark.parametrize("both", [(), ("--person", "a", "--platform-id", "b")])
def test_a_person_to_forget_is_named_in_one_way(rated: Path, both: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="Give one of --person and --platform-id"):
        ran("forget", "small", *both, "--lab", rated)


def test_an_unknown_study_or_arm_is_named_with_the_nearest(rated: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        ran("pause", "smal", "--lab", rated)
    with pytest.raises(UnknownName, match="there is no arm 'ones'. Did you mean 'one'"):
        ran("stop-arm", "small", "ones", "--lab", rated)


@pytest.mark.parametrize("paused", [False, True])
def test_results_of_a_running_study_are_not_shown(rated: Path, paused: bool) -> None:
    if paused:
        ran("pause", "small", "--lab", rated)
    with pytest.raises(InputError, match="results by arm are not shown.*study close small"):
        ran("ratings", "--lab", rated, "--json", app=analyze.app)
    with pytest.raises(InputError, match="results by arm are not shown"):
        ran("ratings", "--lab", rated, "--peek", " ", app=analyze.app)


def test_a_peek_shows_results_and_is_in_the_audit_log(rated: Path) -> None:
    done = ran("ratings", "--lab", rated, "--peek", "a  safety check", "--json", app=analyze.app)
    assert json.loads(done.stdout)["n"] == 8
    rows = json.loads(ran("audit", "small", "--lab", rated, "--json").stdout)["audit"]
    assert (rows[-1]["action"], rows[-1]["details"]) == ("peek", {"reason": "a safety check"})


def test_the_audit_log_in_words_leaves_out_the_preregistered_plan(rated: Path) -> None:
    with Lab.open(rated) as lab, lab.writing() as connection:
        found = find_study(connection, "small")
        assert found is not None
        plan = {"study": "small"}
        add_audit(connection, found.id, now(), "me", "preregister", hash="abc", plan=plan)
    said = ran("audit", "small", "--lab", rated).stdout
    assert "hash: abc" in said
    assert "plan" not in said
    rows = json.loads(ran("audit", "small", "--lab", rated, "--json").stdout)["audit"]
    assert rows[-1]["details"]["plan"] == plan


def test_a_closed_studys_results_are_shown(rated: Path) -> None:
    ran("close", "small", "--yes", "--lab", rated)
    assert json.loads(ran("ratings", "--lab", rated, "--json", app=analyze.app).stdout)["n"] == 8


def test_the_report_shows_how_far_a_running_study_is_and_no_result(rated: Path) -> None:
    from empathylab.analysis.overview import from_lab as collect

    with Lab.open(rated) as lab:
        found = collect(lab)
    assert found.ratings == ()
    [sentence] = found.unrated
    assert "small (A small study) is still open: 4 of 12 slots are finished" in sentence


def test_the_style_of_replies_is_not_related_to_ratings_of_a_running_study(rated: Path) -> None:
    from empathylab.analysis.style.analysis import _ratings

    with Lab.open(rated) as lab:
        assert _ratings(lab) is None
        StudyService(lab, "small").actions.close()
        found = _ratings(lab)
    assert isinstance(found, pl.DataFrame)
    assert found.height == 8


def test_data_show_counts_a_running_studys_raters_and_not_their_ratings(rated: Path) -> None:
    found = json.loads(ran("show", "small", "--lab", rated, "--json", app=data.app).stdout)
    assert (found["ratings"], found["labels"]) == (8, [])
    assert "Good" not in ran("show", "small", "--lab", rated, app=data.app).stdout
    ran("close", "small", "--yes", "--lab", rated)
    assert json.loads(ran("show", "small", "--lab", rated, "--json", app=data.app).stdout)["labels"]


def test_an_older_version_that_is_still_open_is_not_shown_either(rated: Path) -> None:
    from empathylab.store.inserts import now
    from empathylab.study.admin.embargo import require_closed
    from empathylab.study.session.service import launch

    with Lab.open(rated) as lab:
        launch(lab, parse_study(BETWEEN.replace("version: 1", "version: 2")), now=now())
        older = lab_study(lab, "small@1")
        with pytest.raises(InputError, match="study small@1: the study is still open"):
            require_closed(lab, older)
        require_closed(lab, older, peek="an audit")
        assert StudyService(lab, "small@1").actions.audit()[-1].action == "peek"
        assert StudyService(lab, "small").actions.audit()[-1].action == "launch"
