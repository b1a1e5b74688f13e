"""Conversations on the report's page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from empathylab.analysis import overview
from empathylab.analysis.conversations import from_lab
from empathylab.models import ScriptedModel
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.report import write_report
from empathylab.report.conversations.section import chosen_chats, conversations_section
from empathylab.runs import Job, run
from empathylab.store import Lab
from tests.helpers.conversing import COLD, KIND, faulty, listener, persona, rule_based_person

HARD = "<script>alert(1)</script> and {{ 7 * 7 }}"


def talked(lab: Lab) -> None:
    sides = {
        "scripted/kind": (KIND, rule_based_person),
        "scripted/cold": (f"{COLD} {HARD}", rule_based_person),
        "scripted/other": (KIND, faulty("How can I help you today?")),
    }
    for name, (text, simulate) in sides.items():
        model = ScriptedModel(listener(text), name=name)
        person = ScriptedModel(simulate, name="scripted/person")
        personas = tuple(persona(number) for number in range(3))
        plan = plan_conversing(lab, name, Conversing(personas, person.name))
        run(lab, [Job(model, [plan], partners={SIMULATOR: person})])


def test_a_lab_without_conversations_has_an_empty_section() -> None:
    assert not conversations_section(None, ()).blocks


def test_the_section_shows_scores_curves_and_chats(sqlite_lab: Lab) -> None:
    talked(sqlite_lab)
    result = from_lab(sqlite_lab)
    section = conversations_section(result, ("One conclusion.",))
    titles = [table.title for table in section.tables()]
    assert [row["simulator"] for row in section.tables()[0].rows] == ["scripted/person"] * 3
    assert [figure.name for figure in section.figures()] == ["final", "curves"]
    assert all("simulator scripted/person" in figure.title for figure in section.figures())
    stated = "Success: a final feeling of 90 or more. Failure: below 10."
    assert section.tables()[0].caption == stated
    [card] = section.tables()[1].rows
    assert (card["verdict"], card["stayed in its role"]) == ("not checked", "6 of 9")
    assert "Conversations, claims and safety" not in titles
    chats = chosen_chats(result)
    assert {chat.outcome for chat in chats} == {"completed", "assistant speech"}
    best = chats[0]
    assert [value for _, _, value in best.points] == [40, 55, 70, 85, 100]
    assert best.turns[2].change == 15


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    with Lab.open(folder) as lab:
        talked(lab)
        return write_report(overview.from_lab(lab), folder)


@pytest.mark.browser
def test_the_page_draws_the_curves_and_runs_no_text(report: Path, browser: Browser) -> None:
    page = browser.new_page()
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    page.goto(report.as_uri())
    section = page.locator("section#conversations")
    section.locator(".chart svg.marks").nth(1).wait_for()
    assert section.locator(".chart svg.marks").count() == 2
    assert section.locator("svg.curve").count() >= 3
    assert HARD in str(section.text_content())
    assert not alerts
    page.close()
