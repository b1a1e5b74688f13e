"""Work on a real Ray cluster of this machine, started once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from empathylab import __version__, compute
from empathylab.compute import map_ordered, ray_cluster
from empathylab.errors import ComputeError, InputError, MissingExtra
from tests.compute import work
from tests.helpers import ray_clusters
from tests.helpers.command_line import empathylab
from tests.helpers.ray_clusters import Cluster, end, free_port, require_ray
from tests.helpers.waiting import wait_until

pytestmark = [pytest.mark.ray, pytest.mark.slow]

DRIVER = Path(__file__).with_name("ray_driver.py")


@pytest.fixture(scope="module")
def installed() -> None:
    require_ray()


needs_ray = pytest.mark.usefixtures("installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_clusters.cluster() as started:
        (started.folder / "only_here").mkdir()
        module = started.folder / "only_here" / "only_here.py"
        module.write_text("def function(number): return number\n")
        yield started


@pytest.fixture(scope="module")
def found(cluster: Cluster) -> dict[str, Any]:
    """What one program found on the cluster."""
    program = cluster.drive(DRIVER, "healthy", cluster.address)
    out, said = program.communicate(timeout=600)
    assert program.returncode == 0, said
    result: dict[str, Any] = json.loads(out)
    return result


def test_results_are_those_of_one_process(found: dict[str, Any]) -> None:
    alone = [list(work.drawn(number)) for number in range(25)]
    assert found["drawn"] == [alone, alone, alone]
    assert found["bootstrap ray"] == found["bootstrap pro"]
    assert found["power ray"] == found["power pro"]


def test_errors_of_the_work_and_dead_workers(found: dict[str, Any]) -> None:
    assert found["refused"] == "seven is refused; got 7. Use eight."
    assert found["died"]
    assert found["died once"] == list(range(25))
    assert found["died always"].startswith("3 workers of the Ray cluster ended")


def test_more_than_the_object_store_holds_goes_by_the_disk(found: dict[str, Any]) -> None:
    assert found["spilled"] == [150_000_000]


def test_a_full_object_store_is_one_sentence() -> None:
    # Of a disk that is more than 1% full, Ray uses no more: neither store nor disk has room.
    settings = '--system-config={"local_fs_capacity_threshold": 0.01}'
    with ray_clusters.cluster(settings) as full:
        program = full.drive(DRIVER, "full", full.address)
        out, said = program.communicate(timeout=300)
    assert program.returncode == 0, said
    for message in json.loads(out).values():
        assert message == (
            "the object store of the Ray cluster and the disk behind it are full. Free disk space "
            "on the nodes, start Ray with more --object-store-memory, or use --engine processes. "
            "Then run the command again: it uses what the lab has stored."
        )


def test_what_is_wrong_with_a_cluster_is_one_sentence(found: dict[str, Any]) -> None:
    assert found["nobody there"] == (
        "there is no Ray cluster at this address; got '127.0.0.1:1'. Start one with "
        "`ray start --head`, correct the address, or use --engine processes."
    )
    assert found["no package"].startswith("a worker of the Ray cluster cannot import only_here.")
    assert found["another empathylab"] == (
        f"a worker of the Ray cluster has empathylab {__version__}, not 0.0.1. Install empathylab "
        "0.0.1 with its extras on every node."
    )
    assert "runs another version of Ray or Python; got 'Version" in found["another python"]
    assert "Python: 3.9.1" in found["another python"]


def test_a_cluster_that_wants_a_token_is_one_sentence(cluster: Cluster) -> None:
    without = {name: value for name, value in cluster.environment.items() if "AUTH" not in name}
    program = cluster._replace(environment=without).drive(DRIVER, "joined", cluster.address)
    out, said = program.communicate(timeout=300)
    address = cluster.address.removeprefix("ray://")
    assert (program.returncode, said) == (0, "")
    assert json.loads(out) == (
        f"the Ray cluster at {address} needs a token. Set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN "
        "to the cluster's token."
    )


def test_nothing_is_written_in_the_home_folder(cluster: Cluster, found: dict[str, Any]) -> None:
    assert found
    assert {path.name for path in cluster.folder.iterdir()} <= {"only_here", "t", "work", "working"}


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'empathylab\[ray\]'"):
        list(map_ordered(work.drawn, range(2), engine="ray"))
    # Also if no cluster is needed: this power is a formula.
    done = empathylab("stats", "power", "--effect-w", "0.3", "--engine", "ray")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "The engine ray needs the package ray, which is not installed." in done.stderr


@needs_ray
@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (["--engine", "ray://127.0.0.1:{port}"], {}),
        ([], {"EMPATHYLAB_ENGINE": "ray://127.0.0.1:{port}"}),
        (["--engine", "ray"], {"RAY_ADDRESS": "127.0.0.1:{port}"}),
        (["--engine", "ray"], {"RAY_ADDRESS": "ray://localhost:{port}"}),
    ],
)
@pytest.mark.parametrize(
    "command", ["analyze ratings", "analyze style", "stats power --effect-w 0.3"]
)
def test_a_closed_port_ends_a_command_before_its_work(
    command: str, options: list[str], environment: dict[str, str]
) -> None:
    port = free_port()
    done = empathylab(
        *command.split(),
        *(word.format(port=port) for word in options),
        **{name: value.format(port=port) for name, value in environment.items()},
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no Ray cluster at this address" in done.stderr
    assert f":{port}'. Start one with `ray start --head`" in done.stderr
    assert "ray" not in sys.modules


@needs_ray
@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes.fromhex("000000 04 00 00000000")]
)
def test_another_server_at_the_port_is_no_cluster(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "_CONNECT_SECONDS", 0.5)

    def greet_and_close() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1_000)
            connection.sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as beside:
        beside.submit(greet_and_close)
        engine = f"ray://127.0.0.1:{server.getsockname()[1]}"
        done = empathylab("stats", "power", "--effect-w", "0.3", "--engine", engine)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no Ray cluster at this address" in done.stderr


@needs_ray
def test_a_server_that_never_answers_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = f"ray://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ComputeError, match="there is no Ray cluster at this address"):
            compute.choose(engine)


def test_a_web_server_that_ray_cannot_talk_to_is_no_cluster() -> None:
    said = "Failed to connect to Ray cluster at head:1 Failed to connect to GCS. Last error: 404"
    error = ray_cluster._refused("head:1", said)
    assert str(error).startswith("there is no Ray cluster at this address; got 'head:1'.")


@needs_ray
def test_an_address_of_the_environment_that_is_none_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "head:port")
    with pytest.raises(InputError, match="RAY_ADDRESS: .* must be host:port; got 'head:port'"):
        compute.choose("ray")


def test_the_work_of_a_lost_node_is_done_on_the_others(cluster: Cluster) -> None:
    folder = cluster.folder / "work"
    folder.mkdir()
    with cluster.node() as second:
        program = cluster.drive(DRIVER, "a node less", cluster.address, str(folder))

        def at_work() -> set[int]:
            there = psutil.Process(second.pid).children(recursive=True)
            return {process.pid for process in there} & {
                int(path.name) for path in folder.iterdir()
            }

        wait_until(at_work)
        end(second)
    assert program.stderr is not None
    assert program.stderr.readline().startswith("A node of the Ray cluster was lost")
    (folder / "go on").touch()
    out, said = program.communicate(timeout=300)
    assert program.returncode == 0, said
    assert json.loads(out)["results"] == [number**2 for number in range(25)]


def test_a_lost_head_is_said_and_the_results_before_it_are_kept(cluster: Cluster) -> None:
    program = cluster.drive(DRIVER, "headless", cluster.address, str(cluster.folder))
    wait_until((cluster.folder / "working").exists)
    for process in psutil.Process(cluster.head.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    out, said = program.communicate(timeout=300)
    assert program.returncode == 0, said
    found = json.loads(out)
    assert "the head node of the Ray cluster" in found["message"]
    assert found["message"].endswith("Then run the command again: it uses what the lab has stored.")
    assert said == ""
    assert found["results"] == [number**2 for number in range(len(found["results"]))]
    assert 0 < len(found["results"]) < 10_000


@needs_ray
def test_a_command_starts_a_cluster_of_its_own_and_prints_the_same(tmp_path: Path) -> None:
    without_ray = {name: value for name, value in os.environ.items() if name[:4] != "RAY_"}
    planned = ["--odds-ratio", "1.5", "--raters", "20", "--simulations", "8", "--json"]

    def printed(*engine: str) -> Any:
        program = subprocess.run(
            [sys.executable, "-m", "empathylab", "stats", "power", *planned, *engine],
            env=without_ray | {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert program.returncode == 0, program.stderr
        return json.loads(program.stdout)

    assert printed("--engine", "ray") == printed("--workers", "1")
    assert not (tmp_path / ".ray").exists()
