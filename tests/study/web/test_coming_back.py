"""Browsers that come back: to another version, to another study, as someone they may not be."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.admin.reviews import Reviews
from empathylab.study.design.recruitment import Platform, Recruitment
from empathylab.study.recruiting.invitations import invite
from empathylab.study.session.service import StudyService, launch
from tests.study.examples import altered, between
from tests.study.live.test_chat import CHAT
from tests.study.service_examples import Clock, opened, rows_of
from tests.study.web.raters import Read, Visitor, app_of, filled, visiting

LINKS: dict[Platform, str] = {
    "sona": "/?survey_code=1042",
    "prolific": "/?PROLIFIC_PID=ann&STUDY_ID=s&SESSION_ID=x",
    "mturk": "/?assignmentId=a&hitId=h&workerId=w&turkSubmitTo=https://www.mturk.com",
}
ANSWER = {"answer-empathy": "1"}


def field_values(page: httpx.Response) -> dict[str, str]:
    """What the page's form would send as it is."""
    return {name: one.value for name, one in Read(page.text).fields.items() if one.value}


def recruited(lab: Lab, platform: Platform) -> StudyService:
    return opened(
        lab, between(recruitment=Recruitment(platform=platform, codes={"completed": "C1"}))
    )[0]


def second_version(lab: Lab, clock: Clock) -> StudyService:
    launch(lab, between(version=2), now=clock())
    return StudyService(lab, "small@2", clock=clock)


def step(page: httpx.Response) -> str:
    return Read(page.text).fields["step"].value


def go_on(
    visitor: Visitor, service: StudyService, page: httpx.Response, until: str
) -> httpx.Response:
    while not step(page).startswith(until):
        page = visitor.send(page, **filled(service.study, page))
    return page


@pytest.fixture
def browser() -> Iterator[list[Visitor]]:
    """Browsers that are closed at the end."""
    used: list[Visitor] = []
    yield used
    for item in used:
        item.close()


def at(service: StudyService, browser: list[Visitor]) -> Visitor:
    """The same browser, now at this study: it brings the cookies that it got elsewhere."""
    visitor = Visitor(app_of(service))
    for item in browser:
        visitor.client.cookies.update(item.client.cookies)
    browser.append(visitor)
    return visitor


def test_a_browser_that_only_saw_the_first_version_takes_part_in_the_second(
    sqlite_lab: Lab, browser: list[Visitor]
) -> None:
    first, clock = opened(sqlite_lab)
    assert step(at(first, browser).get("/")) == "consent"
    second = second_version(sqlite_lab, clock)
    page = at(second, browser).get("/")
    assert (page.status_code, step(page)) == (200, "consent")
    assert first.actions.participants()[0].person == second.actions.participants()[0].person


def test_a_browser_that_took_part_in_the_first_version_is_known_by_the_second(
    sqlite_lab: Lab, browser: list[Visitor]
) -> None:
    first, clock = opened(sqlite_lab)
    visitor = at(first, browser)
    go_on(visitor, first, visitor.get("/"), "rate")
    second = second_version(sqlite_lab, clock)
    page = at(second, browser).get("/")
    assert "only once" in page.text
    assert [participant.status for participant in second.actions.participants()] == ["repeated"]


def test_who_was_forgotten_and_opens_the_link_again_meets_a_page(
    sqlite_lab: Lab, browser: list[Visitor]
) -> None:
    service, _ = opened(sqlite_lab)
    visitor = at(service, browser)
    visitor.get("/")
    service.actions.forget(service.actions.participants()[0].person)
    assert visitor.get("/page").status_code == 403
    assert visitor.get("/").status_code == 200


def test_who_deleted_their_answers_does_not_begin_anew_by_the_open_link(
    sqlite_lab: Lab, browser: list[Visitor]
) -> None:
    service, _ = opened(sqlite_lab)
    visitor = at(service, browser)
    form = Read(visitor.get("/").text).fields["form"].value
    visitor.ask("POST", "/leave", data={"form": form, "answers": "delete"})
    assert "We have deleted your answers" in visitor.get("/").text
    assert len(service.actions.participants()) == 1


def test_of_a_closed_study_answers_can_only_be_deleted(
    sqlite_lab: Lab, browser: list[Visitor]
) -> None:
    service, _ = opened(sqlite_lab)
    visitor = at(service, browser)
    go_on(visitor, service, visitor.get("/"), "rate")
    assert "Continue the study" in visitor.get("/leave").text
    service.actions.close()
    page = visitor.get("/leave").text
    assert "The study is closed" in page
    assert "Continue the study" not in page
    assert 'value="keep"' not in page
    form = Read(page).fields["form"].value
    visitor.ask("POST", "/leave", data={"form": form, "answers": "delete"})
    assert rows_of(sqlite_lab, schema.page_answers) == []


def test_two_studies_on_one_host_keep_their_visitors(
    sqlite_lab: Lab, browser: list[Visitor]
) -> None:
    clock = Clock()
    one, _ = opened(sqlite_lab, between(name="one"), clock=clock)
    launch(sqlite_lab, between(name="two"), now=clock())
    two = StudyService(sqlite_lab, "two", clock=clock)
    for service in (one, two, one, two):
        assert at(service, browser).get("/").status_code == 200
    assert (len(one.actions.participants()), len(two.actions.participants())) == (1, 1)
    names = {name for visitor in browser for name in visitor.client.cookies}
    assert len(names) == 2
    assert not any(word in name for name in names for word in ("one", "two", "small"))


@pytest.mark.parametrize("platform", LINKS)
def test_a_participant_who_types_anothers_id_goes_on_but_sees_and_deletes_nothing(
    sqlite_lab: Lab, platform: Platform
) -> None:
    service = recruited(sqlite_lab, platform)
    with visiting(service) as ann, visiting(service) as eve:
        page = go_on(ann, service, ann.get(LINKS[platform]), "rate/2")
        begun = {"form": Read(page.text).fields["form"].value, "step": "rate/2"}
        ann.ask("POST", "/draft", data={**begun, "answer-empathy": "3"})
        for _ in range(2):  # a second look is no proof either
            seen = eve.get(LINKS[platform])
            own = {"form": Read(seen.text).fields["form"].value, "step": "rate/2"}
            eve.ask("POST", "/draft", data={**own, "answer-empathy": "1"})
            assert step(seen) == "rate/2"
            assert Read(seen.text).fields["answer-empathy"].value == ""
            assert not any("/back" in link for link in Read(seen.text).links)
        assert step(eve.get("/back?from=rate/2")) == "rate/2"
        leaving = eve.get("/leave")
        assert 'value="delete"' not in leaving.text
        form = Read(seen.text).fields["form"].value
        for choice in ("delete", "keep"):
            refused = eve.ask("POST", "/leave", data={"form": form, "answers": choice})
            assert refused.status_code == 403
        assert service.actions.participants()[0].status == "live"
        assert service.actions.participants()[0].answered > 0
        assert 'value="delete"' in ann.get("/leave").text
        assert Read(ann.get("/page").text).fields["answer-empathy"].value == "3"
        back = ann.get("/back?from=rate/2")
    assert step(back) == "rate/1"


@pytest.mark.parametrize("platform", LINKS)
def test_a_guest_never_sees_the_completion_code(sqlite_lab: Lab, platform: Platform) -> None:
    service = recruited(sqlite_lab, platform)
    with visiting(service) as ann, visiting(service) as eve:
        page = go_on(ann, service, ann.get(LINKS[platform]), "comment")
        seen = eve.get(LINKS[platform])
        assert "another browser" in seen.text
        assert "please write to us" in seen.text
        assert "another browser" not in page.text
        end = eve.send(seen, **filled(service.study, seen))
        for text in (end.text, eve.get("/page").text, eve.get(LINKS[platform]).text):
            assert "C1" not in text
            assert "externalSubmit" not in text
            assert "another browser" in text
        assert page.status_code == 200
        own = ann.get("/page").text
    assert "C1" in own


@pytest.mark.parametrize("platform", LINKS)
def test_of_three_simultaneous_arrivals_the_first_to_answer_is_the_owner(
    sqlite_lab: Lab, platform: Platform
) -> None:
    service = recruited(sqlite_lab, platform)
    with visiting(service) as ann, visiting(service) as eve, visiting(service) as bob:
        opened_pages = [value.get(LINKS[platform]) for value in (eve, ann, bob)]
        assert {step(page) for page in opened_pages} == {"consent"}
        go_on(ann, service, opened_pages[1], "rate/2")
        for other, page in ((eve, opened_pages[0]), (bob, opened_pages[2])):
            form = Read(page.text).fields["form"].value
            for choice in ("keep", "delete"):
                left = other.ask("POST", "/leave", data={"form": form, "answers": choice})
                assert left.status_code == 403
            assert step(other.get("/back?from=rate/2")) == "rate/2"
            sent = {"form": form, "step": "rate/1", "answer-empathy": "3"}
            changed = other.ask("POST", "/page", data=sent)
            assert changed.headers["location"] == "/page?moved"
        assert 'value="delete"' in ann.get("/leave").text
        assert step(ann.get("/back?from=rate/2")) == "rate/1"
        go_on(ann, service, ann.get("/page"), "comment")
        page = ann.get("/page")
        assert "C1" in ann.send(page, **filled(service.study, page)).text
        for other in (eve, bob):
            assert "C1" not in other.get("/page").text


def test_a_stale_tab_does_not_overwrite_a_newer_answer(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with visiting(service) as ann:
        stale = go_on(ann, service, ann.get("/"), "rate/1")
        ann.send(stale, empathy="3")
        moved = ann.ask("POST", "/page", data=field_values(stale) | ANSWER)
        assert moved.headers["location"] == "/page?moved"
        assert "already answered that page" in ann.get("/page?moved").text
        first, second = (ann.get("/back?from=attention") for _ in range(2))
        ann.send(first, empathy="2")
        moved = ann.ask("POST", "/page", data=field_values(second) | ANSWER)
        assert moved.headers["location"] == "/page?moved"
    given = {row["step"]: row["given"] for row in rows_of(sqlite_lab, schema.page_answers)}
    assert given["rate/1"] == {"empathy": 2}


def test_a_refused_form_is_kept_and_shown_after_a_redirect(sqlite_lab: Lab) -> None:
    service = recruited(sqlite_lab, "prolific")
    other_process = StudyService(sqlite_lab, "small", clock=service.now)
    typed = "Zwölf \x00<b>& mehr</b>"
    with visiting(service) as ann, visiting(service) as eve, visiting(other_process) as elsewhere:
        page = go_on(ann, service, ann.get(LINKS["prolific"]), "demographics")
        sent = {name: value for name, value in field_values(page).items() if "answer" not in name}
        refused = ann.ask("POST", "/page", data=sent | {"answer-age": typed})
        assert (refused.status_code, refused.headers["location"]) == (303, "/page?refused")
        elsewhere.client.cookies = ann.client.cookies
        for visitor, path in ((ann, "/page?refused"), (ann, "/page"), (elsewhere, "/page")):
            shown = visitor.get(path)
            assert Read(shown.text).fields["answer-age"].value == typed.replace("\x00", "")
            assert "Please write a number" in shown.text
            assert "already answered" not in shown.text
        guest = eve.get(LINKS["prolific"])
        assert step(guest) == "demographics"
        assert "Zwölf" not in guest.text
        assert "Please write a number" not in guest.text
        again = eve.send(guest, age="Thirteen")
        assert Read(again.text).fields["answer-age"].value == "Thirteen"
        assert "Please write a number" in again.text
        assert Read(ann.get("/page").text).fields["answer-age"].value == "Zwölf <b>& mehr</b>"
        assert rows_of(sqlite_lab, schema.slots)[0]["draft"]["refused"]["step"] == "demographics"
        after = ann.send(page, **filled(service.study, page))
        assert step(after) != "demographics"
        assert rows_of(sqlite_lab, schema.slots)[0]["draft"] == {}
        assert 'id="errors"' not in after.text


def test_a_refused_correction_leaves_the_draft_of_the_page_that_is_due(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with visiting(service) as ann:
        due = go_on(ann, service, ann.get("/"), "rate/2")
        ann.ask("POST", "/draft", data=field_values(due) | ANSWER)
        earlier = ann.get("/back?from=rate/2")
        refused = ann.ask("POST", "/page", data=field_values(earlier) | {"answer-empathy": "99"})
        assert refused.headers["location"] == "/back?from=rate/2"
        shown = ann.get("/back?from=rate/2")
        assert step(shown) == "rate/1"
        assert "Please choose one of the options" in shown.text
        assert Read(ann.get("/page").text).fields["answer-empathy"].value == "1"
        ann.send(shown, empathy="2")
        assert 'id="errors"' not in ann.get("/back?from=rate/2").text
        assert Read(ann.get("/page").text).fields["answer-empathy"].value == "1"


def test_a_closed_study_says_so_to_everybody(sqlite_lab: Lab) -> None:
    study = between(recruitment=Recruitment(platform="invitation"))
    service, _ = opened(sqlite_lab, study)
    used, unused = (f"/?invitation={item.token}" for item in invite(service, 2))
    with visiting(service) as ann, visiting(service) as new, visiting(service) as nobody:
        page = go_on(ann, service, ann.get(used), "rate/1")
        service.actions.close()
        answers = [ann.send(page, empathy="2"), ann.get("/page"), ann.get(used), new.get(unused)]
        answers += [nobody.get(path) for path in ("/", "/page", "/?invitation=x", "/leave")]
        for answer in answers:
            assert Read(answer.text).title == "The study is closed"
    acts = (lambda: invite(service, 1), lambda: service.actions.stop_arm("one"))
    for act in (*acts, service.actions.pause):
        with pytest.raises(InputError, match="the study is closed"):
            act()


def test_a_guest_answers_on(sqlite_lab: Lab) -> None:
    service = recruited(sqlite_lab, "sona")
    with visiting(service) as ann, visiting(service) as eve:
        go_on(ann, service, ann.get(LINKS["sona"]), "rate/2")
        page = eve.send(eve.get(LINKS["sona"]), empathy="2")
    assert step(page) == "comment"


def test_a_guest_never_reads_a_conversation(sqlite_lab: Lab) -> None:
    clock = Clock()
    study = parse_study(CHAT.replace("platform: open", "platform: prolific"))
    launch(sqlite_lab, study, now=clock())
    service = StudyService(sqlite_lab, study.name, clock=clock)
    with visiting(service) as ann, visiting(service) as eve:
        early = eve.get(LINKS["prolific"])
        ann.send(ann.get(LINKS["prolific"]), agree="yes")
        ann.send(ann.get("/page"), message="A secret of mine")
        clock.skip(seconds=60)
        own = ann.get("/page")
        seen = [eve.get("/page"), eve.get(LINKS["prolific"])]
    assert step(early) == "consent"
    assert "A secret of mine" in own.text
    for page in seen:
        assert "use the browser in which you started" in page.text
        assert "secret" not in page.text


def test_a_guest_changes_nothing_that_was_answered(sqlite_lab: Lab) -> None:
    service = recruited(sqlite_lab, "sona")
    with visiting(service) as ann, visiting(service) as eve:
        page = go_on(ann, service, ann.get(LINKS["sona"]), "rate/1")
        page = ann.send(page, empathy="3")
        before = rows_of(sqlite_lab, schema.page_answers)
        form = Read(eve.get(LINKS["sona"]).text).fields["form"].value
        for key, name, value in (
            ("rate/1", "empathy", "1"),
            ("demographics", "town", "Elsewhere"),
            ("consent", "agree", "no"),
        ):
            sent = {"form": form, "step": key, f"answer-{name}": value, "from": "rate/2"}
            refused = eve.ask("POST", "/page", data=sent)
            assert refused.headers["location"] == "/page?moved", key
        assert rows_of(sqlite_lab, schema.page_answers) == before
        page = ann.get(f"/back?from={step(page)}")
        ann.ask("POST", "/page", data={**field_values(page), **ANSWER})
    changed = {row["step"]: row["given"] for row in rows_of(sqlite_lab, schema.page_answers)}
    assert changed["rate/1"] == {"empathy": 1}


def test_a_guest_is_shown_a_message_before_it_counts_as_read(
    sqlite_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("empathylab.study.admin.reviews._LOOK_AGAIN", timedelta(0))
    service = recruited(sqlite_lab, "sona")
    with visiting(service) as ann, visiting(service) as eve:
        go_on(ann, service, ann.get(LINKS["sona"]), "rate/1")
        page = eve.get(LINKS["sona"])
        [person] = [participant.person for participant in service.actions.participants()]
        reviews = Reviews(sqlite_lab, service.launched.row, clock=service.now)
        reviews.message(person, "Please take your time.")
        seen = eve.send(page, empathy="2")
        assert "Please take your time." in seen.text
        assert [message.read_at for message in reviews.messages(person)] == [None]
        go_on(eve, service, seen, "rate/2")
    assert all(message.read_at for message in reviews.messages(person))


def test_a_program_that_opened_the_link_makes_nobody_a_guest(sqlite_lab: Lab) -> None:
    service = recruited(sqlite_lab, "sona")
    with visiting(service) as program, visiting(service) as ann:
        program.get(LINKS["sona"])
        go_on(ann, service, ann.get(LINKS["sona"]), "rate/2")
        assert step(ann.get("/back?from=rate/2")) == "rate/1"
        assert 'value="delete"' in ann.get("/leave").text


def test_an_invitation_is_proof_enough(sqlite_lab: Lab) -> None:
    from empathylab.study.recruiting.invitations import invite

    service = recruited(sqlite_lab, "invitation")
    (made,) = invite(service, 1)
    link = f"/?invitation={made.token}"
    with visiting(service) as ann, visiting(service) as later:
        go_on(ann, service, ann.get(link), "rate/2")
        later.get(link)
        assert 'value="delete"' in later.get("/leave").text


def test_the_studys_own_cookie_wins_over_one_of_a_path_above(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab)
    launch(sqlite_lab, altered(between(), name="above"), now=clock())
    above = StudyService(sqlite_lab, "above", clock=clock)
    with visiting(service) as own, visiting(above) as other, visiting(service) as both:
        own.get("/")
        other.get("/")
        sent = [*own.client.cookies.items(), *other.client.cookies.items()]
        cookies = "; ".join(f"{name}={value}" for name, value in sent)
        assert both.ask("GET", "/page", headers={"Cookie": cookies}).status_code == 200
