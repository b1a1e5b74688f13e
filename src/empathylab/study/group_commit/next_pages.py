"""Pages that are known before they are asked for: the one after an answer was just stored."""

from __future__ import annotations

import time
from collections import OrderedDict

from empathylab.study.session.visits import View

_SECONDS = 5.0
_MOST = 5_000


class NextPages:
    """By participant, the page that the transaction that stored their answer found to come next.

    It saves the request that follows a second read of the database. It is given out once, and only
    after that very answer; every other request reads the database.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, float, View]] = OrderedDict()

    def give(self, person: str, answered: str, view: View) -> None:
        """Keeps what comes after the page that was answered."""
        self._kept.pop(person, None)
        self._kept[person] = (answered, time.monotonic(), view)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def take(self, person: str, answered: str) -> View | None:
        """What comes after that page; None where it is not known, or no longer fresh."""
        found = self._kept.pop(person, None)
        if found is None or found[0] != answered or time.monotonic() - found[1] > _SECONDS:
            return None
        return found[2]
