"""A study on the network: one process, or several that share a socket."""

from __future__ import annotations

import contextlib
import errno
import functools
import ipaddress
import logging
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from empathylab.errors import InputError
from empathylab.study.design.definition import Study
from empathylab.study.web.logs import start_logging
from empathylab.study.web.workers import run_workers

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

    from empathylab.study.session.service import StudyService

LOOPBACK = ("127.0.0.1", "::1")
BACKLOG = 2048
_DAY = 24 * 3600.0
_GRACE = 15
"""Seconds for the requests under way when the server is told to stop."""
log = logging.getLogger("empathylab.study.web")


def server_settings(port: int = 8000) -> dict[str, Any]:
    """What `uvicorn.run(app, **settings)` is to be given.

    Its own access log would hold the platforms' ids, and it would believe any local proxy: the
    app does both itself. Requests above the number of connections are answered 503; the number
    follows from how many files the process may open.
    """
    from empathylab.study.web.connections import TimedProtocol, connection_limit

    return {
        "port": port,
        "http": TimedProtocol,
        "ws": "none",
        "loop": "asyncio",  # others listen in their own way, which `SharedSocket` cannot guide
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "date_header": True,
        "limit_concurrency": connection_limit(),
        "backlog": BACKLOG,
        "timeout_keep_alive": 20,
        "timeout_graceful_shutdown": _GRACE,
    }


@dataclass(frozen=True, slots=True)
class Serving:
    """What a server process must know; workers get it through a pipe, so nobody can list it."""

    folder: Path
    """The lab's."""
    study: Study
    secret: bytes = field(repr=False)
    proxies: tuple[str, ...] = ()
    """Addresses or networks whose word on TLS and on who asks is believed."""
    root_path: str = ""
    """The path under which a proxy shows the study; it takes it off before it asks us."""
    log_requests: bool = True
    public_url: str = ""
    """The address under which people reach the study, for links."""

    def app(self) -> Starlette:
        """The study's app, which opens the lab at the first request."""
        from empathylab.study.web.app import create_app

        return create_app(
            self.service, study=self.study, secret=self.secret, public_url=self.public_url
        )

    def service(self) -> StudyService:
        """The study in a lab of its own, opened now."""
        from empathylab.store import Lab
        from empathylab.study.session.service import StudyService

        name = f"{self.study.name}@{self.study.version}"
        return StudyService(Lab.open(self.folder, create=False), name)


def listening(host: str, port: int) -> socket.socket:
    """A socket at that address, on which people can wait from now on."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise InputError(
            "there is no such address", where="--host", got=host, remedy="For example: 127.0.0.1."
        ) from None
    family, kind, number, _, address = addresses[0]
    listener = socket.socket(family, kind, number)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _unusable(host, port, error) from None
    return listener


def _unusable(host: str, port: int, error: OSError) -> InputError:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return InputError(
            "another program already uses this address",
            where=where,
            remedy="Stop it, or choose another port with --port.",
        )
    if error.errno == errno.EACCES:
        return InputError(
            "this port needs administrator rights",
            where=where,
            remedy="Choose a port of 1024 or above with --port, behind a proxy.",
        )
    return InputError(
        "the server cannot listen on this address",
        where=where,
        got=error.strerror,
        remedy="Choose another with --host and --port.",
    )


def checked_proxies(given: list[str]) -> tuple[str, ...]:
    """The proxies to believe: those given, else this machine's own."""
    for item in given:
        try:
            ipaddress.ip_network(item, strict=False)
        except ValueError:
            raise InputError(
                "a proxy must be given as an address or network",
                where="--proxy",
                got=item,
                remedy="For example: 10.0.0.5 or 10.0.0.0/24.",
            ) from None
    return tuple(given) or LOOPBACK


def serve_study(serving: Serving, listener: socket.socket, *, workers: int = 1) -> None:
    """Serves the study until the process is told to stop.

    Requests under way are finished first. SIGTERM returns; SIGINT raises KeyboardInterrupt.
    """
    start_logging(requests=serving.log_requests)
    with contextlib.closing(listener):
        if workers == 1:
            with _ended_by(signal.SIGTERM) as end, _beside(serving):
                _serve(serving, listener, end)
            return
        work = functools.partial(_serve_beside_others, serving, listener)
        with _beside(serving):
            # The socket is closed first: who comes then must not wait for workers that have ended.
            received = run_workers(work, workers, patience=_GRACE + 5, ending=listener.close)
        if received == signal.SIGINT:
            raise KeyboardInterrupt


class _End:
    """Whether the server has been told to stop, also before there was one."""

    def __init__(self) -> None:
        self.stopped = False
        self.server: uvicorn.Server | None = None

    def __call__(self, *_: object) -> None:
        self.stopped = True
        if self.server is not None:
            self.server.should_exit = True


@contextlib.contextmanager
def _ended_by(number: signal.Signals) -> Iterator[_End]:
    """While it lasts the signal asks to stop, and does not kill.

    The server has a handler of its own while it runs, and raises the signal again at its end.
    """
    end = _End()
    before = signal.signal(number, end)
    try:
        yield end
    finally:
        signal.signal(number, before)


@contextlib.contextmanager
def _beside(serving: Serving) -> Iterator[None]:
    """What goes on beside the pages, once for all workers: too old data goes, Prolific is heard,
    researchers are alerted."""
    from empathylab.study.admin.alerts import start_alerts
    from empathylab.study.admin.background import BackgroundWork
    from empathylab.study.recruiting.polling import start_polling

    service = serving.service()
    poll = start_polling(service)
    alerts = start_alerts(service, serving.public_url and f"{serving.public_url}/console")
    # The caller has deleted what was due at the start.
    deletion = BackgroundWork(functools.partial(delete_expired, serving), _DAY, name="retention")
    try:
        yield
    finally:
        for work in filter(None, (deletion, alerts, poll)):
            work.stop()
        service.lab.close()


def server_config(serving: Serving) -> uvicorn.Config:
    """The server's settings around the study's app."""
    import uvicorn

    settings = server_settings() | {
        "proxy_headers": bool(serving.proxies),
        "forwarded_allow_ips": ",".join(serving.proxies),
        "root_path": serving.root_path,
        "log_config": None,
    }
    return uvicorn.Config(serving.app(), **settings)


def _serve(serving: Serving, listener: socket.socket, end: _End) -> None:
    import uvicorn

    start_logging(requests=serving.log_requests)
    end.server = uvicorn.Server(server_config(serving))
    if not end.stopped:
        end.server.run(sockets=[listener])


class SharedSocket(socket.socket):
    """A listening socket of several processes, of which none takes more than its turn.

    An event loop accepts as many connections at once as its backlog allows. With a backlog of one,
    it leaves the next to whichever process is free; the socket itself lets as many wait as before.
    """

    def listen(self, backlog: int = 0, /) -> None:
        """Lets people wait, however few the event loop would have."""
        super().listen(max(backlog, BACKLOG))


def _serve_beside_others(serving: Serving, listener: socket.socket) -> None:
    import uvicorn

    start_logging(requests=serving.log_requests)
    config = server_config(serving)
    config.backlog = 1
    family, kind, number = listener.family, listener.type, listener.proto
    shared = SharedSocket(family, kind, number, fileno=listener.detach())
    uvicorn.Server(config).run(sockets=[shared])


def delete_expired(serving: Serving) -> tuple[int, int]:
    """How many platform ids and comments of the lab's studies were deleted: their time is over."""
    from empathylab.study.admin.retention import apply_everywhere

    try:
        service = serving.service()
        with contextlib.closing(service.lab):
            done = apply_everywhere(service.lab, service.now())
            return sum(item.platform_ids for item in done), sum(item.comments for item in done)
    except Exception as error:  # noqa: BLE001 - the outermost call of a thread
        # Tomorrow is another day; people who answer now must not suffer from it.
        log.warning("data past its retention period could not be deleted: %s", type(error).__name__)
        return 0, 0
