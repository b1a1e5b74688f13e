"""Runs through batch APIs: the same rows as without, also after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from empathylab.errors import InputError
from empathylab.models import EndpointModel, Price, Prices, ScriptedModel
from empathylab.models.apis import AnthropicMessages
from empathylab.runs import Batching, Job, Limits, Shard, run
from empathylab.runs.plans import Pending
from empathylab.store import Lab
from empathylab.store.queries import failures_frame
from empathylab.store.schema import answers, batches, responses
from tests.helpers.personalities import Met, personalities
from tests.helpers.plans import chains_of, plan_of
from tests.helpers.waiting import wait_until

QUICK = Batching(first_wait=0.02, longest_wait=0.05)
QUESTIONS = [f"question {number}" for number in range(7)]

SCRIPT = """
import pathlib, sys
from empathylab.models import EndpointModel
from empathylab.runs import Batching, Job, run
from empathylab.store import Lab
from tests.helpers.plans import plan_of

folder, base_url = sys.argv[1:]
with Lab.open(pathlib.Path(folder)) as lab:
    model = EndpointModel("test/one", model="one", base_url=base_url)
    plan = plan_of(lab, [f"question {n}" for n in range(7)])
    [tally] = run(lab, [Job(model, [plan], batching=Batching(0.2, 0.2))])
    print(tally.already, tally.asked, tally.missing)
"""


@pytest.fixture(scope="module")
def met() -> Iterator[Met]:
    with personalities() as found:
        yield found


def model(met: Met, who: str) -> EndpointModel:
    if who == "anthropic":
        return EndpointModel(
            "test/one",
            model="claude",
            base_url=met.base_url(who),
            key="ant-key",
            api=AnthropicMessages(),
        )
    return EndpointModel("test/one", model="one", base_url=met.base_url(who))


def rows(lab: Lab) -> list[tuple[object, ...]]:
    columns = (answers.c.key, answers.c.text, answers.c.outcome, answers.c.reasoning)
    more = (answers.c.prompt_tokens, answers.c.completion_tokens, answers.c.fingerprint)
    return list(lab.frame(sa.select(*columns, *more).order_by(answers.c.key)).iter_rows())


@pytest.mark.parametrize("who", ["o-series", "reasoning-content", "anthropic"])
def test_a_batch_gives_the_same_rows_as_single_requests(met: Met, tmp_path: Path, who: str) -> None:
    with Lab.open(tmp_path / "single") as lab:
        run(lab, [Job(model(met, who), [plan_of(lab, QUESTIONS, max_tokens=2000)])])
        single = rows(lab)
    with Lab.open(tmp_path / "batch") as lab:
        plan = plan_of(lab, QUESTIONS, max_tokens=2000)
        [tally] = run(lab, [Job(model(met, who), [plan], batching=QUICK)])
        assert (tally.asked, tally.missing) == (7, 0)
        assert rows(lab) == single
        assert lab.frame(sa.select(responses.c.id)).height == 7
        assert set(lab.frame(sa.select(batches.c.status))["status"]) == {"ended"}
    assert len(single) == 7


def test_a_killed_run_fetches_the_batch_that_is_under_way(met: Met, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), met.base_url("think-tags")]
    before = met.seen("batched")["calls"]

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    process = start()
    wait_until(lambda: met.seen("batched")["calls"] != before)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with Lab.open(tmp_path) as lab:
        assert rows(lab) == []
    output, errors = start().communicate(timeout=60)
    assert (output.split(), errors) == (["0", "7", "0"], "")
    assert met.seen("batched")["calls"] - before == 7  # handed over once
    assert start().communicate(timeout=60)[0].split() == ["7", "0", "0"]


def test_a_batch_whose_id_was_not_stored_is_found_by_its_token(met: Met, sqlite_lab: Lab) -> None:
    before = met.seen("batched")["calls"]
    plan = plan_of(sqlite_lab, QUESTIONS)
    run(sqlite_lab, [Job(model(met, "o-series"), [plan], batching=QUICK)])
    with sqlite_lab.writing() as connection:
        # As if the process had died between sending the batch and noting its id.
        connection.execute(answers.delete())
        last = sa.select(sa.func.max(batches.c.id)).scalar_subquery()
        change = batches.update().where(batches.c.id == last)
        connection.execute(change.values(provider_id=None, status="submitted"))
    asked = met.seen("batched")["calls"] - before
    [tally] = run(sqlite_lab, [Job(model(met, "o-series"), [plan], batching=QUICK)])
    assert (tally.asked, tally.missing) == (7, 0)
    assert met.seen("batched")["calls"] - before == asked


@pytest.mark.postgres
def test_a_shard_leaves_the_batches_of_other_shards_alone(
    met: Met, tmp_path: Path, postgres_url: str
) -> None:
    with Lab.open(tmp_path, database=postgres_url) as lab:
        plan = plan_of(lab, QUESTIONS)
        run(lab, [Job(model(met, "german"), [plan], batching=QUICK)])
        theirs = [item.key for item in plan.requests if Shard(1, 2).holds(Pending(item))]
        assert 0 < len(theirs) < len(QUESTIONS)
        with lab.writing() as connection:
            # As if the machine of the first shard waited for its batch.
            connection.execute(responses.delete())
            connection.execute(answers.delete())
            connection.execute(batches.update().values(keys=theirs, status="submitted"))
        job = Job(model(met, "german"), [plan], batching=QUICK, shard=Shard(2, 2))
        [tally] = run(lab, [job])
        assert tally.asked == len(QUESTIONS) - len(theirs)
        known = lab.frame(sa.select(batches.c.status).order_by(batches.c.id))
        assert known["status"].to_list() == ["submitted", "ended"]


def test_requests_that_a_batch_does_not_answer_are_failures(met: Met, sqlite_lab: Lab) -> None:
    job = Job(model(met, "too-much"), [plan_of(sqlite_lab, QUESTIONS[:3])], batching=QUICK)
    [tally] = run(sqlite_lab, [job])
    assert (tally.asked, tally.missing, tally.failed) == (0, 3, 3)
    assert set(failures_frame(sqlite_lab)["kind"]) == {"rejected"}


def test_batches_cost_half_and_obey_the_cap(met: Met, sqlite_lab: Lab) -> None:
    prices = Prices({"test/one": Price(1.0, 1.0)}, "")
    plan = plan_of(sqlite_lab, QUESTIONS, max_tokens=50)
    job = Job(model(met, "german"), [plan], Limits(max_total_tokens=150), batching=QUICK)
    [tally] = run(sqlite_lab, [job], prices=prices)
    assert tally.stopped == "cap"
    # A request is taken for at most 58 tokens and uses 50.
    assert tally.asked == 2
    assert tally.cost == pytest.approx(2 * 50 / 1_000_000 / 2)


def test_a_batch_that_is_under_way_counts_towards_the_cap(met: Met, sqlite_lab: Lab) -> None:
    plan = plan_of(sqlite_lab, QUESTIONS, max_tokens=50)
    run(sqlite_lab, [Job(model(met, "german"), [plan], batching=QUICK)])
    with sqlite_lab.writing() as connection:
        # As if the program had ended while a batch of four was under way.
        connection.execute(responses.delete())
        connection.execute(answers.delete())
        theirs = [item.key for item in plan.requests[:4]]
        connection.execute(batches.update().values(keys=theirs, status="submitted"))
    # A request is taken for at most 58 tokens and uses 50.
    limits = Limits(max_total_tokens=4 * 58 + 57)
    [tally] = run(sqlite_lab, [Job(model(met, "german"), [plan], limits, batching=QUICK)])
    assert (tally.stopped, tally.asked) == ("cap", 5)


def test_a_model_without_a_batch_api_is_refused(sqlite_lab: Lab) -> None:
    job = Job(ScriptedModel(["a"]), [plan_of(sqlite_lab, QUESTIONS)], batching=QUICK)
    with pytest.raises(InputError, match="--batch"):
        run(sqlite_lab, [job])


def test_conversations_of_two_models_are_refused(met: Met, sqlite_lab: Lab) -> None:
    one, other = model(met, "german"), model(met, "german")
    plan = chains_of(sqlite_lab, 1, 3)
    with pytest.raises(InputError, match="second model"):
        run(sqlite_lab, [Job(one, [plan], partners={"other": other}, batching=QUICK)])
