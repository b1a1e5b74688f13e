"""A run that is really killed, and goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.helpers.endpoint import Served, served
from tests.helpers.waiting import wait_until

SCRIPT = """
import pathlib, sys
from empathylab.models import EndpointModel
from empathylab.runs import Job, Limits, run
from empathylab.store import Lab
from tests.helpers.plans import plan_of

folder, database, base_url = sys.argv[1:]
with Lab.open(pathlib.Path(folder), database=database or None) as lab:
    model = EndpointModel("test/one", model="one", base_url=base_url)
    plan = plan_of(lab, [f"question {n}" for n in range(400)])
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


def answers(folder: Path, database: str | None) -> list[str]:
    import sqlalchemy as sa

    from empathylab.store import Lab
    from empathylab.store.schema import answers as table
    from empathylab.store.schema import responses

    with Lab.open(folder, database=database) as lab:
        keys = lab.frame(sa.select(table.c.key))["key"].to_list()
        meanings = lab.frame(sa.select(responses.c.answer_id))
        assert meanings.height == meanings["answer_id"].n_unique() == len(keys)
    return keys


def test_a_killed_run_goes_on_and_every_answer_is_there_once(
    tmp_path: Path, database: str | None
) -> None:
    kills = 2
    with served(latency=0.05) as endpoint:
        counted_before = 0
        for _ in range(kills):
            process = start(tmp_path, database, endpoint)
            wait_until(partial(_answered, endpoint, counted_before + 60))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kept = answers(tmp_path, database)
            assert len(kept) == len(set(kept))
            counted_before = sum(endpoint.counts()["answered"].values())
        output, errors = start(tmp_path, database, endpoint).communicate(timeout=120)
        assert errors == ""
        already, asked, missing = map(int, output.split())
        assert missing == 0
        assert already == len(kept)
        assert already + asked == 400
        assert sorted(answers(tmp_path, database)) == sorted(f"q{n}" for n in range(400))
        calls = endpoint.counts()["calls"]
    # Asked twice is only what was under way when the process died: at most one per worker and
    # kill, and those that were answered but not yet durable in that instant, on a slow disk some.
    assert len(calls) == 400
    assert sum(calls.values()) - 400 <= kills * 4 * 20


def test_an_answer_once_acknowledged_is_never_asked_again(tmp_path: Path) -> None:
    with served(latency=0.02) as endpoint:
        process = start(tmp_path, None, endpoint)
        file = tmp_path / "lab.sqlite"
        wait_until(lambda: _durable(file) >= 100)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        durable = set(answers(tmp_path, None))
        before = endpoint.counts()["calls"]
        start(tmp_path, None, endpoint).communicate(timeout=120)
        after = endpoint.counts()["calls"]
    for key in durable:
        question = f"question {key[1:]}"
        assert after[question] == before[question] == 1


def test_ctrl_c_keeps_what_was_answered(tmp_path: Path) -> None:
    with served(latency=0.05) as endpoint:
        process = start(tmp_path, None, endpoint)
        wait_until(partial(_answered, endpoint, 60))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode != 0
        # 60 were sent; those of the 20 workers may have been on their way when it was interrupted.
        assert len(answers(tmp_path, None)) >= 40


def _answered(endpoint: Served, least: int) -> bool:
    return sum(endpoint.counts()["answered"].values()) >= least


def _durable(file: Path) -> int:
    if not file.exists():
        return 0
    connection = sqlite3.connect(file, timeout=10)
    try:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()
