"""Conversations at the console: all of a closed study; before that, the words of people in need."""

from __future__ import annotations

import re

from empathylab.store import Lab
from empathylab.study.session.service import StudyService
from tests.study.live.test_chat import CHAT, opened, send
from tests.study.service_examples import someone
from tests.study.web.console.researchers import Researcher, at_console, busy, join
from tests.study.web.raters import app_of

TWO_ARMS = CHAT.replace(
    "  people_per", "    other: {text: Tell me more., written_by: person}\n  people_per"
)
REASON = "The alert of this morning"


def talked(lab: Lab) -> tuple[StudyService, str, str]:
    """The study with someone who finished talking, and someone who was stopped for their safety."""
    service, clock = opened(lab, TWO_ARMS)
    ann, bob = someone(service, "ann"), someone(service, "bob")
    for person in (ann, bob):
        send(service, person, agree="yes")
    for number in range(3):
        send(service, ann, message=f"Message {number}", heard="3")
        clock.skip(seconds=10)
        service.view(ann)
    send(service, bob, message="A bad day")
    clock.skip(seconds=10)
    service.view(bob)
    send(service, bob, message="I want to die")
    return service, ann, bob


def page_of(visitor: Researcher, key: str) -> str:
    return visitor.get(f"/console/conversation?key={key}").text


def read(visitor: Researcher, key: str, **fields: str) -> str:
    return visitor.shown("/console/conversation", key=key, **fields).text


def test_while_a_study_is_open_only_words_of_people_in_need_are_read_and_that_is_logged(
    sqlite_lab: Lab,
) -> None:
    service, ann, bob = talked(sqlite_lab)
    with at_console(service, "researcher") as visitor:
        listed = visitor.get("/console/conversations").text
        assert (bob in listed, "want to die" in listed, ann in listed) == (True, True, False)
        assert "once the study is closed" in page_of(visitor, ann)
        assert visitor.post("/console/conversation", key=ann, reason=REASON).status_code == 404
        assert "A bad day" not in page_of(visitor, bob)
        assert "needs a reason" in read(visitor, bob, reason="because")
        words = read(visitor, bob, reason=REASON)
        assert "A bad day" in words
        assert "I want to die" in words
        assert "Tell me more." not in words
        assert "A bad day" not in page_of(visitor, bob)
        replies = {"reason": REASON, "replies": "yes"}
        assert visitor.post("/console/conversation", key=bob, **replies).status_code == 403
        owner = Researcher(app_of(service))
        join(service, owner, "owner", "ida")
        shown = read(owner, bob, **replies)
        assert "Tell me more." in shown
        assert "Author" not in shown
        owner.close()
    kept = [(entry.action, entry.who, entry.details) for entry in service.actions.audit()]
    assert [entry for entry in kept if entry[0] in ("read conversation", "peek")] == [
        ("read conversation", "some researcher", {"person": bob, "reason": REASON}),
        ("peek", "ida", {"reason": REASON, "shown": "replies", "person": bob}),
    ]


def test_of_a_closed_study_every_conversation_is_shown_with_its_figures(sqlite_lab: Lab) -> None:
    service, ann, bob = talked(sqlite_lab)
    service.actions.close()
    with at_console(service, "researcher") as visitor:
        listed = visitor.get("/console/conversations").text
        assert ann in listed
        assert re.findall(r'<td class="n">([^<]+)</td>', listed) == [
            *("1", "1", "0", "$0.00"),  # of bob, who came last
            *("3", "3", "0", "$0.00"),
        ]
        assert ann not in visitor.get("/console/conversations?show=stopped").text
        shown = page_of(visitor, ann)
        said = re.findall(r'class="said" dir="auto">([^<]+)<', shown)
        assert said[:3] == ["Message 0", "Tell me more.", "Message 1"]
        assert len(said) == 6
        assert re.search(r"after \d+\.\d s", shown)
        assert re.search(r"<dt>Heard</dt><dd>3</dd>", shown)
        stopped = page_of(visitor, bob)
        assert stopped.index("A bad day") < stopped.index("I want to die")
        assert "Conversation" in visitor.get(f"/console/participant?key={ann}").text
    reads = [entry for entry in service.actions.audit() if entry.action == "read conversation"]
    assert [entry.details for entry in reads] == [{"person": ann}, {"person": bob}]


def test_a_study_without_live_replies_has_no_such_page(sqlite_lab: Lab) -> None:
    service, _ = busy(sqlite_lab, people=1)
    with at_console(service) as visitor:
        assert "/console/conversations" not in visitor.get("/console").text
        assert visitor.ask("GET", "/console/conversations").status_code == 404
