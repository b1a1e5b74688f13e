"""Participants at real browsers, who walk a study page by page, several at once."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page

from empathylab.study import Study
from tests.study.web.raters import right_answers

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}
PHONE: dict[str, Any] = {
    "viewport": {"width": 375, "height": 740},
    "color_scheme": "dark",
    "has_touch": True,
    "is_mobile": True,
}
PLAIN = {"java_script_enabled": False}
WAYS: dict[str, dict[str, Any]] = {
    "desk": DESK,
    "phone": PHONE,
    "desk, no scripts": DESK | PLAIN,
    "phone, no scripts": PHONE | PLAIN,
}
STORY = (
    "Last week my best friend moved to another country, and I only heard about it from others. "
    "I feel left behind and a little ashamed that it hurts so much. What makes it hard is that "
    "we used to talk every single day about everything."
)
_TIME = 600.0
_LIVE = ("chat", "reply", "room", "tell", "waiting")
"""Pages that are not the same without scripts, or that only these studies have."""
_audited: set[tuple[str, ...]] = set()
"""The presets share pages, which are audited once on each screen."""
_STATE = """() => ({
  step: document.querySelector('input[name=step]')?.value ?? '',
  waits: Boolean(document.getElementById('live')),
  room: Boolean(document.querySelector('.waiting.room')),
  done: document.readyState === 'complete' && !document.querySelector('progress'),
  wider: document.documentElement.scrollWidth - screen.width,
})"""
_FILL = """answers => {
  for (const [name, value] of Object.entries(answers.right)) {
    const field = document.querySelector(`[name="answer-${name}"][value="${value}"]`);
    if (field) field.checked = true;
  }
  for (const group of document.querySelectorAll('[role=radiogroup]'))
    if (!group.querySelector(':checked')) group.querySelector('input').checked = true;
  for (const field of document.querySelectorAll('.ask input[type=text]')) field.value = '34';
  for (const field of document.querySelectorAll('textarea')) field.value = answers.text;
}"""


class Walker:
    """A participant at a browser of their own."""

    def __init__(self, browser: Browser, address: str, study: Study, name: str) -> None:
        way = WAYS[name]
        self.name, self.right = name, right_answers(study)
        self.scripted = way.get("java_script_enabled", True)
        self.page: Page = browser.new_context(reduced_motion="reduce", **way).new_page()
        # Axe is a script: a page without scripts is audited as it is, in a browser that has them.
        scripts = {**way, "java_script_enabled": True}
        self._copy = self.page
        if not self.scripted:
            self._copy = browser.new_context(reduced_motion="reduce", **scripts).new_page()
        self.seen: list[str] = []
        self._answered: set[str] = set()
        self.sent = 0
        self.troubles: list[str] = []
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self._hold()
        self.page.goto(address)

    def _hold(self) -> None:
        """Keeps a page that waits where it is, until it has been looked at."""
        self.page.route("**/live", lambda route: route.abort())

    @property
    def state(self) -> dict[str, Any]:
        while True:
            try:
                return self.page.evaluate(_STATE)  # type: ignore[no-any-return]
            except Error:  # a page that waited goes on at this moment
                self.page.wait_for_load_state()

    @property
    def heading(self) -> str:
        return self.page.locator("h1").inner_text()

    def look(self, state: dict[str, Any]) -> None:
        """Audits a page of each kind once."""
        kind = re.sub(r"\d+", "N", state["step"]) or "end"
        if state["waits"]:
            kind = "room" if state["room"] else "waiting"
        if not self.seen or self.seen[-1] != kind:
            self.seen.append(kind)
            page = (kind, self.heading, self.name)
            if page not in _audited and (self.scripted or kind.startswith(_LIVE)):
                _audited.add(page)
                self.audit(kind)

    def audit(self, kind: str) -> None:
        """Refuses a page that is not accessible, or wider than the screen."""
        self.page.wait_for_load_state()  # a page without its style sheet has other colours
        if folder := os.environ.get("PICTURES"):
            Path(folder).mkdir(exist_ok=True)
            name = f"{self.name} {kind.replace('/', '-')}.png"
            self.page.screenshot(path=f"{folder}/{name}", full_page=True)
        assert self.state["wider"] <= 0, (self.name, kind)
        if not self.scripted:
            html = re.sub(r"<script.*?</script>", "", self.page.content())
            self._copy.route(self.page.url, lambda route: route.fulfill(body=html))
            self._copy.goto(self.page.url)
            self._copy.unroute(self.page.url)
        found = Axe().run(self._copy).response["violations"]
        assert [(item["id"], item["nodes"][0]["html"][:200]) for item in found] == [], (
            self.name,
            kind,
        )

    def go_on(self) -> bool:
        """Answers the page, or looks again where it waits; whether the study has ended."""
        state = self.state
        self.look(state)
        if state["waits"]:
            self._wait()
        elif state["step"]:
            self.answer(state["step"])
        return not state["waits"] and state["done"]

    def _wait(self) -> None:
        """Looks again; without scripts the browser may do so by itself at the same moment."""
        self.page.unroute("**/live")
        with contextlib.suppress(Error):
            if self.scripted:
                self.page.locator("#live").wait_for(state="detached", timeout=300)
            else:
                self.page.reload()
        self.page.wait_for_load_state()
        self._hold()

    def answer(self, step: str, text: str = "") -> None:
        """Fills in the page and sends it: the first of its kind with clicks, if scripts run."""
        if not text and step.startswith("chat"):
            self.sent += 1
            text = f"[say {self.name} is heard, {self.sent}]"
        right = {
            name: value
            for (own, name), value in self.right.items()
            if own in (step, step.rpartition("/")[0])
        }
        kind = re.sub(r"\d+", "N", step)
        if self.scripted and kind not in self._answered:
            self._answered.add(kind)
            self._click(right, text or STORY)
        else:
            self.page.evaluate(_FILL, {"right": right, "text": text or STORY})
        with self.page.expect_navigation(timeout=60_000):
            ready = "button.main:not([aria-disabled=true])"
            self.page.locator(ready).click(timeout=60_000)

    def _click(self, right: dict[str, str], text: str) -> None:
        for group in self.page.locator("[role=radiogroup]").all():
            name = (group.get_attribute("id") or "").removeprefix("answer-")
            wanted = f'label:has(input[value="{right[name]}"])' if name in right else "label"
            group.locator(wanted).first.click()
        for field in self.page.locator(".ask input[type=text]").all():
            field.fill("34")
        for field in self.page.locator("textarea").all():
            field.fill(text)

    def close(self) -> None:
        for page in {self.page, self._copy}:
            page.context.close()


def walk(walkers: Sequence[Walker]) -> None:
    """Lets all walk in turns until the study has ended for everybody."""
    until = time.monotonic() + _TIME
    still = list(walkers)
    while still:
        assert time.monotonic() < until, [(walker.name, walker.seen) for walker in still]
        still = [walker for walker in still if not walker.go_on()]
