"""A real Chromium, as people use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.helpers.groups import unavailable


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window and without any traffic of its own.

    While it runs, no test of its module can start an event loop: ask for whatever needs one
    before you ask for the browser.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        unavailable("browser", "there is no chromium here")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path,
            args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
        )
        yield started
        started.close()
