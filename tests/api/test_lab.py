"""The lab in Python: models measured, in a script and in an event loop, and what is read back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import empathylab as el
from empathylab.models import ScriptedModel
from tests.helpers.command_line import as_json
from tests.helpers.labs import person_like

PERSON = "scripted/tests.helpers.labs:person_like"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[el.Lab]:
    """A lab in which a model has been evaluated."""
    with el.open_lab(tmp_path_factory.mktemp("api") / "lab", quiet=True) as opened:
        opened.respond(PERSON, situations=1, emotion="afraid")
        opened.appraise(PERSON, situations=1)
        yield opened


def model(name: str = "scripted/mine", **options: Any) -> ScriptedModel:
    return ScriptedModel(person_like, name=name, **options)


def test_an_evaluation_has_tables_a_summary_charts_and_a_report(tmp_path: Path) -> None:
    lab = el.open_lab(tmp_path / "lab", quiet=True)
    found = lab.evaluate(model(), situations=1, max_unusable=0.5)
    assert found.complete
    assert found.passed
    assert "scripted/mine: 32 usable replies of 32" in found.summary()
    assert found.to_frame()["respondent"].unique().to_list() == ["scripted/mine"]
    assert isinstance(found.to_pandas(), pd.DataFrame)
    assert "<li>scripted/mine, PANAS, positive" in found._repr_html_()
    assert found.plot().to_dict()["title"]
    assert found.report.is_file()
    assert lab.report() == found.report
    assert repr(found).startswith("<Evaluation of scripted/mine: ")
    assert len(repr(found)) < 100


def test_a_summary_says_above_the_figures_that_answers_are_meaningless(tmp_path: Path) -> None:
    lab = el.open_lab(tmp_path / "lab", quiet=True)
    same = json.dumps({str(item): 3 for item in range(1, 21)})
    flat = ScriptedModel(lambda _messages, _parameters: same, name="scripted/flat")
    title = lab.appraise(flat, situations=1).summary().splitlines()[0]
    assert title.strip() == (
        "scripted/flat, PANAS: change from baseline (the answers are meaningless)"
    )
    usable = lab.appraise(PERSON, situations=1).summary().splitlines()[0]
    assert usable.strip().endswith("PANAS: change from baseline")


def test_commands_and_python_give_the_same_result(tmp_path: Path) -> None:
    options = ("--situations", "1", "--emotion", "afraid", "--lab", tmp_path / "by-command")
    printed = as_json("respond", PERSON, *options)
    with el.open_lab(tmp_path / "by-python", quiet=True) as lab:
        found = lab.respond(PERSON, situations=1, emotion="afraid").to_dict()
    for content in (printed, found):
        for session in content["sessions"]:
            del session["seconds"]
    assert json.loads(json.dumps(found)) == printed


def test_a_call_works_inside_a_running_event_loop_as_in_a_notebook(lab: el.Lab) -> None:
    async def cell() -> pl.DataFrame:
        return lab.respond(model(), situations=1, emotion="afraid").to_frame()

    assert asyncio.run(cell()).height == 1


def test_an_interrupted_cell_stops_asking(lab: el.Lab) -> None:
    slow = model("scripted/interrupted", latency=0.05, concurrency=1)

    def interrupt() -> None:
        while len(slow.calls) < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    async def cell() -> None:
        lab.respond(slow, situations=3)

    loop = asyncio.new_event_loop()  # as a kernel's: it leaves the interrupt to Python
    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(cell())
    loop.close()
    watcher.join()
    assert len(slow.calls) < 96


def test_cancelling_an_awaited_call_stops_the_requests_and_keeps_the_answers(
    lab: el.Lab,
) -> None:
    slow = model("scripted/slow", latency=0.05, concurrency=1)

    async def impatient() -> int:
        call = asyncio.create_task(lab.arespond(slow, situations=1))
        while len(slow.calls) < 3:  # noqa: ASYNC110 - the model tells nobody when it is asked
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return len(slow.calls)

    asked = asyncio.run(impatient())
    assert asked < 32
    rest = asyncio.run(lab.arespond(slow, situations=1))
    assert rest.complete
    assert len(slow.calls) <= 32 + 1  # one was under way when it was cancelled


def test_the_lab_reads_back_what_was_measured(lab: el.Lab) -> None:
    assert set(lab.runs()["protocol"]) >= {"respond", "appraise"}
    assert lab.responses().filter(respondent=PERSON).height == 1
    assert lab.administrations()["phase"].value_counts().sort("phase")["count"].to_list() == [4, 8]
    assert lab.conversations().is_empty()
    again = el.from_table(lab.scores()).analyze.appraisal()
    mine = lab.analyze.appraisal()
    assert again.to_frame()["delta"].to_list() == mine.to_frame()["delta"].to_list()
    from_pandas = el.from_table(el.to_pandas(lab.scores())).analyze.appraisal()
    assert from_pandas.to_frame().equals(again.to_frame())


def test_judges_conversations_and_their_results(lab: el.Lab) -> None:
    judged = lab.judge(PERSON, situation_set="dialogues", respondent=PERSON)
    assert "1 responses, judged by" in judged.summary()
    assert judged.to_frame().height >= 1
    assert "<table>" in judged._repr_html_()
    with pytest.raises(
        el.errors.InputError, match="name what to judge with either study or situation_set"
    ):
        lab.judge(PERSON)
    with pytest.raises(el.errors.InputError, match="simulator: name the model"):
        lab.converse(PERSON, simulator=())


def test_a_lab_that_is_not_there_is_an_error_and_is_not_created(tmp_path: Path) -> None:
    lab = el.open_lab(tmp_path / "nowhere")
    for read in (lab.responses, lab.analyze.ratings, lab.report, lab.ratings):
        with pytest.raises(el.errors.LabError, match=r"there is no lab here.*open_lab\(FOLDER\)"):
            read()
    with pytest.raises(el.errors.UnknownName, match="opnai"):
        lab.respond("opnai/gpt-4o-mini")
    assert not lab.folder.exists()


def test_wrong_options_name_the_argument(lab: el.Lab) -> None:
    with pytest.raises(el.errors.UnknownName, match="'max_cots'. Did you mean 'max_cost'"):
        lab.respond(PERSON, max_cots=1)  # type: ignore[call-arg]
    with pytest.raises(el.errors.InputError, match="^max_cost: no price is known"):
        lab.respond("mine/model", situations=1, max_cost=1, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(el.errors.InputError, match="situations: the number must be 1 or more"):
        lab.evaluate(PERSON, situations=0)
    with pytest.raises(el.errors.UnknownName, match="metric 'replies.emapthy'"):
        lab.evaluate(PERSON, fail_under={"replies.emapthy": 3})
    with pytest.raises(el.errors.InputError, match="no model is named"):
        lab.respond()


def test_a_capped_run_says_so_and_can_be_refused(lab: el.Lab) -> None:
    found = lab.respond(model("scripted/capped"), situations=1, max_total_tokens=200)
    assert not found.complete
    assert found.caveats[0].startswith("--max-total-tokens: the limit stopped the run")
    with pytest.raises(el.errors.BudgetReached):
        found.sessions.require_complete()


def test_pandas_goes_into_statistics_and_style() -> None:
    frame = pd.DataFrame({"respondent": ["a", "b"], "situation": ["1", "1"], "text": ["Hi!", "Oh"]})
    assert el.style.features(frame).height == 2
    ratings = pd.DataFrame(
        {"who": [1, 2, 1, 2], "situation": ["x", "x", "y", "y"], "rating": [1.0, 1.0, 3.0, 3.0]}
    )
    found = el.stats.krippendorff_alpha(
        ratings, situation="situation", rater="who", rating="rating"
    )
    assert found.estimate == 1
