"""Judges behind a real endpoint: what goes wrong there, and a run that is really killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from empathylab.judging.asking import Asking
from empathylab.judging.instruments import study_instrument
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import EndpointModel
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from empathylab.store.judged_responses import judged_study, study_responses
from empathylab.store.judgements import lab_judgements
from empathylab.study.design.definition import Arm
from tests.helpers.endpoint import Served, served
from tests.helpers.waiting import wait_until
from tests.judging.judged import ONE, replied
from tests.study.examples import between
from tests.study.service_examples import opened


def test_each_answer_of_an_endpoint_becomes_what_it_is(lab: Lab, endpoint: Served) -> None:
    orders = {
        "afraid-1": "Kind words.",
        "afraid-2": '[say {"empathy": "Splendid"}]',
        "afraid-3": "[refuse]",
        "afraid-4": "[drop 1] Kind words.",
        "afraid-5": '[say {"empathy": "Go]',
    }
    replies = replied(lab, "a/model", situations=5, reply=lambda _, key: orders.get(key, key))
    model = EndpointModel("the/judge", model="one", base_url=endpoint.base_url)
    plan = plan_judging(Judging(ONE, replies, "set dialogues"))
    [tally] = run(lab, [Job(model, [plan], Limits(attempts=3))])
    assert tally.missing == 0
    assert tally.retries == 1
    frame = lab_judgements(lab)
    outcomes = ["valid", "out_of_range", "refusal", "valid", "unparseable"]
    assert frame["outcome"].to_list() == outcomes
    for row in frame.iter_rows(named=True):
        assert (row["label"] in ("Bad", "Okay", "Good")) == (row["outcome"] == "valid")


def test_an_endpoint_that_stays_away_leaves_a_gap_that_the_next_run_fills(
    lab: Lab, endpoint: Served
) -> None:
    def first_only(_respondent: str, key: str) -> str:
        return "[fail 500 1] Kind words." if key == "afraid-2" else "Kind words."

    replies = replied(lab, "a/model", reply=first_only)
    model = EndpointModel("the/judge", model="one", base_url=endpoint.base_url)
    plan = plan_judging(Judging(ONE, replies, "set dialogues"))
    [tally] = run(lab, [Job(model, [plan], Limits(attempts=1))])
    assert (tally.missing, lab_judgements(lab).height) == (1, 2)
    [tally] = run(lab, [Job(model, [plan], Limits(attempts=1))])
    assert (tally.already, tally.missing, lab_judgements(lab).height) == (2, 0, 3)


def test_two_judges_work_side_by_side(sqlite_lab: Lab, endpoint: Served) -> None:
    replies = replied(sqlite_lab, "a/model", "human")
    plan = plan_judging(Judging(ONE, replies, "set dialogues", asking=Asking(repeats=2)))
    models = [
        EndpointModel(f"the/{name}", model=name, base_url=endpoint.base_url)
        for name in ("one", "two")
    ]
    run(sqlite_lab, [Job(model, [plan]) for model in models])
    frame = lab_judgements(sqlite_lab)
    assert frame.group_by("judge").len().sort("judge").rows() == [("the/one", 12), ("the/two", 12)]


def test_no_request_tells_the_arm_the_respondent_or_the_study(
    sqlite_lab: Lab, endpoint: Served
) -> None:
    arms = {"arm-zebra": Arm(respondent="zoo/zebra"), "arm-okapi": Arm(respondent="zoo/okapi")}
    opened(sqlite_lab, between(arms=arms, name="menagerie"))
    study = judged_study(sqlite_lab, "menagerie")
    replies = study_responses(sqlite_lab, study.row)
    instrument = study_instrument(study)
    plans = [
        plan_judging(Judging(instrument, replies, "study", study.row)),
        plan_comparing(Comparing(instrument, replies, "study", study.row)),
    ]
    model = EndpointModel("the/judge", model="one", base_url=endpoint.base_url)
    run(sqlite_lab, [Job(model, plans)])
    counts = endpoint.counts()
    assert len(counts["calls"]) == 12 + 12
    sent = json.dumps([list(counts["calls"]), counts["last"]])
    for word in ("zebra", "okapi", "zoo", "arm-", "menagerie", "response-", "the/judge"):
        assert word not in sent


SCRIPT = """
import pathlib, sys
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import EndpointModel
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from empathylab.store.judged_responses import set_responses
from tests.judging.judged import TWO

folder, database, base_url = sys.argv[1:]
with Lab.open(pathlib.Path(folder), database=database or None) as lab:
    model = EndpointModel("the/judge", model="one", base_url=base_url)
    plan = plan_judging(Judging(TWO, set_responses(lab, "dialogues"), "set dialogues", orders=2))
    [tally] = run(lab, [Job(model, [plan], Limits(concurrency=20))])
    print(tally.already, tally.asked, tally.missing)
"""


def start(folder: Path, database: str | None, endpoint: Served) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), database or "", endpoint.base_url]
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


@pytest.mark.slow
def test_a_killed_judge_goes_on_and_every_judgement_is_there_once(
    tmp_path: Path, database: str | None
) -> None:
    with Lab.open(tmp_path, database=database) as lab:
        replies = replied(lab, "a/model", "human", situations=64)
    with served(latency=0.05) as endpoint:
        for least in (50, 100):
            process = start(tmp_path, database, endpoint)
            _wait_until_answered(endpoint, least)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        with Lab.open(tmp_path, database=database) as lab:
            kept = lab_judgements(lab).height
        output, errors = start(tmp_path, database, endpoint).communicate(timeout=120)
        assert errors == ""
        already, asked, missing = map(int, output.split())
    assert kept == 2 * already  # two dimensions an answer, both or none
    assert 0 < already < 256
    assert (already + asked, missing) == (256, 0)
    with Lab.open(tmp_path, database=database) as lab:
        frame = lab_judgements(lab)
        assert frame.height == 512
        assert frame.select("response", "dimension", "order").n_unique() == 512
        assert set(frame["response"]) == {reply.response for reply in replies}
        assert set(frame["outcome"]) == {"valid"}


def _wait_until_answered(endpoint: Served, least: int) -> None:
    wait_until(lambda: sum(endpoint.counts()["answered"].values()) >= least)
