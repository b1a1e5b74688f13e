"""Appraisal: what is asked, and what becomes of the answers."""

from __future__ import annotations

import json
import math

import pytest
import sqlalchemy as sa

from empathylab.errors import InputError
from empathylab.models import Completion, Message, Parameters, ScriptedModel, TokenAlternatives
from empathylab.protocols import Appraisal, plan_appraisal
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.store import Lab
from empathylab.store.administrations import read_appraisals
from empathylab.store.schema import item_answers

SET = builtin_set("appraisal")
PANAS = builtin_scale("panas")


def appraisal(**changed: object) -> Appraisal:
    chosen: dict[str, object] = {
        "scale": PANAS,
        "situation_set": SET,
        "situations": SET.situations[:2],
        "default_orders": 2,
    }
    return Appraisal(**(chosen | changed))  # type: ignore[arg-type]


def items_shown(messages: tuple[Message, ...]) -> list[str]:
    lines = messages[-1].content.splitlines()
    return [line.split(". ", 1)[1] for line in lines if line[:1].isdigit() and ". " in line]


def by_content(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """Answers each item by its word, wherever it is shown: longer words get more."""
    answers = {
        str(shown): min(5, max(1, len(word) - 4))
        for shown, word in enumerate(items_shown(messages), start=1)
    }
    return json.dumps(answers)


def test_rest_comes_first_then_each_situation(sqlite_lab: Lab) -> None:
    plan = plan_appraisal(sqlite_lab, "scripted/test", appraisal(repeats=2))
    keys = [request.key for request in plan.requests]
    assert keys[0] == "default/order-0/repeat-0"
    assert keys[3] == "default/order-1/repeat-1"
    assert keys[4] == "evoked/anger-self-opinioned-1/order-0/repeat-0"
    assert len(keys) == 2 * 2 + 2 * 1 * 2


def test_the_situation_is_put_before_the_question(sqlite_lab: Lab) -> None:
    plan = plan_appraisal(sqlite_lab, "scripted/test", appraisal())
    rest, evoked = plan.requests[0], plan.requests[2]
    assert SET.situations[0].text not in rest.messages[-1].content
    assert SET.situations[0].text in evoked.messages[-1].content
    assert len(items_shown(evoked.messages)) == 20


def test_orders_differ_and_repeat_from_the_same_seed(sqlite_lab: Lab) -> None:
    first = plan_appraisal(sqlite_lab, "scripted/test", appraisal(seed=7)).requests
    again = plan_appraisal(sqlite_lab, "scripted/test", appraisal(seed=7)).requests
    other = plan_appraisal(sqlite_lab, "scripted/test", appraisal(seed=8)).requests
    assert first == again
    assert items_shown(first[0].messages) != items_shown(first[1].messages)
    assert items_shown(first[1].messages) != items_shown(other[1].messages)


def test_repeats_ask_the_same_with_another_seed(sqlite_lab: Lab) -> None:
    plan = plan_appraisal(sqlite_lab, "scripted/test", appraisal(repeats=2, seed=7))
    first, second = plan.requests[:2]
    assert first.messages == second.messages
    assert (first.parameters.seed, second.parameters.seed) == (7, 8)


def test_answers_reach_their_items_whatever_the_order(lab: Lab) -> None:
    chosen = appraisal(default_orders=3)
    plan = plan_appraisal(lab, "scripted/test", chosen)
    run(lab, [Job(ScriptedModel(by_content), [plan])])
    assert PANAS.words is not None
    expected = {n: min(5, max(1, len(w) - 4)) for n, w in enumerate(PANAS.words, start=1)}
    frame = read_appraisals(lab).answers
    assert frame["administration"].n_unique() == 5
    for _, item, value in frame.iter_rows():
        assert value == expected[item]
    stored = read_appraisals(lab).administrations
    assert stored["phase"].to_list().count("default") == 3
    assert stored.filter(phase="evoked")["emotion"].to_list() == ["anger", "anger"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Completion(""), "empty"),
        (Completion("I'm sorry, but as an AI I cannot have feelings."), "refusal"),
        (Completion("", refusal="No."), "refusal"),
        (Completion("What a lovely day."), "unparseable"),
        (Completion('{"1": 3, "2": 4}'), "incomplete"),
        (Completion('{"1": 3, "2"', finish_reason="length"), "truncated"),
    ],
)
def test_what_cannot_be_read_is_kept_with_its_reason(
    lab: Lab, answer: Completion, outcome: str
) -> None:
    plan = plan_appraisal(lab, "scripted/test", appraisal(situations=(), default_orders=1))
    [tally] = run(lab, [Job(ScriptedModel([answer]), [plan])])
    assert dict(tally.outcomes) == {outcome: 1}
    [row] = read_appraisals(lab).administrations.iter_rows(named=True)
    assert row["outcome"] == outcome
    assert row["reason"]
    assert read_appraisals(lab).answers.is_empty()


def test_free_answers_are_parsed_and_no_schema_is_sent(sqlite_lab: Lab) -> None:
    text = "\n".join(f"{n}: 2" for n in range(1, 21))
    plan = plan_appraisal(sqlite_lab, "scripted/test", appraisal(mode="free"))
    model = ScriptedModel([text])
    run(sqlite_lab, [Job(model, [plan])])
    assert all(parameters.schema is None for _, parameters in model.calls)
    assert set(read_appraisals(sqlite_lab).answers["value"]) == {2.0}


def test_a_scale_without_wording_is_one_sentence(sqlite_lab: Lab) -> None:
    with pytest.raises(InputError, match="empathylab scales import"):
        plan_appraisal(sqlite_lab, "x", appraisal(scale=builtin_scale("bdi")))


def test_the_settings_hold_all_that_is_needed_to_repeat_the_run(sqlite_lab: Lab) -> None:
    settings = plan_appraisal(sqlite_lab, "x", appraisal()).settings
    assert settings["seed"] == 1
    assert settings["situation_ids"] == ["anger-self-opinioned-1", "anger-self-opinioned-3"]
    assert "Imagine" in json.dumps(settings["template"])


def weighed(messages: tuple[Message, ...], _parameters: Parameters) -> Completion:
    """Answers 3 everywhere, but has also thought of 4."""
    pieces: list[TokenAlternatives] = [TokenAlternatives("{", 0.0, {})]
    for shown in range(1, len(items_shown(messages)) + 1):
        pieces.append(TokenAlternatives(f'"{shown}": ', 0.0, {}))
        pieces.append(TokenAlternatives("3", -0.3, {"3": math.log(0.75), "4": math.log(0.25)}))
        pieces.append(TokenAlternatives("}" if shown == 20 else ", ", 0.0, {}))
    text = "".join(piece.token for piece in pieces)
    return Completion(text, finish_reason="stop", logprobs=tuple(pieces))


def test_logprobs_give_expected_answers_and_entropy(lab: Lab) -> None:
    plan = plan_appraisal(lab, "scripted/test", appraisal(mode="logprob"))
    model = ScriptedModel(weighed)
    [tally] = run(lab, [Job(model, [plan])])
    assert dict(tally.outcomes) == {"valid": 4}
    assert all(parameters.top_logprobs for _, parameters in model.calls)
    frame = lab.frame(sa.select(item_answers.c.value, item_answers.c.entropy))
    assert frame["value"].to_list() == pytest.approx([3.25] * 80)  # 3 · 0.75 + 4 · 0.25
    # −(0.75 log2 0.75 + 0.25 log2 0.25) = 0.8113 bits
    assert frame["entropy"].to_list() == pytest.approx([0.811278] * 80, abs=1e-6)


def test_an_endpoint_without_logprobs_is_said(sqlite_lab: Lab) -> None:
    plan = plan_appraisal(sqlite_lab, "scripted/test", appraisal(mode="logprob"))
    [tally] = run(sqlite_lab, [Job(ScriptedModel(by_content), [plan])])
    assert dict(tally.outcomes) == {"no_logprobs": 4}
    assert "no log-probabilities" in read_appraisals(sqlite_lab).administrations["reason"][0]


def test_json_with_words_around_it_is_read(sqlite_lab: Lab) -> None:
    def chatty(messages: tuple[Message, ...], parameters: Parameters) -> str:
        return f"Here you are:\n```json\n{by_content(messages, parameters)}\n```\nTake care!"

    plan = plan_appraisal(sqlite_lab, "scripted/test", appraisal())
    [tally] = run(sqlite_lab, [Job(ScriptedModel(chatty), [plan])])
    assert dict(tally.outcomes) == {"valid": 4}


def test_counterparts_are_given_beside_their_situations(lab: Lab) -> None:
    plan = plan_appraisal(lab, "scripted/test", appraisal(counterparts=True))
    told = [request.messages[-1].content for request in plan.requests[2:]]
    assert SET.situations[0].text in told[0]
    assert str(SET.situations[0].counterpart) in told[1]
    run(lab, [Job(ScriptedModel(by_content), [plan])])
    assert read_appraisals(lab).administrations["counterpart"].to_list().count(True) == 2


def test_a_respondent_can_be_told_to_stay_calm(sqlite_lab: Lab) -> None:
    [calm, *_] = plan_appraisal(sqlite_lab, "x", appraisal(stable=True)).requests
    [usual, *_] = plan_appraisal(sqlite_lab, "x", appraisal()).requests
    assert "even temper" in calm.messages[0].content
    assert "even temper" not in usual.messages[0].content
