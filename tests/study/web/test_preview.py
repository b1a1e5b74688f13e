"""The preview of a study's file: the participants' own pages, live, with nothing stored."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.cli.study.files import checked_file
from empathylab.study import PRESETS, preset_text
from empathylab.study.web.preview import PreviewFile, create_preview
from tests.study.web.desk import Desk, preset
from tests.study.web.raters import Read, Visitor, visiting
from tests.study.web.serving import served_app

TOKEN = "a-token-for-tests"
BILINGUAL = """\
name: two
version: 1
title: {en: Rated replies, de: Bewertete Antworten}
languages: [en, de]
seed: 5
situations: {set: dialogues, count: 4}
batch_size: 2
design: between
arms: {"model+1": a/model, other: b/model}
dimensions:
  - name: empathy
    question: {en: "How empathetic?", de: "Wie einfühlsam?"}
    labels: [{en: Bad, de: Schlecht}, {en: Good, de: Gut}]
recruitment: {platform: prolific, codes: {completed: DONE, no-consent: NO, full: FULL}}
blocks:
  - block: consent
    text: {en: "Take part?", de: "Machen Sie mit?"}
  - block: rate
    shows: [situation]
  - block: debrief
    text: {en: Thank you, de: Danke}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(BILINGUAL, encoding="utf-8")
    return path


def source(file: Path) -> PreviewFile:
    return PreviewFile(file, lambda path: checked_file(path, file.parent / "no-lab"))


@contextlib.contextmanager
def previewing(file: Path) -> Iterator[Visitor]:
    visitor = Visitor(create_preview(source(file), TOKEN))
    yield visitor
    visitor.close()
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def steps(page: str) -> list[str]:
    return re.findall(r'<option value="([^"]*)"', page.split('name="step"')[1].split("</select")[0])


@pytest.mark.parametrize("name", PRESETS)
def test_every_page_of_every_arm_is_shown(name: str, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(preset_text(name), encoding="utf-8")
    with previewing(file) as visitor:
        listed = steps(visitor.get(f"/{TOKEN}/").text)
        checked = source(file).read().checked
        assert checked is not None
        for arm in checked.pages:
            for step in listed:
                page = visitor.get(f"/{TOKEN}/{arm}/en/page?step={step}")
                assert page.status_code == 200
                shown = Read(page.text).fields.get("step")
                assert shown is None or shown.value == step
        assert {"consent", "comment", "debrief", "end/no-consent", "closed/full"} <= set(listed)


def test_a_page_is_the_one_that_participants_get(tmp_path: Path) -> None:
    study = preset("within-subjects")
    file = tmp_path / "study.yaml"
    file.write_text(preset_text("within-subjects"), encoding="utf-8")
    with visiting(Desk(study)) as visitor:
        real = visitor.get("/").text
    with previewing(file) as visitor:
        shown = visitor.get(f"/{TOKEN}/everyone/en/page?step=consent").text
    root = f"/{TOKEN}/everyone/en"
    form = r'(name="(form|answered)" value=)"[^"]*"'
    assert re.sub(form, r"\1", shown.replace(root, "")) == re.sub(form, r"\1", real)


def test_buttons_lead_on_back_and_to_the_other_language(file: Path) -> None:
    root = f"/{TOKEN}/model%2B1/en"
    with previewing(file) as visitor:

        def post(path: str, **fields: str) -> str:
            return str(visitor.ask("POST", root + path, data=fields).headers["location"])

        assert post("/page", step="consent") == f"{root}/page?step=rate%2F1"
        assert post("/page", step="rate/2") == f"{root}/page?step=debrief"
        back = visitor.ask("GET", f"{root}/back?from=rate/2").headers["location"]
        assert back == f"{root}/page?step=rate%2F1"
        german = post("/language", language="de")
        assert "Machen Sie mit?" in visitor.get(german).text
        assert "DONE" in visitor.get(f"{root}/page?step=debrief").text
        assert post("/leave", answers="keep") == f"{root}/page?step=end%2Fwithdrawn"


def test_nothing_is_shown_without_the_token(file: Path) -> None:
    with previewing(file) as visitor:
        for path in ("/", "/x/", "/x/version", "/x/other/en/page", "/x/other/en/leave"):
            assert visitor.ask("GET", path).status_code == 404
        assert visitor.ask("GET", f"/{TOKEN}/nobody/en/page").status_code == 404
        policy = visitor.ask("GET", f"/{TOKEN}/").headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy


def test_a_broken_file_shows_its_message_until_it_is_fixed(file: Path) -> None:
    with previewing(file) as visitor:
        version = visitor.get(f"/{TOKEN}/version").json()
        file.write_text(BILINGUAL.replace("shows:", "show:"), encoding="utf-8")
        broken = visitor.get(f"/{TOKEN}/").text
        assert "two.yaml line 19" in broken
        assert "Did you mean" in broken
        assert "<iframe" not in broken
        assert visitor.get(f"/{TOKEN}/version").json() != version
        file.write_text(BILINGUAL, encoding="utf-8")
        assert "<iframe" in visitor.get(f"/{TOKEN}/").text
        assert visitor.get(f"/{TOKEN}/version").json() == version


@pytest.mark.browser
@pytest.mark.slow
def test_saving_the_file_reloads_the_page_in_the_browser(browser: Browser, file: Path) -> None:
    with served_app(create_preview(source(file), TOKEN)) as address:
        context = browser.new_context(viewport={"width": 1800, "height": 1100})
        page = context.new_page()
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(f"{address}/{TOKEN}/")
        phone = page.frame_locator("figure.phone iframe")
        desktop = page.frame_locator("figure.desktop iframe")
        phone.get_by_role("button", name="Continue").click()
        desktop.get_by_text("How empathetic?").wait_for()
        assert page.locator("select[name=step]").input_value() == "rate/1"
        file.write_text(BILINGUAL.replace("How empathetic?", "How warm?"), encoding="utf-8")
        desktop.get_by_text("How warm?").wait_for()
        file.write_text("name: [", encoding="utf-8")
        page.get_by_role("alert").wait_for()
        file.write_text(BILINGUAL, encoding="utf-8")
        phone.get_by_text("How empathetic?").wait_for()
        phone.get_by_role("button", name="Deutsch").click()
        desktop.get_by_text("Wie einfühlsam?").wait_for()
        context.close()
    assert troubles == []
