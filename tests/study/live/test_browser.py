"""The preset `recipient` in a real browser: on a phone and on a desk, with and without scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study import parse_study, preset_text
from empathylab.study.session.service import StudyService, launch
from tests.study.service_examples import rows_of
from tests.study.web.serving import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"width": 375, "height": 740}
DESK = {"width": 1280, "height": 900}
STORY = (
    "Last week my best friend moved to another country, and I only heard about it from others. "
    "I feel left behind and a little ashamed that it hurts so much. What makes it hard is that "
    "we used to talk every single day about everything."
)
PAGES = ["consent", "before", "tell/note", "tell", "waiting", "reply", "helped", "after"]
PAGES += ["label", "attention", "comment", "debrief/reveal", ""]


def opened(lab: Lab, folder: Path) -> StudyService:
    """The preset, answered at once by a file."""
    (folder / "replies.json").write_text(json.dumps(["It hurts to hear such news from others."]))
    text = preset_text("recipient").replace("local/smollm2", f"scripted/{folder}/replies.json")
    text = text.replace("    seconds: 5\n", "    seconds: 1\n")
    text = text.replace("minimum: 25, maximum: 45", "minimum: 2, maximum: 2.5")
    launch(lab, parse_study(text), now=now())
    return StudyService(lab, "recipient")


class Walker:
    """A participant at a browser."""

    def __init__(self, page: Page, address: str, *, audits: bool) -> None:
        self.page, self.audits = page, audits
        self.seen: list[str] = []
        # The waiting page goes on by itself; it is held while it is audited.
        page.route("**/live", lambda route: route.abort())
        page.goto(address)

    def walk(self) -> None:
        while True:
            waiting = self.page.locator("#live").count() > 0
            step = self.page.locator("input[name=step]")
            key = step.input_value() if step.count() else ""
            self.look("waiting" if waiting else key)
            if waiting:
                self.page.unroute("**/live")
                self.page.locator(".part.reply:not(.waiting)").wait_for(timeout=20_000)
            elif not key:
                return
            else:
                self.answer()

    def look(self, name: str) -> None:
        self.seen.append(name)
        for size in (PHONE, DESK) if self.audits else ():
            self.page.set_viewport_size(size)  # type: ignore[arg-type]
            results = Axe().run(self.page).response["violations"]
            assert [found["id"] for found in results] == [], (name, size)
            wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, (name, size)

    def answer(self) -> None:
        for group in self.page.locator("[role=radiogroup]").all():
            group.locator("label").first.click()
        for box in self.page.locator("textarea").all():
            box.fill(STORY)
        form = self.page.locator("form[data-least]")
        self.page.wait_for_timeout(1100 * int(form.get_attribute("data-least") or 0))
        with self.page.expect_navigation(timeout=20_000):
            self.page.locator("button.main:not([aria-disabled=true])").click(timeout=15_000)


def test_the_preset_is_walked_with_scripts_and_every_page_is_accessible(
    sqlite_lab: Lab, tmp_path: Path, browser: Browser
) -> None:
    with served(opened(sqlite_lab, tmp_path)) as address:
        context = browser.new_context(viewport=PHONE, reduced_motion="reduce")  # type: ignore[arg-type]
        walker = Walker(context.new_page(), address, audits=True)
        walker.walk()
        assert walker.seen == PAGES
        walker.page.goto(f"{address}/stop")
        walker.look("stop")
        assert walker.page.locator("h1").inner_text() == "Do you need help?"
        context.close()
    [row] = rows_of(sqlite_lab, schema.places)
    assert row["outcome"] == "completed"


def test_the_preset_is_walked_without_scripts_and_stopped_in_a_crisis(
    sqlite_lab: Lab, tmp_path: Path, browser: Browser
) -> None:
    with served(opened(sqlite_lab, tmp_path)) as address:
        context = browser.new_context(viewport=PHONE, java_script_enabled=False)  # type: ignore[arg-type]
        walker = Walker(context.new_page(), address, audits=False)
        walker.walk()
        assert walker.seen == PAGES
        context.close()
        other = browser.new_context(viewport=PHONE, java_script_enabled=False)  # type: ignore[arg-type]
        page = other.new_page()
        walker = Walker(page, address, audits=False)
        while walker.page.locator("textarea").count() == 0:
            walker.answer()
        page.locator("textarea").fill(f"{STORY} Some nights I want to die.")
        page.locator("button.main").click()
        assert page.locator("h1").inner_text() == "The study stops here"
        assert "findahelpline.com" in page.locator("main").inner_text()
        other.close()
    assert [row["outcome"] for row in rows_of(sqlite_lab, schema.places)] == ["completed", "safety"]
