"""Workers on a Ray cluster: Ray starts them, moves work away from lost nodes, and begins it again.

A cluster's workers only compute. They return rows, and the process that asked writes them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from empathylab import __version__
from empathylab.compute.chunks import ATTEMPTS, WORKER_ENVIRONMENT, Chunk, Outcome, Source
from empathylab.errors import ComputeError, EmpathyLabError, InputError, MissingExtra

_DEFAULT_PORT = 6379
_CONNECT_SECONDS = 5.0
_LOST_SECONDS = 5.0
"""So long a head node may not answer before it counts as lost."""
_LOOK_SECONDS = 2.0
"""Between two looks at which nodes are there."""
_HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000 04 00 00000000")
_HTTP2_PING = bytes.fromhex("000008 06 00 00000000") + bytes(8)
_HTTP2_PONG = bytes.fromhex("06 01 00000000")
"""Type, flags and stream of the answer to a ping."""
_HTTP2_FRAMES = b"\x04\x06\x08"
"""Types that may come before it: settings, pings and window updates."""
_QUIET = {"log_to_driver": False, "logging_level": "ERROR"}
_AGAIN = "Then run the command again: it uses what the lab has stored."
_LOGGER = logging.getLogger("empathylab")


class Cluster(NamedTuple):
    """A connection to a cluster, which lasts as long as this process."""

    ray: Any
    head: tuple[str, int]
    cores: int


def is_address(engine: str) -> bool:
    """Whether it is `ray://host:port` or `ray://host`."""
    return engine.startswith("ray://") and _head_node(engine.removeprefix("ray://")) is not None


def check(engine: str) -> None:
    """Raises an error where Ray is missing or the cluster does not answer. Loads no Ray."""
    if find_spec("ray") is None:
        raise MissingExtra("ray", "ray", f"The engine {engine}")
    address = _address(engine)
    if not address:
        return
    where = "RAY_ADDRESS" if engine == "ray" else None
    head = _head_node(address)
    if head is None:
        raise InputError(
            "the address of a Ray cluster must be host:port",
            where=where,
            got=address,
            remedy="Use the address that `ray start --head` printed.",
        )
    if not _answers(head, _CONNECT_SECONDS, greeting=os.environ.get("RAY_USE_TLS") != "1"):
        raise _absent(address, where)


def _absent(address: str, where: str | None = None) -> ComputeError:
    return ComputeError(
        "there is no Ray cluster at this address",
        where=where,
        got=address,
        remedy="Start one with `ray start --head`, correct the address, or use --engine processes.",
    )


def connect(engine: str, workers: int | None) -> Cluster:
    """The cluster at `ray://host:port`; for `ray` that of RAY_ADDRESS, or one started here."""
    check(engine)
    head = _head_node(_address(engine))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # never a cluster that nobody asked for
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # `_failed` says the first of them
    if head is None and "ray" not in sys.modules:
        _protect()
    elif head is not None:  # else the library writes beside the error what it could not send
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    ray = import_module("ray")
    # Ray prints the death of workers to stdout, where results belong; `_failed` says what matters.
    worker: Any = import_module("ray._private.worker")
    worker.print_to_stdstream = lambda *_, **__: None
    if not ray.is_initialized():
        if head is None:
            ray.init(num_cpus=workers, include_dashboard=False, **_QUIET)
        else:
            _join(ray, f"{head[0]}:{head[1]}")
    host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
    return Cluster(ray, (host, int(port)), max(1, int(ray.cluster_resources().get("CPU", 1))))


def _address(engine: str) -> str:
    """The address of a cluster that is there already; empty where one is started."""
    if engine == "ray":
        engine = os.environ.get("RAY_ADDRESS", "")
    return engine.removeprefix("ray://")


def _head_node(address: str) -> tuple[str, int] | None:
    """Host and port; None where it is no address."""
    parts = re.fullmatch(r"([^\s:/\[\]]+|\[[^\s\]]+\])(?::(\d{1,5}))?", address)
    if parts is None:
        return None
    port = int(parts[2] or _DEFAULT_PORT)
    return (parts[1], port) if 0 < port < 65536 else None


def _protect() -> None:
    """A token that only the processes of the cluster know; Ray reads it when it is imported."""
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if os.environ["RAY_AUTH_MODE"] == "token" and "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray writes ~/.ray
    os.environ.setdefault("RAY_worker_niceness", "0")


def _join(ray: Any, address: str) -> None:
    try:
        with _silent():
            ray.init(address=address, **_QUIET)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise _refused(address, f"{error} {error.__cause__ or ''}") from error


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without what Ray's library writes to stderr each second until it gives up with an error."""
    sys.stderr.flush()
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _refused(address: str, reason: str) -> ComputeError:
    """Why a cluster that is there cannot be joined, in one sentence."""
    if "Version mismatch" in reason:
        return ComputeError(
            f"the Ray cluster at {address} runs another version of Ray or Python",
            got=" ".join(reason.split("\n\n")[0].split()),
            remedy="Use the same versions on every machine.",
        )
    if "AuthToken" in reason or "uthentication" in reason:
        return ComputeError(
            f"the Ray cluster at {address} needs a token",
            remedy="Set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the cluster's token.",
        )
    if "connect to GCS" in reason:
        return _absent(address)
    return ComputeError(
        f"the Ray cluster at {address} cannot be joined",
        got=reason.strip().splitlines()[0],
        remedy="Make this machine one of its nodes: ray start --address HOST:PORT.",
    )


def on_ray(
    cluster: Cluster, function: Callable[[Any], Any], source: Source
) -> Generator[tuple[Chunk, Outcome]]:
    """Every chunk with its outcome, as they come."""
    ray = cluster.ray
    cloudpickle = ray.cloudpickle
    # By value: a worker that lacks the package can then say so itself.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    pending: dict[Any, Chunk] = {}
    nodes = Nodes(cluster)
    try:
        shared = [ray.put(cloudpickle.dumps(function))]
        task = ray.remote(_work).options(max_retries=ATTEMPTS - 1)
        while True:
            while len(pending) < source.workers and (chunk := source.take()) is not None:
                pending[task.remote(shared, cloudpickle.dumps(chunk), __version__)] = chunk
            if not pending:
                return
            for reference in _finished(ray, list(pending), nodes):
                yield pending.pop(reference), ray.get(reference)
    except ray.exceptions.RayError as error:
        raise _failed(ray, error) from error
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
        if nodes.headless:
            ray.shutdown()
        else:
            for reference in pending:
                ray.cancel(reference, force=True)


class Nodes:
    """Says when a node of the cluster is lost; Ray does its work again on the others."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._there = self._alive()
        self._looked = time.monotonic()
        self._lost_at: float | None = None
        self._asking: threading.Thread | None = None
        self.headless = False
        """Whether the head node is lost: of the cluster's functions only `shutdown` ends then."""

    def _alive(self) -> set[str]:
        return {node["NodeID"] for node in self._cluster.ray.nodes() if node["Alive"]}

    def look(self) -> None:
        """Warns of lost nodes; an error if the head node is lost."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        if _answers(self._cluster.head, 1.0):
            self._lost_at = None
            if self._asking is None or not self._asking.is_alive():
                self._asking = threading.Thread(target=self._warn, daemon=True)
                self._asking.start()
        elif self._lost_at is None:
            self._lost_at = time.monotonic()
        elif time.monotonic() - self._lost_at > _LOST_SECONDS:
            self.headless = True
            host, port = self._cluster.head
            raise ComputeError(
                f"the head node of the Ray cluster at {host}:{port} is gone",
                remedy=f"Start the cluster again, or use --engine processes. {_AGAIN}",
            )

    def _warn(self) -> None:
        """Runs in a thread: where the head node is lost meanwhile, Ray does not answer."""
        with contextlib.suppress(Exception):  # the connection has ended
            there = self._alive()
            lost = len(self._there - there)
            if lost:
                what = "A node" if lost == 1 else f"{lost} nodes"
                _LOGGER.warning(
                    "%s of the Ray cluster was lost; its work is restarted on the others.",
                    what,
                )
            self._there = there


def _finished(ray: Any, pending: list[Any], nodes: Nodes) -> list[Any]:
    """The tasks that have ended, once there is one."""
    while True:
        nodes.look()
        done, _ = ray.wait(pending, timeout=1.0)
        if done:
            return list(done)


def _failed(ray: Any, error: Exception) -> EmpathyLabError:
    """The error of the cluster, in one sentence."""
    if isinstance(error, ray.exceptions.RayTaskError) and (lacks := lacking(error.cause)):
        return lacks
    if isinstance(error, ray.exceptions.ObjectStoreFullError | ray.exceptions.OutOfDiskError):
        return ComputeError(
            "the object store of the Ray cluster and the disk behind it are full",
            remedy="Free disk space on the nodes, start Ray with more --object-store-memory, or "
            f"use --engine processes. {_AGAIN}",
        )
    kind = type(error).__name__
    return ComputeError(
        f"{ATTEMPTS} workers of the Ray cluster ended while working on the same items ({kind})",
        remedy=f"If memory is short, use fewer workers (--workers). {_AGAIN}",
    )


def lacking(cause: BaseException | None) -> ComputeError | None:
    """The error of a worker that lacks this version of the package, in one sentence."""
    if isinstance(cause, ImportError):
        what = f"a worker of the Ray cluster cannot import {cause.name}"
    elif isinstance(cause, RuntimeError) and "empathylab" in str(cause):
        what = str(cause)
    else:
        return None
    return ComputeError(
        what, remedy=f"Install empathylab {__version__} with its extras on every node."
    )


def _answers(address: tuple[str, int], seconds: float, *, greeting: bool = False) -> bool:
    """Whether a server accepts a connection; with `greeting`, whether it answers in HTTP/2.

    Head nodes do. Ray itself would wait for minutes for another kind of server.
    """
    host, port = address
    try:
        with socket.create_connection((host.strip("[]"), port), timeout=seconds) as connection:
            if not greeting:
                return True
            connection.sendall(_HTTP2_GREETING + _HTTP2_PING)
            with connection.makefile("rb") as frames:
                while len(header := frames.read(9)) == 9 and header[3] in _HTTP2_FRAMES:
                    if header[3:] == _HTTP2_PONG:
                        return True
                    frames.read(int.from_bytes(header[:3]))
            return False
    except OSError:
        return False


_functions: dict[str, Any] = {}
"""In a worker: the function it works with, so that a large one is loaded once."""


def require_version(version: str) -> None:
    """In a worker of the cluster: an error if the package is of another version."""
    from empathylab import __version__ as here

    if here != version:
        raise RuntimeError(f"a worker of the Ray cluster has empathylab {here}, not {version}")


def _work(shared: list[Any], chunk: bytes, version: str) -> Any:
    """A chunk's outcome, in a worker of the cluster. Travels by value: it imports what it needs."""
    import os
    import pickle

    import ray

    os.environ.update(WORKER_ENVIRONMENT)  # before numpy and polars are imported
    require_version(version)
    from empathylab.compute.chunks import work_through

    key = shared[0].hex()
    if key not in _functions:
        _functions.clear()
        _functions[key] = pickle.loads(ray.get(shared[0]))  # noqa: S301 - from our own driver
    return work_through(_functions[key], pickle.loads(chunk))  # noqa: S301
