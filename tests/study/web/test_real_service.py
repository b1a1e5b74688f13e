"""The pages over the real service and its database."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
import pytest

from empathylab.store import Lab
from tests.study.web.desk import preset
from tests.study.web.labs import launched
from tests.study.web.raters import Read, app_of, filled, visiting, walk


def test_a_rater_comes_to_the_end_and_is_counted(sqlite_lab: Lab) -> None:
    service = launched(sqlite_lab, preset("within-subjects"))
    with visiting(service) as visitor:
        page = walk(visitor, service.study)
    assert Read(page.text).title == "Thank you"
    assert service.actions.status().outcomes == {"completed": 1}
    assert all(item.status_code in (200, 303) for item in visitor.sent)


def test_who_hurries_past_the_situation_is_asked_to_take_their_time(sqlite_lab: Lab) -> None:
    service = launched(sqlite_lab, preset("appraisal"))
    with visiting(service) as visitor:
        page = walk(visitor, service.study, "imagine/1")
        page = visitor.send(page)
    assert "at least 10 seconds" in page.text


def test_who_leaves_and_deletes_is_told_so_and_leaves_a_count(sqlite_lab: Lab) -> None:
    service = launched(sqlite_lab, preset("within-subjects"))
    with visiting(service) as visitor:
        page = walk(visitor, service.study, "rate/2")
        form = Read(page.text).fields["form"].value
        visitor.ask("POST", "/leave", data={"form": form, "answers": "delete"})
        told = visitor.get("/page")
    assert "We have deleted your answers" in told.text
    assert service.actions.status().ratings == 0


def test_a_second_answer_to_the_same_page_corrects_the_first(sqlite_lab: Lab) -> None:
    service = launched(sqlite_lab, preset("between-subjects"))
    with visiting(service) as visitor:
        page = walk(visitor, service.study, "rate/1")
        visitor.send(page, empathy="3")
        visitor.send(page, empathy="3")
        back = visitor.get("/back?from=rate/2")
        assert Read(back.text).fields["answer-empathy"].value == "3"
        page = visitor.send(back, empathy="1")
        assert Read(page.text).fields["step"].value == "rate/2"
        again = visitor.get("/back?from=rate/2")
    assert Read(again.text).fields["answer-empathy"].value == "1"


def test_readiness_asks_the_database(sqlite_lab: Lab) -> None:
    with visiting(launched(sqlite_lab, preset("appraisal"))) as visitor:
        assert visitor.get("/ready").text == "ready\n"


@pytest.mark.slow
def test_raters_at_the_same_time_get_level_arms(sqlite_lab: Lab) -> None:
    service = launched(sqlite_lab, preset("between-subjects"))
    app = app_of(service)

    async def rate() -> str:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://study.test", follow_redirects=True
        ) as client:
            page = await client.get("/")
            while "step" in (fields := Read(page.text).fields):
                given = {name: one.value for name, one in fields.items() if one.value}
                answers = filled(service.study, page)
                given |= {f"answer-{name}": value for name, value in answers.items()}
                page = await client.post("/page", data=given)
                assert page.status_code == 200
            return Read(page.text).title

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(rate() for _ in range(8)))

    assert Counter(asyncio.run(all_at_once())) == {"Thank you": 8}
    assert [arm.finished for arm in service.actions.status().arms] == [4, 4]
