"""Ray clusters of this machine, and programs that work on them.

Ray stays out of the process of the tests: a process cannot leave a cluster that has died.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.helpers.groups import unavailable

_START = [
    *("-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=2"),
    *("--node-ip-address=127.0.0.1", "--object-store-memory=100000000"),
]


class Cluster(NamedTuple):
    """A head node with two cores. All that it writes, its user's home too, is in one folder."""

    address: str
    head: subprocess.Popen[str]
    folder: Path
    environment: dict[str, str]

    def drive(self, driver: Path, *arguments: str) -> subprocess.Popen[str]:
        """Starts a program that works on the cluster."""
        return subprocess.Popen(
            [sys.executable, str(driver), *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @contextlib.contextmanager
    def node(
        self, *options: str, environment: Mapping[str, str] | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """Another node with two cores, ended afterwards."""
        address = self.address.removeprefix("ray://")
        with _node(
            self.environment | (environment or {}), f"--address={address}", *options
        ) as node:
            yield node


def require_ray() -> None:
    """Skips the test where Ray is not installed."""
    if find_spec("ray") is None:
        unavailable("ray", "ray is not installed")


@contextlib.contextmanager
def cluster(*options: str) -> Iterator[Cluster]:
    """A cluster of one node, ended afterwards."""
    require_ray()
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # short: sockets are named in it
    environment = os.environ | {
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "0" * 64,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # else other tests go first
        # A node that does not answer is lost after seconds, not after half a minute.
        "RAY_health_check_period_ms": "1000",
        "RAY_health_check_failure_threshold": "3",
    }
    port = free_port()
    head = "--head", "--include-dashboard=false", f"--port={port}", f"--temp-dir={folder / 't'}"
    with _node(environment, *head, *options) as started:
        yield Cluster(f"ray://127.0.0.1:{port}", started, folder, environment)
    shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def _node(environment: dict[str, str], *options: str) -> Iterator[subprocess.Popen[str]]:
    node = subprocess.Popen(
        [sys.executable, *_START, *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert node.stdout is not None
    said = ""
    while "block forever" not in said:
        line = node.stdout.readline()
        assert line, said
        said += line
    try:
        yield node
    finally:
        end(node)


def end(node: subprocess.Popen[str]) -> None:
    """Ends a node with all that it has started."""
    if node.returncode is not None:
        return
    started = []
    with contextlib.suppress(psutil.NoSuchProcess):
        started = [*psutil.Process(node.pid).children(recursive=True), psutil.Process(node.pid)]
    for process in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    node.communicate(timeout=60)
