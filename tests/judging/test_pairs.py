"""Comparing: which of two replies a judge prefers, in both orders."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from empathylab.errors import InputError
from empathylab.judging.asking import Asking
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.summaries import preference_summary, win_summary
from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.runs import Job, Plan, run
from empathylab.store import Lab
from empathylab.store.judged_responses import JudgedResponse
from empathylab.store.judgements import lab_judgements, lab_preferences
from tests.judging.judged import ONE, always, replied


def plan_of(replies: tuple[JudgedResponse, ...], **given: object) -> Plan:
    return plan_comparing(
        Comparing(replies=replies, **({"instrument": ONE, "source": "x"} | given))
    )  # type: ignore[arg-type]


def compared(lab: Lab, answer: object, *respondents: str) -> None:
    plan = plan_of(replied(lab, *(respondents or ("human", "a/model"))))
    run(lab, [Job(ScriptedModel(answer, name="the/judge"), [plan])])  # type: ignore[arg-type]


def test_each_pair_is_asked_in_both_orders(sqlite_lab: Lab) -> None:
    requests = plan_of(replied(sqlite_lab, "human", "a/model", "b/model")).requests
    assert len(requests) == 3 * 3 * 2  # situations, pairs of three respondents, orders
    one, other = (shown(request.messages) for request in requests[:2])
    assert one == other[::-1]


def shown(messages: tuple[Message, ...]) -> list[str]:
    return re.findall(r"<\w+_reply>\n(.*)\n</", messages[-1].content)


def test_replies_of_one_respondent_are_not_compared(sqlite_lab: Lab) -> None:
    replied(sqlite_lab, "a/model")
    with pytest.raises(InputError, match="no situation has replies by two respondents"):
        plan_of(replied(sqlite_lab, "a/model"))


def test_exchanging_the_respondents_changes_no_byte_of_a_request(sqlite_lab: Lab) -> None:
    replies = replied(sqlite_lab, "human", "openai/gpt-4o")
    other = {"human": "openai/gpt-4o", "openai/gpt-4o": "human"}
    swapped = tuple(
        dataclasses.replace(reply, respondent=other[reply.respondent]) for reply in replies
    )
    told = [
        [(request.messages, request.parameters) for request in plan_of(given).requests]
        for given in (replies, swapped)
    ]
    assert told[0] == told[1]
    assert "gpt-4o" not in json.dumps([[m.content for m in messages] for messages, _ in told[0]])


def test_preferences_name_the_places_and_whose_replies_stood_there(lab: Lab) -> None:
    compared(lab, always({"empathy": "first"}))
    frame = lab_preferences(lab)
    assert frame.height == 6
    assert set(frame["preferred"]) == {"first"}
    assert sorted(zip(frame["first"], frame["second"], strict=True)) == sorted(
        [("human", "a/model"), ("a/model", "human")] * 3
    )
    assert frame["pair"].n_unique() == 3
    assert lab_judgements(lab).height == 0


def test_a_judge_that_follows_the_place_is_not_steady(lab: Lab) -> None:
    compared(lab, always({"empathy": "first"}))
    [row] = preference_summary(lab_preferences(lab))
    assert (row["first"], row["second"], row["tie"], row["steady"]) == (6, 0, 0, 0.0)
    wins = {
        item["respondent"]: (item["wins"], item["losses"])
        for item in win_summary(lab_preferences(lab))
    }
    assert wins == {"human": (3, 3), "a/model": (3, 3)}


def prefers_r1(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """A judge that prefers the respondent that came into the lab first, wherever it stands."""
    first = messages[-1].content.partition("<first_reply>\n")[2].startswith("R1 ")
    return json.dumps({"empathy": "first" if first else "second"})


def test_a_judge_that_follows_the_reply_is_steady(lab: Lab) -> None:
    compared(lab, prefers_r1)
    [row] = preference_summary(lab_preferences(lab))
    assert (row["first"], row["second"], row["steady"]) == (3, 3, 1.0)
    [once] = preference_summary(lab_preferences(lab).unique("pair", maintain_order=True))
    assert (once["answers"], once["steady"]) == (3, None)
    [winner, loser] = win_summary(lab_preferences(lab))
    assert (winner["respondent"], winner["wins"], loser["losses"]) == ("human", 6, 6)


def test_ties_are_allowed(lab: Lab) -> None:
    compared(lab, always({"empathy": "Tie"}))
    [row] = preference_summary(lab_preferences(lab))
    assert (row["tie"], row["steady"]) == (6, 1.0)


def test_what_is_no_place_is_kept_apart(lab: Lab) -> None:
    compared(lab, always({"empathy": "both"}))
    [row] = preference_summary(lab_preferences(lab))
    assert (row["valid"], row["invalid"], row["steady"]) == (0, {"out_of_range": 6}, None)
    assert lab_preferences(lab)["preferred"].null_count() == 6


def test_of_several_ways_that_with_the_most_rated_pairs_counts(lab: Lab) -> None:
    replies = replied(lab, "human", "a/model")
    ids = [reply.response for reply in replies]
    keys = [reply.situation.id for reply in replies[:1]]
    some = tuple(reply for reply in replies if reply.situation.id in keys)
    for chosen, asking, said in ((replies, Asking(), "first"), (some, Asking(seed=9), "second")):
        plan = plan_of(chosen, asking=asking)
        model = ScriptedModel(always({"empathy": said}), name="the/judge")
        run(lab, [Job(model, [plan])])
    assert set(lab_preferences(lab)["preferred"]) == {"second"}
    fullest = lab_preferences(lab, about=ids)
    assert (set(fullest["preferred"]), set(fullest["ways"])) == ({"first"}, {2})
    # Of equals the last used: people rated nothing but what both were asked about.
    last = lab_preferences(lab, about=[item.response for item in some])
    assert set(last["preferred"]) == {"second"}


def test_a_retry_takes_the_place_of_what_could_not_be_used(lab: Lab) -> None:
    def shy(_messages: object, parameters: Parameters) -> str:
        return '{"empathy": "tie"}' if (parameters.seed or 0) > 10_000 else "Hm."

    plan = plan_of(replied(lab, "human", "a/model"), asking=Asking(temperature=1.0))
    run(lab, [Job(ScriptedModel(shy), [plan])])
    assert lab_preferences(lab)["preferred"].to_list() == ["tie"] * 6
