"""The documentation site: built without a warning, read and searched without a network."""

from __future__ import annotations

import json
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
    """The newest of two versions, built as `make docs` does; a warning would be an error."""
    pytest.importorskip("material", reason="the dependency group docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    (folder / "0.0.9").mkdir()
    (folder / "0.0.9" / "index.html").write_text("An earlier version")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build_docs.py", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(done.stdout.strip()).parent


def test_the_site_holds_every_page(site: Path) -> None:
    for page in sorted(DOCS.rglob("*.md")):
        relative = page.relative_to(DOCS).with_suffix(".html")
        name = relative.with_name("index.html") if page.name == "README.md" else relative
        assert (site / name).is_file(), name


def test_the_site_lists_versions_and_leads_to_the_newest(site: Path) -> None:
    versions = json.loads((site.parent / "versions.json").read_text())
    assert [entry["version"] for entry in versions] == [site.name, "0.0.9"]
    assert f"url={site.name}/index.html" in (site.parent / "index.html").read_text()


def test_the_site_asks_the_network_for_nothing(site: Path) -> None:
    loads = re.compile(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(\s*["']?https?:|unpkg""")
    for path in [*site.rglob("*.html"), *site.rglob("*.css"), *site.glob("overrides/*.js")]:
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
    query = page.locator(".md-search__input")
    query.press_sequentially("abandon_after")
    page.locator('.md-search-result__link[href*="study-file"]').first.click()
    page.wait_for_url("**/study-file.html*")
    query.fill("")
    # A dash would exclude the word; readers who type an option mean the option.
    query.press_sequentially("--fail-under")
    page.locator('.md-search-result__link[href*="how-to/ci"]').first.wait_for()
    query.fill("")
    query.press_sequentially("qwzx")
    page.get_by_text("No matching documents").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    # The search box slides away first.
    page.wait_for_function("document.documentElement.scrollWidth <= 390", timeout=60_000)
    page.goto((site / "reference" / "study-file.html").as_uri())
    assert problems == []
    assert all(url.startswith(("file:", "data:")) for url in asked)
    # The audit itself asks for the style sheet, which a file may not.
    found = Axe().run(page).response["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in ("serious", "critical")] == []
    page.locator("label.md-header__button[for=__drawer]").click()
    page.locator(".md-nav--primary").get_by_text("Explanation").first.wait_for()
    page.close()
