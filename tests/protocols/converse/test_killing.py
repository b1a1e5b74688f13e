"""Conversations that are killed in the middle, and their speed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import sqlalchemy as sa

from empathylab.models import EndpointModel
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from empathylab.store.conversations import conversations_frame, turns_frame
from empathylab.store.schema import answers
from tests.helpers.conversing import persona
from tests.helpers.endpoint import Served, served
from tests.helpers.waiting import wait_until

TALKS, EXCHANGES, WORKERS = 50, 4, 10
SCRIPT = """
import pathlib, sys
from tests.protocols.converse.test_killing import talk
folder, database, base_url = sys.argv[1:]
print(*talk(pathlib.Path(folder), database or None, base_url))
"""


def talk(folder: Path, database: str | None, base_url: str) -> tuple[int, int, int]:
    """Fifty conversations; what was there already, what was asked, what is missing."""
    model, person = (
        EndpointModel(f"test/{name}", model=name, base_url=base_url) for name in ("one", "two")
    )
    personas = tuple(persona(number) for number in range(TALKS))
    with Lab.open(folder, database=database) as lab:
        conversing = Conversing(personas, person.name, exchanges=EXCHANGES)
        plan = plan_conversing(lab, model.name, conversing)
        job = Job(model, [plan], Limits(concurrency=WORKERS), partners={SIMULATOR: person})
        [tally] = run(lab, [job])
    return tally.already, tally.asked, tally.missing


def start(folder: Path, database: str | None, endpoint: Served) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), database or "", endpoint.base_url]
    paths = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )


def contents(folder: Path, database: str | None = None) -> tuple[list[object], list[object], int]:
    """Conversations and turns, without their ids, and the number of answers."""
    with Lab.open(folder, database=database) as lab:
        columns = ["key", "final", "exchanges", "outcome", "ended_by"]
        talks = conversations_frame(lab).select("conversation", *columns)
        turns = turns_frame(lab).join(talks.select("conversation", "key"), on="conversation")
        said = turns.select("key", "position", "role", "text", "feeling", "state").sort(
            "key", "position"
        )
        number = lab.frame(sa.select(sa.func.count(answers.c.id).label("n")))["n"][0]
        # PostgreSQL keeps the keys of a JSON object in an order of its own.
        rows = [(*row, state and json.loads(state)) for *row, state in said.rows()]
        return talks.select(columns).sort("key").rows(), rows, int(number)


def test_a_kill_in_the_middle_of_50_conversations_loses_and_repeats_nothing(
    tmp_path: Path, database: str | None
) -> None:
    with served() as endpoint:
        talk(tmp_path / "whole", None, endpoint.base_url)
    whole = contents(tmp_path / "whole")
    planned = TALKS * (3 * EXCHANGES - 1)
    assert whole[2] == planned
    with served(latency=0.02) as endpoint:
        process = start(tmp_path / "killed", database, endpoint)
        wait_until(
            lambda: (
                process.poll() is not None
                or sum(endpoint.counts()["answered"].values()) >= planned // 2
            )
        )
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = contents(tmp_path / "killed", database)[2]
        assert 0 < kept < planned
        already, asked, missing = talk(tmp_path / "killed", database, endpoint.base_url)
        calls = sum(endpoint.counts()["calls"].values())
    assert (already, asked, missing) == (kept, planned - kept, 0)
    # Asked twice was at most what was under way or not yet written at the kill.
    assert calls - planned <= 10 * WORKERS
    assert contents(tmp_path / "killed", database) == whole
