"""Simulated raters on their way through a study's pages, over HTTP as any browser."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

import aiohttp

from empathylab.runs.event_loops import run_to_end
from empathylab.study.blocks.steps import block_of
from empathylab.study.bots.behaviours import Behaviour, Mind, Notes, words_of
from empathylab.study.bots.reading import ReadPage, filled
from empathylab.study.bots.reports import BotCounts

_MOST_PAGES = 2_000
"""A study that is longer has no end."""
_PATIENCE = 8
"""How often a page is asked for again that the server could not give."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a crowd walks."""

    concurrency: int = 20
    think: float = 0.0
    """Seconds over each page, on average; fast ones do not think."""
    seed: int = 1
    wait: float = 1.0
    """Seconds before a page is asked for again."""


def walk(
    link: str | Sequence[str],
    behaviours: Sequence[Behaviour],
    settings: Settings,
    progress: Callable[[int], None] = lambda done: None,
) -> BotCounts:
    """What the raters met, who all came by the link; `progress` gets how many have finished.

    The link is the one for simulated raters; it tells the server not to count them. Of several,
    which say of what kind someone is, each is used in turn.
    """
    links = [link] if isinstance(link, str) else list(link)
    return run_to_end(_walk(links, behaviours, settings, progress))


async def _walk(
    links: Sequence[str],
    behaviours: Sequence[Behaviour],
    settings: Settings,
    progress: Callable[[int], None],
) -> BotCounts:
    met, notes = BotCounts(), Notes()
    room = asyncio.Semaphore(settings.concurrency)
    checks = asyncio.Lock()

    async def take_part(number: int, behaviour: Behaviour) -> None:
        async with room:
            chance = random.Random(f"bot {settings.seed} {number}")
            # An address such as 127.0.0.1 has cookies, too.
            jar = aiohttp.CookieJar(unsafe=True)
            async with aiohttp.ClientSession(cookie_jar=jar) as session:
                mind = Mind(behaviour, chance, notes)
                link = links[number % len(links)]
                await _Bot(session, link, mind, settings, met, checks).take_part()
            progress(met.done)

    await asyncio.gather(*(take_part(number, kind) for number, kind in enumerate(behaviours)))
    return met


class _Lost(Exception):
    """The rater cannot go on."""


class _Bot:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        link: str,
        mind: Mind,
        settings: Settings,
        met: BotCounts,
        checks: asyncio.Lock,
    ) -> None:
        self._session = session
        self._link = link
        self._mind = mind
        self._settings = settings
        self._met = met
        self._checks = checks
        self._where = link

    async def take_part(self) -> None:
        """Walks until there is nothing to answer, or until the rater has had enough."""
        leaves_after = self._mind.chance.randint(1, 12)
        try:
            page = await self._get(self._link)
            self._write_down_who()
            for count in range(1, _MOST_PAGES):
                if not page.step:
                    self._met.ends[page.title.strip()] += 1
                    return
                if self._mind.behaviour == "dropout" and count > leaves_after:
                    await self._leave()
                    return
                page = await self._answered(page)
            self._met.errors["a study without an end"] += 1
            self._met.lost += 1
        except _Lost:
            self._met.lost += 1

    async def _answered(self, page: ReadPage) -> ReadPage:
        """The page after this one."""
        mind = self._mind
        await self._think(page)
        if mind.behaviour == "backtracker":
            page = await self._look_back(page)
        if "/check/" in page.step:
            async with self._checks:  # who knows what came of others' answers need not repeat them
                answers = mind.answers(page)
                after = await self._submit(page, answers)
                self._learn(page, answers, after)
            return after
        answers = mind.answers(page)
        if mind.behaviour == "fast" and answers and mind.chance.random() < 0.1:
            answers = answers | dict.fromkeys(list(answers)[:1], "")
        after = await self._submit(page, answers)
        tried: list[str] = []
        while after.step == page.step and len(tried) < _PATIENCE:
            # It was given back: left too soon, or with an answer that does not do.
            await asyncio.sleep(page.least_seconds)
            answers = mind.answers(after)
            for name, question in after.asked.items():
                if question.kind == "number" and question.bounds is None:
                    tried.append(question.value)
                    answers[name] = mind.another_number(tried)
            tried.append("")
            after = await self._submit(after, answers)
        if after.step == page.step:
            self._met.errors[f"{page.step} takes no answer"] += 1
            raise _Lost
        mind.read |= words_of(page.words)
        return after

    def _learn(self, page: ReadPage, answers: dict[str, str], after: ReadPage) -> None:
        """Keeps what came of a check."""
        notes, block = self._mind.notes, block_of(page.step)
        if after.step and "/check/" not in after.step:
            notes.passed[block] = answers
        elif after.step != page.step:
            notes.failed.setdefault(block, []).append((answers, after.hints or None))

    async def _look_back(self, page: ReadPage) -> ReadPage:
        """Now and then: a look at the page before, an old form sent again, a reload."""
        whim = self._mind.chance.random()
        if page.back and whim < 0.4:
            earlier = await self._get(page.back)
            if earlier.step and earlier.step != page.step:
                after = await self._submit(earlier, self._mind.answers(earlier))
                await self._submit(earlier, self._mind.answers(earlier))  # a second click
                page = after
        if whim > 0.7 or page.step == "":
            page = await self._get("page")
        return page

    async def _leave(self) -> None:
        """Closes the browser, or says so."""
        whim = self._mind.chance.random()
        if whim < 0.5:
            page = await self._get("leave")
            choice = "delete" if whim < 0.25 else "keep"
            fields = page.hidden | {"answers": choice}
            await self._ask("POST", page.action, fields)
        self._met.left += 1

    async def _think(self, page: ReadPage) -> None:
        mind, seconds = self._mind, 0.0
        if mind.behaviour != "fast":
            seconds = self._settings.think * mind.chance.uniform(0.5, 1.5)
            # The page says how long it is to be looked at; a little more for the way there.
            seconds = max(seconds, page.least_seconds + 0.2 if page.least_seconds else 0.0)
        if seconds:
            await asyncio.sleep(seconds)

    async def _submit(self, page: ReadPage, answers: dict[str, str]) -> ReadPage:
        started = time.perf_counter()
        _, _, where = await self._ask("POST", page.action, filled(page, answers))
        seconds = time.perf_counter() - started
        after = await self._get(where)
        if after.refused:
            self._met.refused[block_of(page.step)] += 1
        else:
            self._met.submits.append(seconds)
        return after

    async def _get(self, path: str) -> ReadPage:
        started = time.perf_counter()
        _, text, where = await self._ask("GET", path)
        while where:
            _, text, where = await self._ask("GET", where)
        page = ReadPage(text)
        seconds = time.perf_counter() - started
        if page.waiting:
            await asyncio.sleep(self._settings.wait)
            return await self._get("page")
        self._met.pages.setdefault(block_of(page.step) or "end", []).append(seconds)
        return page

    async def _ask(
        self, method: str, path: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Status, page and where it sends us; asks again where the server could not answer."""
        address = urljoin(self._where, path)
        for _ in range(_PATIENCE):
            try:
                async with self._session.request(
                    method, address, data=fields, allow_redirects=False
                ) as answer:
                    text = await answer.text()
                    if answer.status in (200, 303):
                        where = answer.headers.get("Location", "")
                        self._where = urljoin(address, where)
                        return answer.status, text, where
                    problem = f"{method} {answer.url.path} {answer.status}"
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                problem = f"{method} {type(error).__name__}"
            self._met.errors[problem] += 1
            await asyncio.sleep(self._settings.wait)
        raise _Lost

    def _write_down_who(self) -> None:
        """The pseudonym in our own cookie, which identifies us in the lab."""
        for item in self._session.cookie_jar:
            body = item.value.partition(".")[0]
            try:
                cookie = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            except ValueError:
                continue
            self._met.people.append(str(cookie.get("person", "")))
