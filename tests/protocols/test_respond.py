"""Responding: what is asked, and what becomes of the replies."""

from __future__ import annotations

import dataclasses
import json

import pytest

from empathylab.errors import InputError
from empathylab.models import Completion, ScriptedModel
from empathylab.protocols import (
    EMPATHIC_LISTENER,
    PEER_SUPPORTER,
    PLAIN_LISTENER,
    Responding,
    human_lengths,
    plan_responding,
    usual_template,
)
from empathylab.runs import Job, run
from empathylab.situations import Situation, SituationSet, builtin_set
from empathylab.store import Lab, responses_frame
from empathylab.store.inserts import add_respondent, add_situation_set, now
from empathylab.store.schema import responses

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
    assert frame["prompt"].unique().to_list() == ["empathic-listener@2"]
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
    [row] = responses_frame(lab).iter_rows(named=True)
    assert row["outcome"] == outcome
    assert (row["reason"] is None) == (outcome == "valid")


def test_the_endpoints_own_refusal_is_kept_with_its_words(sqlite_lab: Lab) -> None:
    model = ScriptedModel([Completion("", refusal="Our policy forbids it.")])
    run(sqlite_lab, [Job(model, [plan_responding(sqlite_lab, "scripted/test", responding(1))])])
    [row] = responses_frame(sqlite_lab).iter_rows(named=True)
    assert (row["outcome"], row["text"]) == ("refusal", "Our policy forbids it.")


def one_situation(language: str = "en", **given: object) -> SituationSet:
    situation = Situation(**({"id": "s", "text": "A told situation."} | given))  # type: ignore[arg-type]
    return dataclasses.replace(SET, id="mine", language=language, situations=(situation,))


def messages(lab: Lab, chosen: SituationSet, **changed: object) -> list[tuple[str, str]]:
    asked = Responding(chosen, chosen.situations, **changed)  # type: ignore[arg-type]
    [request] = plan_responding(lab, "x", asked).requests
    return [(message.role, message.content) for message in request.messages[1:]]


def test_earlier_turns_are_chat_messages(sqlite_lab: Lab) -> None:
    chosen = one_situation(utterance="He left.", context=("My dog is old.", "Oh?"))
    assert messages(sqlite_lab, chosen) == [
        ("user", "My dog is old."),
        ("assistant", "Oh?"),
        ("user", "He left."),
    ]


def test_a_person_who_spoke_twice_in_a_row_is_one_message(sqlite_lab: Lab) -> None:
    chosen = one_situation(utterance="He left.", context=("One.", "Two.", "Three."))
    assert messages(sqlite_lab, chosen) == [
        ("user", "One."),
        ("assistant", "Two."),
        ("user", "Three.\nHe left."),
    ]


def test_repeating_an_earlier_turn_is_an_echo(sqlite_lab: Lab) -> None:
    turn = "I remember how he used to wait for you by the door."
    chosen = one_situation(utterance="He left.", context=("My dog is old.", turn))
    plan = plan_responding(sqlite_lab, "x", Responding(chosen, chosen.situations, retries=0))
    run(sqlite_lab, [Job(ScriptedModel([turn]), [plan])])
    assert responses_frame(sqlite_lab)["outcome"].to_list() == ["echo"]


def test_a_peer_supporter_reads_title_and_post(sqlite_lab: Lab) -> None:
    titled = one_situation(title="Help", topic="work")
    assert messages(sqlite_lab, titled, template=PEER_SUPPORTER) == [
        ("user", "Help\n\nA told situation.")
    ]


def test_a_post_without_a_title_is_given_without_one(sqlite_lab: Lab) -> None:
    untitled = dataclasses.replace(one_situation(topic="work"), id="other")
    assert messages(sqlite_lab, untitled, template=PEER_SUPPORTER) == [
        ("user", "A told situation.")
    ]


def test_a_template_with_an_emotion_needs_one(sqlite_lab: Lab) -> None:
    template = dataclasses.replace(EMPATHIC_LISTENER, id="mine", user="{emotion}: {utterance}")
    with pytest.raises(InputError, match=r"uses \{emotion\}, but the situation names none"):
        messages(sqlite_lab, one_situation(topic="work"), template=template)


def test_posts_are_answered_by_a_peer_unless_told_otherwise() -> None:
    assert usual_template(SET) == EMPATHIC_LISTENER
    assert usual_template(one_situation(topic="work")) == PEER_SUPPORTER


def test_the_tokens_allow_for_every_reply_that_may_be_rated() -> None:
    english = Responding(SET, SET.situations[:1])
    assert english.max_tokens == int(1.5 * 1.4 * 97) + 8
    other = Responding(one_situation("th"), (), template=PEER_SUPPORTER)
    assert other.max_tokens == int(1.5 * 3 * 150) + 8


def test_the_settings_hold_all_that_is_needed_to_repeat_the_run(sqlite_lab: Lab) -> None:
    asked = Responding(SET, SET.situations[:2], samples=2, seed=7, template=PLAIN_LISTENER)
    settings = plan_responding(sqlite_lab, "x", asked).settings
    assert (settings["samples"], settings["seed"], settings["temperature"]) == (2, 7, 0.7)
    assert settings["checks"] == 1
    assert "You are talking with a friend" in json.dumps(settings["template"])


def test_other_lengths_make_another_run(sqlite_lab: Lab) -> None:
    asked = Responding(
        SET, SET.situations[:1], template=EMPATHIC_LISTENER.with_lengths(words=40, most_words=80)
    )
    plan = plan_responding(sqlite_lab, "x", asked)
    assert "about 40 words and never more than 80" in plan.requests[0].messages[0].content
    assert plan.settings != plan_responding(sqlite_lab, "x", responding(1)).settings


def test_the_check_of_language_follows_the_set(sqlite_lab: Lab) -> None:
    german = "Das tut mir so leid, ich bin für dich da, wenn du noch reden möchtest."
    chosen = one_situation("de", topic="Arbeit")
    asked = Responding(chosen, chosen.situations, template=EMPATHIC_LISTENER)
    interpreter = plan_responding(sqlite_lab, "x", asked).interpreter
    [request] = plan_responding(sqlite_lab, "x", asked).requests
    assert interpreter.read(request, Completion(german)).outcome == "valid"
    english = "I am so sorry to hear that, and I would love to know how you are."
    assert interpreter.read(request, Completion(english)).outcome == "wrong_language"


def test_peoples_lengths_are_their_mean_and_maximum(lab: Lab) -> None:
    with lab.writing() as connection:
        ids = add_situation_set(connection, SET)
        human = add_respondent(connection, "human", "human")
        rows = [
            {
                "situation_id": ids[situation.id],
                "respondent_id": human,
                "sample": 0,
                "text": "word " * words,
                "outcome": "valid",
                "added_at": now(),
            }
            for situation, words in zip(SET.situations, (10, 21, 32, 0), strict=False)
        ]
        connection.execute(responses.insert(), rows)
    assert human_lengths(lab, SET) == (21, 32)


def test_without_peoples_replies_their_length_is_unknown(sqlite_lab: Lab) -> None:
    with pytest.raises(InputError, match="no replies by people to this set"):
        human_lengths(sqlite_lab, SET)
