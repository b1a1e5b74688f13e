"""The queue of confederates: the link, the page, and what participants get."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from empathylab.errors import UserError
from empathylab.store import Lab, schema
from empathylab.study.live.confederates import ConfederateQueue, new_queue_token, queue_token
from empathylab.study.session.service import Finished, StudyService
from tests.study.live.test_chat import CHAT, PEER, opened, page_of, send, told, turns_on, waits
from tests.study.service_examples import rows_of
from tests.study.web.raters import app_of

TRAINED = PEER.replace("person: participant", "person: confederate")


def client_of(service: StudyService, name: str) -> TestClient:
    client = TestClient(app_of(service), base_url="https://study.test")
    answer = client.get("/queue", params={"link": new_queue_token(service, name)})
    assert answer.url.path == "/queue"
    assert not answer.url.query
    return client


def form_of(client: TestClient) -> str:
    found = re.search(r'name="form" value="([^"]+)"', client.get("/queue").text)
    assert found is not None
    return found[1]


def test_a_confederate_takes_who_waited_longest_and_answers(lab: Lab) -> None:
    service, clock = opened(lab, TRAINED)
    ann, bob = told(service, "ann"), told(service, "bob")
    page = page_of(service, bob)
    assert page.content.live is not None
    assert (page.content.live.waiting, page.content.live.ahead) == (True, 1)
    carl, dora = client_of(service, "carl"), client_of(service, "dora")
    for client in (carl, dora):
        client.post("/queue", data={"form": form_of(client), "act": "take"})
    assert not waits(page_of(service, ann))
    send(service, ann)
    assert waits(page_of(service, ann))
    shown = carl.get("/queue").text
    assert "The story of ann" in shown
    assert "The story of ann" not in dora.get("/queue").text
    number = str(rows_of(lab, schema.live_conversations)[0]["id"])
    reply = {"form": form_of(carl), "conversation": number, "text": "I hear you, <ann>"}
    assert "has ended" in dora.post("/queue", data=reply | {"form": form_of(dora)}).text
    carl.post("/queue", data=reply)
    assert "already has a reply" in carl.post("/queue", data=reply).text
    assert "&lt;ann&gt;" in carl.get("/queue").text
    clock.skip(seconds=10)
    assert turns_on(page_of(service, ann))[-1] == ("other", "I hear you, <ann>")
    assert [row["taken_by"] for row in rows_of(lab, schema.live_conversations)] == ["carl", "dora"]


def test_without_a_confederate_in_time_the_study_ends_honestly(sqlite_lab: Lab) -> None:
    service, clock = opened(sqlite_lab, TRAINED)
    ann = told(service, "ann")
    clock.skip(seconds=70)
    end = service.view(ann)
    assert isinstance(end, Finished)
    assert end.outcome == "interrupted"
    assert not ConfederateQueue(service).take_next("carl")


def test_a_silent_confederate_is_replaced_by_the_fallback(sqlite_lab: Lab) -> None:
    text = TRAINED.replace("  delay:", "  fallback: Thank you.\n  delay:")
    service, clock = opened(sqlite_lab, text)
    ann = told(service, "ann")
    assert ConfederateQueue(service).take_next("carl")
    send(service, ann)
    page_of(service, ann)
    clock.skip(seconds=130)
    assert turns_on(page_of(service, ann))[-1] == ("other", "Thank you.")
    assert rows_of(sqlite_lab, schema.live_turns)[-1]["outcome"] == "fallback"


def test_the_queue_opens_by_a_signed_link_only(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, TRAINED)
    client = TestClient(app_of(service), base_url="https://study.test")
    assert client.get("/queue").status_code == 403
    forged = queue_token(b"another secret of 32 bytes, quite", "carl")
    assert client.get("/queue", params={"link": forged}).status_code == 403
    carl = client_of(service, "carl")
    assert carl.post("/queue", data={"form": "guessed", "act": "take"}).status_code == 403
    assert carl.get("/queue/news").json()["version"]


def test_a_study_without_confederates_has_no_queue(sqlite_lab: Lab) -> None:
    service, _ = opened(sqlite_lab, CHAT)
    with pytest.raises(UserError, match="no author of this study is a confederate"):
        new_queue_token(service, "carl")
    assert TestClient(app_of(service)).get("/queue").status_code == 404
