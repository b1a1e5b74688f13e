"""The console in a real browser, at a desk and on a phone: every page can be read and used."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from empathylab.study.web.console import first_link
from empathylab.study.web.console.sign_in.second_factor import PERIOD, one_time_password
from empathylab.study.web.console.texts import translated
from tests.study.service_examples import Clock, someone, walk
from tests.study.web.console.researchers import PASSWORD, busy
from tests.study.web.serving import served
from tests.study.web.test_browser import WAYS

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Watching:
    """A researcher at a browser, with all that goes wrong in it."""

    def __init__(self, page: Page, address: str, way: str, language: str = "en") -> None:
        self.page = page
        self.language = language
        self.address = address
        self.way = way
        self.looked = 0
        self.problems: list[object] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _note(self, kind: str, text: str) -> None:
        # The browser itself says so of every answer that is no page to be kept.
        if kind in ("error", "warning") and "Failed to load resource" not in text:
            self.problems.append(text)

    def look(self, path: str = "", title: str | None = None) -> None:
        """Opens a page, or stays where it is, and audits it."""
        if path:
            self.page.goto(self.address + path)
        heading = self.page.locator("h1").inner_text()
        if title is not None:
            assert heading == translated(self.language, title), heading
        self._picture()
        results: Any = Axe().run(self.page)
        self.problems += [
            (heading, found["id"], found["nodes"][0]["html"][:200])
            for found in results.response["violations"]
            if found["impact"] in ("serious", "critical", "moderate")
        ]
        over = self.page.evaluate("document.documentElement.scrollWidth - screen.width")
        if over > 0:
            self.problems.append((heading, "wider than the screen", over))

    def _picture(self) -> None:
        folder = os.environ.get("CONSOLE_PICTURES")
        self.looked += 1
        if folder:
            file = Path(folder) / f"{self.way}-{self.looked:02}.png"
            self.page.screenshot(path=file, full_page=True)

    def press(self, name: str) -> None:
        with self.page.expect_navigation():
            words = translated(self.language, name)
            self.page.get_by_role("button", name=words, exact=True).click()


def entered(watching: Watching, service: StudyService) -> None:
    """Makes the first account by the link that the server shows."""
    link = first_link(service.lab, watching.address, clock=service.now)
    assert link is not None
    watching.look(link.removeprefix(watching.address), "Create your account")
    watching.page.fill("#name", "Owner of the study")
    watching.page.fill("#password", "short")
    watching.page.evaluate("document.forms[0].noValidate = true")
    watching.press("Create account")
    watching.look(title="Create your account")
    for field in ("#password", "#again"):
        watching.page.fill(field, PASSWORD)
    watching.press("Create account")


def signed_out(watching: Watching) -> None:
    """What is seen without a session."""
    watching.look("/console", "Sign in")
    watching.page.fill("#name", "Owner of the study")
    watching.page.fill("#password", "not the password")
    watching.press("Sign in")
    watching.look(title="Sign in")
    watching.look("/console/welcome?link=gone", "This link cannot be used")
    watching.look("/console/nowhere", "Page not found")


def with_second_factor(watching: Watching, clock: Clock) -> None:
    """Sets up a second factor, signs out, and signs in with it."""
    page = watching.page
    watching.look("/console/account", "Your account")
    watching.press("Set up")
    watching.look(title="Your account")
    key = base64.b32decode(page.locator(".link").inner_text().replace(" ", ""))
    page.fill("#code", one_time_password(key, int(clock.time.timestamp()) // PERIOD))
    watching.press("Turn on")
    watching.look(title="Recovery codes")
    watching.press("Sign out")
    page.fill("#name", "Owner of the study")
    page.fill("#password", PASSWORD)
    watching.press("Sign in")
    watching.look(title="Second factor")
    clock.skip(seconds=60)
    page.fill("#code", one_time_password(key, int(clock.time.timestamp()) // PERIOD))
    watching.press("Sign in")


@pytest.mark.parametrize("way", WAYS)
def test_every_page_of_the_console_is_accessible_and_fits(
    sqlite_lab: Lab, browser: Browser, way: str
) -> None:
    service, clock = busy(sqlite_lab)
    language = "zh" if way == "phone" else "en"
    with served(service) as address:
        context = browser.new_context(**WAYS[way], locale=language)
        watching = Watching(context.new_page(), address, way, language)
        signed_out(watching)
        entered(watching, service)
        watching.look(title="Overview")
        key = service.actions.participants()[0].person
        watching.look("/console/participants", "Participants")
        watching.page.check(f"[name=pick-{key}]")
        watching.press("Exclude")
        watching.look()
        watching.page.fill("#reason", "A mistake")
        watching.press("Exclude")
        watching.look(f"/console/participant?key={key}", "Participant")
        watching.press("Undo exclusion")
        watching.page.fill("#text", "Thank you. Please take your time with the last pages.")
        watching.press("Send")
        watching.page.fill("#reason-reject", "Answered far too fast")
        watching.press("Reject")
        watching.look(title="Participant")
        for path, title in (
            ("/console/comments", "Comments"),
            ("/console/results", "Results"),
            ("/console/downloads", "Downloads"),
            ("/console/alerts", "Alerts"),
            ("/console/audit", "Audit log"),
            ("/console/accounts", "Accounts"),
        ):
            watching.look(path, title)
        watching.press("Create a link")
        watching.look(title="Accounts")
        with_second_factor(watching, clock)
        watching.page.goto(address + "/console/results")
        watching.page.fill("#name", "small")
        watching.page.fill("#reason", "The ethics board asks for it")
        watching.press("Record the reason and show results")
        watching.look(title="Results")
        watching.page.goto(address + "/console/manage")
        watching.page.locator("[value=stop-arm] ~ button").first.click()
        watching.press("Pause")
        watching.look(title="Manage")
        watching.page.fill("#name", "small")
        watching.press("Close the study")
        watching.look(title="Manage")
        watching.look("/console/participants", "Participants")
        watching.look(f"/console/participant?key={key}", "Participant")
        watching.look("/console/downloads", "Downloads")
        context.close()
    assert watching.problems == []
    assert service.actions.status().status == "closed"


def test_the_overview_renews_its_numbers_until_told_to_stop(
    sqlite_lab: Lab, browser: Browser
) -> None:
    service, _ = busy(sqlite_lab, people=1)
    with served(service) as address:
        context = browser.new_context(**WAYS["desktop"])
        watching = Watching(context.new_page(), address, "desktop")
        watching.page.clock.install()
        entered(watching, service)
        assert watching.page.locator(".figures dd").nth(0).inner_text() == "3"
        walk(service, someone(service, "one more"), until="rate")
        watching.page.clock.run_for(16_000)
        expect(watching.page.locator(".figures dd").nth(0)).to_have_text("4")
        watching.page.get_by_role("button", name="Stop refreshing").click()
        expect(watching.page.get_by_role("button", name="Refresh every 15 s")).to_be_visible()
        context.close()
    assert watching.problems == []


def test_the_console_works_without_scripts(sqlite_lab: Lab, browser: Browser) -> None:
    service, _ = busy(sqlite_lab, people=1)
    with served(service) as address:
        context = browser.new_context(**WAYS["phone"], java_script_enabled=False)
        page = context.new_page()
        link = first_link(service.lab, address, clock=service.now)
        page.goto(str(link))
        page.fill("#name", "Owner")
        for field in ("#password", "#again"):
            page.fill(field, PASSWORD)
        page.get_by_role("button", name="Create account").click()
        assert page.locator("h1").inner_text() == "Overview"
        page.get_by_role("link", name="Manage").click()
        page.get_by_role("button", name="Pause").click()
        assert "New participants cannot start" in page.locator("[role=status]").inner_text()
        context.close()
    assert service.actions.status().status == "paused"
