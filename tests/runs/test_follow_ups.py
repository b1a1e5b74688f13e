"""Plans whose next requests follow from answers."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from empathylab.errors import LabError, RequestRejected
from empathylab.models import (
    Completion,
    EndpointModel,
    Message,
    Parameters,
    ScriptedModel,
)
from empathylab.runs import Job, Limits, Plan, Request, Thread, run
from empathylab.store import Lab, runs_frame
from empathylab.store.schema import answers
from tests.helpers.endpoint import Served, served
from tests.helpers.plans import Recorder, chains_of
from tests.helpers.waiting import wait_until

SCRIPT = """
import pathlib, sys
from empathylab.models import EndpointModel
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from tests.helpers.plans import chains_of

folder, database, base_url = sys.argv[1:]
with Lab.open(pathlib.Path(folder), database=database or None) as lab:
    one = EndpointModel("test/one", model="one", base_url=base_url)
    other = EndpointModel("test/two", model="two", base_url=base_url)
    plan = chains_of(lab, 12, 10)
    [tally] = run(lab, [Job(one, [plan], Limits(concurrency=6), partners={"other": other})])
    print(tally.already, tally.asked, tally.missing)
"""


def start(folder: Path, database: str | None, endpoint: Served) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), database or "", endpoint.base_url]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    }
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def stored(lab: Lab) -> dict[str, str]:
    frame = lab.frame(sa.select(answers.c.key, answers.c.text).order_by(answers.c.key))
    assert frame["key"].n_unique() == frame.height
    return dict(frame.iter_rows())


def partners(endpoint: Served) -> tuple[EndpointModel, EndpointModel]:
    return (
        EndpointModel("test/one", model="one", base_url=endpoint.base_url),
        EndpointModel("test/two", model="two", base_url=endpoint.base_url),
    )


def test_a_killed_run_of_chains_ends_as_one_that_was_left_alone(
    tmp_path: Path, database: str | None
) -> None:
    with Lab.open(tmp_path / "whole") as lab, served() as endpoint:
        one, other = partners(endpoint)
        run(lab, [Job(one, [chains_of(lab, 12, 10)], partners={"other": other})])
        whole = stored(lab)
    assert len(whole) == 120
    kept = -1
    with served(latency=0.03) as endpoint:
        for kill in range(2):
            process = start(tmp_path / "killed", database, endpoint)
            _wait_for_calls(endpoint, 40 * (kill + 1))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            with Lab.open(tmp_path / "killed", database=database) as lab:
                assert len(stored(lab)) > kept
                kept = len(stored(lab))
        assert 0 < kept < 120
        output, errors = start(tmp_path / "killed", database, endpoint).communicate(timeout=120)
        assert errors == ""
        assert [int(part) for part in output.split()] == [kept, 120 - kept, 0]
        calls = endpoint.counts()["calls"]
    with Lab.open(tmp_path / "killed", database=database) as lab:
        assert stored(lab) == whole
        assert runs_frame(lab)["planned"].to_list() == [120]
    # The echo makes each question follow from all before it, so 120 different ones were asked,
    # and twice only what was under way at a kill.
    assert len(calls) == 120
    assert sum(calls.values()) - 120 <= 2 * 4 * 6


def _wait_for_calls(endpoint: Served, least: int) -> None:
    wait_until(lambda: sum(endpoint.counts()["answered"].values()) >= least)


def test_chains_go_side_by_side(sqlite_lab: Lab) -> None:
    # How near that comes to the ideal time, `bench/converse.py` measures.
    with served(latency=0.05) as endpoint:
        one, other = partners(endpoint)
        job = Job(
            one,
            [chains_of(sqlite_lab, 10, 6)],
            Limits(concurrency=8),
            partners={"other": other},
        )
        run(sqlite_lab, [job])
        assert endpoint.counts()["most_under_way"] == 8


def test_requests_go_to_the_partner_they_name(sqlite_lab: Lab) -> None:
    one, other = ScriptedModel(["me"], name="scripted/one"), ScriptedModel(["you"])
    run(sqlite_lab, [Job(one, [chains_of(sqlite_lab, 2, 3)], partners={"other": other})])
    assert (len(one.calls), len(other.calls)) == (4, 2)
    assert stored(sqlite_lab)["c0/s1"] == "you"


def test_the_same_chains_again_ask_nothing(sqlite_lab: Lab) -> None:
    one, other = ScriptedModel(["me"], name="scripted/one"), ScriptedModel(["you"])
    job = Job(one, [chains_of(sqlite_lab, 2, 4)], partners={"other": other})
    run(sqlite_lab, [job])
    [tally] = run(sqlite_lab, [job])
    assert (tally.already, tally.asked, tally.missing) == (8, 0, 0)
    assert len(one.calls) + len(other.calls) == 8


def test_another_partner_is_another_run(sqlite_lab: Lab) -> None:
    one = ScriptedModel(["me"], name="scripted/one")
    for name in ("scripted/a", "scripted/b"):
        partner = ScriptedModel(["you"], name=name)
        run(sqlite_lab, [Job(one, [chains_of(sqlite_lab, 1, 4)], partners={"other": partner})])
    assert runs_frame(sqlite_lab).height == 2


def test_a_failed_request_holds_up_its_own_chain_only(sqlite_lab: Lab) -> None:
    def answer(messages: tuple[Message, ...], _parameters: Parameters) -> str | Exception:
        broken = "chain 1 step 2" in messages[-1].content and failing
        return RequestRejected("no") if broken else "yes"

    failing = True
    model, other = ScriptedModel(answer, name="scripted/one"), ScriptedModel(["you"])
    job = Job(model, [chains_of(sqlite_lab, 3, 5)], partners={"other": other})
    [tally] = run(sqlite_lab, [job])
    assert (tally.done, tally.missing, tally.failed) == (12, 1, 1)
    failing = False
    [tally] = run(sqlite_lab, [job])
    assert (tally.already, tally.asked, tally.missing) == (12, 3, 0)


def test_chains_at_temperature_0_are_reused_to_their_end(sqlite_lab: Lab) -> None:
    one, other = ScriptedModel(["me"], name="scripted/one"), ScriptedModel(["you"])
    plan = chains_of(sqlite_lab, 2, 4, temperature=0)
    run(sqlite_lab, [Job(one, [plan], partners={"other": other})])
    relabelled = dataclasses.replace(plan, settings={"another": "run"})
    [tally] = run(sqlite_lab, [Job(one, [relabelled], partners={"other": other})])
    assert (tally.reused, tally.asked, tally.missing) == (8, 0, 0)


def retried(lab: Lab, retries: int) -> Plan:
    """A question whose empty answers are asked again, and one that follows from it."""
    parameters = Parameters(temperature=0.7, seed=1)

    def follow_up(thread: Thread) -> Sequence[Request]:
        if len(thread) > 1:
            return []
        said = thread[-1].completion.text
        return [Request("then", (Message("user", f"after {said!r}"),), parameters)]

    first = [Request("first", (Message("user", "first"),), parameters)]
    return Plan("test", {}, first, Recorder(lab), retries=retries, follow_up=follow_up)


def test_what_follows_is_built_on_the_retry(sqlite_lab: Lab) -> None:
    model = ScriptedModel(["", "better", "end"], concurrency=1)
    [tally] = run(sqlite_lab, [Job(model, [retried(sqlite_lab, 1)])])
    assert (tally.done, tally.asked_again, tally.planned) == (3, 1, 3)
    assert model.calls[-1][0][0].content == "after 'better'"
    [tally] = run(sqlite_lab, [Job(model, [retried(sqlite_lab, 1)])])
    assert (tally.already, tally.asked) == (3, 0)


def test_more_retries_later_leave_alone_what_others_were_built_on(sqlite_lab: Lab) -> None:
    model = ScriptedModel(["", "end"], concurrency=1)
    run(sqlite_lab, [Job(model, [retried(sqlite_lab, 0)])])
    [tally] = run(sqlite_lab, [Job(model, [retried(sqlite_lab, 2)])])
    assert (tally.already, tally.asked, tally.missing) == (2, 0, 0)


def test_a_plan_that_replays_differently_is_refused(sqlite_lab: Lab) -> None:
    model = ScriptedModel([Completion("yes")], concurrency=1)
    plan = retried(sqlite_lab, 0)
    run(sqlite_lab, [Job(model, [plan])])

    def other(thread: Thread) -> Sequence[Request]:
        assert plan.follow_up is not None
        return [
            dataclasses.replace(item, messages=(Message("user", "something else"),))
            for item in plan.follow_up(thread)
        ]

    with pytest.raises(LabError, match="--fresh"):
        run(sqlite_lab, [Job(model, [dataclasses.replace(plan, follow_up=other)])])


def test_two_follow_ups_with_the_same_key_are_a_mistake(sqlite_lab: Lab) -> None:
    plan = retried(sqlite_lab, 0)

    def twice(thread: Thread) -> Sequence[Request]:
        assert plan.follow_up is not None
        return list(plan.follow_up(thread)) * 2

    with pytest.raises(ValueError, match="'then'"):
        run(
            sqlite_lab,
            [Job(ScriptedModel(["yes"]), [dataclasses.replace(plan, follow_up=twice)])],
        )
