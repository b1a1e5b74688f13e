"""People who imagine situations in a study are the people with whom models are compared."""

from __future__ import annotations

import json

import pytest

from empathylab.analysis.appraisal.analysis import estimate_appraisals
from empathylab.analysis.overview import from_lab as collect
from empathylab.cli import analyze
from empathylab.errors import InputError
from empathylab.export.lab_tables import lab_tables
from empathylab.store import Lab
from empathylab.store.administrations import read_appraisals
from empathylab.study import Study, parse_study
from empathylab.study.admin.embargo import result_commands
from empathylab.study.session.service import Page, Saved, StudyService, launch
from tests.cli.test_study_commands import ran
from tests.study.archived import finished
from tests.study.examples import appraisal, between
from tests.study.service_examples import Clock, careful, opened, someone
from tests.study.test_service_results import WRITE

NAMES = ("ann", "ben", "cem", "dee")


def feel(service: StudyService, clock: Clock, name: str, *, after: int = 4, **options: str) -> str:
    """Answers every item with 2 at baseline and with `after` afterwards."""
    person = someone(service, name, **options)
    while isinstance(page := service.view(person), Page):
        values = careful(service.study, page)
        if page.content.page == "scale":
            value = "2" if page.step.startswith("before") else str(after)
            asked = (item for table in page.content.asks for item in table.one_by_one())
            values = {item.name: value for item in asked}
        clock.skip(seconds=page.content.least_seconds)
        assert isinstance(service.submit(person, page.step, values, {}), Saved)
    return person


def measured(lab: Lab, *, close: bool = True) -> StudyService:
    service, clock = opened(lab, appraisal())
    for number, name in enumerate(NAMES):
        feel(service, clock, name, after=3 + number % 2)
    feel(service, clock, "robot", world="simulated")
    feel(service, clock, "trial", world="test")
    if close:
        service.actions.close()
    return service


def test_people_of_a_closed_study_are_analysed_within_persons(lab: Lab) -> None:
    measured(lab)
    found = estimate_appraisals(read_appraisals(lab))
    overall = {change.subscale: change for change in found.changes if change.level == "overall"}
    assert {change.respondent for change in found.changes} == {"human"}
    change = overall["positive"]
    assert (change.test, change.n, change.default_n) == ("paired", 4, 4)
    assert (change.default_mean, change.mean, change.delta) == (20, 35, 15)


def test_the_lab_reads_them_in_every_place_as_human(lab: Lab) -> None:
    measured(lab)
    read = read_appraisals(lab).administrations.filter(respondent="human", scale="panas")
    assert (read.height, read["subject"].n_unique()) == (8, 4)
    assert read["kind"].unique().to_list() == ["human"]
    assert read_appraisals(lab).administrations["respondent"].to_list() == ["human"] * 8


def test_people_of_a_study_that_is_still_open_are_not_read(lab: Lab) -> None:
    measured(lab, close=False)
    assert read_appraisals(lab).administrations.is_empty()
    assert read_appraisals(lab).answers.is_empty()


def test_whom_a_researcher_excluded_is_not_read(lab: Lab) -> None:
    service = measured(lab, close=False)
    service.actions.exclude(service.actions.participants()[0].person, "asked to be")
    service.actions.close()
    assert read_appraisals(lab).administrations["subject"].n_unique() == 3


def test_what_raters_of_replies_say_of_themselves_stays_with_their_study(lab: Lab) -> None:
    finished(lab)
    assert read_appraisals(lab).administrations.is_empty()


def test_people_of_two_studies_are_different_people(sqlite_lab: Lab) -> None:
    measured(sqlite_lab)
    clock = Clock()
    launch(sqlite_lab, appraisal(name="again"), now=clock())
    again = StudyService(sqlite_lab, "again", clock=clock)
    feel(again, clock, "ann")
    again.actions.close()
    read = read_appraisals(sqlite_lab).administrations
    assert read["subject"].n_unique() == 5


def test_from_the_link_to_the_commands_that_close_and_show_it(sqlite_lab: Lab) -> None:
    measured(sqlite_lab, close=False)
    where = ("--lab", sqlite_lab.folder)
    with pytest.raises(InputError, match=r"close the study first \(feelings\)"):
        ran("appraisal", *where, app=analyze.app)
    closed = ran("close", "feelings", "--yes", *where).stdout
    assert closed.strip().endswith("results: empathylab analyze appraisal --respondent human")
    rows = json.loads(ran("appraisal", "--json", *where, app=analyze.app).stdout)["rows"]
    [row] = [row for row in rows if (row["level"], row["subscale"]) == ("overall", "negative")]
    assert (row["respondent"], row["n"], row["test"], row["delta"]) == ("human", 4, "paired", 15)
    with pytest.raises(
        InputError, match="This study collects none. `empathylab analyze appraisal`"
    ):
        ran("ratings", *where, app=analyze.app)


def test_the_report_shows_them_and_misses_no_ratings(sqlite_lab: Lab) -> None:
    measured(sqlite_lab)
    found = collect(sqlite_lab)
    assert {change.respondent for change in found.appraisal.changes} == {"human"}
    assert found.respondents[0] == "human"
    assert found.unrated == ()


@pytest.mark.parametrize(
    ("study", "shown"),
    [
        (between(), ["empathylab analyze ratings --study small"]),
        (appraisal(), ["empathylab analyze appraisal --respondent human"]),
        (parse_study(WRITE), ["empathylab analyze style"]),
    ],
)
def test_a_closed_study_names_what_shows_its_results(study: Study, shown: list[str]) -> None:
    assert list(result_commands(study)) == shown


def test_the_labs_export_holds_what_the_analysis_reads(lab: Lab) -> None:
    measured(lab)
    tables = lab_tables(lab).tables
    scores = tables["scores"].filter(counted=True)
    analysed = estimate_appraisals(read_appraisals(lab)).scores
    shared = ["administration", "respondent", "phase", "situation", "subject", "subscale", "score"]
    assert scores.select(shared).rows() == analysed.select(shared).rows()
    counted = tables["respondents"].filter(respondent="human")
    assert counted["administrations"].to_list() == [8]
    assert tables["item_answers"].height == 8 * 20
