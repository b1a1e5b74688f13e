"""The report of very many respondents, and of very much text."""

from __future__ import annotations

import importlib
from pathlib import Path

import polars as pl
import pytest

from empathylab.analysis.overview import from_lab as collect
from empathylab.report import LabOverview, render
from empathylab.situations.sources.reply_tables import replies_from
from empathylab.store import Lab
from empathylab.store.imports.releases import import_release

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
