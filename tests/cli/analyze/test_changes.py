"""`analyze changes`: two labs, or two dates of one, side by side."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.store import Lab
from tests.helpers.command_line import empathylab, printed
from tests.helpers.welivita import write_release

run = functools.partial(empathylab, "analyze", "changes")


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two labs with the same study, whose second arm was liked better the second time."""
    folder = tmp_path_factory.mktemp("labs")
    for name, good, seed in (("march", 0.3, 1), ("june", 0.9, 2)):
        file = folder / name / "released.csv"
        write_release(file, raters=20, good={"gpt": good}, seed=seed)
        printed("data", "import", "welivita", file, "--lab", folder / name / "lab")
    return folder


@pytest.fixture
def both(labs: Path) -> list[object]:
    return ["--lab", labs / "june" / "lab", "--with", labs / "march" / "lab"]


def test_two_labs_are_compared_as_json(both: list[object]) -> None:
    code, out, _ = run(*both, "--json")
    found = json.loads(out)
    assert code == 0
    assert sorted(found["respondents"]["both"]) == ["gpt", "human"]
    gpt = next(row for row in found["ratings"] if row["arm"] == "gpt")
    assert gpt["difference"] == pytest.approx(gpt["after"] - gpt["before"])
    assert gpt["low"] < gpt["difference"] < gpt["high"]
    assert gpt["p_holm"] < 0.001


def test_the_printed_tables_say_what_changed(both: list[object]) -> None:
    code, out, _ = run(*both)
    assert code == 0
    assert "Measured on both occasions: gpt, human" in out
    assert "gpt, answers: all of them are identical on both occasions, and count once." in out
    assert "\nRatings\n" in out


def test_a_day_before_everything_leaves_nothing_before(labs: Path) -> None:
    code, out, _ = run("--lab", labs / "june" / "lab", "--before", "2001-01-01", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["respondents"]["both"] == []
    assert any("does not record when" in item["why"] for item in found["not_compared"])


def test_neither_or_both_ways_are_refused(labs: Path, both: list[object]) -> None:
    for arguments in ([*both[:2]], [*both, "--before", "2026-01-01"]):
        code, _, err = run(*arguments)
        assert code == 2
        assert "Give --with LAB or --before DATE" in err


def test_a_lab_is_not_compared_with_itself(labs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(labs / "june")
    code, _, err = run("--lab", labs / "june" / "lab", "--with", "lab")
    assert code == 2
    assert "the two labs are the same" in err


def test_a_folder_without_a_lab_is_refused_and_left_alone(labs: Path, tmp_path: Path) -> None:
    code, _, err = run("--lab", labs / "june" / "lab", "--with", tmp_path / "none")
    assert code == 2
    assert "there is no lab here" in err
    assert not (tmp_path / "none").exists()


def test_a_date_that_is_none_is_refused(labs: Path) -> None:
    code, _, err = run("--lab", labs / "june" / "lab", "--before", "last week")
    assert code == 2
    assert "--before needs a date; got 'last week'" in err


def test_a_page_that_cannot_be_written_is_said(both: list[object], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run(*both, "--html", tmp_path / "file" / "page.html")
    assert code == 2
    assert "Choose another path" in err


@pytest.mark.postgres
def test_a_lab_on_postgresql_is_compared_with_one_in_a_folder(
    labs: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Lab.open(tmp_path / "lab", database=postgres_url).close()
    monkeypatch.setenv("EMPATHYLAB_DATABASE_URL", postgres_url)
    code, out, err = run("--lab", tmp_path / "lab", "--with", labs / "march" / "lab", "--json")
    assert code == 0, err
    assert json.loads(out)["respondents"]["before_only"] == ["gpt", "human"]


@pytest.mark.browser
def test_the_page_opens_without_a_network(
    both: list[object], tmp_path: Path, browser: Browser
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    assert run(*both, "--html", tmp_path / "page.html")[0] == 0
    problems: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.on("console", lambda item: problems.append(item.text) if item.type == "error" else None)
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator(".strip").count() >= 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    assert [item["id"] for item in found if item["impact"] in ("serious", "critical")] == []
    assert problems == []
    page.close()
