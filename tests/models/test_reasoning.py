"""Reasoning inside a text, by all the tags that are known to be used."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import pytest

from empathylab.models import Completion
from empathylab.models.reasoning import part_reasoning

REPLY = "I am sorry to hear that."
ANALYSIS = "<|channel|>analysis<|message|>hm"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>hm</think>{REPLY}",
        f"\n  <think>\n\nhm\n\n</think>\n\n{REPLY}\n",
        f"<thinking>hm</thinking>{REPLY}",
        f"<reasoning>hm</reasoning>\n{REPLY}",
        f"<thought>hm</thought> {REPLY}",
        f"<Think >hm</ THINK>{REPLY}",
        f'<think type="inner">hm</think>{REPLY}',
        f"[THINK]hm[/THINK]{REPLY}",
        f"◁think▷hm◁/think▷{REPLY}",
        f"<|begin_of_thought|>hm<|end_of_thought|>{REPLY}",
        f"hm</think>\n{REPLY}",
        f"{ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>{REPLY}<|return|>",
        f"{ANALYSIS}<|end|><|channel|>final <|constrain|>json<|message|>{REPLY}",
        f"analysishmassistantfinal{REPLY}",
        f"{REPLY}<think>hm</think>",
    ],
)
def test_the_reply_is_left_alone_and_the_reasoning_kept(text: str) -> None:
    found = part_reasoning(text)
    assert found.text == REPLY
    assert found.reasoning == "hm"
    assert not found.open


def test_nested_tags_are_one_piece_of_reasoning() -> None:
    found = part_reasoning(f"<think>one<think>two</think>three</think>{REPLY}")
    assert found == (REPLY, "one\ntwo\nthree", False)


def test_several_pieces_are_joined() -> None:
    found = part_reasoning("<think>one</think>I am sorry <think>two</think>to hear that.")
    assert found.text == REPLY
    assert found.reasoning == "one\ntwo"


@pytest.mark.parametrize(
    "text", ["<think>\nI should be warm", "<|channel|>analysis<|message|>I should be warm"]
)
def test_reasoning_without_an_end_leaves_no_reply(text: str) -> None:
    assert part_reasoning(text) == ("", "I should be warm", True)


def test_empty_reasoning_is_taken_out() -> None:
    assert part_reasoning(f"<think>\n\n</think>\n\n{REPLY}") == (REPLY, "", False)


@pytest.mark.parametrize(
    "text",
    [
        REPLY,
        "  I think, therefore I am. ",
        "Is 3 < 4? I think > maybe.",
        "The analysis of the assistantfinal word",
        "<b>Think</b> of it as a gift",
        "I have been thinking: <3",
        "",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert part_reasoning(text) == (text, None, False)


PIECES = [
    "<think>",
    "</think>",
    "<|channel|>",
    "final",
    "analysis",
    "<|message|>",
    "a",
    " ",
    "[THINK]",
]


@hypothesis.given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_text_breaks_it_and_no_tag_survives(text: str) -> None:
    found = part_reasoning(text)
    assert "<think>" not in found.text
    assert "</think>" not in found.text or "<|channel|>" in text


@pytest.mark.parametrize(("reason", "cut_off"), [("length", True), (None, True), ("stop", False)])
def test_reasoning_without_an_answer_is_cut_off_unless_the_model_stopped(
    reason: str | None, cut_off: bool
) -> None:
    assert Completion("", finish_reason=reason, reasoning="Well").cut_off_reasoning == cut_off
    assert not Completion("Hello", finish_reason=reason, reasoning="Well").cut_off_reasoning
