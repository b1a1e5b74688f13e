"""Replies that fail a check are asked for again; nothing is lost and nothing asked twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa

from empathylab.analysis.overview import from_lab as collect
from empathylab.errors import RequestRejected
from empathylab.models import (
    Completion,
    EndpointModel,
    Message,
    Parameters,
    Price,
    Prices,
    ScriptedModel,
    Usage,
)
from empathylab.protocols import Responding, plan_responding
from empathylab.runs import Job, Limits, Plan, Tally, run
from empathylab.situations import builtin_set
from empathylab.store import Lab, responses_frame, runs_frame
from empathylab.store.queries import outcomes_frame
from empathylab.store.schema import answers, responses
from tests.helpers.endpoint import Served, served
from tests.helpers.waiting import wait_until

SET = builtin_set("dialogues")
GOOD = "That sounds really hard. How are you?"
BAD = "As an AI, I have no feelings, but that sounds hard."


def plan_of(lab: Lab, count: int = 3, **changed: object) -> Plan:
    chosen: dict[str, object] = {"situation_set": SET, "situations": SET.situations[:count]}
    return plan_responding(lab, "scripted/test", Responding(**(chosen | changed)))  # type: ignore[arg-type]


def good_from(seed: int) -> ScriptedModel:
    """A model whose replies can be used from that seed on."""

    def script(_messages: tuple[Message, ...], parameters: Parameters) -> str:
        assert parameters.seed is not None
        return GOOD if parameters.seed >= seed else BAD

    return ScriptedModel(script)


def keys(lab: Lab) -> list[str]:
    return lab.frame(sa.select(answers.c.key).order_by(answers.c.key))["key"].to_list()


def counts(tally: Tally) -> tuple[int, int, int, int]:
    return tally.planned, tally.asked, tally.asked_again, tally.missing


def test_a_reply_that_fails_is_asked_for_again_with_another_seed(lab: Lab) -> None:
    model = good_from(10_001)
    [tally] = run(lab, [Job(model, [plan_of(lab, 2)])])
    assert counts(tally) == (4, 4, 2, 0)
    assert dict(tally.outcomes) == {"meta_talk": 2, "valid": 2}
    assert sorted(p.seed or 0 for _, p in model.calls) == [1, 1, 10_001, 10_001]
    assert keys(lab) == [
        "afraid-1/sample-0",
        "afraid-1/sample-0/retry-1",
        "afraid-2/sample-0",
        "afraid-2/sample-0/retry-1",
    ]


def test_the_usable_reply_becomes_the_response_and_the_other_stays_an_answer(lab: Lab) -> None:
    run(lab, [Job(good_from(10_001), [plan_of(lab, 2)])])
    frame = responses_frame(lab)
    assert frame.select("situation", "text", "outcome", "reason").rows() == [
        ("afraid-1", GOOD, "valid", None),
        ("afraid-2", GOOD, "valid", None),
    ]
    kept = outcomes_frame(lab).select("outcome", "reason", "count").rows()
    assert ("meta_talk", "the respondent says that it is a machine", 2) in kept


def test_the_report_counts_the_attempts_that_failed(sqlite_lab: Lab) -> None:
    run(sqlite_lab, [Job(good_from(10_001), [plan_of(sqlite_lab, 2)])])
    [summary] = collect(sqlite_lab).runs
    assert (summary.planned, summary.answered, summary.unanswered) == (4, 4, 0)
    assert (summary.valid, summary.invalid_count) == (2, 2)
    assert summary.settings["retries"] == 1


def test_when_all_attempts_fail_the_last_one_is_kept_with_its_reason(lab: Lab) -> None:
    model = ScriptedModel([BAD, "", "Listener: I see."], concurrency=1)
    [tally] = run(lab, [Job(model, [plan_of(lab, 1, retries=2)])])
    assert counts(tally) == (3, 3, 2, 0)
    [row] = responses_frame(lab).iter_rows(named=True)
    assert (row["text"], row["outcome"]) == ("Listener: I see.", "meta_talk")
    assert row["reason"]


def test_without_retries_the_first_reply_stands(sqlite_lab: Lab) -> None:
    [tally] = run(sqlite_lab, [Job(good_from(10_001), [plan_of(sqlite_lab, 2, retries=0)])])
    assert counts(tally) == (2, 2, 0, 0)
    assert responses_frame(sqlite_lab)["outcome"].to_list() == ["meta_talk", "meta_talk"]


def test_at_temperature_0_nothing_is_asked_again(sqlite_lab: Lab) -> None:
    plan = plan_of(sqlite_lab, 2, temperature=0.0)
    [tally] = run(sqlite_lab, [Job(good_from(10_001), [plan])])
    assert counts(tally) == (2, 2, 0, 0)


def test_samples_are_retried_each_with_seeds_of_their_own(sqlite_lab: Lab) -> None:
    model = good_from(10_001)
    run(sqlite_lab, [Job(model, [plan_of(sqlite_lab, 1, samples=2)])])
    assert sorted(p.seed or 0 for _, p in model.calls) == [1, 2, 10_001, 10_002]
    assert responses_frame(sqlite_lab)["sample"].to_list() == [0, 1]


def test_the_same_command_again_asks_nothing(lab: Lab) -> None:
    run(lab, [Job(good_from(10_001), [plan_of(lab)])])
    model = good_from(10_001)
    [tally] = run(lab, [Job(model, [plan_of(lab)])])
    assert model.calls == []
    assert (tally.planned, tally.already, tally.missing) == (6, 6, 0)
    assert runs_frame(lab).height == 1


def test_more_retries_go_on_with_the_same_run(lab: Lab) -> None:
    run(lab, [Job(good_from(20_001), [plan_of(lab, 2)])])
    assert responses_frame(lab)["outcome"].unique().to_list() == ["meta_talk"]
    model = good_from(20_001)
    [tally] = run(lab, [Job(model, [plan_of(lab, 2, retries=3)])])
    assert (tally.already, tally.asked, tally.missing) == (4, 2, 0)
    assert responses_frame(lab)["text"].to_list() == [GOOD, GOOD]
    [row] = runs_frame(lab).iter_rows(named=True)
    assert row["planned"] == 6
    assert json.loads(row["settings"])["retries"] == 3


def test_fewer_retries_leave_what_was_asked(lab: Lab) -> None:
    run(lab, [Job(good_from(20_001), [plan_of(lab, 2, retries=2)])])
    [tally] = run(lab, [Job(good_from(20_001), [plan_of(lab, 2, retries=0)])])
    assert (tally.planned, tally.already, tally.missing) == (6, 6, 0)
    assert responses_frame(lab)["text"].to_list() == [GOOD, GOOD]
    [settings] = runs_frame(lab)["settings"]
    assert json.loads(settings)["retries"] == 2


def test_a_retry_that_gets_no_answer_is_missing_and_asked_by_the_next_session(lab: Lab) -> None:
    def script(_messages: tuple[Message, ...], parameters: Parameters) -> str | Exception:
        return BAD if parameters.seed == 1 else RequestRejected("too odd")

    [tally] = run(lab, [Job(ScriptedModel(script, concurrency=1), [plan_of(lab, 2)])])
    assert (counts(tally), dict(tally.failures)) == ((4, 2, 2, 2), {"rejected": 2})
    assert runs_frame(lab)["finished_at"].to_list() == [None]
    assert responses_frame(lab)["outcome"].to_list() == ["meta_talk"] * 2
    model = good_from(10_001)
    [tally] = run(lab, [Job(model, [plan_of(lab, 2)])])
    assert [p.seed for _, p in model.calls] == [10_001, 10_001]
    assert (tally.already, tally.asked, tally.missing) == (2, 2, 0)
    assert responses_frame(lab)["text"].to_list() == [GOOD, GOOD]


def test_retries_count_against_the_cap(sqlite_lab: Lab) -> None:
    answer = Completion(BAD, finish_reason="stop", usage=Usage(1, 1))
    prices = Prices({"scripted/test": Price(1_000_000.0, 1_000_000.0)}, "2026")
    limits = Limits(max_cost=400, concurrency=1)
    job = Job(ScriptedModel([answer]), [plan_of(sqlite_lab, 60, retries=9)], limits)
    [tally] = run(sqlite_lab, [job], prices=prices)
    assert tally.stopped == "cap"
    assert tally.cost == 2 * tally.asked <= 400
    assert tally.missing > 0


def test_a_fresh_run_retries_on_its_own(lab: Lab) -> None:
    run(lab, [Job(good_from(10_001), [plan_of(lab, 1)])])
    [tally] = run(lab, [Job(good_from(10_001), [plan_of(lab, 1)], fresh=True)])
    assert counts(tally) == (2, 2, 1, 0)
    assert responses_frame(lab)["text"].to_list() == [GOOD, GOOD]  # one response of each run


def test_over_a_real_endpoint_each_attempt_is_sent_once(lab: Lab, endpoint: Served) -> None:
    # The endpoint repeats what it is told, so no reply can be used.
    model = EndpointModel("test/one", model="one", base_url=endpoint.base_url)
    [tally] = run(lab, [Job(model, [plan_of(lab, 30, retries=2)])])
    assert counts(tally) == (90, 90, 60, 0)
    assert dict(tally.outcomes) == {"echo": 90}
    assert set(endpoint.counts()["calls"].values()) == {3}
    assert responses_frame(lab).height == 30


SCRIPT = """
import pathlib, sys
from empathylab.models import EndpointModel
from empathylab.protocols import Responding, plan_responding
from empathylab.runs import Job, Limits, run
from empathylab.situations import builtin_set
from empathylab.store import Lab

folder, database, base_url = sys.argv[1:]
chosen = builtin_set("dialogues")
with Lab.open(pathlib.Path(folder), database=database or None) as lab:
    model = EndpointModel("test/one", model="one", base_url=base_url)
    plan = plan_responding(lab, "test/one", Responding(chosen, chosen.situations, retries=2))
    [tally] = run(lab, [Job(model, [plan], Limits(concurrency=20))])
    print(tally.already, tally.asked, tally.missing)
"""


def start(folder: Path, database: str | None, endpoint: Served) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), database or "", endpoint.base_url]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )


@pytest.mark.slow
def test_a_killed_run_goes_on_with_its_retries(tmp_path: Path, database: str | None) -> None:
    with served(latency=0.05) as endpoint, Lab.open(tmp_path, database=database) as lab:
        process = start(tmp_path, database, endpoint)
        wait_for(lab, 150)  # among the first retries
        process.send_signal(signal.SIGKILL)
        process.communicate()
        one_response_each(lab)
        durable, sent = len(keys(lab)), settled_calls(endpoint)
        output, errors = start(tmp_path, database, endpoint).communicate(timeout=120)
        assert errors == ""
        assert output.split() == [str(durable), str(3 * len(SET) - durable), "0"]
        # What was durable is not asked again.
        assert settled_calls(endpoint) == sent + 3 * len(SET) - durable
        found = one_response_each(lab)
        assert found.height == len(SET)
        assert all(key.endswith("/retry-2") for key in found["key"])
        assert runs_frame(lab)["planned"].to_list() == [3 * len(SET)]


def wait_for(lab: Lab, durable: int) -> None:
    wait_until(lambda: len(keys(lab)) >= durable)


def settled_calls(endpoint: Served) -> int:
    """What the endpoint was sent, once requests of a process that died have all arrived."""
    before = -1
    while (calls := int(sum(endpoint.counts()["calls"].values()))) != before:
        before = calls
        time.sleep(0.3)
    return calls


def one_response_each(lab: Lab) -> pl.DataFrame:
    """The responses with the keys of their answers: one to each situation that has an answer."""
    answered = keys(lab)
    assert len(set(answered)) == len(answered) <= runs_frame(lab)["planned"].sum()
    query = sa.select(responses.c.situation_id, answers.c.key).join(
        answers, answers.c.id == responses.c.answer_id
    )
    found = lab.frame(query)
    firsts = [key for key in answered if "/retry-" not in key]
    assert found["situation_id"].n_unique() == found.height == len(firsts)
    return found
