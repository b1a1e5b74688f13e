"""The presets chat and peer in real browsers: with and without scripts, on desk and phone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.store import Lab, schema
from empathylab.study import parse_study, preset_text
from empathylab.study.live.confederates import new_queue_token
from empathylab.study.session.service import StudyService, launch
from tests.helpers.endpoint import Served
from tests.study.service_examples import START, rows_of
from tests.study.web.raters import right_answers
from tests.study.web.serving import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}
PHONE: dict[str, Any] = {
    "viewport": {"width": 375, "height": 740},
    "color_scheme": "dark",
    "has_touch": True,
    "is_mobile": True,
}
STORY = "Last week my best friend moved away, and the weekends feel empty. " * 4
KEY = "LOOPBACK_KEY"


class Participant:
    """Someone at a browser, who answers page by page."""

    def __init__(self, page: Page, service: StudyService, name: str) -> None:
        self.page, self.name = page, name
        self.right = right_answers(service.study)
        self.kinds: set[str] = set()
        self.sent = 0
        self.troubles: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))

    @property
    def step(self) -> str:
        field = self.page.locator('input[name="step"]')
        return field.input_value() if field.count() else ""

    @property
    def waits(self) -> bool:
        return bool(self.page.locator("#live").count())

    @property
    def is_done(self) -> bool:
        # One look: a page that is being replaced is no end.
        return bool(self.page.locator("body:has(h1):not(:has(progress))").count())

    def look(self) -> None:
        """Audits a page of each kind once on both screens; keeps pictures where asked to."""
        kind = "waiting" if self.waits else re.sub(r"\d+", "N", self.step) or "end"
        if self.waits and self.page.locator(".waiting.room").count():
            kind = "room"
        if kind in self.kinds or not kind.startswith(("chat", "helped", "room", "tell", "waiting")):
            return  # pages of other blocks are audited with other presets
        self.kinds.add(kind)
        self.audit(kind)

    def audit(self, kind: str) -> None:
        """Refuses what is not accessible or too wide, on both screens."""
        for way, settings in (("phone", PHONE), ("desk", DESK)):
            self.page.set_viewport_size(settings["viewport"])
            self.page.emulate_media(color_scheme=settings["color_scheme"])
            if folder := os.environ.get("PICTURES"):
                Path(folder).mkdir(exist_ok=True)
                name = f"{self.name}-{kind.replace('/', '-')}-{way}.png"
                self.page.screenshot(path=f"{folder}/{name}", full_page=True)
            wider = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wider <= 0, (kind, way)
            results: Any = Axe().run(self.page)
            assert [
                (violation["id"], violation["nodes"][0]["html"][:200])
                for violation in results.response["violations"]
                if violation["impact"] in ("serious", "critical", "moderate")
            ] == [], (kind, way)

    def act(self, **options: bool) -> None:
        """Answers the page, or looks again where it waits."""
        if self.waits:
            if options.get("scripted", True):
                self.page.wait_for_timeout(300)
            else:
                self.page.reload()
            return
        step = self.step
        if not step:
            return
        for group in self.page.locator("fieldset.ask[role=radiogroup], .matrix .line").all():
            name = (group.get_attribute("id") or "").removeprefix("answer-")
            right = self.right.get((step, name)) or self.right.get((step.rpartition("/")[0], name))
            chosen = f'label:has(input[value="{right}"])' if right else "label >> nth=0"
            group.locator(chosen).click()
        for field in self.page.locator(".ask input[type=text]").all():
            field.fill("34")
        for field in self.page.locator("textarea").all():
            if step.startswith("chat"):
                self.sent += 1
                field.fill(f"[say {self.name} is heard, {self.sent}]")
            else:
                field.fill(STORY)
        with self.page.expect_navigation():
            self.page.locator("button.main").click()


def participant(
    browser: Browser, address: str, service: StudyService, name: str, **ways: Any
) -> Participant:
    context = browser.new_context(reduced_motion="reduce", **ways)
    page = context.new_page()
    page.goto(address)
    return Participant(page, service, name)


@pytest.fixture
def chatting(
    sqlite_lab: Lab, endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[StudyService, str]]:
    """The preset chat with a model on loopback."""
    monkeypatch.setenv(KEY, "none")
    keys = f"base_url: {endpoint.base_url}, api_key_env: {KEY}, sent_to: our own server"
    model = "model: openai/gpt-4o-mini\n      " + keys.replace(", ", "\n      ")
    text = preset_text("chat").replace("model: local/smollm2", model)
    text = text.replace("delay: {minimum: 8, maximum: 20}", "delay: {minimum: 1, maximum: 2}")
    study = parse_study(text.replace("turns: 6", "turns: 3"))
    launch(sqlite_lab, study, now=START)
    service = StudyService(sqlite_lab, study.name)
    with served(service) as address:
        yield service, address


@pytest.mark.parametrize(
    ("name", "ways"),
    [("desk", DESK), ("phone", PHONE | {"java_script_enabled": False})],
    ids=["desk", "phone without scripts"],
)
def test_the_preset_chat_is_completed(
    chatting: tuple[StudyService, str], browser: Browser, name: str, ways: dict[str, Any]
) -> None:
    service, address = chatting
    ann = participant(browser, address, service, name, **ways)
    scripted = ways.get("java_script_enabled", True)
    for _ in range(80):
        if scripted:
            ann.look()
        if ann.is_done:
            break
        ann.act(scripted=scripted)
    assert ann.page.locator("h1").inner_text() == "Thank you"
    assert ann.troubles == []
    assert service.actions.status().outcomes == {"completed": 1}
    turns = rows_of(service.lab, schema.live_turns)
    replies = [turn["text"] for turn in turns if turn["sender"] == "respondent"]
    assert replies == [f"{name} is heard, {number}" for number in (1, 2, 3)]
    assert all(turn["shown_at"] >= turn["due_at"] for turn in turns)


def test_a_confederate_answers_a_participant_from_the_queue_page(
    sqlite_lab: Lab, browser: Browser
) -> None:
    text = preset_text("peer").replace("person: participant", "person: confederate")
    study = parse_study(text)
    launch(sqlite_lab, study, now=START)
    service = StudyService(sqlite_lab, study.name)
    with served(service) as address:
        ann = participant(browser, address, service, "queue-ann", **DESK)
        while not ann.waits:
            ann.act()
        carl = participant(browser, address, service, "carl", **DESK)
        carl.page.goto(f"{address}/queue?{urlencode({'link': new_queue_token(service, 'carl')})}")
        assert "1 participant is waiting." in carl.page.locator("main").inner_text()
        carl.audit("queue")
        carl.page.get_by_role("button", name="Take the next one").click()
        for number in (1, 2):
            while not ann.waits or ann.page.locator(".waiting.room").count():
                ann.act()
            box = carl.page.locator("textarea")
            carl.page.goto(f"{address}/queue")
            box.wait_for()
            carl.audit(f"queue-{number}")
            box.fill(f"I hear you, {number}")
            carl.page.get_by_role("button", name="Send").click()
            carl.page.get_by_text(f"I hear you, {number}").wait_for()
            ann.page.get_by_text(f"I hear you, {number}").wait_for(timeout=60_000)
        while not ann.is_done:
            ann.act()
        assert carl.troubles == ann.troubles == []
    assert service.actions.status().outcomes == {"completed": 1}
    replies = [row for row in rows_of(sqlite_lab, schema.live_turns) if row["position"] % 2 == 0]
    assert [row["text"] for row in replies] == ["I hear you, 1", "I hear you, 2"]


def test_two_browsers_complete_the_preset_peer(sqlite_lab: Lab, browser: Browser) -> None:
    study = parse_study(preset_text("peer"))
    launch(sqlite_lab, study, now=START)
    service = StudyService(sqlite_lab, study.name)
    with served(service) as address:
        ann = participant(browser, address, service, "ann", **DESK)
        ben = participant(browser, address, service, "ben", **PHONE, java_script_enabled=False)
        while not ann.waits:
            ann.look()
            ann.act()
        for _ in range(120):
            if ann.is_done and ben.is_done:
                break
            if not ann.is_done:
                ann.look()
                ann.act()
            if not ben.is_done:
                ben.act(scripted=False)
        assert [value.page.locator("h1").inner_text() for value in (ann, ben)] == ["Thank you"] * 2
        assert {"room", "waiting"} <= ann.kinds
    first, second = rows_of(sqlite_lab, schema.live_conversations)
    assert (first["partner_id"], second["partner_id"]) == (second["id"], first["id"])
    turns = rows_of(sqlite_lab, schema.live_turns)
    assert len(turns) == 8
    assert {turn["state"] for turn in turns} == {"ready"}
