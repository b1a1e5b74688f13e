"""A viewer that is asked without a network, and labs for it to show."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.view import create_app
from empathylab.view.viewed_lab import ViewedLab

TOKEN = "a-token-for-tests"
COOKIE = "empathylab-view"
SCRIPT = "<script>alert(1)</script>"
ARABIC = "\u202eأنا حزين جدا\u202c من أجلك"
LONG = "so very long " * 8_000
ODD = 'a/b c?d=é&"<i>'


class Visitor:
    """A browser of sorts: it keeps the cookie and asks for pages."""

    def __init__(self, app: Starlette, *, cookie: str | None = TOKEN) -> None:
        self._app = app
        self.cookies = {} if cookie is None else {COOKIE: cookie}

    def get(
        self, path: str, *, method: str = "GET", host: str = "127.0.0.1:8123"
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
                for name, value in self.cookies.items():
                    client.cookies.set(name, value)
                return await client.request(method, path)

        return asyncio.run(ask())


@contextmanager
def viewing(lab: Lab, *, database: str | None = None) -> Iterator[Visitor]:
    """Someone with the link to a viewer of the lab."""
    with closing(ViewedLab(lab.folder, database=database)) as viewed:
        yield Visitor(create_app(viewed, token=TOKEN))


def add_replies(lab: Lab, texts: dict[str, list[str]]) -> None:
    """Adds each respondent's replies to situations `s0`, `s1` …"""
    with lab.writing() as connection:
        many = max(map(len, texts.values()))
        (number,) = ids(
            connection,
            schema.situation_sets,
            [
                {
                    "name": "mine",
                    "version": 1,
                    "title": "Mine",
                    "language": "en",
                    "licence": "CC0",
                    "validated": False,
                    "description": "",
                    "fingerprint": "x",
                    "added_at": now(),
                }
            ],
        )
        situations = ids(
            connection,
            schema.situations,
            [
                {
                    "situation_set_id": number,
                    "key": f"s{place}",
                    "emotion": ("sad", "proud")[place % 2],
                    "text": f"Situation {place} {SCRIPT}",
                }
                for place in range(many)
            ],
        )
        for name, replies in texts.items():
            row = {"name": name, "kind": "model", "details": {}, "added_at": now()}
            (respondent,) = ids(connection, schema.respondents, [row])
            ids(
                connection,
                schema.responses,
                [
                    {
                        "situation_id": situation,
                        "respondent_id": respondent,
                        "sample": 0,
                        "text": text,
                        "outcome": "valid",
                        "added_at": now(),
                    }
                    for situation, text in zip(situations, replies, strict=False)
                ],
            )


def add_study(lab: Lab, status: str) -> tuple[int, int]:
    """Adds a study whose only rater rated the lab's first reply; its row and the rater's."""
    points = {"name": "empathy", "values": [1, 2, 3], "labels": ["Bad", "Okay", "Good"]}
    with lab.writing() as connection:
        study: dict[str, Any] = {"name": "kept-secret", "title": "A study", "version": 1}
        study |= {"protocol": {"dimensions": [points]}, "protocol_hash": "x", "status": status}
        (number,) = ids(connection, schema.studies, [study | {"added_at": now()}])
        (arm,) = ids(
            connection,
            schema.arms,
            [{"study_id": number, "name": "the-hidden-arm", "respondent_id": 1}],
        )
        about = {"kind": "person", "details": {"country": "Chile"}, "added_at": now()}
        (rater,) = ids(
            connection, schema.raters, [{"study_id": number, "name": "rater-7", **about}]
        )
        rating = {"rater_id": rater, "response_id": 1, "arm_id": arm, "dimension": "empathy"}
        ids(connection, schema.ratings, [rating | {"value": 3.0, "label": "Good"}])
        shown = {"arm_id": arm, "situation_id": 1, "response_id": 1}
        connection.execute(schema.shown_responses.insert(), [shown])
    return number, rater


def ids(connection: Any, table: Any, rows: list[dict[str, Any]]) -> list[int]:
    from empathylab.store.inserts import insert_returning_ids

    return insert_returning_ids(connection, table, rows)


def older(lab: Lab) -> None:
    """Makes the lab one of an older version."""
    from sqlalchemy import text

    with lab.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0009'"))


def lab_file(lab: Lab) -> Path:
    return lab.folder / "lab.sqlite"
