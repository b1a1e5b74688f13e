"""A server of one's own on loopback, for as long as simulated raters walk."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from empathylab.errors import EmpathyLabError
from empathylab.study.session.service import StudyService

_PATIENCE = 30.0


@contextlib.contextmanager
def served(service: StudyService) -> Iterator[str]:
    """The address at which the study's pages are served meanwhile."""
    import uvicorn

    from empathylab.study.web import create_app, server_settings

    app = create_app(lambda: service, study=service.study, secret=service.secret)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(app, **server_settings(port=port), log_config=None)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + _PATIENCE
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                raise EmpathyLabError("The server for simulated raters did not start.")
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.should_exit = True
            thread.join()
