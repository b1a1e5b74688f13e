"""Responding: what is asked, and what becomes of the replies."""

from __future__ import annotations

import pytest

from empathylab.models import Completion, ScriptedModel
from empathylab.protocols import Responding, plan_responding
from empathylab.runs import Job, run
from empathylab.situations import builtin_set
from empathylab.store import Lab, responses_frame

SET = builtin_set("dialogues")


def responding(count: int = 3, samples: int = 1) -> Responding:
    return Responding(SET, SET.situations[:count], samples=samples)


def test_the_respondent_hears_what_the_person_says(sqlite_lab: Lab) -> None:
    [request] = plan_responding(sqlite_lab, "x", responding(1)).requests
    assert request.messages[-1].content == SET.situations[0].utterance
    system = request.messages[0].content
    assert "about 28 words and never more than 97" in system
    for part in ("cognitive", "affective", "compassionate"):
        assert part in system


def test_samples_have_seeds_of_their_own(sqlite_lab: Lab) -> None:
    requests = plan_responding(sqlite_lab, "x", responding(1, samples=3)).requests
    assert [request.parameters.seed for request in requests] == [1, 2, 3]


def test_replies_are_stored_with_their_situation(lab: Lab) -> None:
    plan = plan_responding(lab, "scripted/test", responding(2))
    run(lab, [Job(ScriptedModel(["  That sounds hard.  "]), [plan])])
    frame = responses_frame(lab)
    assert frame["text"].to_list() == ["That sounds hard."] * 2
    assert frame["situation"].to_list() == ["afraid-1", "afraid-2"]
    assert frame["prompt"].unique().to_list() == ["empathic-listener@1"]
    assert frame["outcome"].unique().to_list() == ["valid"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Completion("   "), "empty"),
        (Completion("I'm sorry, but I can't help with that."), "refusal"),
        (Completion("And then and then", finish_reason="length"), "truncated"),
        (Completion("I am so sor", finish_reason="content_filter"), "refusal"),
        (Completion("I'm sorry to hear that. Come over tonight?"), "valid"),
    ],
)
def test_replies_that_cannot_be_used_are_kept_apart(
    lab: Lab, answer: Completion, outcome: str
) -> None:
    plan = plan_responding(lab, "scripted/test", responding(1))
    run(lab, [Job(ScriptedModel([answer]), [plan])])
    assert responses_frame(lab)["outcome"].to_list() == [outcome]
