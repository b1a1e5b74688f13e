"""Copies of an object on a real Ray cluster of this machine."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from empathylab import __version__
from empathylab.compute import ray_cluster
from tests.helpers import ray_clusters
from tests.helpers.ray_clusters import Cluster

pytestmark = [pytest.mark.ray, pytest.mark.slow]

DRIVER = Path(__file__).with_name("actors_driver.py")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_clusters.cluster() as started:
        yield started


def found_by(cluster: Cluster, what: str) -> Any:
    program = cluster.drive(DRIVER, what, cluster.address)
    out, said = program.communicate(timeout=600)
    assert (program.returncode, said) == (0, "")
    return json.loads(out)


@pytest.fixture(scope="module")
def found(cluster: Cluster) -> dict[str, Any]:
    """What one program found on a cluster of one node without a GPU."""
    result: dict[str, Any] = found_by(cluster, "healthy")
    return result


def test_a_node_has_one_copy_unless_a_number_is_given(found: dict[str, Any]) -> None:
    assert [copy["share"] for copy in found["one"]] == [1]
    assert [copy["share"] for copy in found["three"]] == [3, 3, 3]
    assert len({copy["process"] for copy in found["three"]}) == 3


def test_calls_go_to_all_copies(found: dict[str, Any]) -> None:
    assert found["squares"]["squares"] == [number**2 for number in range(40) if number != 7]
    assert found["squares"]["processes"] == found["squares"]["started"]
    assert len(found["squares"]["processes"]) == 2


def test_an_error_of_the_object_is_raised_where_it_was_called(found: dict[str, Any]) -> None:
    assert found["refused"] == "seven is refused; got 7. Use eight."
    assert found["cannot be made"] == "there is no such copy. Make one."


def test_a_copy_that_dies_is_started_again_and_its_calls_are_repeated(
    found: dict[str, Any],
) -> None:
    squares = [number**2 for number in range(40)]
    assert found["died once"] == squares
    assert found["died once, alone"] == squares


def test_copies_that_die_again_and_again_end_the_call(found: dict[str, Any]) -> None:
    assert found["dies"] == (
        "a copy on the Ray cluster ended 3 times (ActorDiedError). If memory is short, use fewer "
        "copies (--workers). Then run the command again to resume."
    )


def test_a_node_with_another_version_is_one_sentence(found: dict[str, Any]) -> None:
    assert found["another version"] == (
        f"a worker of the Ray cluster has empathylab {__version__}, not 0.0.1. Install empathylab "
        "0.0.1 with its extras on every node."
    )


def test_each_node_has_a_copy(cluster: Cluster) -> None:
    with cluster.node(environment={"HOME": "/of/the/second/node"}):
        copies = found_by(cluster, "started")
    homes = {str(cluster.folder), "/of/the/second/node"}
    assert {copy["home"] for copy in copies} == homes
    assert [copy["share"] for copy in copies] == [1, 1]


def test_each_gpu_has_a_copy() -> None:
    with ray_clusters.cluster("--num-gpus=2") as with_gpus:
        copies = found_by(with_gpus, "started")
        crowded = found_by(with_gpus, "crowded")
    assert sorted(copy["GPU"] for copy in copies) == ["0", "1"]
    assert [copy["share"] for copy in copies] == [2, 2]
    assert sorted(copy["GPU"] for copy in crowded) == ["0", "0", "1", "1"]
    assert [copy["share"] for copy in crowded] == [4, 4, 4, 4]


def test_a_copy_waits_for_a_gpu_in_use_and_says_so() -> None:
    with ray_clusters.cluster("--num-gpus=1") as with_gpu:
        user = with_gpu.drive(DRIVER, "waits", with_gpu.address)
        assert user.stdout is not None
        assert user.stdout.readline() == "waiting\n"
        program = with_gpu.drive(DRIVER, "impatient", with_gpu.address)
        assert program.stderr is not None
        said = program.stderr.readline()
        assert said == "Waiting for the Ray cluster to start 1 of 1 copies.\n"
        assert program.poll() is None
        user.kill()
        user.communicate()
        out, said = program.communicate(timeout=300)
    assert (program.returncode, said) == (0, "")
    assert [copy["GPU"] for copy in json.loads(out)] == ["0"]


def test_a_lost_head_ends_the_calls_under_way(cluster: Cluster) -> None:
    program = cluster.drive(DRIVER, "waits", cluster.address)
    assert program.stdout is not None
    assert program.stdout.readline() == "waiting\n"
    of_head = psutil.Process(cluster.head.pid).children(recursive=True)
    [server] = [process for process in of_head if "gcs_server" in process.name()]
    server.suspend()  # it is asked for the nodes and never answers
    time.sleep(2 * ray_cluster._LOOK_SECONDS)
    for process in of_head:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    out, said = program.communicate(timeout=300)
    assert (program.returncode, said) == (0, "")
    assert "the head node of the Ray cluster" in json.loads(out)
    assert json.loads(out).endswith("Then run the command again: it uses what the lab has stored.")
