"""Signs of AI assistance and of bots: declared, counted by the browser, shown, used by a rule."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from empathylab.analysis import ratings as ratings_analysis
from empathylab.analysis.ratings.exclusions import exclusions_paragraph
from empathylab.errors import InputError
from empathylab.stats.raters.exclusions import apply_exclusions, rules_from
from empathylab.store import Lab, schema
from empathylab.study import Study, parse_study
from empathylab.study.design.checks import check_study
from empathylab.study.exports.folders import export_study
from empathylab.study.session.service import Saved, StudyService
from empathylab.study.session.signals import read_signals, signals_of
from tests.study.examples import BETWEEN
from tests.study.service_examples import furnish, opened, rows_of, someone, walk
from tests.study.web.raters import Read, visiting
from tests.study.web.test_browser import rating

TOLD = "Take part? We record whether you paste text and the rhythm of your typing, never the keys."
HUMAN = {"pastes": 0.0, "pasted": 0.0, "keys": 30.0, "interval": 180.0, "spread": 90.0}


def declaring(consent: str = TOLD, more: str = "") -> Study:
    text = BETWEEN.replace("text: Take part?", f"text: {consent!r}")
    return parse_study(text.replace("batch_size: 2", f"signals: true\n{more}batch_size: 2"))


def page_signals(lab: Lab, step: str) -> dict[str, float] | None:
    (row,) = [row for row in rows_of(lab, schema.page_answers) if row["step"] == step]
    found: dict[str, float] | None = row["timing"].get("signals")
    return found


def test_a_study_that_records_signals_must_say_so_in_the_consent(sqlite_lab: Lab) -> None:
    furnish(sqlite_lab, "first/model", "second/model")
    assert check_study(declaring(), sqlite_lab).plan.problems == ()
    for silent in ("Take part?", "We record whether you paste.", "We record your typing."):
        (problem,) = check_study(declaring(silent), sqlite_lab).plan.problems
        assert "needs a consent text that says so" in problem
    other = BETWEEN.replace("languages: [en]", "languages: [fi]")
    other = other.replace("batch_size: 2", "signals: true\nbatch_size: 2")
    problems = check_study(parse_study(other), sqlite_lab).plan.problems
    assert any("cannot be used with the language 'fi'" in problem for problem in problems)
    rule = "exclusions: [{rule: automation signs}]\n"
    undeclared = parse_study(BETWEEN.replace("batch_size: 2", f"{rule}batch_size: 2"))
    assert any(
        "needs signals" in problem for problem in check_study(undeclared, sqlite_lab).plan.problems
    )
    with pytest.raises(InputError, match="consent"):
        opened(sqlite_lab, declaring("Take part?"))


def test_nothing_is_recorded_unless_declared_nor_before_consent(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    with visiting(service) as visitor:
        page = visitor.get("/").text
        assert "signals-" not in page
        assert "homepage" not in page
    person = someone(service, "ann")
    service.submit(person, "consent", {"agree": "yes"}, {"keys": 9.0, "trap": 1.0})
    assert page_signals(sqlite_lab, "consent") is None


def test_without_a_script_only_the_hidden_field_is_observed(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, declaring())
    with visiting(service) as visitor:
        consent = visitor.get("/")
        assert "homepage" not in consent.text
        page = visitor.send(consent, agree="yes")
        assert "homepage" in page.text
        assert "/static/signals-" in page.text
        fields = {name: one.value for name, one in Read(page.text).fields.items() if one.value}
        fields |= {"answer-age": "30", "answer-sex": "female", "homepage": "http://spam.example"}
        visitor.ask("POST", "/page", data=fields)
        visitor.send(visitor.get("/page"))
    assert page_signals(sqlite_lab, "demographics") == {"trap": 1.0}
    assert page_signals(sqlite_lab, "tutorial/1") is None


@pytest.mark.browser
@pytest.mark.slow
def test_the_browser_counts_pastes_and_intervals_and_sends_no_key(
    sqlite_lab: Lab, browser: Browser
) -> None:
    service, _ = opened(sqlite_lab, declaring())
    sent: list[str] = []
    with rating(browser, service, "desktop") as rater:
        rater.page.on("request", lambda request: sent.append(request.post_data or ""))
        rater.fill()
        rater.go_on()
        rater.page.locator("fieldset.ask label").first.click()
        age, town = rater.page.locator("input[type=text]:not([name=homepage])").all()
        age.press_sequentially("34", delay=40)
        town.press_sequentially("abcdefgh", delay=60)
        town.evaluate(
            """field => {
                const data = new DataTransfer();
                data.setData("text", "twelve chars");
                const paste = new ClipboardEvent("paste", {clipboardData: data, bubbles: true});
                field.dispatchEvent(paste);
            }"""
        )
        assert rater.violations() == []
        rater.go_on()
        assert rater.troubles == []
    found = page_signals(sqlite_lab, "demographics")
    assert found is not None
    assert (found["pastes"], found["pasted"], found["keys"]) == (1, 12, 10)
    assert 20 < found["interval"] < 2000
    assert found["spread"] >= 0
    assert "trap" not in found
    names = {pair.partition("=")[0] for body in sent for pair in body.split("&")}
    assert {name for name in names if name.startswith("signal-")} == {
        f"signal-{name}" for name in ("pastes", "pasted", "keys", "interval", "spread")
    }


def test_pages_are_summed_as_if_they_were_one() -> None:
    assert signals_of([None, None]) is None
    assert read_signals({"seconds": 3.0}) is None
    first, second = [100.0, 200.0, 300.0], [50.0, 70.0]
    pages = [
        {
            "keys": len(times) + 1.0,
            "pastes": 1.0,
            "interval": sum(times) / len(times),
            "spread": math.sqrt(
                sum((time - sum(times) / len(times)) ** 2 for time in times) / len(times)
            ),
        }
        for times in (first, second)
    ]
    found = signals_of([*pages, None])
    assert found is not None
    both = pl.Series([*first, *second])
    assert (found.pastes, found.keys) == (2, 7)
    assert found.interval == pytest.approx(both.mean())
    assert found.spread == pytest.approx(both.std(ddof=0))
    assert found.signs == ("paste",)


def rated_by(service: StudyService, name: str, signals: dict[str, float]) -> str:
    """A person who finishes, with these signals on the page about themselves."""
    person = someone(service, name)
    walk(service, person, until="demographics")
    values = {"age": "30", "sex": "female"}
    assert isinstance(service.submit(person, "demographics", values, signals), Saved)
    walk(service, person)
    return person


def test_signals_are_exported_and_exclude_by_a_declared_rule_only(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    rule = "exclusions: [{rule: automation signs, signs: [hidden field, paste]}]\n"
    service, _ = opened(sqlite_lab, declaring(more=rule))
    people = {
        "human": HUMAN,
        "pasting": {**HUMAN, "pastes": 2.0, "pasted": 400.0},
        "even": {**HUMAN, "spread": 3.0},
        "trapped": {"trap": 1.0},
        "unobserved": {},
        "human too": HUMAN,
    }
    keys = {name: rated_by(service, name, signals) for name, signals in people.items()}
    service.actions.close()
    export_study(sqlite_lab, "small", tmp_path / "out")
    rows = {
        row["rater"]: row
        for row in csv.DictReader(io.StringIO((tmp_path / "out" / "raters.csv").read_text()))
    }
    shown = {
        name: [rows[key][column] for column in ("pastes", "even_typing", "hidden_field")]
        for name, key in keys.items()
    }
    assert shown["pasting"] == ["2.0", "0.0", "0.0"]
    assert shown["even"] == ["0.0", "1.0", "0.0"]
    assert shown["trapped"] == ["0.0", "0.0", "1.0"]
    assert shown["unobserved"] == ["", "", ""]
    dictionary = (tmp_path / "out" / "data_dictionary.csv").read_text()
    assert "Evidence, not proof" in dictionary
    pages = csv.DictReader(io.StringIO((tmp_path / "out" / "pages.csv").read_text()))
    pasted = [row for row in pages if row["pasted_characters"] == "400"]
    assert [(row["rater"], row["page"]) for row in pasted] == [(keys["pasting"], "demographics")]
    result = ratings_analysis.from_lab(sqlite_lab, study="small")
    said = exclusions_paragraph(result.exclusions.exclusions) if result.exclusions else ""
    assert "Raters who showed a sign of AI assistance or of a bot (hidden field, paste)" in said
    assert result.exclusions is not None
    excluded = result.exclusions.exclusions
    assert {item.rater for item in excluded.excluded} == {keys["pasting"], keys["trapped"]}
    assert sum(count.unknown for count in excluded.counts) == 1


def test_the_rule_keeps_whom_it_cannot_judge() -> None:
    raters = pl.DataFrame(
        {
            "rater": ["a", "b", "c", "d"],
            "arm": ["x", "x", "y", "y"],
            "pastes": [0, 3, None, None],
            "hidden_field": [0, 0, None, 1],
        }
    )
    ratings = pl.DataFrame({"rater": ["a", "b", "c", "d"], "rating": [1, 2, 3, 1]})
    declared = [{"rule": "automation signs", "signs": ["paste", "hidden field"]}]
    found = apply_exclusions(ratings, raters, rules_from(declared))
    assert [item.rater for item in found.excluded] == ["b", "d"]
    assert {count.arm: count.unknown for count in found.counts} == {"x": 0, "y": 1}
    with pytest.raises(InputError):
        rules_from([{"rule": "automation signs", "signs": []}])
