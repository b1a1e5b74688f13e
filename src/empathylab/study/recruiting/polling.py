"""Hearing from Prolific every minute while a study is served, in a thread that disturbs nobody."""

from __future__ import annotations

import asyncio
import logging

from empathylab.errors import EmpathyLabError, RunInUse, UserError
from empathylab.study.admin.background import BackgroundWork
from empathylab.study.recruiting.prolific import Prolific, configured
from empathylab.study.recruiting.sync import pull
from empathylab.study.session.running import RunningStudy

log = logging.getLogger("empathylab.study.recruiting")


class Poll:
    """Asks Prolific and says what is wrong, once for as long as it is the same."""

    def __init__(self, service: RunningStudy, client: Prolific) -> None:
        self._service = service
        self._client = client
        self._trouble: str | None = None

    def look(self) -> None:
        """Brings what Prolific says now into the lab, unless another process does."""
        try:
            name = f"prolific {self._service.name}@{self._service.study.version}"
            with self._service.lab.exclusive(name, what="the sync with Prolific"):
                synced = asyncio.run(pull(self._service, self._client, who="prolific"))
        except RunInUse:
            return  # another server process does it
        except EmpathyLabError as error:
            self._say(error.what if isinstance(error, UserError) else type(error).__name__)
            return
        except Exception as error:  # noqa: BLE001 - raters must never feel it
            self._say(type(error).__name__)
            return
        if self._trouble is not None:
            self._trouble = None
            log.warning("Prolific can be reached again")
        if synced.changed:
            log.info(
                "Prolific: %d changed, %d slots freed, %d excluded",
                synced.changed,
                len(synced.freed),
                len(synced.excluded),
            )

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            log.warning("Prolific cannot be reached; the study continues without it: %s", trouble)


def start_polling(
    service: RunningStudy, *, every: float = 60.0, client: Prolific | None = None
) -> BackgroundWork | None:
    """The running thread; None where the study is not on Prolific or there is no token.

    Any number of server processes may start it: one at a time asks.
    """
    if service.study.recruitment.platform != "prolific":
        return None
    if client is None:
        if not configured():
            return None
        try:
            client = Prolific.from_environment()
        except UserError as error:
            log.warning(
                "Prolific cannot be reached; the study continues without it: %s", error.what
            )
            return None
    return BackgroundWork(Poll(service, client).look, every, name="prolific", at_once=True)
