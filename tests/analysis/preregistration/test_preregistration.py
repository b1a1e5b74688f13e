"""Preregistrations: written from the file, recorded at launch, and held against the analysis."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from empathylab import analysis
from empathylab.analysis import appraisal as scales
from empathylab.analysis.preregistration.answers import QUESTIONS, as_markdown, preregistration
from empathylab.analysis.preregistration.record import content_hash, record
from empathylab.cli.study.preregister import record_beside
from empathylab.errors import InputError
from empathylab.stats.power.analytic import raters_for_power
from empathylab.stats.raters.exclusions import FailedAttention
from empathylab.store import Lab
from empathylab.study import PRESETS, Study, parse_study, preset_text
from empathylab.study.design.checks import check_study
from empathylab.study.session.service import StudyService
from tests.study.examples import appraisal, between
from tests.study.service_examples import START, opened, someone, walk

OSF_QUESTIONS = {
    "data",
    "hypothesis",
    "dependent",
    "conditions",
    "analyses",
    "outliers",
    "sample",
    "other",
    "name",
    "study_type",
}
"""The names of the questions in OSF's "Preregistration Template from AsPredicted.org", version 3;
`study_type_other` is left out."""


def written(study: Study, lab: Lab | None = None, days: float = -1) -> dict[str, object]:
    return preregistration(check_study(study, lab), now=START + timedelta(days=days))


def answers(study: Study) -> dict[str, str]:
    found: dict[str, str] = written(study)["registration_responses"]  # type: ignore[assignment]
    return found


def deviations(lab: Lab, **options: object) -> list[str]:
    found = analysis.ratings.from_lab(lab, "small", **options).preregistration  # type: ignore[arg-type]
    assert found is not None
    return list(found.deviations)


def ran(lab: Lab, study: Study, *, days: float = -1, people: int = 12) -> StudyService:
    """The study, preregistered and run."""
    service, clock = opened(lab, study)
    with lab.writing() as connection:
        document = written(study, lab, days)
        assert record(connection, service.launched.row, clock(), "me", document)
        assert not record(connection, service.launched.row, clock(), "me", document)
    for number in range(people):
        walk(service, someone(service, f"person-{number}"))
    return service


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_answers_every_question(name: str) -> None:
    document = written(parse_study(preset_text(name)))
    found: dict[str, str] = document["registration_responses"]  # type: ignore[assignment]
    assert set(found) == OSF_QUESTIONS == set(QUESTIONS)
    assert all(len(text) > 5 for text in found.values())
    shown = as_markdown(document)
    assert all(f"\n## {title}\n" in shown for title in QUESTIONS.values())
    content = {key: value for key, value in document.items() if key != "hash"}
    assert document["hash"] == content_hash(json.loads(json.dumps(content)))


def test_the_answers_say_what_the_file_says() -> None:
    text = preset_text("between-subjects").replace("direction: fixed", "")
    found = answers(parse_study(text))
    assert "replies of smollm2 are rated differently from replies of human" in found["hypothesis"]
    assert "1 = Bad, 2 = Okay, 3 = Good" in found["dependent"]
    assert "smollm2 (replies of local/smollm2)" in found["conditions"]
    assert "failed an attention check" in found["outliers"]
    needed = raters_for_power(0.6, 0.5, power=0.95, ratings_per_rater=8, icc=0.1)
    assert f"a power of 0.95 needs {needed.raters} raters per arm" in found["sample"]
    assert needed.raters == 137  # `empathylab stats power --share 0.6 --share-reference 0.5 …`
    assert "32 participants finish: 16 in human and 16 in smollm2" in found["sample"]


def test_people_who_cannot_continue_are_named() -> None:
    screened = preset_text("between-subjects").replace(
        "    fields:\n      - name: age",
        "    screen_out_if: age < 21\n    fields:\n      - name: age",
    )
    said = answers(parse_study(screened))["outliers"]
    assert "Participants are screened out if age < 21 (page demographics)." in said
    assert "Participants who fail the comprehension check cannot continue." in said
    assert "screened out" not in answers(parse_study(preset_text("between-subjects")))["outliers"]
    failing = preset_text("between-subjects").replace("on_failure: continue", "on_failure: end")
    said = answers(parse_study(failing))["outliers"]
    assert "Participants who fail an attention check cannot continue." in said


def test_every_exclusion_rule_can_be_said() -> None:
    rules = ({"rule": "automation signs", "signs": ["hidden field", "paste"]},)
    said = answers(between(exclusions=rules))["outliers"]
    assert "showed a sign of AI assistance or of a bot (hidden field, paste)" in said
    assert "No participant who finishes is excluded." in answers(between(exclusions=()))["outliers"]


def test_a_study_as_preregistered_has_no_deviations(sqlite_lab: Lab) -> None:
    service = ran(sqlite_lab, between())
    service.actions.close()
    result = analysis.ratings.from_lab(sqlite_lab, "small")
    assert deviations(sqlite_lab) == []
    assert result.to_dict()["preregistration"]["deviations"] == []
    assert result.paragraphs()[0].startswith("The study was preregistered on 2026-02-28 (hash ")
    assert not [caveat for caveat in result.caveats if "preregistration" in caveat]


def test_every_deviation_is_listed(sqlite_lab: Lab) -> None:
    service = ran(sqlite_lab, between(), days=1, people=5)
    analysis.ratings.from_lab(sqlite_lab, "small", peek="The board asks for it")
    person = service.actions.participants()[0].person
    service.actions.exclude(person, "asked to be left out", who="me")
    service.actions.close()
    found = deviations(sqlite_lab, margin=5.0, reference="two", rules=[FailedAttention(most=2)])
    said = " ".join(found)
    for sentence in (
        "The preregistration was written after the study was launched.",
        "raters; 6 were preregistered.",
        "Results were looked at once before the study was closed; no look was preregistered.",
        "The rule to exclude raters who failed more than 2 attention checks was not preregistered.",
        "1 participant was excluded by a researcher (asked to be left out).",
        "Arms are compared with two; one was preregistered as the reference.",
        "The margin of empathy is 5; none was preregistered.",
    ):
        assert sentence in said
    caveats = analysis.ratings.from_lab(sqlite_lab, "small").caveats
    assert any(caveat.startswith("Deviation from the preregistration: Arm ") for caveat in caveats)


def test_deviations_of_a_study_that_measures_people_are_listed(sqlite_lab: Lab) -> None:
    rule = {"rule": "too fast", "seconds": 600}
    service = ran(sqlite_lab, appraisal(exclusions=(rule,)), people=3)
    service.actions.close()
    name = service.launched.study.name
    registered = scales.from_lab(sqlite_lab).preregistrations[name]
    planned = sum(arm.places for arm in service.actions.status().arms)
    few = f"3 participants answered the scales; {planned} were preregistered."
    assert registered.deviations == (few,)
    everybody = scales.from_lab(sqlite_lab, exclude=False)
    skipped = (
        "The preregistered rule to exclude raters who took less than 600 seconds was not applied."
    )
    assert everybody.preregistrations[name].deviations == (few, skipped)
    assert f"Deviation from the preregistration of {name}: {few}" in everybody.caveats
    assert everybody.to_dict()["preregistrations"][name]["deviations"] == [few, skipped]


def test_a_changed_file_is_a_deviation(sqlite_lab: Lab) -> None:
    study = between()
    service, clock = opened(sqlite_lab, study)
    other = between(seed=study.seed + 1, version=2)
    with sqlite_lab.writing() as connection:
        record(connection, service.launched.row, clock(), "me", written(other, sqlite_lab))
    for number in range(12):
        walk(service, someone(service, f"person-{number}"))
    service.actions.close()
    assert deviations(sqlite_lab) == [
        "Version 1 was run; version 2 was preregistered.",
        "The study's file was changed after the preregistration.",
    ]


def test_the_launch_records_what_lies_beside_the_file(sqlite_lab: Lab, tmp_path: Path) -> None:
    study = between()
    opened(sqlite_lab, study)
    file = tmp_path / "small.yaml"
    assert not record_beside(sqlite_lab, study, file)
    document = written(study, sqlite_lab)
    beside = tmp_path / "small.preregistration.json"
    beside.write_text(json.dumps(document), encoding="utf-8")
    assert record_beside(sqlite_lab, study, file)
    assert not record_beside(sqlite_lab, study, file)
    for broken in ("{", "[]", json.dumps(document | {"written_at": "2020-01-01"})):
        beside.write_text(broken, encoding="utf-8")
        with pytest.raises(InputError, match="changed since it was written"):
            record_beside(sqlite_lab, study, file)
