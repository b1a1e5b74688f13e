"""The pages on a real server, on loopback."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from empathylab.study.session.service import StudyService
from empathylab.study.web import server_settings
from tests.study.web.desk import Desk
from tests.study.web.raters import app_of


def served(desk: Desk | StudyService) -> contextlib.AbstractContextManager[str]:
    """The address of the desk's study."""
    return served_app(app_of(desk))


@contextlib.contextmanager
def served_app(app: Starlette) -> Iterator[str]:
    """The address of an app."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        settings = {**server_settings(port=port), "log_level": "error"}
        server = uvicorn.Server(uvicorn.Config(app, **settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()
