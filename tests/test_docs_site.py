"""The documentation site: built without a warning, read and searched without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does; a warning would be an error."""
    pytest.importorskip("mkdocs", reason="the dependency group docs is not installed")
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_the_site_holds_every_page(site: Path) -> None:
    for page in sorted(DOCS.rglob("*.md")):
        relative = page.relative_to(DOCS).with_suffix(".html")
        name = relative.with_name("index.html") if page.name == "README.md" else relative
        assert (site / name).is_file(), name


def test_the_site_asks_the_network_for_nothing(site: Path) -> None:
    loads = re.compile(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(\s*["']?https?:""")
    for path in [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("site.js")]:
        text = re.sub(r"<a [^>]*>", "", path.read_text(encoding="utf-8"))
        assert not loads.search(text), path


@pytest.mark.browser
def test_the_site_is_searched_from_a_file(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    problems: list[str] = []
    asked: list[str] = []
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type == "error" else None,
    )
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "tutorials" / "ratings.html").as_uri())
    page.fill("#query", "abandon_after")
    page.locator('#results a[href*="study-file"]').first.click()
    page.wait_for_url("**/study-file.html*")
    page.fill("#query", "qwzx")
    assert page.locator("#results").inner_text() == "Nothing found."
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#menu")
    assert page.locator("#pages").is_visible()
    assert problems == []
    assert all(url.startswith(("file:", "data:")) for url in asked)
    # The audit itself asks for the style sheet, which a file may not.
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.close()
