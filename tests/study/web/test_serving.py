"""What goes on around the server: addresses, old data, workers that will not start."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.store import Lab, schema
from empathylab.study.design.definition import Retention
from empathylab.study.session.service import StudyService
from empathylab.study.web.serving import (
    LOOPBACK,
    Serving,
    SharedSocket,
    checked_proxies,
    delete_expired,
    listening,
)
from tests.study.examples import between
from tests.study.service_examples import opened, rows_of, someone

DYING = """\
import functools, logging, os, sys
from empathylab.study.web import workers
logging.basicConfig()
workers._MOST_YOUNG_DEATHS, workers._YOUNG_SECONDS = 2, 3600.0
workers.run_workers(functools.partial(os._exit, 3), 1, patience=5, ending=lambda: print("closed"))
"""


def serving_of(lab: Lab, service: StudyService) -> Serving:
    return Serving(lab.folder, service.study, service.launched.secret)


def test_what_is_too_old_is_deleted_once_the_study_is_closed(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, between(retention=Retention(platform_ids=0)))
    someone(service, "person-1")
    serving = serving_of(sqlite_lab, service)
    assert delete_expired(serving) == (0, 0)
    StudyService(sqlite_lab, "small").actions.close()
    assert delete_expired(serving) == (1, 0)
    assert rows_of(sqlite_lab, schema.people) == []


def test_a_lab_that_cannot_be_reached_does_not_stop_the_server(
    sqlite_lab: Lab, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service, _ = opened(sqlite_lab)
    lost = dataclasses.replace(serving_of(sqlite_lab, service), folder=tmp_path / "nowhere")
    with caplog.at_level(logging.WARNING, logger="empathylab.study.web"):
        assert delete_expired(lost) == (0, 0)
    assert "data past its retention period could not be deleted: LabError" in caplog.text


def test_the_studys_secret_is_in_no_representation(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab)
    assert repr(service.launched.secret)[2:-1] not in repr(serving_of(sqlite_lab, service))


def test_people_can_wait_at_a_socket_before_anyone_serves_it() -> None:
    with listening("127.0.0.1", 0) as listener:
        socket.create_connection(listener.getsockname(), timeout=5).close()


def test_an_address_of_another_machine_is_one_sentence() -> None:
    with pytest.raises(InputError, match="203.0.113.9:0: the server cannot listen"):
        listening("203.0.113.9", 0)


def test_this_machines_proxy_is_believed_unless_others_are_named() -> None:
    assert checked_proxies([]) == LOOPBACK
    assert checked_proxies(["10.0.0.5", "fd00::/8"]) == ("10.0.0.5", "fd00::/8")


@pytest.mark.slow
def test_workers_that_end_at_once_are_not_begun_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DYING], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 1
    assert done.stdout == "closed\n"
    assert "The server processes stop as soon as they start" in done.stderr
    assert done.stderr.count("died; starting another") == 2


def waiting_at(shared: SharedSocket, count: int) -> list[socket.socket]:
    """People who have connected, and whom nobody has let in yet."""
    address = shared.getsockname()
    return [socket.create_connection(address, timeout=2) for _ in range(count)]


def test_people_can_wait_at_a_socket_that_several_processes_share() -> None:
    own = listening("127.0.0.1", 0)
    with SharedSocket(own.family, own.type, own.proto, fileno=own.detach()) as shared:
        shared.listen(1)
        for item in waiting_at(shared, 30):
            item.close()


def test_a_process_takes_one_connection_at_a_time_from_a_shared_socket() -> None:
    own = listening("127.0.0.1", 0)
    shared = SharedSocket(own.family, own.type, own.proto, fileno=own.detach())
    people = waiting_at(shared, 10)
    let_in: list[asyncio.BaseTransport] = []

    class Door(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            let_in.append(transport)

    async def count() -> list[int]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Door, sock=shared, backlog=1)
        seen = [len(let_in)]
        while len(let_in) < len(people):
            await asyncio.sleep(0)
            seen.append(len(let_in))
        server.close()
        for transport in let_in:
            transport.close()
        await asyncio.sleep(0)
        return seen

    seen = asyncio.run(count())
    for person in people:
        person.close()
    assert max(after - before for before, after in itertools.pairwise(seen)) == 1
