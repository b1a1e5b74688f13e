"""What the viewer hides of a study that is not closed."""

from __future__ import annotations

import json

import pytest

from empathylab.judging.instruments import study_instrument
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import ScriptedModel
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale, scale_to_dict
from empathylab.store import Lab, schema
from empathylab.store.inserts import now
from empathylab.store.judged_responses import judged_study, study_responses
from empathylab.store.listings import studies as listings
from tests.helpers.labs import filled
from tests.view.test_pages import crawl
from tests.view.viewing import add_replies, add_study, ids, viewing

SAID = "I judge this reply as good indeed"


def judge(lab: Lab, name: str = "kept-secret") -> None:
    study = judged_study(lab, name)
    judging = Judging(study_instrument(study), study_responses(lab, study.row), "study", study.row)
    answer = json.dumps({"empathy": "Good", "reason": SAID})
    model = ScriptedModel(lambda _messages, _parameters: answer, name="the/judge")
    run(lab, [Job(model, [plan_judging(judging)])])


@pytest.mark.parametrize("status", ["open", "paused"])
def test_an_open_study_shows_no_rater_arm_rating_or_judgement(sqlite_lab: Lab, status: str) -> None:
    add_replies(sqlite_lab, {"one": ["I am sorry"]})
    study, rater = add_study(sqlite_lab, status)
    judge(sqlite_lab)
    with sqlite_lab.writing() as connection:
        if status == "paused":  # judged as replies to a set, which hides them as well
            connection.execute(schema.judgements.update().values(study_id=None))
        secret = {"study": "kept-secret", "rater": "rater-7"}
        written = {"situation_id": 1, "respondent_id": 1, "sample": 1, "details": secret}
        written |= {"text": "words of a participant", "outcome": "valid"}
        at = connection.execute(schema.studies.select()).one().added_at
        connection.execute(schema.responses.insert(), [written | {"added_at": at}])
    secrets = ("rater-7", "the-hidden-arm", "Chile", SAID, "words of a participant")
    with viewing(sqlite_lab) as visitor:
        pages = crawl(visitor)
        pages["rated"] = visitor.get(f"/studies/{study}?view=ratings").text
        pages["judged"] = visitor.get(f"/judges/{study}").text
        pages["answers"] = visitor.get("/runs/1?csv=answers").text
        for path, text in pages.items():
            for secret in secrets:
                assert secret not in text, path
        assert visitor.get(f"/raters/{rater}").status_code == 404
        assert visitor.get(f"/studies/{study}?csv=raters").status_code == 404
        assert visitor.get("/replies/2").status_code == 404
        assert "shown once it is closed" in pages[f"/studies/{study}"]
        hidden = visitor.get("/answers/1").text
        assert "Hidden until the study" in hidden
        # Bad and Good may have different numbers of tokens.
        assert "Prompt tokens" in hidden
        assert "Completion tokens" not in hidden
        assert visitor.get("/runs/1?csv=answers&outcome=refused").text.count("\n") == 2
        [listed] = visitor.get("/replies?csv=situations").text.splitlines()[1:]
        assert listed.endswith(",1")  # without the participant's words
        with sqlite_lab.writing() as connection:
            connection.execute(schema.studies.update().values(status="closed"))
        pages = crawl(visitor)
        text = "".join(pages.values()) + visitor.get(f"/studies/{study}?view=ratings").text
        for secret in secrets:
            assert secret in text, secret
        disagreements = visitor.get(f"/judges/{study}?csv=disagreements").text
    if status == "open":
        assert disagreements.splitlines()[1].startswith("0.0,3.0,Good,3.0,Good,1,")


@pytest.mark.parametrize("status", ["draft", "open", "paused"])
def test_queries_hide_what_is_not_closed_whatever_a_page_checks(
    sqlite_lab: Lab, status: str
) -> None:
    add_replies(sqlite_lab, {"one": ["I am sorry"]})
    study, rater = add_study(sqlite_lab, status)

    def found() -> list[int]:
        with sqlite_lab.reading() as connection:
            return [
                listings.list_raters(connection, study).total,
                listings.list_ratings(connection, study=study).total,
                listings.list_ratings(connection, response=1).total,
                int(listings.find_rater(connection, rater) is not None),
            ]

    assert found() == [0, 0, 0, 0]
    with sqlite_lab.writing() as connection:
        connection.execute(schema.studies.update().values(status="closed"))
    assert found() == [1, 1, 1, 1]


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_choices_between_replies_are_hidden_wherever_the_shown_one_stands(
    sqlite_lab: Lab, first: int, second: int
) -> None:
    add_replies(sqlite_lab, {"one": ["I am sorry"], "two": ["Oh no"]})
    filled(sqlite_lab, situations=1)
    row = {"answer_id": 1, "first_response_id": first, "second_response_id": second}
    row |= {"setup": "x", "dimension": "empathy", "preferred": "first", "outcome": "valid"}
    row |= {"order_index": 0, "repeat": 0, "added_at": now()}
    with sqlite_lab.writing() as connection:
        connection.execute(schema.preferences.insert(), [row])
    with viewing(sqlite_lab) as visitor:
        assert f'href="/replies/{second}">The second reply' in visitor.get("/answers/1").text
        add_study(sqlite_lab, "open")  # it shows the first respondent's reply
        hidden = visitor.get("/answers/1").text
    assert "Hidden until the study" in hidden
    assert "The second reply" not in hidden


def test_a_raters_questionnaire_is_shown_with_its_score_once_the_study_is_closed(
    sqlite_lab: Lab,
) -> None:
    add_replies(sqlite_lab, {"one": ["I am sorry"]})
    _, rater = add_study(sqlite_lab, "open")
    definition = scale_to_dict(builtin_scale("teq"))
    moment = now()
    with sqlite_lab.writing() as connection:
        scale = {"name": "teq", "version": 1, "fingerprint": "x", "definition": definition}
        (number,) = ids(connection, schema.scales, [scale | {"added_at": moment}])
        filled = {"rater_id": rater, "scale_id": number, "phase": "default", "mode": "study"}
        filled |= {"counterpart": False, "order_index": 0, "item_order": [], "repeat": 1}
        filled |= {"outcome": "valid", "added_at": moment}
        (administration,) = ids(connection, schema.administrations, [filled])
        answers = [
            {"administration_id": administration, "item": item, "value": 4.0}
            for item in range(1, 17)
        ]
        connection.execute(schema.item_answers.insert(), answers)
    with viewing(sqlite_lab) as visitor:
        assert "TEQ" not in "".join(crawl(visitor).values())
        with sqlite_lab.writing() as connection:
            connection.execute(schema.studies.update().values(status="closed"))
        page = visitor.get(f"/raters/{rater}").text
        table = visitor.get(f"/raters/{rater}?csv=questionnaires").text.split()
        overview = visitor.get("/").text
    assert "TEQ" in page
    # Eight of the sixteen items are reversed: 8 x 4 + 8 x 0.
    assert table[1] == "TEQ,baseline,total,32.0,16,0"
    assert "<dt>Scale answers</dt><dd>0</dd>" in overview
