"""Judges beside people: how far apart, where, and what a judge said of one reply."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from empathylab.judging.instruments import study_instrument
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.runs import Job, run
from empathylab.store import Lab, schema
from empathylab.store.judged_responses import judged_study, study_responses
from tests.view.viewing import Visitor, add_replies, add_study, viewing

POINTS = {"first": 3, "second": 2, "third": 1}
NAMES = ("Bad", "Okay", "Good")


def judging(rate: dict[str, int]) -> Any:
    """A judge that finds the reply's word in the request."""

    def answer(messages: tuple[Message, ...], _parameters: Parameters) -> str:
        [point] = [rate[word] for word in rate if f"{word} reply" in messages[-1].content]
        return json.dumps({"reason": f"it is {point}", "empathy": NAMES[point - 1]})

    return answer


def judged(lab: Lab, status: str = "closed") -> None:
    """People rate three replies 3, 2 and 1; one judge agrees but for the last, one never does."""
    add_replies(lab, {"one": [f"the {word} reply" for word in POINTS]})
    _, rater = add_study(lab, status)
    with lab.writing() as connection:
        rows = [
            {"rater_id": rater, "response_id": reply, "arm_id": 1, "dimension": "empathy"}
            | {"value": value, "label": NAMES[value - 1]}
            for reply, value in ((2, 2), (3, 1))
        ]
        connection.execute(schema.ratings.insert(), rows)
    study = judged_study(lab, "kept-secret")
    asked = Judging(study_instrument(study), study_responses(lab, study.row), "study", study.row)
    for name, rate in {
        "the/near": POINTS | {"third": 2},
        "the/far": {"first": 2, "second": 1, "third": 3},
    }.items():
        run(lab, [Job(ScriptedModel(judging(rate), name=name), [plan_judging(asked)])])


def rows_of(visitor: Visitor, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(visitor.get(address).text)))


def test_the_judge_who_is_furthest_from_people_stands_first(lab: Lab, database: str | None) -> None:
    judged(lab)
    with viewing(lab, database=database) as visitor:
        rows = rows_of(visitor, "/judges/1?csv=by_judge")
        page = visitor.get("/judges/1").text
    # Differences of the far judge: -1, -1 and +2; of the near one: 0, 0 and +1.
    assert [(row["judge"], row["replies"]) for row in rows] == [("the/far", "3"), ("the/near", "3")]
    assert [round(float(row["size"]), 3) for row in rows] == [1.333, 0.333]
    assert [round(float(row["bias"]), 3) for row in rows] == [0, 0.333]
    assert 'href="?judge=the%2Ffar&amp;dimension=empathy#disagreements"' in page


def test_the_largest_differences_come_first_in_either_direction(sqlite_lab: Lab) -> None:
    judged(sqlite_lab)
    with viewing(sqlite_lab) as visitor:
        rows = rows_of(visitor, "/judges/1?csv=disagreements")
        near = rows_of(visitor, "/judges/1?csv=disagreements&judge=the/near")
        assert rows_of(visitor, "/judges/1?csv=disagreements&dimension=other") == []
    assert [float(row["difference"]) for row in rows] == [2, -1, -1, 1, 0, 0]
    assert {row["judge"] for row in near} == {"the/near"}
    assert [float(row["difference"]) for row in near] == [1, 0, 0]


def test_a_closed_study_that_no_judge_rated_says_so(sqlite_lab: Lab) -> None:
    add_replies(sqlite_lab, {"one": ["a"]})
    add_study(sqlite_lab, "closed")
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/judges/1")
    assert page.status_code == 200
    assert "No judge has rated replies that people also rated" in page.text


def test_a_reply_has_what_people_and_judges_said_of_it(lab: Lab, database: str | None) -> None:
    judged(lab)
    with viewing(lab, database=database) as visitor:
        page = visitor.get("/replies/3").text
        people = rows_of(visitor, "/replies/3?csv=ratings")
        judges = rows_of(visitor, "/replies/3?csv=judgements")
        [answer] = re.findall(r'href="(/answers/\d+)"><bdi>the/<wbr>far', page)
        answered = visitor.get(answer).text
    assert [(row["rater"], row["value"], row["label"]) for row in people] == [
        ("rater-7", "1.0", "Bad")
    ]
    assert [(row["judge"], row["value"], row["label"]) for row in judges] == [
        ("the/near", "2.0", "Okay"),
        ("the/far", "3.0", "Good"),
    ]
    assert "the third reply" in answered
    assert '<a href="/replies/3">The reply that was judged</a>' in answered


def test_what_judges_said_of_a_reply_is_hidden_until_its_study_is_closed(
    lab: Lab, database: str | None
) -> None:
    judged(lab, "open")
    pair = "/runs/compare?first=1&second=2"
    with viewing(lab, database=database) as visitor:
        assert "requests got a usable answer" in visitor.get(pair).text
        assert "it is" not in visitor.get(pair).text
        assert visitor.get(f"{pair}&csv=answers").status_code == 404
        # The study shows the first reply; judges rated the others for it.
        for reply in (1, 3):
            assert rows_of(visitor, f"/replies/{reply}?csv=judgements") == []
            assert rows_of(visitor, f"/replies/{reply}?csv=ratings") == []
        with lab.writing() as connection:
            connection.execute(schema.judgements.update().values(study_id=None))
        assert rows_of(visitor, "/replies/1?csv=judgements") == []
        assert len(rows_of(visitor, "/replies/3?csv=judgements")) == 2
        with lab.writing() as connection:
            connection.execute(schema.shown_responses.delete())
            connection.execute(schema.judgements.update().values(study_id=1))
        assert rows_of(visitor, "/replies/1?csv=judgements") == []
        assert "Hidden until the study" in visitor.get("/runs/1").text
        with lab.writing() as connection:
            connection.execute(schema.studies.update().values(status="closed"))
        assert "it is" in visitor.get(pair).text
