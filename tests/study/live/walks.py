"""Participants of live studies in a browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

STORY = (
    "Last week my best friend moved to another country, and I only heard about it from others. "
    "I feel left behind and a little ashamed that it hurts so much. What makes it hard is that "
    "we used to talk every single day about everything."
)


def walk(page: Page, address: str, seen: Callable[[Page, str], None]) -> None:
    """Takes part from the link to the end; `seen` is called on every page with its name."""
    page.goto(address)
    for number in range(30):
        step = page.locator("input[name=step]")
        if page.locator("#live").count():
            seen(page, f"{number}-waiting")
            page.wait_for_selector(".part.reply", timeout=20_000)
            continue
        if not step.count():
            seen(page, f"{number}-end")
            return
        key = step.first.get_attribute("value") or ""
        seen(page, f"{number}-{key.replace('/', '-')}")
        answer(page, key)
        page.wait_for_timeout(
            1000 * int(page.locator("form[data-least]").get_attribute("data-least") or 0)
        )
        page.locator("form[data-least] button.main").click()
        page.wait_for_load_state()
    raise AssertionError("a study without an end")


def answer(page: Page, key: str) -> None:
    """Fills in the form: the story, and the first choice of every question."""
    for box in page.locator("textarea").all():
        box.fill(STORY if key == "tell" else "")
    for group in page.locator("[role=radiogroup]").all():
        group.locator("input[type=radio]").first.check(force=True)
