"""Every outcome leads a Prolific participant back, or tells them to return the submission."""

from __future__ import annotations

import pytest

from empathylab.store import Lab
from empathylab.study import Study
from empathylab.study.design.checks import check_study, missing_codes
from empathylab.study.design.definition import TimeLimits
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.session.service import StudyService
from tests.study.examples import between
from tests.study.service_examples import Clock, opened, someone, walk
from tests.study.web.raters import Read, Visitor, filled, visiting

LINK = "/?PROLIFIC_PID=ann&STUDY_ID=s&SESSION_ID=x"
CODES = {
    "completed": "DONE",
    "no-consent": "NOPE",
    "screened-out": "SCREEN",
    "full": "FULL",
    "timed-out": "LATE",
    "withdrawn": "LEFT",
}
BACK = "https://app.prolific.com/submissions/complete?cc="
RETURN = "return your submission"


def recruited(codes: dict[str, str]) -> Study:
    limits = TimeLimits(abandon_after=25, finish_within=30)
    chosen = Recruitment(platform="prolific", codes=codes)  # type: ignore[arg-type]
    return between(recruitment=chosen, time_limits=limits)


def decline(visitor: Visitor, service: StudyService, clock: Clock) -> str:
    return visitor.send(visitor.get(LINK), agree="no").text


def leave(visitor: Visitor, service: StudyService, clock: Clock) -> str:
    form = Read(visitor.get(LINK).text).fields["form"].value
    visitor.ask("POST", "/leave", data={"form": form, "answers": "keep"})
    return visitor.get("/left").text


def come_late(visitor: Visitor, service: StudyService, clock: Clock) -> str:
    page = visitor.get(LINK)
    while not Read(page.text).fields["step"].value.startswith("rate"):
        page = visitor.send(page, **filled(service.study, page))
    clock.skip(minutes=31)
    assert "time limit" in visitor.send(page, empathy="2").text
    return visitor.get("/page").text


def come_to_a_full_study(visitor: Visitor, service: StudyService, clock: Clock) -> str:
    for number in range(12):
        walk(service, someone(service, f"other {number}"), until="rate")
    page = visitor.get(LINK)
    while "step" in Read(page.text).fields:
        page = visitor.send(page, **filled(service.study, page))
    return page.text


def come_to_a_closed_study(visitor: Visitor, service: StudyService, clock: Clock) -> str:
    service.actions.close()
    page = visitor.get(LINK).text
    assert "The study is closed" in page
    return page


WAYS = {
    "no-consent": decline,
    "withdrawn": leave,
    "timed-out": come_late,
    "full": come_to_a_full_study,
    "closed": come_to_a_closed_study,
}


@pytest.mark.parametrize("outcome", WAYS)
def test_an_outcome_with_a_code_leads_back_to_prolific(sqlite_lab: Lab, outcome: str) -> None:
    service, clock = opened(sqlite_lab, recruited(CODES))
    with visiting(service) as visitor:
        page = WAYS[outcome](visitor, service, clock)
    assert f"{BACK}{CODES['full' if outcome == 'closed' else outcome]}" in page
    assert RETURN not in page


@pytest.mark.parametrize("outcome", WAYS)
def test_an_outcome_without_a_code_tells_to_return_the_submission(
    sqlite_lab: Lab, outcome: str
) -> None:
    service, clock = opened(sqlite_lab, recruited({"completed": "DONE"}))
    with visiting(service) as visitor:
        page = WAYS[outcome](visitor, service, clock)
    assert RETURN in page
    assert BACK not in page
    assert "DONE" not in page


def test_the_time_limit_ends_a_session_for_good(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, recruited(CODES))
    with visiting(service) as visitor:
        come_late(visitor, service, clock)
        clock.skip(minutes=1)
        assert "time limit" in visitor.get(LINK).text
    [person] = service.actions.participants()
    assert (person.status, person.outcome) == ("timed-out", "timed-out")


def test_a_check_refuses_a_prolific_study_without_the_codes() -> None:
    study = recruited({"completed": "DONE"})
    missing = missing_codes(study)
    assert set(missing) >= {"no-consent", "full", "timed-out"}
    assert "screened-out" not in missing  # nothing in the first version screens people out
    assert "screened-out" in missing_codes(study.model_copy(update={"version": 2}))
    problems = " ".join(check_study(study).plan.problems)
    assert f"no completion code for {', '.join(missing)}" in problems
    codes = CODES | {outcome: f"CODE{n}" for n, outcome in enumerate(missing)}
    assert missing_codes(recruited(codes)) == ()
    assert missing_codes(between()) == ()


def test_declining_is_a_status(sqlite_lab: Lab) -> None:
    from tests.study.web.console.researchers import at_console

    service, clock = opened(sqlite_lab, recruited(CODES))
    with visiting(service) as visitor:
        decline(visitor, service, clock)
    with at_console(service) as owner:
        listed = owner.get("/console/participants?status=declined").text
        assert '<span class="chip arrived">declined</span>' in listed
        table = owner.post("/console/downloads", file="participants.csv").text
    assert ",declined,no-consent," in table
