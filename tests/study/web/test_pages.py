"""The rater's pages as they are sent, without any script."""

from __future__ import annotations

from html import unescape
from typing import get_args

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from empathylab.study import parse_study
from empathylab.study.assignment.allocation import Reason
from empathylab.study.blocks.interface import Outcome
from empathylab.study.design.recruitment import Recruitment
from empathylab.study.session.visits import Closed, Completion, Finished
from empathylab.study.web import visit_token
from empathylab.study.web.interface_texts import words_in
from tests.study.examples import BETWEEN, SITUATION_PRESETS, altered
from tests.study.web.desk import KEY, Desk, preset
from tests.study.web.raters import Read, Visitor, app_of, filled, visiting, walk

PROLIFIC = Recruitment(platform="prolific", codes={"completed": "DONE-77", "no-consent": "NOPE-78"})


def small(**changes: object) -> Desk:
    study = altered(parse_study(BETWEEN), **changes)  # type: ignore[arg-type]
    return Desk(study)


@pytest.mark.parametrize("name", SITUATION_PRESETS)
def test_every_preset_can_be_completed_without_a_script(name: str) -> None:
    desk = Desk(preset(name))
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study)
    assert Read(page.text).title == "Thank you"
    assert all(item.status_code in (200, 303) for item in visitor.sent)


def test_the_content_note_stands_under_a_title_of_its_own() -> None:
    desk = Desk(preset("between-subjects"))
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, until="rate/note")
    assert Read(page.text).title == "What this study contains"


def test_a_link_leads_to_the_first_page_and_leaves_its_ids_behind() -> None:
    with visiting(small(recruitment=PROLIFIC)) as visitor:
        page = visitor.get("/?PROLIFIC_PID=5f3a&STUDY_ID=s&SESSION_ID=t")
    assert page.url.path == "/page"
    assert page.url.query == b""
    assert "5f3a" not in page.text


def test_a_person_who_comes_back_by_the_same_link_goes_on_where_they_were() -> None:
    desk = small(recruitment=PROLIFIC)
    with visiting(desk) as first:
        page = first.get("/?PROLIFIC_PID=abc&STUDY_ID=s")
        first.send(page, agree="yes")
    with visiting(desk) as tomorrow:
        page = tomorrow.get("/?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=new")
    assert Read(page.text).fields["step"].value == "demographics"


def test_the_same_browser_keeps_its_place_by_an_open_link() -> None:
    desk = small()
    with visiting(desk) as visitor:
        visitor.send(visitor.get("/"), agree="yes")
        page = visitor.get("/")
    assert Read(page.text).fields["step"].value == "demographics"
    assert len(desk.people) == 1


def test_a_link_checker_is_nobody() -> None:
    desk = small()
    with visiting(desk) as visitor:
        assert visitor.ask("HEAD", "/").status_code == 200
    assert desk.people == {}


def test_a_page_without_a_visit_says_what_to_do() -> None:
    with visiting(small()) as visitor:
        page = visitor.get("/page")
    assert page.status_code == 403
    assert "open the link you were given" in page.text


def test_an_answer_that_is_missing_is_asked_for_again_beside_its_question() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "demographics")
        page = visitor.send(page, age="12", town="Bern")
    assert 'href="#answer-age"' in page.text
    assert 'aria-describedby="answer-age-error" aria-invalid="true"' in page.text
    assert 'href="#answer-sex-1"' in page.text
    assert Read(page.text).fields["answer-town"].value == "Bern"
    assert page.text.count("<title>Please check: ") == 1


def test_the_same_form_sent_twice_is_harmless() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = visitor.get("/")
        visitor.send(page, agree="yes")
        again = visitor.send(page, agree="yes")
    assert again.status_code == 200
    assert Read(again.text).fields["step"].value == "demographics"
    assert desk.stored == 1


def test_a_page_that_comes_later_is_refused_kindly() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = visitor.get("/")
        fields = {name: one.value for name, one in Read(page.text).fields.items()}
        fields |= {"step": "rate/2", "answer-empathy": "3"}
        response = visitor.ask("POST", "/page", data=fields)
        shown = visitor.get(response.headers["location"])
    assert "Please continue here" in shown.text
    assert desk.stored == 0


def test_one_can_go_back_correct_and_go_on() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "scale/2")
        back = visitor.get("/back?from=scale/2")
        assert Read(back.text).fields["step"].value == "scale/1"
        assert Read(back.text).fields["answer-item-1"].value == "0"
        page = visitor.send(back, item_1="4")
        person = next(iter(desk.people))
    assert desk.answers[person]["scale/1"]["item-1"] == 4
    assert Read(page.text).fields["step"].value == "scale/2"


def test_a_wrong_correction_stays_on_the_page_that_is_corrected() -> None:
    desk = small()
    with visiting(desk) as visitor:
        walk(visitor, desk.study, "scale/2")
        back = visitor.get("/back?from=scale/2")
        page = visitor.send(back, item_1="99")
    assert Read(page.text).fields["step"].value == "scale/1"


def test_going_back_where_one_may_not_leads_to_the_page_that_is_due() -> None:
    desk = small()
    with visiting(desk) as visitor:
        visitor.send(visitor.get("/"), agree="yes")
        page = visitor.get("/back?from=demographics")
    assert Read(page.text).fields["step"].value == "demographics"


def test_nothing_is_thanked_for_that_is_not_saved() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "comment")
        desk.broken = True
        failed = visitor.send(page, comment="two\nlines & <more>")
        assert failed.status_code == 503
        assert Read(failed.text).title == "Not saved yet"
        assert "Thank" not in failed.text
        assert "secret-folder" not in failed.text
        desk.broken = False
        visitor.send(failed)
        person = next(iter(desk.people))
    assert desk.answers[person]["comment"] == {"comment": "two\nlines & <more>"}


def test_pages_stay_calm_while_the_records_cannot_be_reached() -> None:
    desk = small()
    with visiting(desk) as visitor:
        visitor.get("/")
        desk.broken = True
        page = visitor.get("/page")
        ready = visitor.get("/ready")
        health = visitor.get("/health")
    assert (page.status_code, ready.status_code, health.status_code) == (503, 503, 200)
    assert page.headers["retry-after"] == "5"


def test_a_service_that_cannot_be_opened_is_opened_again_later() -> None:
    desk = small()
    desk.broken = True
    with visiting(desk) as visitor:
        assert visitor.get("/").status_code == 503
        desk.broken = False
        assert visitor.get("/").status_code == 200


def test_a_failure_nobody_thought_of_is_a_calm_page_with_all_headers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = small()
    with visiting(desk) as visitor:
        visitor.get("/")
        monkeypatch.setattr(desk, "view", lambda person: 1 / 0)
        page = visitor.get("/page")
    assert page.status_code == 500
    assert desk.failures == 1
    assert "was not saved" in page.text
    assert "ZeroDivisionError" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_one_can_leave_from_every_page() -> None:
    desk = Desk(preset("between-subjects"))
    with visiting(desk) as visitor:
        walk(visitor, desk.study)
        shown = [item for item in visitor.sent if item.status_code == 200]
    assert len(shown) > 15
    for page in shown[:-1]:
        assert "/leave" in Read(page.text).links
        assert "findahelpline.com" in page.text
        assert "What this study contains" in page.text


@pytest.mark.parametrize(("choice", "deleted"), [("keep", False), ("delete", True)])
def test_who_leaves_decides_what_becomes_of_the_answers(choice: str, deleted: bool) -> None:
    desk = small()
    with visiting(desk) as visitor:
        visitor.send(visitor.get("/"), agree="yes")
        fields = Read(visitor.get("/leave").text).fields
        done = visitor.ask("POST", "/leave", data={"form": fields["form"].value, "answers": choice})
        page = visitor.get(done.headers["location"])
    assert list(desk.left.values()) == [deleted]
    assert Read(page.text).title == "You have left the study"
    assert ("have deleted your answers" in page.text) == deleted


def test_leaving_needs_a_choice() -> None:
    desk = small()
    with visiting(desk) as visitor:
        visitor.get("/")
        token = Read(visitor.get("/leave").text).fields["form"].value
        assert visitor.ask("POST", "/leave", data={"form": token}).status_code == 400
    assert desk.left == {}


def test_completion_codes_are_on_no_page_before_the_end() -> None:
    desk = small(recruitment=PROLIFIC)
    with visiting(desk) as visitor:
        page = visitor.get("/?PROLIFIC_PID=abc")
        visitor.send(page, agree="yes")
        page = walk(visitor, desk.study)
        before = [item for item in visitor.sent if item is not page]
    assert "DONE-77" in page.text
    assert "https://app.prolific.com/submissions/complete?cc=DONE-77" in Read(page.text).links
    for item in before:
        assert b"DONE-77" not in item.content
        assert b"NOPE-78" not in item.content


def test_who_declines_gets_the_code_for_that() -> None:
    with visiting(small(recruitment=PROLIFIC)) as visitor:
        page = visitor.send(visitor.get("/?PROLIFIC_PID=abc"), agree="no")
    assert "NOPE-78" in page.text
    assert "DONE-77" not in page.text


def test_a_preview_takes_no_place_and_makes_nobody() -> None:
    desk = small(recruitment=Recruitment(platform="mturk"))
    with visiting(desk) as visitor:
        page = visitor.get("/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    assert Read(page.text).title == "This is a preview"
    assert desk.people == {}
    assert "set-cookie" not in page.headers


def test_the_work_is_handed_in_at_the_platform_that_gave_it() -> None:
    desk = small(recruitment=Recruitment(platform="mturk"))
    link = "/?assignmentId=a1&hitId=h&workerId=w&turkSubmitTo=https://workersandbox.mturk.com"
    with visiting(desk) as visitor:
        visitor.send(visitor.get(link), agree="yes")
        page = walk(visitor, desk.study)
    assert 'action="https://workersandbox.mturk.com/mturk/externalSubmit"' in page.text
    assert Read(page.text).fields["assignmentId"].value == "a1"
    assert "form-action 'self' https://www.mturk.com" in page.headers["content-security-policy"]


def test_a_frame_is_allowed_for_the_platform_that_needs_one_and_no_other() -> None:
    with visiting(small(recruitment=Recruitment(platform="mturk"))) as visitor:
        framed = visitor.get("/page").headers
    with visiting(small()) as visitor:
        plain = visitor.get("/page").headers
    assert "frame-ancestors https://www.mturk.com" in framed["content-security-policy"]
    assert "frame-ancestors 'none'" in plain["content-security-policy"]
    assert plain["x-frame-options"] == "DENY"


def test_sona_gets_its_survey_code_back() -> None:
    address = "https://sona.test/credit?token=t&survey_code={survey_code}"
    desk = small(recruitment=Recruitment(platform="sona", return_url=address))
    with visiting(desk) as visitor:
        visitor.send(visitor.get("/?id=12%2F3"), agree="yes")
        page = walk(visitor, desk.study)
    assert "https://sona.test/credit?token=t&survey_code=12%2F3" in Read(page.text).links


def test_the_studys_markdown_is_drawn_and_what_others_wrote_is_not() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "rate/1")
    assert "**not** nothing &lt;b&gt;at all&lt;/b&gt;" in page.text


def test_a_draft_comes_back_with_the_page() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "demographics")
        fields = {name: one.value for name, one in Read(page.text).fields.items() if one.value}
        kept = visitor.ask("POST", "/draft", data=fields | {"answer-town": "Ulm"})
        page = visitor.get("/page")
    assert kept.status_code == 204
    assert Read(page.text).fields["answer-town"].value == "Ulm"


def test_times_are_taken_from_the_browser_where_it_tells_them() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = visitor.get("/")
        fields = {name: one.value for name, one in Read(page.text).fields.items() if one.value}
        told = {"timing-seconds": "4.5", "timing-losses": "2", "timing-away": "nan"}
        visitor.ask("POST", "/page", data=fields | told | {"answer-agree": "yes"})
        visitor.send(visitor.get("/page"), age="30", sex="female")
    assert desk.timings == [{"seconds": 4.5, "losses": 2.0}, {}]


def test_a_trial_visit_is_marked_and_starts_anew_each_time() -> None:
    desk = small(recruitment=PROLIFIC)
    with visiting(desk) as visitor:
        visitor.get(f"/?visit={visit_token('test', KEY)}")
        visitor.get(f"/?visit={visit_token('test', KEY)}")
        assert visitor.get("/?visit=test.abc").status_code == 400
    assert list(desk.people.values()) == ["test", "test"]


def test_two_people_in_one_browser_are_not_mixed_up() -> None:
    desk = small(recruitment=PROLIFIC)
    with visiting(desk) as visitor:
        old = visitor.get("/?PROLIFIC_PID=one")
        visitor.get("/?PROLIFIC_PID=two")
        page = visitor.send(old, agree="yes")
    assert page.status_code == 403
    assert "out of date" in page.text
    assert desk.stored == 0


def test_the_app_can_live_under_a_path() -> None:
    desk = small()
    visitor = Visitor(Starlette(routes=[Mount("/first", app_of(desk))]))
    page = visitor.get("/first/")
    assert page.url.path == "/first/page"
    assert 'action="/first/page"' in page.text
    assert visitor.get(page.text.split('href="')[2].split('"')[0]).status_code == 200
    visitor.close()


def test_a_page_that_was_answered_shows_the_next_of_the_same_kind_with_its_number() -> None:
    desk = small()
    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "rate/2")
    assert '<p class="count">Reply 2 of 2</p>' in page.text
    assert filled(desk.study, page) == {"empathy": "1"}


@pytest.mark.parametrize("reason", sorted(set(get_args(Reason)) | {"repeated"}))
def test_who_has_no_place_is_told_why(monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    desk = small(recruitment=PROLIFIC)
    closed = Closed(reason, Completion("LATE-9", None))  # type: ignore[arg-type]
    with visiting(desk) as visitor:
        visitor.get("/?PROLIFIC_PID=abc")
        monkeypatch.setattr(desk, "view", lambda person: closed)
        page = visitor.get("/page")
    assert page.status_code == 200
    assert words_in("en").closed[reason].text in unescape(page.text)
    assert "LATE-9" in page.text


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_has_a_last_page(monkeypatch: pytest.MonkeyPatch, outcome: str) -> None:
    desk = small()
    over = Finished(outcome, None, Completion(None, None))  # type: ignore[arg-type]
    with visiting(desk) as visitor:
        visitor.get("/")
        monkeypatch.setattr(desk, "view", lambda person: over)
        page = visitor.get("/page")
    assert page.status_code == 200
    assert Read(page.text).title


def test_the_same_link_opened_twice_leaves_the_first_tab_good() -> None:
    desk = small(recruitment=PROLIFIC)
    with visiting(desk) as visitor:
        first = visitor.get("/?PROLIFIC_PID=abc")
        visitor.get("/?PROLIFIC_PID=abc&SESSION_ID=2")
        page = visitor.send(first, agree="yes")
    assert Read(page.text).fields["step"].value == "demographics"


def test_a_failure_in_the_log_holds_no_words_of_a_rater(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = small()

    def failing(*given: object) -> None:
        raise ValueError(f"cannot store {given}")

    with visiting(desk) as visitor:
        page = walk(visitor, desk.study, "comment")
        monkeypatch.setattr(desk, "submit", failing)
        assert visitor.send(page, comment="my own words").status_code == 500
    assert "ValueError" in caplog.text
    assert "my own words" not in caplog.text
