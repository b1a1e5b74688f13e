"""What the report says, compared with what is in the lab."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from empathylab.analysis.overview import from_lab as collect
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.analysis.overview.runs import RunSummary, runs_caveats
from empathylab.analysis.text.numbers import number, signed
from empathylab.errors import RequestRejected
from empathylab.models import ScriptedModel
from empathylab.protocols import Appraisal, plan_appraisal
from empathylab.report import LabOverview, render
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.stats import ScaleChange
from empathylab.store import Lab
from tests.helpers.command_line import as_json
from tests.helpers.labs import filled, person_like


def overall(data: LabOverview) -> dict[str, ScaleChange]:
    return {
        change.subscale: change for change in data.appraisal.changes if change.level == "overall"
    }


def test_changes_are_the_means_of_the_scores(lab: Lab) -> None:
    filled(lab)
    data = collect(lab)
    assert set(overall(data)) == {"positive", "negative"}
    for subscale, change in overall(data).items():
        mine = data.appraisal.scores.filter(subscale=subscale)
        evoked = mine.filter(phase="evoked")["score"].to_list()
        rest = mine.filter(phase="default")["score"].to_list()
        assert (change.n, change.default_n) == (16, 4)
        assert change.mean == pytest.approx(sum(evoked) / 16)
        assert change.delta == pytest.approx(sum(evoked) / 16 - sum(rest) / 4)
    assert overall(data)["negative"].direction == "up"
    assert overall(data)["positive"].direction == "down"


def test_only_the_newest_run_of_a_kind_counts(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=1)
    filled(sqlite_lab, situations=2)
    data = collect(sqlite_lab)
    assert data.left_out_runs == 1  # the replies are the same run, answered before
    assert [change.n for change in overall(data).values()] == [16, 16]
    assert any("1 other run of the same kind" in sentence for sentence in data.cautions())


def straight_lining(lab: Lab) -> None:
    answers = json.dumps({str(n): 3 for n in range(1, 21)})
    chosen = builtin_set("appraisal")
    plan = plan_appraisal(
        lab,
        "scripted/flat",
        Appraisal(builtin_scale("panas"), chosen, chosen.first_per_group(1)),
    )
    run(lab, [Job(ScriptedModel([answers], name="scripted/flat"), [plan])])


def test_answers_by_position_are_called_meaningless(lab: Lab) -> None:
    straight_lining(lab)
    data = collect(lab)
    [report] = data.self_reports
    assert report.validity.verdict == "meaningless"
    assert report.patterns == {"straight": 12}
    assert "scripted/flat's answers to PANAS are meaningless." in data.cautions()[0]
    first = first_screen(data)
    assert all("are meaningless" in str(headline) for headline in first.shown)
    assert first.caveat is not None
    assert first.caveat.startswith("scripted/flat's answers to PANAS are meaningless.")


def test_answers_by_content_are_not(sqlite_lab: Lab) -> None:
    filled(sqlite_lab)
    [report] = collect(sqlite_lab).self_reports
    assert report.validity.verdict != "meaningless"
    assert report.validity.content_share is not None
    assert report.validity.position_share is not None
    assert report.validity.content_share > report.validity.position_share


def test_without_variation_no_interval_is_claimed(sqlite_lab: Lab) -> None:
    straight_lining(sqlite_lab)
    page = render(collect(sqlite_lab))
    assert "are meaningless" in page
    assert "nan" not in page.split("<script>")[0].lower().replace("financ", "")


def test_what_could_not_be_used_is_listed_with_its_reason(sqlite_lab: Lab) -> None:
    chosen = builtin_set("appraisal")
    plan = plan_appraisal(
        sqlite_lab, "scripted/odd", Appraisal(builtin_scale("panas"), chosen, (), default_orders=4)
    )
    script = ["", "Gladly!", RequestRejected("HTTP 400: no"), '{"1": 9}']
    run(sqlite_lab, [Job(ScriptedModel(script, name="scripted/odd", concurrency=1), [plan])])
    data = collect(sqlite_lab)
    [summary] = data.runs
    assert (summary.planned, summary.answered, summary.valid, summary.unanswered) == (4, 3, 0, 1)
    assert sum(count for _, _, count in summary.invalid) == 3
    assert all(reason for _, reason, _ in summary.invalid)
    assert summary.failed == (("rejected", 1, "HTTP 400: no"),)
    page = render(data)
    assert "HTTP 400: no" in page
    assert any("is incomplete: 1 of 4" in sentence for sentence in data.cautions())


def test_an_empty_lab_gives_a_sensible_page(lab: Lab) -> None:
    page = render(collect(lab))
    assert "Nothing has been measured yet" in page
    assert "empathylab evaluate" in page


def test_texts_are_shown_never_run(sqlite_lab: Lab) -> None:
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    chosen = builtin_set("dialogues")
    from empathylab.protocols import Responding, plan_responding

    name = "scripted/</script><b>'\"🙂"
    plan = plan_responding(sqlite_lab, name, Responding(chosen, chosen.situations[:1]))
    run(sqlite_lab, [Job(ScriptedModel([attack], name=name), [plan])])
    filled(sqlite_lab, name=name)
    page = render(collect(sqlite_lab))
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "</script><b>" not in page


def test_numbers_are_rounded_for_people() -> None:
    assert number(-3.14159) == "−3.1"
    assert number(12345.6, 0) == "12,346"
    assert number(None) == "–"
    assert number(float("nan")) == "–"
    assert signed(0.04) == "0.0"
    assert signed(-0.04) == "0.0"
    assert signed(2) == "+2.0"


def test_a_respondent_without_valid_answers_at_rest_breaks_nothing(sqlite_lab: Lab) -> None:
    chosen = builtin_set("appraisal")
    plan = plan_appraisal(
        sqlite_lab,
        "scripted/restless",
        Appraisal(builtin_scale("panas"), chosen, chosen.first_per_group(1), default_orders=2),
    )
    valid = json.dumps({str(n): 1 + n % 3 for n in range(1, 21)})
    script = ["nothing", "nothing", *[valid] * 8]
    run(sqlite_lab, [Job(ScriptedModel(script, name="scripted/restless", concurrency=1), [plan])])
    filled(sqlite_lab)
    page = render(collect(sqlite_lab))
    assert "NaN" not in page.split('id="specs">')[1].split("</script>")[0]
    assert "+nan" not in page


def test_the_run_used_last_is_shown(sqlite_lab: Lab) -> None:
    filled(sqlite_lab, situations=2)
    filled(sqlite_lab, situations=1)
    filled(sqlite_lab, situations=2)  # nothing left to ask, but this is what is wanted
    assert [change.n for change in overall(collect(sqlite_lab)).values()] == [16, 16]


def test_counterparts_stand_beside_the_situations(sqlite_lab: Lab) -> None:
    chosen = builtin_set("appraisal")
    appraisal = Appraisal(
        builtin_scale("panas"), chosen, chosen.first_per_group(1), counterparts=True
    )
    plan = plan_appraisal(sqlite_lab, "scripted/person", appraisal)
    run(sqlite_lab, [Job(ScriptedModel(person_like, name="scripted/person"), [plan])])
    data = collect(sqlite_lab)
    good = [
        counterpart for counterpart in data.appraisal.counterparts if counterpart.level == "overall"
    ]
    assert [item.n for item in good] == [8, 8]
    assert [change.n for change in overall(data).values()] == [8, 8]
    assert "When situations go well" in render(data)


def test_a_changed_scale_is_scored_anew(sqlite_lab: Lab) -> None:
    panas = builtin_scale("panas")
    turned = panas.model_copy(update={"version": 2, "reversed": frozenset(range(1, 21))})
    chosen = builtin_set("appraisal")
    for scale in (panas, turned):
        appraisal = Appraisal(scale, chosen, chosen.first_per_group(1))
        plan = plan_appraisal(sqlite_lab, "scripted/person", appraisal)
        [tally] = run(sqlite_lab, [Job(ScriptedModel(person_like, name="scripted/person"), [plan])])
    assert (tally.asked, tally.reused) == (0, 12)
    assert overall(collect(sqlite_lab))["negative"].direction == "down"  # reversed: up before


def test_respondents_with_the_same_reasons_are_named_in_one_caution(sqlite_lab: Lab) -> None:
    straight_lining(sqlite_lab)
    data = collect(sqlite_lab)
    [report] = data.self_reports
    twin = dataclasses.replace(report, respondent="scripted/twin")
    both = dataclasses.replace(
        data, appraisal=dataclasses.replace(data.appraisal, self_reports=(report, twin))
    ).cautions()
    assert both[0].startswith("scripted/flat's and scripted/twin's answers to PANAS are")
    assert len(both) == len(data.cautions())


def test_what_many_runs_lack_is_one_sentence() -> None:
    runs = [
        cast(
            "RunSummary",
            SimpleNamespace(
                protocol="respond",
                respondent=f"model-{number}",
                planned=10,
                answered=10 - number % 2,
                unanswered=number % 2,
                invalid_count=number,
                settings={"retries": 1},
            ),
        )
        for number in range(6)
    ]
    incomplete, invalid = runs_caveats(runs[:2])
    assert incomplete.startswith("The respond run of model-1 is incomplete: 1 of 10 requests")
    assert invalid.startswith("1 of 9 answers of the respond run of model-1 could not be used")
    # A reply that cannot be used is asked for again, so this is no proportion of the requests.
    assert "(11%, with first replies that were asked for again)" in invalid
    incomplete, invalid = runs_caveats(runs)
    assert incomplete.startswith("3 of 6 respond runs are incomplete: 3 of 60 requests have no")
    said = "15 of 57 answers of 6 respond runs could not be used (26%; at most 56%, of model-5)"
    assert invalid.startswith(said)


def test_people_are_known_whatever_they_are_called(tmp_path: Path) -> None:
    rows = [
        f"{text},{who},{who}-{rater},{1 + (rater + text) % 3},It rains {text}.,Oh {who} {text}."
        for who in ("people", "model")
        for rater in range(4)
        for text in range(4)
    ]
    file = tmp_path / "rated.csv"
    head = "situation,respondent,rater,rating,situation_text,text"
    file.write_text("\n".join([head, *rows]), encoding="utf-8")
    as_json("data", "import", "ratings", file, "--lab", tmp_path / "lab")
    with Lab.open(tmp_path / "lab", create=False) as opened:
        data = collect(opened)
    assert data.people == {"people"}
    assert first_screen(data).question == "How empathetic is model compared with people?"
