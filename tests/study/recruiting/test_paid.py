"""MTurk and SONA: previews, handing in, credit, and the list of whom to pay."""

from __future__ import annotations

import csv
import io

import pytest

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.study.admin.reviews import Reviews
from empathylab.study.recruiting.approvals import approval_table, approvals
from empathylab.study.session.service import StudyService
from tests.study.recruiting.examples import finished, rating, recruiting, sent, served
from tests.study.service_examples import rows_of, someone, walk
from tests.study.web.raters import Read, visiting
from tests.study.web.raters import walk as walk_pages

MTURK = "turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com"


def listed(service: StudyService) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(approval_table(service, approvals(service)))))


def test_a_preview_takes_no_place_and_sets_no_cookie(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("mturk"))
    with visiting(service) as visitor:
        page = visitor.get(f"/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h&{MTURK}")
    assert Read(page.text).title == "This is a preview"
    assert "set-cookie" not in page.headers
    assert rows_of(sqlite_lab, schema.slots) == []


def test_work_is_handed_in_to_mturk_by_a_form(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("mturk"))
    with visiting(service) as visitor:
        visitor.get(f"/?assignmentId=A1&hitId=H1&workerId=W1&{MTURK}")
        page = walk_pages(visitor, service.study)
    assert 'action="https://workersandbox.mturk.com/mturk/externalSubmit"' in page.text
    assert 'method="post"' in page.text
    assert Read(page.text).fields["assignmentId"].value == "A1"
    assert (
        "form-action 'self' https://www.mturk.com https://workersandbox.mturk.com"
        in (page.headers["content-security-policy"])
    )


def test_a_worker_takes_part_once_over_several_hits(lab: Lab) -> None:
    service, _ = served(lab, recruiting("mturk"))
    assert len({sent(service, "W1", study=hit, session=f"A{hit}") for hit in ("H1", "H2")}) == 1


def test_a_worker_who_comes_back_hands_in_the_newer_assignment(lab: Lab) -> None:
    service, _ = served(lab, recruiting("mturk"))
    with visiting(service) as visitor:
        visitor.get(f"/?assignmentId=A1&hitId=H1&workerId=W1&{MTURK}")
        walk_pages(visitor, service.study, "rate/1")
        page = visitor.get(f"/?assignmentId=A2&hitId=H2&workerId=W1&{MTURK}")
        assert Read(page.text).fields["step"].value == "rate/1"
        page = walk_pages(visitor, service.study)
    assert Read(page.text).fields["assignmentId"].value == "A2"
    assert [(item["AssignmentId"], item["HITId"]) for item in listed(service)] == [("A2", "H2")]


def test_a_worker_is_paid_for_the_assignment_in_which_they_finished(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("mturk"))
    finished(service, "W1", session="A1", study="H1")
    sent(service, "W1", session="A2", study="H2")
    assert [(item["AssignmentId"], item["HITId"]) for item in listed(service)] == [("A1", "H1")]


def test_all_who_completed_are_to_be_paid_unless_rejected(lab: Lab) -> None:
    service, _ = served(lab, recruiting("mturk"))
    finished(service, "W1")
    rejected = finished(service, "W2")
    excluded = finished(service, "W3")
    rating(service, "W4")
    for world in ("test", "simulated"):
        walk(service, someone(service, "W5", world=world))
    Reviews(lab, service.launched.row).reject(rejected, "answered nothing", who="eva")
    service.actions.exclude(excluded, "a pilot")
    paid = {item["WorkerId"]: (item["Approve"], item["Reject"]) for item in listed(service)}
    assert paid == {"W1": ("X", ""), "W2": ("", "answered nothing"), "W3": ("X", "")}


def test_a_rejection_without_words_is_a_rejection_all_the_same(lab: Lab) -> None:
    service, _ = served(lab, recruiting("mturk"))
    person = finished(service, "W1")
    Reviews(lab, service.launched.row).reject(person, "answered nothing", who="eva")
    with lab.writing() as connection:
        connection.execute(schema.slots.update().values(review_reason=None))
    [row] = listed(service)
    assert (row["Approve"], row["Reject"]) == ("", "rejected")


def test_asking_for_the_list_is_written_down(lab: Lab) -> None:
    service, _ = served(lab, recruiting("prolific"))
    finished(service, "ann")
    made = approvals(service, who="eva")
    entry = service.actions.audit()[-1]
    assert (entry.who, entry.action, entry.details) == ("eva", "export platform ids", {"people": 1})
    assert approval_table(service, made) == (
        "Participant id,Submission id,Decision,Reason\nann,session-ann,approve,\n"
    )


def test_an_id_that_a_spreadsheet_would_run_is_made_harmless(sqlite_lab: Lab) -> None:
    service, _ = served(sqlite_lab, recruiting("mturk"))
    finished(service, "=HYPERLINK(1)")
    assert listed(service)[0]["WorkerId"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("platform", ["open", "invitation"])
def test_where_nobody_is_paid_there_is_no_list(sqlite_lab: Lab, platform: str) -> None:
    service, _ = served(sqlite_lab, recruiting(platform))  # type: ignore[arg-type]
    before = service.actions.audit()
    with pytest.raises(InputError, match="does not pay participants"):
        approvals(service)
    assert service.actions.audit() == before


def test_sona_credits_the_person_by_their_survey_code(sqlite_lab: Lab) -> None:
    address = (
        "https://lab.sona.test/webstudy_credit.aspx?credit_token=T0K&survey_code={survey_code}"
    )
    study = recruiting("sona", recruitment={"return_url": address})
    service, _ = served(sqlite_lab, study)
    with visiting(service) as visitor:
        visitor.get("/?survey_code=7%267")
        page = walk_pages(visitor, study)
        before = "".join(item.text for item in visitor.sent[:-1])
    assert "credit_token=T0K&amp;survey_code=7%267" in page.text
    assert "T0K" not in before
