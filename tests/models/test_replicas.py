"""Copies of a local model on a real Ray cluster of this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from empathylab.models import known_weights
from tests.helpers import ray_clusters
from tests.helpers.groups import unavailable
from tests.helpers.ray_clusters import Cluster
from tests.helpers.waiting import wait_until

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_clusters.cluster() as started:
        yield started


def respond(cluster: Cluster, model: str, *options: str) -> subprocess.Popen[str]:
    command = ["-m", "empathylab", "respond", model, "--lab", str(cluster.folder / "lab")]
    return subprocess.Popen(
        [sys.executable, *command, "--engine", cluster.address, *options],
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def servers(cluster: Cluster) -> set[psutil.Process]:
    """The processes of llama.cpp on the cluster."""
    return {
        process
        for process in psutil.Process(cluster.head.pid).children(recursive=True)
        if process.is_running() and "empathylab.models.llama_server" in " ".join(process.cmdline())
    }


@pytest.mark.embedded
def test_copies_answer_all_requests_when_one_of_them_dies() -> None:
    weights = known_weights("smollm2")
    if not weights.installed:
        unavailable("embedded", "run `empathylab models install smollm2`")
    with ray_clusters.cluster() as cluster:
        link = cluster.folder / "model.gguf"
        link.symlink_to(weights.path)
        options = ["--max-tokens", "12", "--retries", "0", "--workers", "2", "--json"]
        options += ["--situations", "1"]
        asked = respond(cluster, f"local/{link}", *options)
        wait_until(lambda: len({server.ppid() for server in servers(cluster)}) == 2)
        psutil.Process(min(server.ppid() for server in servers(cluster))).kill()
        out, said = asked.communicate(timeout=600)
        assert asked.returncode == 0, said
        [session] = json.loads(out)["sessions"]
        assert (session["done"], session["failures"]) == (session["planned"], {})
        wait_until(lambda: not servers(cluster))


@pytest.mark.parametrize(
    ("of_node", "message"),
    [
        (b"other weights", "a node of the Ray cluster has other weights under this name; got"),
        (None, "there is no such model file; got"),
    ],
)
def test_weights_of_a_node_must_be_there_and_the_same(
    of_node: bytes | None, message: str, cluster: Cluster, tmp_path: Path
) -> None:
    (cluster.folder / "model.gguf").write_bytes(b"weights")
    if of_node is not None:
        (tmp_path / "model.gguf").write_bytes(of_node)
    with cluster.node(environment={"HOME": str(tmp_path)}):
        asked = respond(cluster, "local/~/model.gguf")
        out, said = asked.communicate(timeout=300)
    assert (asked.returncode, out) == (2, "")
    assert message in said
    assert "Traceback" not in said
    if of_node is None:
        assert f"local/~/model.gguf on {socket.gethostname()}" in said
