"""Several server processes of one study, on PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from tests.helpers.studies import Serving, furnished, serving, study_file, visit
from tests.helpers.waiting import wait_until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


def workers_of(server: Serving) -> set[int]:
    """The server processes, without what only watches over them."""
    found = set()
    for child in psutil.Process(server.process.pid).children():
        with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):  # it has just ended
            if "spawn_main" in " ".join(child.cmdline()):
                found.add(child.pid)
    return found


def answered_by(server: Serving) -> set[int]:
    """The server processes that have answered a request."""
    return {request["worker"] for request in server.requests}


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/ready", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def test_raters_at_several_workers_get_level_arms_and_a_dead_worker_comes_back(
    tmp_path: Path, postgres_url: str
) -> None:
    url = postgres_url.replace("postgresql+psycopg", "postgresql")
    study = furnished(tmp_path / "lab", database=url)
    with serving(
        *(study_file(tmp_path), "--lab", tmp_path / "lab", "--workers", "2"),
        EMPATHYLAB_DATABASE_URL=url,
    ) as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        first = workers_of(server)
        assert not any(
            study_secret(tmp_path, url) in text
            for pid in first
            for text in (*psutil.Process(pid).cmdline(), *psutil.Process(pid).environ().values())
        )

        def rate(_: int) -> str:
            with httpx.Client(base_url=server.address, follow_redirects=True, timeout=30) as client:
                return visit(client, study, "/").text

        with ThreadPoolExecutor(4) as pool:
            pages = list(pool.map(rate, range(4)))
            assert all("Thank you" in page for page in pages)
            # The system chooses who accepts a connection: new ones, until both have had some.
            wait_until(
                lambda: answers(server.address) and len(answered_by(server)) == 2, seconds=60
            )
            os.kill(min(first), signal.SIGKILL)
            wait_until(lambda: len(workers_of(server) - first) == 1)
            wait_until(lambda: answers(server.address))
            assert all("Thank you" in page for page in pool.map(rate, range(2)))
        workers = workers_of(server)
        assert server.stop(signal.SIGTERM) == 0
        assert not any(psutil.pid_exists(worker) for worker in workers)
        assert any("died; starting another" in line for line in server.said)
    with Lab.open(tmp_path / "lab", database=url) as lab:
        status = StudyService(lab, "small").actions.status()
    assert [arm.finished for arm in status.arms] == [3, 3]


def test_workers_end_when_what_watches_over_them_is_killed(
    tmp_path: Path, postgres_url: str
) -> None:
    url = postgres_url.replace("postgresql+psycopg", "postgresql")
    furnished(tmp_path / "lab", database=url)
    with serving(
        *(study_file(tmp_path), "--lab", tmp_path / "lab", "--workers", "2"),
        EMPATHYLAB_DATABASE_URL=url,
    ) as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        wait_until(lambda: answers(server.address))
        workers = workers_of(server)
        server.process.kill()
        wait_until(lambda: not any(alive(worker) for worker in workers))


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def study_secret(folder: Path, url: str) -> str:
    with Lab.open(folder / "lab", database=url) as lab:
        return StudyService(lab, "small").launched.secret.hex()
