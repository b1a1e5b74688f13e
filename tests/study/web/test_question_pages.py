"""Pages with every type of question in a real browser: phone and desk, with and without scripts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.store import Lab, schema
from empathylab.study import parse_study
from empathylab.study.session.service import StudyService
from tests.analysis.conversations.test_rated_transcripts import study_of
from tests.study.examples import APPRAISAL
from tests.study.question_examples import EVERY_QUESTION
from tests.study.service_examples import opened, rows_of
from tests.study.web.serving import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}


def step_of(page: Page) -> str:
    field = page.locator('input[name="step"]')
    return field.input_value() if field.count() else ""


def go_on(page: Page) -> None:
    with page.expect_navigation():
        page.locator("button.main").click()


def fill(page: Page) -> None:
    """Answers everything by touching and typing."""
    for group in page.locator("fieldset.ask[role=radiogroup], .matrix .line").all():
        group.locator("label").first.click()
    for group in page.locator("fieldset[data-kind=choices]").all():
        group.locator("label").first.click()
    for group in page.locator("fieldset[data-kind=ranking]").all():
        for place, entry in enumerate(group.locator("select").all(), start=1):
            entry.select_option(str(place))
    for entry in page.locator("div.ask select").all():
        entry.select_option(index=1)
    for entry in page.locator("input[type=text]").all():
        entry.fill("35")
    for entry in page.locator("textarea").all():
        entry.fill("It listens well")


def problems(page: Page) -> list[str]:
    """What axe finds, and what does not fit on the screen."""
    found = [violation["id"] for violation in Axe().run(page).response["violations"]]
    wide = page.evaluate("document.documentElement.scrollWidth > screen.width")
    return found + (["wider than the screen"] if wide else [])


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_question_is_answered_on_a_phone(
    sqlite_lab: Lab, language: str, browser: Browser
) -> None:
    text = EVERY_QUESTION.replace("languages: [en]", f"languages: [{language}]")
    service, _ = opened(sqlite_lab, parse_study(text))
    with served(service) as address:
        # The Arabic study is walked without scripts.
        context = browser.new_context(**PHONE, java_script_enabled=language == "en")
        page = context.new_page()
        page.goto(address)
        counts = []
        while step := step_of(page):
            if language == "en" and step in ("about", "rate/1", "compare/1"):
                assert problems(page) == [], step
                tallest = page.evaluate(
                    "Math.max(...[...document.querySelectorAll('fieldset.ask[role=radiogroup]')]"
                    ".map(one => one.getBoundingClientRect().height), 0)"
                )
                assert tallest < 0.6 * 844, step
                go_on(page)  # nothing answered: the page comes back and says what is missing
                assert step_of(page) == step
                assert page.locator("#errors li").count() >= 1
                assert problems(page) == [], f"{step} with errors"
            if step.startswith("rate"):
                counts.append(page.locator(".count").inner_text())
            fill(page)
            if step == "about" and language == "en":
                # A place that is given twice moves; arrows move the slider.
                places = page.locator("fieldset[data-kind=ranking] select")
                places.nth(2).select_option("1")
                assert [place.input_value() for place in places.all()] == ["3", "2", "1"]
                page.locator("input[type=range]").press("ArrowRight")
                assert page.locator("#answer-mood").input_value() == "36"
            go_on(page)
        assert page.locator("h1").inner_text() == "Every question"
        context.close()
    if language == "en":
        assert counts == ["Reply 1 of 2 to the same post", "Reply 2 of 2 to the same post"] * 2
    [rater] = rows_of(sqlite_lab, schema.raters)
    assert rater["details"]["mood"] == (36 if language == "en" else 35)
    assert [rater["details"][f"matters_{value}"] for value in (1, 2, 3)] == (
        [3, 2, 1] if language == "en" else [1, 2, 3]
    )


def test_a_situation_stays_in_view_and_a_conversation_is_a_chat(
    sqlite_lab: Lab, browser: Browser
) -> None:
    with ThreadPoolExecutor(1) as apart:  # the browser's event loop runs in this thread
        service = apart.submit(study_of, sqlite_lab, "turn").result()
    opened(sqlite_lab, parse_study(APPRAISAL.replace("seconds: 5", "seconds: 0")))
    with served(StudyService(sqlite_lab, "feelings")) as address:
        page = browser.new_page(**PHONE)
        page.goto(address)
        while step_of(page) != "after":
            fill(page)
            go_on(page)
        assert problems(page) == []
        page.mouse.wheel(0, 3000)
        page.wait_for_timeout(200)
        box = page.locator(".part.situation").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 200
        assert box["height"] <= 0.31 * 844
        page.close()
    with served(service) as address:
        page = browser.new_page(**PHONE)
        page.goto(address)
        while step_of(page) != "rate/2":
            fill(page)
            go_on(page)
        assert problems(page) == []
        speakers = [text.split(" · ")[0] for text in page.locator(".speaker").all_inner_texts()]
        assert speakers == ["Person", "Helper", "Person", "Helper"]
        assert "please rate this reply" in page.locator("li.rated").inner_text()
        page.close()
