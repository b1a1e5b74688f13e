"""Servers that are killed while participants talk with each other: nothing is lost or doubled."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import aiohttp
import pytest

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.study import parse_study
from empathylab.study.bots.reading import ReadPage, filled
from empathylab.study.session.service import launch
from tests.study.live.test_chat import PEER
from tests.study.live.test_kills import Phoenix, Teller, _crowd
from tests.study.service_examples import rows_of

PEOPLE, KILLS = 8, 4


class Talker(Teller):
    """A participant who talks with another one and sends every message twice."""

    async def _answer(self, session: aiohttp.ClientSession, page: ReadPage) -> ReadPage:
        answers = {name: one.options[0][0] for name, one in page.asked.items() if one.options}
        if "answer-story" in page.asked:
            answers["answer-story"] = f"{self.number} says tell"
        if "answer-message" in page.asked:
            answers["answer-message"] = f"{self.number} says {page.step}"
            await asyncio.sleep(0.3)
            await self._ask(session, "POST", "/page", filled(page, answers))
        return await self._ask(session, "POST", "/page", filled(page, answers))


@pytest.mark.slow
def test_killed_servers_lose_no_message_and_pair_nobody_twice(tmp_path: Path) -> None:
    text = PEER.replace("name: talk", "name: heard").replace(
        "{block: debrief,", "{block: debrief, title: The end,"
    )
    text = text.replace("minimum: 5, maximum: 9", "minimum: 0.5, maximum: 1")
    with Lab.open(tmp_path / "lab") as lab:
        launch(lab, parse_study(text), now=now())
        server = Phoenix(lab.folder)
        talkers = [Talker(server.port, number) for number in range(PEOPLE)]
        try:
            asyncio.run(_crowd(server, list(talkers), KILLS))
        finally:
            server.end()
        assert {talker.end for talker in talkers} == {"The end"}
        talks = rows_of(lab, schema.live_conversations)
        partners = {row["id"]: row["partner_id"] for row in talks}
        assert len(talks) == PEOPLE
        assert all(partners[partners[number]] == number for number in partners)
        assert Counter(row["reason"] for row in talks) == {"limit": PEOPLE}
        turns = rows_of(lab, schema.live_turns)
        said = Counter(row["text"] for row in turns)
        steps = ("tell", "chat/1", "chat/reply/1", "chat/reply/2")
        assert said == {f"{number} says {step}": 1 for number in range(PEOPLE) for step in steps}
        assert all(row["shown_at"] is not None for row in turns)
