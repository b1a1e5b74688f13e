"""Runs divided between machines that share a lab on PostgreSQL."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from empathylab.errors import InputError, RunInUse
from empathylab.models import Completion
from empathylab.runs import Shard
from empathylab.runs.plans import Exchange, Pending, Reading
from empathylab.store import Lab
from empathylab.store.schema import answers, runs
from tests.helpers.command_line import empathylab, process
from tests.helpers.endpoint import Served
from tests.helpers.plans import plan_of


def evaluate(folder: Path, endpoint: Served, shard: str) -> list[str]:
    words = ["evaluate", "test/one", "--base-url", endpoint.base_url, "--situations", "1"]
    return [*words, "--lab", str(folder), "--shard", shard]


@pytest.mark.postgres
def test_two_machines_ask_every_request_once(
    tmp_path: Path, postgres_url: str, endpoint: Served
) -> None:
    environment = {"EMPATHYLAB_DATABASE_URL": postgres_url, "NO_COLOR": "1"}
    Lab.open(tmp_path / "0", database=postgres_url).close()
    machines = [
        subprocess.Popen(
            [sys.executable, "-m", "empathylab", *evaluate(tmp_path / shard[0], endpoint, shard)],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for shard in ("1/2", "2/2")
    ]
    said = [machine.communicate(timeout=240)[1] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], said
    with Lab.open(tmp_path / "0", database=postgres_url) as lab:
        stored = lab.frame(sa.select(answers.c.run_id, answers.c.key))
        planned = lab.frame(sa.select(runs.c.planned))["planned"].sum()
    assert stored.height == stored.unique().height == planned
    assert sum(endpoint.counts()["calls"].values()) == planned
    again = process(*evaluate(tmp_path / "1", endpoint, "1/2"), **environment)
    assert again.exit_code == 0, again.stderr
    assert "all answered before" in again.stderr
    assert "left to other shards" not in again.stderr
    assert sum(endpoint.counts()["calls"].values()) == planned


@pytest.mark.postgres
def test_a_part_is_held_once_and_the_work_is_divided_alike(
    tmp_path: Path, postgres_url: str
) -> None:
    with Lab.open(tmp_path, database=postgres_url) as lab:

        def is_free(*part: int, run: str = "run-x") -> bool:
            try:
                with lab.exclusive(run, what="the run", part=(part[0], part[1])):
                    return True
            except RunInUse:
                return False

        with lab.exclusive("run-x", what="the run", part=(1, 2)):
            assert is_free(2, 2)
            assert is_free(1, 3, run="run-y")
            assert "is working on the same shard of the run" in _refusal(lab, (1, 2))
            assert "the run, which it has divided into 2 shards" in _refusal(lab, (1, 3))
            assert "the run, which it has divided into 2 shards" in _refusal(lab, (1, 1))
            assert not is_free(1, 2)
            assert not is_free(1, 1)
            assert not is_free(2, 3)
        with lab.exclusive("run-x", what="the run"):
            assert "the run, which it has not divided into shards" in _refusal(lab, (1, 2))
            assert not is_free(1, 1)
            assert not is_free(1, 2)
        assert is_free(1, 1)


def _refusal(lab: Lab, part: tuple[int, int]) -> str:
    with (
        pytest.raises(RunInUse) as refused,
        lab.exclusive("run-x", what="the run", part=part),
    ):
        pass
    return str(refused.value)


@pytest.mark.postgres
def test_a_shard_that_leaves_requests_to_others_says_so(
    tmp_path: Path, postgres_url: str, endpoint: Served
) -> None:
    done = empathylab(*evaluate(tmp_path, endpoint, "1/3"), EMPATHYLAB_DATABASE_URL=postgres_url)
    assert done.exit_code == 0
    assert "Shard 1/3 is done; " in done.stderr
    assert "requests are left to other shards. Run the same command again" in done.stderr
    assert "Error" not in done.stderr


@pytest.mark.postgres
def test_the_shards_of_a_fresh_run_share_it(
    tmp_path: Path, postgres_url: str, endpoint: Served
) -> None:
    words = ["respond", "test/one", "--base-url", endpoint.base_url, "--situations", "1"]
    for shard in ("1/2", "2/2"):
        again = [*words, "--lab", str(tmp_path), "--fresh", "--shard", shard]
        done = empathylab(*again, EMPATHYLAB_DATABASE_URL=postgres_url)
        assert done.exit_code == 0, done.stderr
    with Lab.open(tmp_path, database=postgres_url) as lab:
        stored = lab.frame(sa.select(answers.c.run_id, answers.c.key))
        planned = lab.frame(sa.select(runs.c.planned))["planned"].to_list()
    assert planned == [stored.height]


@pytest.mark.postgres
def test_no_judge_is_asked_before_all_shards_have_answered(
    tmp_path: Path, postgres_url: str, endpoint: Served
) -> None:
    judge = ["--judge", "test/judge", "--judge-base-url", endpoint.base_url]
    done = empathylab(
        *evaluate(tmp_path, endpoint, "1/3"), *judge, EMPATHYLAB_DATABASE_URL=postgres_url
    )
    assert (done.exit_code, done.stdout) == (0, "")
    with Lab.open(tmp_path, database=postgres_url) as lab:
        protocols = lab.frame(sa.select(runs.c.protocol))["protocol"]
    assert set(protocols) == {"appraise", "respond"}


def test_shards_are_disjoint_complete_and_keep_what_follows_together(sqlite_lab: Lab) -> None:
    plan = plan_of(sqlite_lab, [f"question {number}" for number in range(100)])
    shards = [Shard(number, 3) for number in (1, 2, 3)]
    sizes = [0, 0, 0]
    for request in plan.requests:
        holders = [shard.holds(Pending(request)) for shard in shards]
        assert sum(holders) == 1
        sizes[holders.index(True)] += 1
        assert holders == [shard.holds(Pending(request.again())) for shard in shards]
        follow_up = Pending(
            dataclasses.replace(request, key=f"{request.key}/after"),
            (Exchange(request.again(), Completion("yes"), Reading("valid")),),
        )
        assert holders == [shard.holds(follow_up) for shard in shards]
    assert min(sizes) > 15


@pytest.mark.parametrize("text", ["0/8", "9/8", "3", "3/0", "a/b", "-1/8", "1/2/3", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="such as 3/8"):
        Shard.read(text)


def test_a_dry_run_checks_the_shard(tmp_path: Path, endpoint: Served) -> None:
    done = empathylab(*evaluate(tmp_path / "lab", endpoint, "4/3"), "--dry-run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "from 1 to the total, such as 3/8; got '4/3'" in done.stderr


def test_a_lab_on_sqlite_cannot_be_divided(tmp_path: Path, endpoint: Served) -> None:
    done = empathylab(*evaluate(tmp_path / "lab", endpoint, "1/2"))
    assert done.exit_code == 2
    assert "only in a lab on PostgreSQL" in done.stderr
    batched = empathylab(*evaluate(tmp_path / "lab", endpoint, "1/2"), "--batch")
    assert "a batch cannot be divided into shards" in batched.stderr
