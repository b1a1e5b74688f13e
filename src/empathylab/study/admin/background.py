"""Work beside the pages: threads that do the same again and again while a study is served."""

from __future__ import annotations

import threading
from collections.abc import Callable


class BackgroundWork:
    """A running thread that does its work every so many seconds; `stop` ends it."""

    def __init__(
        self, work: Callable[[], object], every: float, *, name: str, at_once: bool = False
    ) -> None:
        self._work = work
        self._every = every
        self._at_once = at_once
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it after what is under way; work that hangs is left behind."""
        self._stopped.set()
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        if self._at_once:
            self._work()
        while not self._stopped.wait(self._every):
            self._work()
