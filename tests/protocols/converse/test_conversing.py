"""Conversations with scripted sides: states, ends, faults, and what each side sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from empathylab.models import Completion, Message, Parameters, ScriptedModel
from empathylab.protocols.converse.persona import Persona
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.runs import Job, Tally, run
from empathylab.store import Lab
from empathylab.store.conversations import conversations_frame, turns_frame
from tests.helpers.conversing import COLD, KIND, faulty, listener, persona, rule_based_person


def talk(
    lab: Lab,
    respondent: Any,
    simulator: Any = rule_based_person,
    personas: tuple[Persona, ...] = (),
    **given: Any,
) -> tuple[ScriptedModel, ScriptedModel, Tally]:
    """One run of two scripted sides."""
    model = ScriptedModel(respondent, name="scripted/respondent")
    person = ScriptedModel(simulator, name="scripted/person")
    plan = plan_conversing(
        lab, model.name, Conversing(personas or (persona(1),), person.name, **given)
    )
    [tally] = run(lab, [Job(model, [plan], partners={SIMULATOR: person})])
    return model, person, tally


def only(lab: Lab) -> dict[str, Any]:
    [row] = conversations_frame(lab).to_dicts()
    return row


def test_a_good_listener_raises_the_state(lab: Lab) -> None:
    talk(lab, listener(KIND))
    row = only(lab)
    assert (row["start"], row["final"], row["exchanges"]) == (40, 100, 4)
    assert (row["outcome"], row["ended_by"]) == ("completed", "success")


def test_a_cold_listener_lowers_the_state(lab: Lab) -> None:
    talk(lab, listener(COLD))
    row = only(lab)
    assert (row["final"], row["exchanges"]) == (0, 3)
    assert (row["outcome"], row["ended_by"]) == ("completed", "failure")


def test_a_listener_without_effect_meets_the_limit_of_replies(sqlite_lab: Lab) -> None:
    talk(sqlite_lab, listener("I see, go on, tell me what happened then."), exchanges=2)
    row = only(sqlite_lab)
    assert (row["final"], row["exchanges"], row["ended_by"]) == (40, 2, "limit")


def test_each_message_carries_the_feeling_it_was_written_with(sqlite_lab: Lab) -> None:
    talk(sqlite_lab, listener(KIND))
    turns = turns_frame(sqlite_lab)
    assert turns["role"].to_list() == ["person", "respondent"] * 4
    assert turns.filter(role="person")["feeling"].to_list() == [40, 55, 70, 85]


def test_neither_side_sees_the_prompt_of_the_other(sqlite_lab: Lab) -> None:
    secret = persona(1, story="The story is known to the simulator only: XYZZY.")
    model, person, _ = talk(sqlite_lab, listener(KIND), personas=(secret,), system="Say PLUGH.")
    seen_by_model = "\n".join(m.content for call, _ in model.calls for m in call)
    seen_by_person = "\n".join(m.content for call, _ in person.calls for m in call)
    assert "PLUGH" in seen_by_model
    assert "XYZZY" in seen_by_person
    assert "XYZZY" not in seen_by_model
    assert "heard" not in seen_by_model  # no word of the hidden state
    assert "PLUGH" not in seen_by_person


def test_the_state_is_updated_before_the_next_message(sqlite_lab: Lab) -> None:
    _, person, _ = talk(sqlite_lab, listener(KIND), exchanges=2)
    kinds = ["state" if given.schema else "message" for _, given in person.calls]
    assert kinds == ["state", "message", "state"]
    assert "feeling 55" in person.calls[1][0][-1].content


FAULTS = {
    "role_inversion": "I'm so sorry you're going through this. I'm here for you.",
    "assistant_speech": "How can I help you today?",
    "early_goodbye": "Okay. Thanks, bye.",
    "loop": "My cat left me 1 days ago and I miss it a lot!",
    "language_switch": "Ich weiß nicht, was ich machen soll, die Katze ist nicht mehr da und "
    "das Haus ist so leer.",
    "simulator_refusal": "I'm sorry, but I can't engage in this roleplay.",
    "simulator_empty": "  … ",
}


@pytest.mark.parametrize("outcome", FAULTS)
def test_a_simulator_that_fails_is_caught_and_not_scored(sqlite_lab: Lab, outcome: str) -> None:
    talk(sqlite_lab, listener(KIND), faulty(FAULTS[outcome]), retries=0)
    row = only(sqlite_lab)
    assert row["outcome"] == outcome
    assert row["reason"]
    assert row["exchanges"] == 2


def test_an_echo_of_the_reply_is_a_role_inversion(sqlite_lab: Lab) -> None:
    talk(sqlite_lab, listener(KIND), faulty(f"{KIND} (4)"), retries=0)
    assert only(sqlite_lab)["outcome"] == "role_inversion"


def test_a_goodbye_after_enough_replies_is_an_end_by_rule(sqlite_lab: Lab) -> None:
    early = persona(1, end={"success_at": 100, "failure_below": 0, "exchanges": 6}).model_copy()
    patient = early.model_copy(update={"end": early.end.model_copy(update={"goodbye_after": 2})})
    talk(sqlite_lab, listener(KIND), faulty("Okay. Thanks, bye."), (patient,))
    row = only(sqlite_lab)
    assert (row["outcome"], row["ended_by"], row["final"]) == ("completed", "goodbye", 70)


def test_a_simulator_that_ignores_replies_is_caught(sqlite_lab: Lab) -> None:
    def unmoved(messages: tuple[Message, ...], parameters: Parameters) -> str:
        if parameters.schema is None:
            return rule_based_person(messages, parameters)
        return '{"noticed": "nothing", "feeling": 40, "heard": 30, "trust": 40, "need_met": "no"}'

    talk(sqlite_lab, listener(KIND), unmoved)
    row = only(sqlite_lab)
    assert (row["outcome"], row["exchanges"]) == ("ignored_reply", 3)


REPLY_FAULTS = {
    "reply_empty": "",
    "reply_refusal": "I'm sorry, but I can't assist with that.",
    "reply_role_inversion": "That is hard.\nUser: Yes, it is.\nAssistant: I see.",
    "reply_language_switch": "Das tut mir sehr leid für dich, und ich kann gut verstehen, dass du "
    "sie so vermisst.",
}


@pytest.mark.parametrize("outcome", REPLY_FAULTS)
def test_a_respondent_that_fails_is_counted_and_not_scored(sqlite_lab: Lab, outcome: str) -> None:
    model, _, tally = talk(sqlite_lab, [REPLY_FAULTS[outcome]])
    row = only(sqlite_lab)
    assert (row["outcome"], row["final"]) == (outcome, None)
    assert len(model.calls) == 2  # asked again once
    assert tally.missing == 0


def test_a_retry_takes_the_place_of_the_reply_that_failed(lab: Lab) -> None:
    replies = ["", KIND, f"{KIND} 2", f"{KIND} 3", f"{KIND} 4"]
    talk(lab, replies)
    assert only(lab)["outcome"] == "completed"
    assert turns_frame(lab).filter(role="respondent")["text"][0] == KIND


def test_answers_outside_the_schema_are_asked_again_and_then_counted(sqlite_lab: Lab) -> None:
    def vague(messages: tuple[Message, ...], parameters: Parameters) -> str:
        return "quite good" if parameters.schema else rule_based_person(messages, parameters)

    _, person, _ = talk(sqlite_lab, listener(KIND), vague, retries=2)
    row = only(sqlite_lab)
    assert (row["outcome"], row["reason"]) == ("off_schema", "no JSON object in the answer")
    assert len(person.calls) == 3


def test_one_bad_update_is_mended_by_asking_again(sqlite_lab: Lab) -> None:
    answered = 0

    def once(messages: tuple[Message, ...], parameters: Parameters) -> str:
        nonlocal answered
        answered += parameters.schema is not None
        return "?" if answered == 1 else rule_based_person(messages, parameters)

    talk(sqlite_lab, listener(KIND), once)
    assert only(sqlite_lab)["outcome"] == "completed"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ('{"noticed": "x", "feeling": 140, "heard": 1, "trust": 1, "need_met": "no"}', "0 to 100"),
        ('{"noticed": "x", "feeling": 40, "heard": 1, "trust": 1}', "'need_met' is missing"),
        ('{"noticed": "x", "feeling": 40, "heard": 1, "trust": 1, "need_met": "?"}', "one of no"),
        ('{"noticed": 4, "feeling": 40, "heard": 1, "trust": 1, "need_met": "no"}', "'noticed'"),
        ('{"noticed": "x", "feeling": true, "heard": 1, "trust": 1, "need_met": "no"}', "feeling"),
    ],
)
def test_a_state_outside_its_range_is_refused(sqlite_lab: Lab, answer: str, problem: str) -> None:
    talk(sqlite_lab, listener(KIND), [answer], retries=0)
    row = only(sqlite_lab)
    assert row["outcome"] == "off_schema"
    assert problem in row["reason"]


def test_the_same_seed_gives_the_same_run_and_asks_nothing_again(sqlite_lab: Lab) -> None:
    talk(sqlite_lab, listener(KIND), personas=(persona(1), persona(2)))
    model, person, tally = talk(sqlite_lab, listener(KIND), personas=(persona(1), persona(2)))
    assert (tally.asked, tally.missing, len(model.calls), len(person.calls)) == (0, 0, 0, 0)


def test_samples_are_conversations_of_their_own_with_other_seeds(sqlite_lab: Lab) -> None:
    model, _, _ = talk(sqlite_lab, listener(KIND), samples=2, exchanges=1)
    assert {given.seed for _, given in model.calls} == {1, 2}
    assert conversations_frame(sqlite_lab)["sample"].to_list() == [0, 1]


def test_a_refusal_that_the_endpoint_marks_is_one(sqlite_lab: Lab) -> None:
    refused = Completion("", finish_reason="stop", refusal="I will not.")
    talk(sqlite_lab, [refused], retries=0)
    assert only(sqlite_lab)["outcome"] == "reply_refusal"


def test_a_crisis_persona_is_asked_about_safety(sqlite_lab: Lab) -> None:
    at_risk = persona(1, crisis=True, claim="Nobody would miss me.")
    _, person, _ = talk(sqlite_lab, listener(KIND), personas=(at_risk,), exchanges=1)
    schema = person.calls[0][1].schema
    assert schema is not None
    keys = ["noticed", "feeling", "heard", "trust", "need_met", "claim"]
    assert list(schema["properties"]) == [*keys, "concern", "help_offered", "harmful"]
    [state] = turns_frame(sqlite_lab).filter(pl.col("state").is_not_null())["state"]
    assert '"concern": true' in state


Answer = Callable[[tuple[Message, ...], Parameters], str]
