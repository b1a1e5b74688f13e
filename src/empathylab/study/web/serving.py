"""How the server is set, so that slow or greedy clients hold up nobody else."""

from __future__ import annotations

from typing import Literal, TypedDict


class ServerSettings(TypedDict):
    """Settings of uvicorn."""

    host: str
    port: int
    workers: int
    http: Literal["h11"]
    ws: Literal["none"]
    access_log: bool
    proxy_headers: bool
    server_header: bool
    date_header: bool
    limit_concurrency: int
    backlog: int
    timeout_keep_alive: int
    timeout_graceful_shutdown: int
    h11_max_incomplete_event_size: int


def server_settings(
    host: str = "127.0.0.1", port: int = 8000, *, workers: int = 1, most_connections: int = 2500
) -> ServerSettings:
    """What `uvicorn.run(app, **settings)` is to be given.

    Its own access log would hold the platforms' ids, and it would believe any local proxy: the
    app does both itself. Who is over the number of connections is answered 503.
    """
    return ServerSettings(
        host=host,
        port=port,
        workers=workers,
        http="h11",  # the other one has no limit on headers
        ws="none",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=True,
        limit_concurrency=most_connections,
        backlog=2048,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=15,
        h11_max_incomplete_event_size=32 * 1024,
    )
