"""The lab that is viewed, which others may change, move or replace at any moment."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection

from empathylab.errors import LabBusy, LabError
from empathylab.store import Lab
from empathylab.store.lab import DATABASE_FILE, is_read_only
from empathylab.store.listings.search_index import update_search_index
from empathylab.store.migrate import require_latest

INDEXING = "empathylab-search-index"


class ViewedLab:
    """Opens the lab read-only, and opens it again where its file has been replaced."""

    def __init__(self, folder: Path, *, database: str | None = None) -> None:
        self.folder = folder
        self._database = database
        self._lock = threading.Lock()
        self._lab = Lab.open_read_only(folder, database=database)
        self._file = self._present_file()
        self._indexing: threading.Thread | None = None
        self._refused = False

    @contextlib.contextmanager
    def reading(self) -> Iterator[tuple[Lab, Connection]]:
        """The lab as it is now, in one transaction."""
        lab = self._current()
        with lab.reading() as connection:
            require_latest(connection, where=str(self.folder))
            yield lab, connection

    def index_replies(self) -> bool:
        """Whether a thread is indexing the replies that are not in the search index yet.

        It starts here, unless the lab cannot be written to.
        """
        with self._lock:
            if self._indexing is not None and self._indexing.is_alive():
                return True
            sqlite = self._lab.engine.dialect.name == "sqlite"
            if is_read_only(self.folder / DATABASE_FILE) if sqlite else self._refused:
                return False
            self._indexing = threading.Thread(target=self._index, name=INDEXING, daemon=True)
            self._indexing.start()
            return True

    def _index(self) -> None:
        # Where another process writes for long, the next search starts this again.
        try:
            with Lab.open(self.folder, create=False, database=self._database) as lab:
                update_search_index(lab)
        except LabBusy:
            pass
        except LabError:
            self._refused = True

    def close(self) -> None:
        self._lab.close()

    def _current(self) -> Lab:
        with self._lock:
            file = self._present_file()
            if file != self._file:
                opened = Lab.open_read_only(self.folder, database=self._database)
                self._lab.close()
                self._lab, self._file = opened, file
            return self._lab

    def _present_file(self) -> tuple[int, int] | None:
        """Which file the database is; None for PostgreSQL."""
        if self._lab.engine.dialect.name != "sqlite":
            return None
        try:
            status = (self.folder / DATABASE_FILE).stat()
        except OSError as error:
            raise LabError(
                "the lab is no longer here",
                where=str(self.folder),
                remedy="Restore it, or start the viewer with another --lab.",
            ) from error
        return (status.st_dev, status.st_ino)
