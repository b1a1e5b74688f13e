"""The rater's pages in a real browser, on a desk and on a phone, from the link to the thanks."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.store import Lab
from empathylab.study import Study, parse_study
from empathylab.study.session.service import StudyService
from empathylab.study.web.interface_texts import direction
from tests.study.examples import SITUATION_PRESETS
from tests.study.web.desk import Desk, preset
from tests.study.web.labs import launched
from tests.study.web.raters import right_answers
from tests.study.web.serving import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WAYS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 375, "height": 740},
        "color_scheme": "dark",
        "has_touch": True,
        "is_mobile": True,
    },
}
_TAUGHT = {"consent", "demographics", "tutorial/N", "tutorial/example/N", "tutorial/check/N"}
_RATED = _TAUGHT | {"teq/N", "rate/note", "rate/N", "attention", "comment", ""}
KINDS = {
    "between-subjects": _RATED,
    "within-subjects": _RATED,
    "appraisal": _TAUGHT
    | {"before/N", "imagine/note", "imagine/N", "after/N", "attention", "comment", ""},
    "norming": _TAUGHT | {"norm/note", "norm/N", "attention", "comment", ""},
}
"""By preset, every kind of page that its raters see; the last one has no key."""

WRITING = """\
name: writers
version: 1
title: Replies
languages: [en]
seed: 5
situations: {set: dialogues, count: 1}
batch_size: 1
people_per_situation: 1
recruitment: {platform: prolific, codes: {completed: DONE-77}}
blocks:
  - block: consent
    text: Take part?
  - block: tutorial
    pages: [One page]
    check:
      questions:
        - {question: Is it clear, options: ["Yes", "No"], answer: "Yes", explanation: It is.}
  - block: write
    text: What would you say?
    shows: [situation]
  - block: debrief
    text: Thank you
"""


_FILL = """right => {
  for (const group of document.querySelectorAll('fieldset.ask[role=radiogroup], .matrix .line')) {
    const value = right[group.id.replace(/^answer-/, '')];
    const wanted = value && group.querySelector(`label:has(input[value="${value}"])`);
    (wanted || group.querySelector('label')).click();
  }
  for (const field of document.querySelectorAll('input[type=text], textarea')) {
    field.value = '34';
    field.dispatchEvent(new Event('input', {bubbles: true}));
  }
}"""
_audited: set[tuple[str, ...]] = set()
"""Presets share pages, which are audited once in each language."""


def kind_of(step: str) -> str:
    """A page's key without the numbers."""
    return re.sub(r"\d+", "N", step)


class Rater:
    """Somebody at a browser, with all that goes wrong in it."""

    def __init__(self, page: Page, address: str, study: Study) -> None:
        self.page = page
        self.address = address
        self.right = right_answers(study)
        self.troubles: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.troubles.append(text)

    @property
    def title(self) -> str:
        """The page's heading."""
        return self.page.locator("h1").inner_text()

    def overflow(self) -> int:
        """By how many pixels the page is wider than the screen."""
        found = self.page.evaluate("document.documentElement.scrollWidth - screen.width")
        return int(found)

    @property
    def step(self) -> str:
        """The page's key; empty where the study has ended."""
        field = self.page.locator('input[name="step"]')
        return field.input_value() if field.count() else ""

    def fill(self) -> None:
        """Answers all questions by touching and typing."""
        step = self.step
        for group in self.page.locator("fieldset.ask[role=radiogroup], .matrix .line").all():
            name = (group.get_attribute("id") or "").removeprefix("answer-")
            right = self.right.get((step, name)) or self.right.get((step.rpartition("/")[0], name))
            chosen = f'label:has(input[value="{right}"])' if right else "label >> nth=0"
            group.locator(chosen).click()
        for field in self.page.locator("input[type=text], textarea").all():
            field.fill("34")

    def go_on(self) -> None:
        """Presses the button and waits for the page after it."""
        button = self.page.locator("button.main")
        self.page.locator("button.main:not([aria-disabled=true])").wait_for()
        with self.page.expect_navigation():
            button.click()

    def fill_by_script(self) -> None:
        """Answers all questions at once."""
        step = self.step
        right = {
            name: value
            for (own, name), value in self.right.items()
            if own in (step, step.rpartition("/")[0])
        }
        self.page.evaluate(_FILL, right)

    def hurry(self, until: str = "") -> None:
        """To the end, or to the first page whose key begins so."""
        while (step := self.step) and not (until and step.startswith(until)):
            self.fill_by_script()
            self.go_on()

    def walk(self, seen: Callable[[str], None]) -> None:
        """To the end; the first page of each kind is answered as a person does."""
        kinds: set[str] = set()
        for _ in range(100):
            step = self.step
            seen(step)
            if not step:
                return
            if (kind := kind_of(step)) in kinds:
                self.fill_by_script()
            else:
                self.fill()
            kinds.add(kind)
            self.go_on()

    def violations(self) -> list[tuple[str, str]]:
        """What the accessibility audit calls serious."""
        results: Any = Axe().run(self.page)
        return [
            (found["id"], found["nodes"][0]["html"][:200])
            for found in results.response["violations"]
            if found["impact"] in ("serious", "critical", "moderate")
        ]


@contextlib.contextmanager
def rating(
    browser: Browser, desk: Desk | StudyService, way: str, **settings: Any
) -> Iterator[Rater]:
    """A rater who has opened the link."""
    with served(desk) as address:
        # Colours that are still changing would be audited as they are half way.
        context = browser.new_context(reduced_motion="reduce", **WAYS[way], **settings)
        rater = Rater(context.new_page(), address, desk.study)
        rater.page.goto(address)
        yield rater
        context.close()


def quick(name: str, language: str = "en") -> Study:
    """A preset whose least times are short, with the interface in that language."""
    languages = {"languages: [en]": f"languages: [{language}]"}
    return preset(name, **{"seconds: 10\n": "seconds: 1\n"}, **languages)


def walked(
    rater: Rater, picture: Callable[[str, str], object] = lambda way, kind: None
) -> set[str]:
    """The kinds of pages to the end, each audited once in every way that it can be looked at."""
    kinds: set[str] = set()

    def look(step: str) -> None:
        kind = kind_of(step)
        page = (kind, rater.title, language)
        for way in ("desktop", "phone") if kind not in kinds else ():
            rater.page.set_viewport_size(WAYS[way]["viewport"])
            rater.page.emulate_media(color_scheme=WAYS[way]["color_scheme"])
            assert page in _audited or rater.violations() == [], (way, step)
            assert rater.overflow() <= 0, (way, step)
            picture(way, kind)
        kinds.add(kind)
        _audited.add(page)

    language = rater.page.locator("html").get_attribute("lang") or ""
    rater.walk(look)
    assert rater.troubles == []
    return kinds


@pytest.mark.parametrize(
    ("name", "language"),
    [*((name, "en") for name in SITUATION_PRESETS), ("within-subjects", "ar"), ("appraisal", "zh")],
)
def test_a_preset_is_completed_and_every_page_is_accessible_on_phone_and_desk(
    sqlite_lab: Lab, browser: Browser, name: str, language: str
) -> None:
    service = launched(sqlite_lab, quick(name, language))
    with rating(browser, service, "phone") as rater:
        assert rater.page.locator("html").get_attribute("dir") == direction(language)
        assert walked(rater) == KINDS[name]
        assert rater.title == "Thank you"
    assert service.actions.status().outcomes == {"completed": 1}


def test_pages_that_are_none_of_the_studys_are_accessible_too(browser: Browser) -> None:
    desk = Desk(quick("within-subjects"))
    with rating(browser, desk, "phone") as rater:
        rater.hurry(until="rate/1")
        rater.go_on()
        assert rater.page.locator("#errors").evaluate("it => it === document.activeElement")
        seen = [(rater.title, rater.violations())]
        rater.page.get_by_role("link", name="How empathetic").click()
        assert rater.page.locator("#answer-empathy-1").evaluate(
            "it => it === document.activeElement || location.hash === '#answer-empathy-1'"
        )
        rater.fill()
        desk.broken = True
        rater.go_on()
        seen.append((rater.title, rater.violations()))
        rater.page.goto(rater.page.url)
        seen.append((rater.title, rater.violations()))
        desk.broken = False
        for path in ("/page?moved", "/nowhere", "/leave"):
            rater.page.goto(rater.address + path)
            seen.append((rater.title, rater.violations()))
        rater.page.get_by_role("button", name="delete").click()
        seen.append((rater.title, rater.violations()))
        rater.page.context.clear_cookies()
        rater.page.goto(rater.address + "/page")
        seen.append((rater.title, rater.violations()))
    assert seen == [
        ("What do you think of this reply?", []),
        ("Not saved yet", []),
        ("One moment, please", []),
        ("What do you think of this reply?", []),
        ("Page not found", []),
        ("Do you want to leave the study?", []),
        ("You have left the study", []),
        ("Please open your link again", []),
    ]


def test_pages_of_blocks_that_no_preset_has_are_accessible_too(browser: Browser) -> None:
    desk = Desk(parse_study(WRITING))
    with rating(browser, desk, "phone") as rater:
        rater.page.goto(rater.address + "/?PROLIFIC_PID=ann&STUDY_ID=s&SESSION_ID=x")
        rater.hurry(until="tutorial/check/1")
        for group in rater.page.locator("fieldset.ask").all():
            group.locator("label").last.click()
        rater.go_on()
        seen = [(rater.step, rater.violations())]
        rater.hurry(until="write")
        seen.append((rater.step, rater.violations()))
        rater.hurry()
        assert "DONE-77" in rater.page.content()
        seen.append((rater.step, rater.violations()))
    assert seen == [("tutorial/check/2", []), ("write/1", []), ("", [])]


def test_a_rating_needs_two_keys(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="rate/1")
        for key in ("3", "2", "1"):
            rater.page.keyboard.press(key)
            with rater.page.expect_navigation():
                rater.page.keyboard.press("Enter")
        person = next(iter(desk.people))
    given = desk.answers[person]
    assert [given[f"rate/{number}"]["empathy"] for number in (1, 2, 3)] == [3, 2, 1]


def test_keys_go_from_question_to_question(browser: Browser) -> None:
    desk = Desk(quick("within-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="rate/1")
        rater.page.keyboard.press("5")
        rater.page.keyboard.press("2")
        with rater.page.expect_navigation():
            rater.page.keyboard.press("Enter")
        person = next(iter(desk.people))
    assert set(desk.answers[person]["rate/1"].values()) == {5, 2}


def test_a_questionnaire_is_compact_and_says_what_is_missing_item_by_item(
    sqlite_lab: Lab, browser: Browser
) -> None:
    with rating(browser, launched(sqlite_lab, quick("norming")), "desktop") as rater:
        page = rater.page
        rater.hurry(until="norm/1")
        lines = page.locator(".compact .line")
        for width, tallest in ((1280, 60), (390, 130)):
            page.set_viewport_size({"width": width, "height": 844})
            heights = [line.bounding_box()["height"] for line in lines.all()]  # type: ignore[index]
            assert len(heights) == 13
            assert max(heights) < tallest
        # Digits choose the point with that number, line by line.
        lines.nth(0).locator("input").first.focus()
        page.keyboard.press("7")
        page.keyboard.press("2")
        chosen = page.locator(".compact input:checked")
        assert [field.input_value() for field in chosen.all()] == ["7", "2"]
        assert page.get_by_label("7 extremely").first.is_checked()
        rater.go_on()
        missing = page.locator("#errors li")
        assert missing.count() == 12  # the word and eleven statements
        assert rater.violations() == []
        missing.nth(1).locator("a").click()
        focused = page.locator(".compact .line.wrong").first.locator("input").first
        assert page.evaluate("document.activeElement.id") == focused.get_attribute("id")


def test_keys_can_be_turned_off_for_good(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.page.get_by_role("button", name="Turn off keyboard shortcuts").click()
        rater.page.reload()
        rater.page.keyboard.press("1")
        assert rater.page.locator("input:checked").count() == 0
        assert rater.page.get_by_role("button", name="Turn on keyboard shortcuts").is_visible()


def test_digits_stay_digits_where_someone_types(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="demographics")
        rater.page.locator("#answer-age").press_sequentially("34")
        assert rater.page.locator("#answer-age").input_value() == "34"
        assert rater.page.locator("input:checked").count() == 0


def test_a_double_click_stores_one_answer(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.fill()
        rater.page.locator("button.main").dblclick()
        rater.page.wait_for_function("document.querySelector('h1').innerText === 'About you'")
    assert desk.stored == 1


def test_back_forward_and_reload_are_harmless(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="rate/2")
        stored = desk.stored
        rater.page.go_back()
        rater.page.go_forward()
        rater.page.reload()
        assert rater.step == "rate/2"
        rater.fill()
        rater.go_on()
        assert rater.step == "rate/3"
    assert desk.stored == stored + 1


def test_two_tabs_end_up_at_the_same_page(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="rate/1")
        other = Rater(rater.page.context.new_page(), rater.address, desk.study)
        other.page.goto(rater.address + "/page")
        for value in (rater, other):
            value.fill()
            value.go_on()
        assert (rater.step, other.step) == ("rate/2", "rate/2")


def test_a_lost_connection_is_said_and_the_answer_stays(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.fill()
        rater.page.context.set_offline(True)
        rater.page.locator("button.main").click()
        assert "has not been saved yet" in rater.page.locator("#trouble").inner_text()
        rater.page.context.set_offline(False)
        rater.go_on()
        assert rater.step == "demographics"
    assert desk.stored == 1


def test_what_was_begun_is_there_after_the_browser_was_closed(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="demographics")
        with rater.page.expect_response("**/draft") as kept:
            rater.page.locator("#answer-country").fill("Chile")
        assert kept.value.status == 204
        again = rater.page.context.new_page()
        rater.page.close()
        again.goto(rater.address)
        assert again.locator("#answer-country").input_value() == "Chile"


def test_time_and_focus_are_sent_by_the_script(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.fill()
        rater.page.evaluate("window.dispatchEvent(new Event('blur'))")
        rater.page.wait_for_timeout(60)
        rater.page.evaluate("window.dispatchEvent(new Event('focus'))")
        rater.go_on()
    told = desk.timings[0]
    assert told["losses"] == 1
    assert 0.05 <= told["away"] <= told["seconds"]


def test_without_scripts_all_is_there_but_the_times(browser: Browser) -> None:
    desk = Desk(quick("within-subjects"))
    with rating(browser, desk, "phone", java_script_enabled=False) as rater:
        while rater.step:
            rater.fill()
            rater.go_on()
        assert rater.title == "Thank you"
    assert not any(desk.timings)


def test_a_button_cannot_be_pressed_before_the_least_time(browser: Browser) -> None:
    desk = Desk(preset("appraisal", **{"seconds: 10\n": "seconds: 3\n"}))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="imagine/1")
        assert "You can continue in" in rater.page.locator("button.main").inner_text()
        stored = desk.stored
        rater.page.locator("button.main").click(force=True)
        rater.page.keyboard.press("Enter")
        assert desk.stored == stored
        rater.go_on()
        assert desk.stored == stored + 1


def test_enter_turns_the_page_where_nothing_is_asked(browser: Browser) -> None:
    desk = Desk(quick("between-subjects"))
    with rating(browser, desk, "desktop") as rater:
        rater.hurry(until="tutorial/1")
        with rater.page.expect_navigation():
            rater.page.keyboard.press("Enter")
        assert rater.step == "tutorial/2"


def test_keys_follow_the_visible_order_of_reversed_scales(browser: Browser) -> None:
    text = WRITING.replace("people_per_situation: 1", "ratings_per_response: 20\ndesign: between")
    text = text.replace("batch_size: 1\n", "batch_size: 1\narms: {one: a/b, two: c/d}\n")
    text = text.replace(
        "recruitment: {platform: prolific, codes: {completed: DONE-77}}\n",
        "recruitment: {platform: open}\n"
        "dimensions:\n"
        "  - {name: small, question: Small, labels: [Low, Middle, High]}\n"
        '  - {name: warm, question: Warm, direction: random, labels: [Cold,"","","","","",Warm]}\n',
    )
    text = text.replace("block: write\n    text: What would you say?", "block: rate")
    desk = Desk(parse_study(text))
    orders = set()
    for _ in range(16):
        with rating(browser, desk, "desktop") as rater:
            rater.hurry(until="rate/1")
            assert "Press 1 to 7 to choose" in rater.page.locator(".keys").inner_text()
            points = rater.page.locator("#answer-warm input")
            seen = [point.get_attribute("value") for point in points.all()]
            assert [point.get_attribute("data-key") for point in points.all()] == list("1234567")
            rater.page.keyboard.press("1")
            rater.page.keyboard.press("2")
            assert rater.page.locator("#answer-warm input:checked").input_value() == seen[1]
        orders.add(seen[0])
        if len(orders) == 2:
            break
    assert orders == {"1", "7"}
