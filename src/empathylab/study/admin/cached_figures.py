"""Sums that are remembered for as long as it would be wasteful to add them up again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sqlalchemy import Connection

from empathylab.study.admin.monitoring import Sums, add_up
from empathylab.study.session.launched import Launched

QUICK = 0.1
"""Seconds; what takes less is always added up again."""
_SHARE = 20
"""Of 20 seconds, one at most is spent on adding up, however many people look."""
_LONGEST = 30.0


class RememberedSums:
    """The sums of one study: as of now in a small one, some seconds old in a very large one."""

    def __init__(
        self,
        add: Callable[[Connection, Launched], Sums] = add_up,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._add = add
        self._clock = clock
        self._known: Sums | None = None
        self._revision = 0
        self._good_until = 0.0
        self._lock = threading.Lock()

    def __call__(self, connection: Connection, launched: Launched) -> Sums:
        """Times, attention checks and balance."""
        with self._lock:  # anyone who comes meanwhile gets what is being added up
            began = self._clock()
            if (
                self._known is not None
                and self._revision == launched.revision
                and began < self._good_until
            ):
                return self._known
            self._known = self._add(connection, launched)
            self._revision = launched.revision
            ended = self._clock()
            took = ended - began
            self._good_until = ended + (min(_SHARE * took, _LONGEST) if took > QUICK else 0.0)
            return self._known
