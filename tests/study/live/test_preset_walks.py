"""The presets in real browsers: on desk and phone, with and without scripts, every page audited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study import parse_study, preset_text
from empathylab.study.live.confederates import new_queue_token
from empathylab.study.session.service import StudyService, launch
from empathylab.study.web.console import first_link
from tests.helpers.endpoint import Served
from tests.study.live.walkers import STORY, WAYS, Walker, walk
from tests.study.service_examples import rows_of
from tests.study.web.console.researchers import PASSWORD
from tests.study.web.serving import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KEY = "LOOPBACK_KEY"
SHORTER = {
    "    seconds: 5\n": "    seconds: 1\n",
    "delay: {minimum: 25, maximum: 45}": "delay: {minimum: 2, maximum: 2.5}",
    "delay: {minimum: 8, maximum: 20}": "delay: {minimum: 1, maximum: 2}",
    "turns: 6": "turns: 3",
}
TOLD = ["consent", "before", "tell/note", "tell"]
ASKED = ["helped", "after", "attention", "comment", "end"]
INTRODUCED = ["consent", "demographics", "tutorial/N", "tutorial/example/N", "tutorial/check/N"]


@contextmanager
def serving(lab: Lab, name: str, **changes: str) -> Iterator[tuple[StudyService, str]]:
    """The preset with shorter waits, and the address of its server."""
    text = preset_text(name)
    for old, new in (SHORTER | changes).items():
        text = text.replace(old, new)
    launch(lab, parse_study(text), now=now())
    service = StudyService(lab, name)
    with served(service) as address:
        yield service, address


@pytest.fixture
def model(endpoint: Served, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What makes a preset's model the one on loopback."""
    monkeypatch.setenv(KEY, "none")
    keys = f"base_url: {endpoint.base_url}\n      api_key_env: {KEY}\n      sent_to: our own server"
    return {"model: local/smollm2": f"model: openai/gpt-4o-mini\n      {keys}"}


def all_ways(
    browser: Browser, address: str, service: StudyService, ways: Iterable[str] = WAYS
) -> list[Walker]:
    return [Walker(browser, address, service.study, name) for name in ways]


def check(walkers: list[Walker], pages: set[str], waits: set[str]) -> None:
    """Every walker saw these pages and the end, someone those on which one waits."""
    assert waits <= set().union(*(walker.seen for walker in walkers))
    for walker in walkers:
        assert set(walker.seen) - waits == pages, walker.name
        assert walker.heading == "Thank you"
        assert walker.troubles == []
        walker.close()


def test_the_preset_recipient_is_walked_in_all_ways_and_stops_in_a_crisis(
    sqlite_lab: Lab, model: dict[str, str], browser: Browser
) -> None:
    with serving(sqlite_lab, "recipient", **model) as (service, address):
        walkers = all_ways(browser, address, service)
        walk(walkers)
        for walker in walkers[:2]:
            for path, heading in (("stop", "Do you need help?"), ("nowhere", "Page not found")):
                walker.page.goto(f"{address}/{path}")
                assert walker.heading == heading
                walker.audit(path)
            walker.page.goto(f"{address}/page")
        check(walkers, {*TOLD, "reply", *ASKED, "label", "debrief/reveal"}, {"waiting"})
        other = Walker(browser, address, service.study, "phone, no scripts")
        while other.state["step"] != "tell":
            other.answer(other.state["step"])
        other.answer("tell", f"{STORY} Some nights I want to die.")
        assert other.heading == "The study stops here"
        assert "findahelpline.com" in other.page.locator("main").inner_text()
        other.audit("crisis")
        other.close()
        researcher = Walker(browser, str(first_link(sqlite_lab, address)), service.study, "phone")
        for field, text in (("name", "ida"), ("password", PASSWORD), ("again", PASSWORD)):
            researcher.page.fill(f"#{field}", text)
        researcher.page.locator("main button").click()
        for state in ("open", "closed"):
            researcher.page.get_by_role("link", name="Conversations").click()
            researcher.audit(f"conversations of a study that is {state}")
            researcher.page.locator("tbody a.key").first.click()
            researcher.audit(f"conversation of a study that is {state}")
            if state == "open":
                service.actions.close()
        assert "I want to die" in researcher.page.locator("main").inner_text()
        researcher.close()
    assert service.actions.status().outcomes == {"completed": 4, "safety": 1}


def test_the_preset_chat_is_walked_on_a_phone_and_without_scripts(
    sqlite_lab: Lab, model: dict[str, str], browser: Browser
) -> None:
    """Desk and phone have the same pages; those of a chat are audited in all ways with a peer."""
    ways = ("phone", "desk, no scripts")
    with serving(sqlite_lab, "chat", **model) as (service, address):
        walkers = all_ways(browser, address, service, ways)
        walk(walkers)
        check(walkers, {*INTRODUCED, "before", "chat/N", *ASKED}, {"waiting"})
    assert service.actions.status().outcomes == {"completed": 2}
    turns = rows_of(service.lab, schema.live_turns)
    replies = sorted(turn["text"] for turn in turns if turn["sender"] == "respondent")
    assert replies == sorted(f"{name} is heard, {number}" for name in ways for number in (1, 2, 3))
    assert all(turn["shown_at"] >= turn["due_at"] for turn in turns)


def test_two_pairs_of_browsers_complete_the_preset_peer(sqlite_lab: Lab, browser: Browser) -> None:
    with serving(sqlite_lab, "peer") as (service, address):
        walkers = all_ways(browser, address, service)
        walk(walkers)
        told = {*INTRODUCED, *TOLD, "chat/room", "chat/N", "chat/reply/N", *ASKED}
        check(walkers, told, {"room", "waiting"})
    assert service.actions.status().outcomes == {"completed": 4}
    partners = {
        row["id"]: row["partner_id"] for row in rows_of(sqlite_lab, schema.live_conversations)
    }
    assert all(partners[other] == own for own, other in partners.items())
    turns = rows_of(sqlite_lab, schema.live_turns)
    assert len(turns) == 16
    assert {turn["state"] for turn in turns} == {"ready"}


def test_a_confederate_answers_a_participant_from_the_queue_page(
    sqlite_lab: Lab, browser: Browser
) -> None:
    trained = {"person: participant": "person: confederate"}
    with serving(sqlite_lab, "peer", **trained) as (service, address):
        ann = Walker(browser, address, service.study, "desk, no scripts")
        carl = Walker(browser, address, service.study, "phone")
        while not ann.state["room"]:
            ann.answer(ann.state["step"])
        ann.look(ann.state)
        carl.page.goto(f"{address}/queue?{urlencode({'link': new_queue_token(service, 'carl')})}")
        assert "1 participant is waiting." in carl.page.locator("main").inner_text()
        carl.audit("queue")
        carl.page.get_by_role("button", name="Take the next one").click()
        for number in (1, 2):
            while not (ann.state["waits"] and not ann.state["room"]):
                ann.go_on()
            carl.page.locator("textarea").wait_for()  # the page updates itself
            carl.page.locator("textarea").fill(f"I hear you, {number}")
            carl.audit("queue with a story")
            carl.page.get_by_role("button", name="Send").click()
            carl.page.get_by_text(f"I hear you, {number}").wait_for()
            while ann.state["waits"]:
                ann.go_on()
            assert f"I hear you, {number}" in ann.page.locator("main").inner_text()
        walk([ann])
        assert carl.troubles == []
        ann.close()
        carl.close()
    assert service.actions.status().outcomes == {"completed": 1}
