"""The viewer on this machine's own address, until it is stopped."""

from __future__ import annotations

import secrets
import socket
from dataclasses import dataclass, field

from starlette.applications import Starlette

from empathylab.study.web.serving import listening
from empathylab.view.app import create_app
from empathylab.view.viewed_lab import ViewedLab

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Viewer:
    """A viewer that listens already, so that its link works at once."""

    app: Starlette
    listener: socket.socket
    token: str = field(repr=False)

    @property
    def link(self) -> str:
        """The address with the token: anyone who has it can read the lab."""
        return f"http://{HOST}:{self.listener.getsockname()[1]}/?token={self.token}"


def open_viewer(lab: ViewedLab, port: int) -> Viewer:
    """A viewer of the lab at that port, or at any that is free for 0."""
    listener = listening(HOST, port)
    token = secrets.token_urlsafe(32)
    # Browsers share cookies between the ports of a host, so each viewer has its own.
    cookie = f"empathylab-view-{listener.getsockname()[1]}"
    return Viewer(create_app(lab, token=token, cookie=cookie), listener, token)


def serve(viewer: Viewer) -> None:
    """Answers requests until the process is interrupted or terminated."""
    import uvicorn

    config = uvicorn.Config(
        viewer.app,
        access_log=False,
        log_level="warning",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[viewer.listener])
