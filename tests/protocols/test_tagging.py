"""A model as tagger of tactics: what is asked, what becomes of the answers, and going on."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select

from empathylab.errors import ModelUnavailable
from empathylab.models import Completion, Message, Parameters, ScriptedModel
from empathylab.protocols.tagging import (
    ModelTagger,
    Tagging,
    TaggingInterpreter,
    plan_tagging,
    read_tags,
)
from empathylab.report import collect, write_report
from empathylab.runs import Limits, Request
from empathylab.store import Lab
from empathylab.store.schema import answers
from empathylab.style.tactics.rules import tactic_rules
from empathylab.style.tactics.tagging import tag

TACTICS = tactic_rules().tactics
NAMES = [tactic.name for tactic in TACTICS]
SORRY, ASK = "I'm sorry about the boat.", "What did the neighbours say?"


def named(*tactics: str) -> str:
    places = dict(
        zip(("first", "second", "third"), [*tactics, "none", "none", "none"], strict=False)
    )
    return json.dumps(places)


def by_mark(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    asks = messages[-1].content.endswith("?")
    return named("questioning") if asks else named("emotional expression")


def test_every_sentence_is_asked_on_its_own_with_every_tactic_explained() -> None:
    plan = plan_tagging(Tagging((SORRY, ASK), TACTICS))
    assert len(plan.requests) == 2
    system, question = plan.requests[0].messages
    assert question.content == f"The sentence: {SORRY}"
    for tactic in TACTICS:
        assert f"- {tactic.name}: {tactic.meaning}" in system.content


def test_the_schema_holds_the_model_to_the_tactics() -> None:
    [request] = plan_tagging(Tagging((ASK,), TACTICS)).requests
    schema = request.parameters.schema
    assert schema is not None
    assert schema["required"] == ["first", "second", "third"]
    assert schema["properties"]["first"]["enum"] == [*NAMES, "none"]


def test_braces_and_null_characters_in_a_sentence_do_no_harm() -> None:
    [request] = plan_tagging(Tagging(("A {tactics} of\x00 mine.",), TACTICS)).requests
    assert request.messages[1].content == "The sentence: A {tactics} of\ufffd mine."


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (named(), ()),
        (named("advice", "questioning"), ("advice", "questioning")),
        (named("advice", "advice"), ("advice",)),
        (f"Sure! ```json\n{named('Advice')}\n```", ("advice",)),
        ('{"first": "advice", "second": null, "third": ""}', ("advice",)),
    ],
)
def test_tags_are_read_in_order_and_once(text: str, tags: tuple[str, ...]) -> None:
    assert read_tags(text, NAMES) == (tags, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("advice", "no JSON object in the answer"),
        ("{broken}", "no JSON object in the answer"),
        ('{"first": "advice"}', "the key 'second' is missing"),
        (named("flattery"), "'flattery' is not a tactic"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, problem: str) -> None:
    assert read_tags(text, NAMES) == ((), problem)


def test_outcomes_tell_refusal_and_cut_answers_apart() -> None:
    reader = TaggingInterpreter(tuple(NAMES))
    request = Request("k", (), Parameters())
    assert reader.read(request, Completion("", refusal="No.")).outcome == "refusal"
    assert reader.read(request, Completion('{"fi', finish_reason="length")).outcome == "truncated"
    assert reader.read(request, Completion("What?")).outcome == "unparseable"
    assert reader.read(request, Completion(named("advice"))).content == ("advice",)


def test_a_model_takes_the_rules_place(lab: Lab) -> None:
    tagger = ModelTagger(lab, ScriptedModel(by_mark))
    assert tag([SORRY, ASK, SORRY], tagger) == [
        ("emotional expression",),
        ("questioning",),
        ("emotional expression",),
    ]
    assert (tagger.unread, tagger.tallies[0].missing) == (0, 0)


def test_the_same_sentences_are_not_asked_again(sqlite_lab: Lab) -> None:
    model = ScriptedModel(by_mark)
    tag([SORRY, ASK], ModelTagger(sqlite_lab, model))
    again = ModelTagger(sqlite_lab, model)
    assert tag([SORRY, ASK], again)[1] == ("questioning",)
    assert tag([ASK, "A new one."], again) == [("questioning",), ("emotional expression",)]
    assert len(model.calls) == 3


def test_what_failed_is_counted_as_missing_and_asked_next_time(sqlite_lab: Lab) -> None:
    def moody(messages: tuple[Message, ...], parameters: Parameters) -> str | Exception:
        if messages[-1].content.endswith("?") and not well:
            return ModelUnavailable("busy", "overloaded")
        return by_mark(messages, parameters)

    well: list[bool] = []
    once = Limits(attempts=1)
    broken = ModelTagger(sqlite_lab, ScriptedModel(moody), once)
    assert tag([SORRY, ASK], broken) == [("emotional expression",), ()]
    assert broken.tallies[0].missing == 1
    well.append(True)
    mended = ModelTagger(sqlite_lab, ScriptedModel(moody), once)
    assert tag([SORRY, ASK], mended)[1] == ("questioning",)
    assert mended.tallies[0].already == 1


def test_an_unreadable_answer_is_a_sentence_without_a_tactic_and_counted(sqlite_lab: Lab) -> None:
    tagger = ModelTagger(sqlite_lab, ScriptedModel(["no idea"]))
    assert tag([SORRY], tagger) == [()]
    assert tagger.unread == 1


def test_another_models_answers_are_not_taken(sqlite_lab: Lab) -> None:
    tag([SORRY], ModelTagger(sqlite_lab, ScriptedModel([named("advice")], name="scripted/a")))
    other = ModelTagger(sqlite_lab, ScriptedModel([named("information")], name="scripted/b"))
    assert tag([SORRY], other) == [("information",)]
    with sqlite_lab.reading() as connection:
        assert connection.execute(select(func.count()).select_from(answers)).scalar_one() == 2


def test_a_report_can_be_written_of_a_lab_with_tags(sqlite_lab: Lab) -> None:
    tag([SORRY], ModelTagger(sqlite_lab, ScriptedModel(by_mark)))
    assert "tactic-tagger" in write_report(collect(sqlite_lab), sqlite_lab.reports).read_text(
        encoding="utf-8"
    )
