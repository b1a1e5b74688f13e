"""The report of replies that are markup, very long, or written from right to left."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from empathylab.report import collect, write_report
from empathylab.situations.sources.reply_tables import replies_from
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from empathylab.tables import read_table
from tests.helpers.visits import Visit, opened

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">"
ENDING = "</script></textarea></style><!-- <b>bold</b>"
MARKDOWN = "# no heading\n\n* no list\n[no link](javascript:alert(1)) `code`"
HEBREW = "אני מצטער לשמוע"
LONG = "word " * 20_000
TEXTS = {"script": SCRIPT, "ending": ENDING, "markdown": MARKDOWN, "hebrew": HEBREW, "long": LONG}
LONG_NAME = "provider/" + "a-very-long-name-" * 8
NAMES = (LONG_NAME, 'a/b\\c "d" <i>e</i>', "🙂", "=1+1")


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Visit]:
    folder = tmp_path_factory.mktemp("strange")
    with (folder / "replies.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["situation", "situation_text", "emotion", "respondent", "text"])
        for key, text in TEXTS.items():
            for name in NAMES:
                writer.writerow([key, f"{key} {SCRIPT}", "sad", name, text])
    release = replies_from(
        read_table(folder / "replies.csv"), where="replies.csv", set_id="odd", title="odd"
    )
    with Lab.open(folder / "lab") as lab:
        import_release(lab, release, kind="responses", source="replies.csv", fingerprint="1")
        report = write_report(collect(lab), lab.reports)
    with opened(browser, report, "desktop-light") as seen:
        yield seen


def shown(visit: Visit, word: str) -> str:
    """The first reply of the only situation with that word."""
    visit.page.locator("input[name=text]").fill(word)
    expect(visit.page.locator(".situation")).to_have_count(1)
    expect(visit.page.locator(".situation .situation-text")).to_contain_text(f"{word} <script>")
    return visit.page.locator(".reply p:not(.who)").first.inner_text()


def test_markup_and_scripts_are_text(visit: Visit) -> None:
    assert shown(visit, "ending") == ENDING
    assert shown(visit, "markdown") == MARKDOWN
    assert shown(visit, "hebrew") == HEBREW
    assert visit.page.locator(".situation img, .situation b, .situation script").count() == 0
    assert "run" not in visit.page.title()
    assert visit.troubles == []


def test_text_from_right_to_left_runs_that_way(visit: Visit) -> None:
    shown(visit, "hebrew")
    reply = visit.page.locator(".reply p:not(.who)").first
    expect(reply).to_have_css("direction", "rtl")


def test_a_very_long_reply_is_cut_until_asked_for(visit: Visit) -> None:
    assert len(shown(visit, "long")) < 2_000
    visit.page.get_by_role("button", name="all 99,999 characters").first.click()
    reply = visit.page.locator(".reply p:not(.who)").first
    assert reply.evaluate("e => e.textContent.length") == 99_999


def test_names_are_text_everywhere(visit: Visit) -> None:
    assert visit.page.locator("main i").count() == 0
    assert NAMES[0] in visit.page.locator("select[name=respondent]").inner_text()


def test_the_accessibility_audit_finds_nothing_serious(visit: Visit) -> None:
    assert visit.serious_violations() == []
