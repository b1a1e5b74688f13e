"""Asks models for live replies, beside the pages of a server process.

Any number of processes can do so at once: a turn is claimed before its model is asked, and stored
before anyone sees it. A claim is renewed every second, so that the turns of a killed process are
taken over within `_LEASE`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection

from empathylab.errors import EmpathyLabError, ModelSetup, ModelUnavailable, RateLimited, UserError
from empathylab.models import Completion, Message, Model, Parameters, Prices, open_model
from empathylab.store.studies.live import (
    claim_turn,
    conversation_rows,
    end_conversation,
    finish_turn,
    last_reasons,
    release_claims,
    renew_claims,
    turn_rows,
    waiting_turns,
)
from empathylab.study.group_commit.batches import Batch
from empathylab.study.live.costs import Purse, most_cost
from empathylab.study.live.masking import Masks
from empathylab.study.live.pausing import pause_study
from empathylab.study.live.safety import reply_problem
from empathylab.study.live.settings import Author, Live
from empathylab.study.session.running import RunningStudy

log = logging.getLogger("empathylab.study.live")
Result = TypeVar("Result")

_LEASE = timedelta(seconds=4)
_RENEW = 1.0
_LOOK = 1.0
_MOST_AT_ONCE = 400
_MOST_TOGETHER = 16
"""Turns claimed in one transaction, for which participants' answers have to wait."""
_MARGIN = 0.3
"""Seconds before a turn is due in which the reply is stored."""
_GRACE = 15.0
"""Seconds for the reply of a turn that is due already, because its server was killed."""
_DOWN = ("outage", "time-out")
"""Reasons that mean that the provider is down, where they come one after the other."""
_PAUSES = (0.3, 1.0, 2.0)
"""Seconds between two attempts."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A turn that this process writes now."""

    turn: int
    conversation: int
    author: Author
    messages: tuple[Message, ...]
    participant_texts: tuple[str, ...]
    """What the participant wrote, as they wrote it."""
    language: str
    due_at: datetime
    cost: float
    """The maximum cost in dollars, reserved for it."""


@dataclass(slots=True)
class _ModelReply:
    """The result of asking a model for one reply."""

    text: str | None = None
    reason: str | None = None
    rejected: str | None = None
    cost: float = 0.0
    completion: Completion | None = None
    latency: float | None = None


class LiveEngine:
    """The replies of one running study in one process."""

    def __init__(
        self,
        running: RunningStudy,
        *,
        models: Callable[[Author], Model] | None = None,
        prices: Prices | None = None,
    ) -> None:
        assert running.study.live is not None  # noqa: S101 - only such a study has an engine
        self._running = running
        self._live: Live = running.study.live
        self._open = models or open_author
        self._models: dict[str, Model] = {}
        self._prices = prices or Prices.load()
        self._claim = secrets.token_hex(8)
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def wake(self) -> None:
        """Looks for turns at once; from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wake.set)

    async def run(self) -> None:
        """Answers until it is cancelled; what is under way then is given back."""
        self._loop = asyncio.get_running_loop()
        renewing = asyncio.create_task(self._keep_renewing())
        try:
            while True:
                try:
                    self._wake.clear()
                    await self._look()
                except EmpathyLabError as error:  # the lab is away for a moment
                    log.warning("live replies wait: %s", error)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK):
                        await self._wake.wait()
        finally:
            await self._end(renewing)

    async def _end(self, renewing: asyncio.Task[None]) -> None:
        renewing.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(renewing, *self._tasks, return_exceptions=True)
        with contextlib.suppress(EmpathyLabError):
            await self._write(lambda connection: release_claims(connection, self._claim))
        for model in self._models.values():
            await model.close()

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(_RENEW)
            if self._tasks:
                with contextlib.suppress(EmpathyLabError):
                    await self._write(self._renew)

    def _renew(self, connection: Connection) -> None:
        renew_claims(connection, self._claim, self._running.now() + _LEASE)

    async def _look(self) -> None:
        """Claims the turns that wait and begins to answer them."""
        room = min(_MOST_AT_ONCE - len(self._tasks), _MOST_TOGETHER)
        if room <= 0 or not await asyncio.to_thread(self._any_waiting):
            return
        turns = await self._write(lambda connection: self._claim_turns(connection, room))
        if len(turns) == _MOST_TOGETHER:
            self._wake.set()  # there may be more
        for claimed in turns:
            task = asyncio.create_task(self._answer(claimed))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake.set()  # others may have waited for room or for money that was set aside

    def _any_waiting(self) -> bool:
        with self._running.lab.reading() as connection:
            row = self._running.launched.row
            return bool(waiting_turns(connection, row, self._running.now(), 1))

    def _claim_turns(self, connection: Connection, room: int) -> list[Claimed]:
        study, now = self._running.launched.row, self._running.now()
        purse = Purse(connection, study, self._live.costs, now)
        claimed = []
        for row in waiting_turns(connection, study, now, room):
            turn = self._described(connection, row)
            limit = purse.exceeded_by(row.place_id, turn.cost)
            if limit == "later":
                break
            if not claim_turn(connection, row.id, self._claim, now, now + _LEASE, turn.cost):
                continue
            if limit is None:
                claimed.append(turn)
            else:
                self._refuse(connection, turn, limit, now)
        return claimed

    def _refuse(self, connection: Connection, turn: Claimed, limit: str, now: datetime) -> None:
        """Ends a conversation whose next reply would cost too much."""
        if limit == "study-cap":
            self._interrupt(connection, turn, limit, now, saved=turn.cost)
        else:
            values = self._fallback(turn, "participant-cap", now)
            finish_turn(connection, turn.turn, self._claim, saved=turn.cost, **values)
            end_conversation(connection, turn.conversation, limit, now)

    def _interrupt(
        self, connection: Connection, turn: Claimed, reason: str, now: datetime, *, saved: float
    ) -> None:
        """Ends the conversation without a reply, and pauses the study."""
        failed = {"state": "failed", "reason": reason, "ready_at": now}
        finish_turn(connection, turn.turn, self._claim, saved=saved, **failed)
        end_conversation(connection, turn.conversation, reason, now)
        pause_study(connection, self._running.launched.row, reason, now)

    def _described(self, connection: Connection, row: Any) -> Claimed:
        conversation = conversation_rows(connection, [row.live_conversation_id])[0]
        author = self._live.authors[conversation.author]
        before = [
            turn
            for turn in turn_rows(connection, row.live_conversation_id)
            if turn.position < row.position and turn.text is not None
        ]
        assert author.prompt is not None  # noqa: S101 - models have one
        prompt = author.prompt.in_language(conversation.language)
        messages = (
            Message("system", prompt),
            *(
                Message("user", turn.masked or turn.text)
                if turn.sender == "participant"
                else Message("assistant", turn.masked or turn.text)
                for turn in before
            ),
        )
        participant_texts = tuple(turn.text for turn in before if turn.sender == "participant")
        return Claimed(
            row.id,
            row.live_conversation_id,
            author,
            messages,
            participant_texts,
            conversation.language,
            row.due_at,
            self._most_cost(author, messages),
        )

    def _most_cost(self, author: Author, messages: tuple[Message, ...]) -> float:
        """The most dollars that all attempts for one reply can cost."""
        try:
            model, price = self._model(author), self._prices.of(author.model or "")
        except UserError:
            return 0.0  # it will be an outage
        if price is None:
            return 0.0
        return self._live.attempts * most_cost(price, model, messages, parameters(author))

    def _model(self, author: Author) -> Model:
        name = f"{author.model} {author.base_url}"
        if name not in self._models:
            self._models[name] = self._open(author)
        return self._models[name]

    async def _answer(self, turn: Claimed) -> None:
        """Asks the model until a reply can be shown or time is over, and stores what is shown."""
        loop = asyncio.get_running_loop()
        left = (turn.due_at - self._running.now()).total_seconds() - _MARGIN
        until = loop.time() + (left if left > 0 else _GRACE)
        asked = _ModelReply()
        for attempt in range(self._live.attempts):
            if attempt:
                await asyncio.sleep(min(_PAUSES[attempt - 1], max(0.0, until - loop.time())))
            if await self._ask(turn, asked, until - loop.time()):
                break
        try:
            await self._write(lambda connection: self._store(connection, turn, asked))
        except EmpathyLabError as error:
            log.warning("a live reply could not be stored and is asked for again: %s", error)

    async def _ask(self, turn: Claimed, asked: _ModelReply, seconds: float) -> bool:
        """Whether asking again is of no use: the reply is there, or cannot be had."""
        if seconds <= 0:
            asked.reason = asked.reason or "time-out"
            return True
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            model = self._model(turn.author)
            async with asyncio.timeout(seconds):
                completion = await model.complete(
                    turn.messages, parameters(turn.author), timeout=seconds
                )
        except (TimeoutError, ModelUnavailable, RateLimited) as error:
            late = isinstance(error, TimeoutError) or getattr(error, "kind", "") == "time-out"
            asked.reason = "time-out" if late else "outage"
            asked.cost += turn.cost / self._live.attempts if late else 0.0
            return False
        except ModelSetup:
            asked.reason = "outage"
            return True
        except EmpathyLabError:
            asked.reason = "rejected"
            return True
        asked.latency = loop.time() - began
        asked.completion = completion
        price = self._prices.of(turn.author.model or "")
        asked.cost += price.cost(completion.usage) if price is not None else 0.0
        prompt = turn.messages[0].content
        asked.reason = reply_problem(
            self._live, completion, turn.participant_texts[-1], prompt, turn.language
        )
        if asked.reason is None:
            asked.text = completion.text.strip()
            return True
        asked.rejected = completion.text or completion.refusal
        return False

    def _store(self, connection: Connection, turn: Claimed, asked: _ModelReply) -> None:
        now, study = self._running.now(), self._running.launched.row
        completion = asked.completion
        spent: dict[str, Any] = {"rejected": asked.rejected, "latency": asked.latency}
        if completion is not None:
            spent |= {
                "model": completion.reported_model,
                "prompt_tokens": completion.usage.prompt_tokens,
                "completion_tokens": completion.usage.completion_tokens,
            }
        saved = turn.cost - asked.cost
        if asked.text is not None:
            text = asked.text
            masked = None
            if self._live.mask:
                text, masked = Masks(turn.language, turn.participant_texts).restored(text), text
            spent |= {"text": text, "masked": masked if masked != text else None}
            spent |= {"state": "ready", "ready_at": now, "outcome": "valid"}
        else:
            before = last_reasons(connection, study, self._live.pause_after - 1)
            failures = [reason for reason in (asked.reason, *before) if reason in _DOWN]
            if len(failures) == self._live.pause_after:
                self._interrupt(connection, turn, "outage", now, saved=saved)
                return
            spent |= self._fallback(turn, asked.reason or "time-out", now)
        finish_turn(connection, turn.turn, self._claim, saved=saved, **spent)

    def _fallback(self, turn: Claimed, reason: str, now: datetime) -> dict[str, Any]:
        assert self._live.fallback is not None  # noqa: S101 - studies with models have one
        return {
            "text": self._live.fallback.in_language(turn.language),
            "state": "ready",
            "ready_at": now,
            "outcome": "fallback",
            "reason": reason,
        }

    async def _write(self, work: Callable[[Connection], Result]) -> Result:
        """The result of work with the study locked, once it is on the disk."""

        def do(batch: Batch) -> Result:
            return work(batch.connection)

        future: Future[Result] = self._running.queue.soon(do, locked=True)
        waiting: Awaitable[Result] = asyncio.wrap_future(future)
        return await asyncio.shield(waiting)


def open_author(author: Author) -> Model:
    """The author's model; its key comes from the environment of the server."""
    return open_model(author.model or "", base_url=author.base_url, api_key_env=author.api_key_env)


def parameters(author: Author) -> Parameters:
    """How the author's model is asked."""
    return Parameters(temperature=author.temperature, max_tokens=author.max_tokens)
