"""The report of very many respondents, and of very much text."""

from __future__ import annotations

import importlib
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from empathylab.analysis.overview import from_lab as collect
from empathylab.report import LabOverview, render, write_report
from empathylab.situations.sources.reply_tables import replies_from
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release
from tests.helpers.visits import WAYS, opened

RESPONDENTS = 60
WORDS = ("sorry", "glad", "tell", "hope", "well")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    rows = [
        {
            "situation": f"s{place}",
            "situation_text": f"Thing {place} happened.",
            "emotion": "sad",
            "respondent": f"model/{number}",
            "text": f"I am {WORDS[(number + place) % 5]} about thing {place}, number {number}.",
        }
        for number in range(RESPONDENTS)
        for place in range(3)
    ]
    release = replies_from(pl.DataFrame(rows), where="many.csv", set_id="many", title="many")
    with Lab.open(tmp_path / "lab") as opened:
        import_release(opened, release, kind="responses", source="many.csv", fingerprint="1")
    return Lab.open(tmp_path / "lab")


def collected(lab: Lab) -> LabOverview:
    with lab:
        return collect(lab)


def test_all_can_be_browsed_but_the_style_of_few_is_described(lab: Lab) -> None:
    data = collected(lab)
    assert data.style is not None
    assert len(data.style.estimates.respondents) == 10
    assert any(f"Of {RESPONDENTS} respondents" in note for note in data.style.caveats)
    page = render(data)
    assert all(f">model/{number}</option>" in page for number in range(RESPONDENTS))


def test_more_text_than_a_page_holds_shows_some_situations(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("empathylab.analysis.overview.replies")
    monkeypatch.setattr(module, "_MOST_CHARACTERS", 1)
    data = collected(lab)
    assert (len(data.situations), data.situations_replied) == (1, 3)


def test_a_text_longer_than_any_reply_is_cut_and_says_so(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("empathylab.analysis.overview.replies")
    monkeypatch.setattr(module, "_LONGEST_TEXT", 10)
    first = collected(lab).situations[0].replies[0]["text"]
    assert first.startswith("I am sorry … [")
    assert first.endswith("more characters in the lab]")


@pytest.mark.browser
@pytest.mark.parametrize("way", WAYS)
def test_a_situation_shows_some_replies_until_all_are_asked_for(
    lab: Lab, browser: Browser, tmp_path: Path, way: str
) -> None:
    report = write_report(collected(lab), tmp_path)
    with opened(browser, report, way) as visit:
        page = visit.page
        size = page.viewport_size
        assert size is not None
        assert page.evaluate("document.documentElement.scrollHeight") <= 12_000
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        card = page.locator(".card.situation").first
        some = card.locator(".reply").count()
        assert 1 < some < RESPONDENTS / 5
        page.get_by_label("Search").fill("number 59")
        page.wait_for_function("document.querySelectorAll('.card.situation mark').length > 0")
        assert "number 59" in card.locator(".reply").first.inner_text()
        card.get_by_role("button", name=f"Show all {RESPONDENTS} replies").click()
        assert card.locator(".reply").count() == RESPONDENTS
        focused = page.evaluate("document.activeElement.closest('.reply') !== null")
        assert focused, "the keyboard goes on at the first new reply"
        assert visit.troubles == []


@pytest.mark.browser
def test_names_without_their_provider_are_whole_under_the_pointer(
    browser: Browser, tmp_path: Path
) -> None:
    long = [f"provider-with-a-long-name/model-{name}" for name in ("spring", "autumn")]
    with Lab.open(tmp_path / "lab") as opened_lab:
        rows = [
            {
                "situation": f"s{place}",
                "situation_text": "It rained.",
                "emotion": "sad",
                "respondent": name,
                "text": "I am sorry about the rain. " * (1 + len(name) % 5),
            }
            for name in long
            for place in range(4)
        ]
        release = replies_from(pl.DataFrame(rows), where="x.csv", set_id="x", title="x")
        import_release(opened_lab, release, kind="responses", source="x.csv", fingerprint="1")
        report = write_report(collect(opened_lab), tmp_path)
    with opened(browser, report, "phone-dark") as visit:
        labels = visit.page.locator(".main-chart text").filter(has_text="model-")
        shown = labels.evaluate_all(
            "all => all.map((one) => "
            "[one.firstChild.textContent, one.querySelector('title')?.textContent])"
        )
        assert sorted(title for _, title in shown) == sorted(long)
        assert all("…" not in text and text.startswith("model-") for text, _ in shown)
