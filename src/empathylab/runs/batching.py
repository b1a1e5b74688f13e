"""A session's requests through a provider's batch API: submit, wait, fetch, also after a kill."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update

from empathylab.errors import ModelError
from empathylab.models.batches import BatchApi, BatchRequest, Results
from empathylab.runs.limits import Spend
from empathylab.runs.plans import Pending
from empathylab.store import Lab
from empathylab.store.inserts import now
from empathylab.store.schema import batches

_FAILED_IN_A_ROW = 20


@dataclass(frozen=True, slots=True)
class Batching:
    """How often a batch is looked at, in seconds: soon at first, then less and less often."""

    first_wait: float = 5.0
    longest_wait: float = 120.0


@dataclass(slots=True)
class OpenBatch:
    """A batch that is under way, with the requests that wait for it."""

    row: int
    provider_id: str
    submitted_at: datetime
    pending: dict[str, Pending]
    """By the id that the provider knows."""
    set_aside: dict[str, Spend]
    """What each may use at worst."""
    adjusted: str = ""
    """What was sent otherwise than asked when it was submitted; not known of earlier sessions."""

    @property
    def requests(self) -> dict[str, BatchRequest]:
        return {
            name: BatchRequest(item.request.messages, item.request.parameters)
            for name, item in self.pending.items()
        }


class BatchLedger:
    """The batches of a run, as the lab and the provider know them."""

    def __init__(self, lab: Lab, run_id: int, api: BatchApi) -> None:
        self._lab = lab
        self._run = run_id
        self._api = api

    async def under_way(
        self, waiting: Mapping[str, Pending], elsewhere: Collection[str] = ()
    ) -> list[OpenBatch]:
        """Batches of an earlier session with requests that still wait, by the requests' keys.

        `elsewhere` are the keys of requests that other shards wait for: their batches are theirs.
        """
        query = select(batches).where(batches.c.run_id == self._run, batches.c.status != "ended")
        with self._lab.reading() as connection:
            rows = connection.execute(query.order_by(batches.c.id)).all()
        open_batches = []
        for row in rows:
            if not set(elsewhere).isdisjoint(row.keys):
                continue
            provider_id = row.provider_id or await self._api.find(row.token)
            mine = {
                name_of(place): waiting[key] for place, key in enumerate(row.keys) if key in waiting
            }
            if provider_id is None or not mine:
                self._forget(row.id)
                continue
            open_batches.append(OpenBatch(row.id, provider_id, row.submitted_at, mine, {}))
        return open_batches

    async def submit(self, chosen: list[tuple[Pending, Spend]], adjusted: str) -> OpenBatch:
        """A new batch; it is noted before it is sent, so that a kill in between is noticed."""
        token, submitted_at = secrets.token_hex(12), now()
        keys = [item.request.key for item, _ in chosen]
        row: dict[str, Any] = {"run_id": self._run, "token": token, "keys": keys}
        row |= {"status": "submitted", "submitted_at": submitted_at}
        with self._lab.writing() as connection:
            statement = batches.insert().returning(batches.c.id)
            number = int(connection.execute(statement, row).scalar_one())
        pending = {name_of(place): item for place, (item, _) in enumerate(chosen)}
        spends = {name_of(place): most for place, (_, most) in enumerate(chosen)}
        batch = OpenBatch(number, "", submitted_at, pending, spends, adjusted)
        try:
            batch.provider_id = await self._api.submit(token, batch.requests)
        except Exception:
            self._forget(number)
            raise
        with self._lab.writing() as connection:
            change = update(batches).where(batches.c.id == number)
            connection.execute(change.values(provider_id=batch.provider_id))
        return batch

    async def wait(self, open_batches: Iterable[OpenBatch], batching: Batching) -> OpenBatch:
        """The first of the batches to end."""
        seconds, failed = batching.first_wait, 0
        while True:
            for batch in open_batches:
                try:
                    if await self._api.ended(batch.provider_id):
                        return batch
                    failed = 0
                except ModelError:
                    # The batch goes on without us; a network that fails for a while is no reason.
                    failed += 1
                    if failed >= _FAILED_IN_A_ROW:
                        raise
            await asyncio.sleep(seconds)
            seconds = min(2 * seconds, batching.longest_wait)

    async def results(self, batch: OpenBatch) -> Results:
        """What became of its requests, by the provider's ids."""
        return await self._api.results(batch.provider_id, batch.requests)

    def close(self, batch: OpenBatch) -> None:
        """Notes that all answers of the batch are stored."""
        with self._lab.writing() as connection:
            change = update(batches).where(batches.c.id == batch.row)
            connection.execute(change.values(status="ended", ended_at=now()))

    def _forget(self, row: int) -> None:
        with self._lab.writing() as connection:
            connection.execute(delete(batches).where(batches.c.id == row))


def name_of(place: int) -> str:
    """The id by which a provider knows the request at that place of a batch."""
    return f"r{place}"
