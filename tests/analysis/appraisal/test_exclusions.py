"""The exclusion rules of a study's own file, applied to the people whom the study measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from empathylab.analysis import appraisal as analysis
from empathylab.cli import analyze
from empathylab.errors import UnknownName
from empathylab.store import Lab
from empathylab.study import parse_study
from tests.cli.test_study_commands import ran
from tests.helpers.labs import filled
from tests.report.test_people_of_studies import feel
from tests.study.examples import APPRAISAL, appraisal
from tests.study.service_examples import opened, someone

FAST = {"rule": "too fast", "seconds": 600}


def closed(lab: Lab, *rules: dict[str, object]) -> None:
    """A study of four people: two take their time and rise by 20 points, two hurry and by 10."""
    service, clock = opened(lab, appraisal(exclusions=rules))
    for name in ("ann", "ben"):
        feel(service, clock, name, after=3)
    for name in ("cem", "dee"):
        someone(service, name)
        clock.skip(minutes=12)
        feel(service, clock, name, after=4)
    service.actions.close()


def printed(lab: Lab, *options: str) -> Any:
    where = ("--lab", str(lab.folder))
    return ran("appraisal", *options, *where, app=analyze.app)


def test_participants_that_the_file_excludes_are_excluded_in_a_second_analysis(lab: Lab) -> None:
    closed(lab, FAST)
    result = analysis.from_lab(lab)
    look = result.exclusions
    assert look is not None
    assert look.result is not None
    [study] = look.studies
    assert (study.study, study.people, len(study.excluded)) == ("feelings", 4, 2)
    kept = [change for change in look.result.changes if change.level == "overall"]
    assert [(item.subscale, item.n, item.delta) for item in kept] == [
        ("positive", 2, 20),
        ("negative", 2, 20),
    ]
    everybody = [change for change in result.changes if change.level == "overall"]
    assert [(item.n, item.delta) for item in everybody] == [(4, 15), (4, 15)]


def test_the_excluded_are_counted_with_the_reason(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, FAST)
    done = printed(sqlite_lab)
    assert (
        "Participants of feelings who took less than 600 seconds were excluded: 2 of 4."
        in done.stderr
    )
    first, second = done.stdout.split("Without excluded participants")
    assert "+15.0" in first
    assert "+20.0" in second
    assert "+15.0" not in second


def test_json_names_each_of_them_with_the_reason(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, FAST)
    found = json.loads(printed(sqlite_lab, "--json").stdout)
    assert {row["n"] for row in found["rows"] if row["level"] == "overall"} == {4}
    look = found["exclusions"]
    [study] = look["studies"]
    assert [item["reasons"] for item in study["left_out"]] == [["took less than 600 seconds"]] * 2
    assert {row["n"] for row in look["rows"] if row["level"] == "overall"} == {2}


def test_json_narrows_the_second_look_as_well(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, FAST)
    filled(sqlite_lab)
    name = "scripted/person"
    whole = json.loads(printed(sqlite_lab, "--json").stdout)["exclusions"]
    assert {row["respondent"] for row in whole["alignment"]} == {"human", name}
    narrow = json.loads(printed(sqlite_lab, "--respondent", name, "--json").stdout)["exclusions"]
    assert narrow["rows"] == []
    assert [row for row in whole["alignment"] if row["respondent"] == name] == narrow["alignment"]
    people = json.loads(printed(sqlite_lab, "--respondent", "human", "--json").stdout)
    assert {row["respondent"] for row in people["exclusions"]["rows"]} == {"human"}
    assert {row["respondent"] for row in people["exclusions"]["alignment"]} == {"human"}


def test_a_scale_that_only_those_left_out_have_answered_breaks_nothing(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, {"rule": "too fast", "seconds": 1e9})
    others = APPRAISAL.replace("name: feelings", "name: others").replace("panas", "teq")
    service, clock = opened(sqlite_lab, parse_study(others))
    for name in ("eve", "fay"):
        feel(service, clock, name, after=3)
    service.actions.close()
    both = json.loads(printed(sqlite_lab, "--json").stdout)
    assert {row["scale"] for row in both["rows"]} == {"panas", "teq"}
    assert {row["scale"] for row in both["exclusions"]["rows"]} == {"teq"}
    narrow = json.loads(printed(sqlite_lab, "--scale", "panas", "--json").stdout)
    assert narrow["exclusions"]["rows"] == narrow["exclusions"]["alignment"] == []
    done = printed(sqlite_lab, "--scale", "panas")
    assert done.exit_code == 0
    assert "+15.0" in done.stdout
    assert "Without excluded" not in done.stdout
    other = json.loads(printed(sqlite_lab, "--scale", "teq", "--json").stdout)
    assert {row["scale"] for row in other["exclusions"]["rows"]} == {"teq"}


def test_everybody_turns_it_off(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, FAST)
    assert json.loads(printed(sqlite_lab, "--everybody", "--json").stdout)["exclusions"] is None
    done = printed(sqlite_lab, "--everybody")
    assert "excluded" not in done.stdout + done.stderr


def test_a_rule_that_nothing_can_be_held_against_is_named(sqlite_lab: Lab) -> None:
    closed(
        sqlite_lab,
        {"rule": "failed attention", "column": "unheard_of"},
        {"rule": "straight-lining"},
    )
    result = analysis.from_lab(sqlite_lab)
    look = result.exclusions
    assert look is not None
    assert look.result is None
    said = [caveat for caveat in result.caveats if "could not be applied" in caveat]
    assert len(said) == 2


def test_rules_that_leave_nobody_say_so_and_give_no_second_look(sqlite_lab: Lab) -> None:
    closed(sqlite_lab, {"rule": "too fast", "seconds": 1e9})
    result = analysis.from_lab(sqlite_lab)
    look = result.exclusions
    assert look is not None
    assert look.result is None
    assert result.caveats[-1].startswith("All participants of feelings were excluded")


def test_without_rules_there_is_no_second_look(sqlite_lab: Lab) -> None:
    closed(sqlite_lab)
    assert analysis.from_lab(sqlite_lab).exclusions is None


def test_models_stay_beside_the_people_of_one_study(sqlite_lab: Lab) -> None:
    closed(sqlite_lab)
    filled(sqlite_lab)
    changes = analysis.from_lab(sqlite_lab, study="feelings").changes
    assert {change.respondent for change in changes} == {"human", "scripted/person"}


def test_people_of_one_study_can_be_analysed_alone(sqlite_lab: Lab) -> None:
    closed(sqlite_lab)
    service, clock = opened(
        sqlite_lab, parse_study(APPRAISAL.replace("name: feelings", "name: others"))
    )
    for name in ("eve", "fay"):
        feel(service, clock, name, after=3)
    service.actions.close()

    def people(*options: str) -> int:
        rows = json.loads(printed(sqlite_lab, *options, "--json").stdout)["rows"]
        return int(next(row["n"] for row in rows if row["level"] == "overall"))

    assert people() == 6
    assert people("--study", "feelings") == 4
    assert people("--study", "others") == 2


def test_an_unknown_study_is_named_with_those_that_measured_people(sqlite_lab: Lab) -> None:
    closed(sqlite_lab)
    with pytest.raises(UnknownName, match="feelings"):
        analysis.from_lab(sqlite_lab, study="feelngs")
