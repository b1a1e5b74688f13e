"""Refusals are told from answers and from sympathy."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from empathylab.scales import looks_like_refusal


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I don't have feelings or emotions.",
        "I'm sorry, but I can't assist with that.",
        "I cannot answer this questionnaire.",
        "I’m unable to rate these emotions.",
        "Sorry, I can't help with that request.",
        "I must respectfully decline.",
        "I'd rather not answer these questions.",
        "I am an artificial intelligence and cannot feel.",
        "I'm not comfortable answering this.",
        "It would be inappropriate for me to rate feelings I do not have.",
        "I apologize, but I am not able to provide ratings.",
        "I do not have emotions, therefore no rating is possible.",
        "**Unfortunately**, I cannot complete this task.",
    ],
)
def test_declining_is_a_refusal(text: str) -> None:
    assert looks_like_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'm sorry to hear that you lost your job.",
        "I'm so sorry, but you will get through this.",
        "I'm sorry, but that is not fair to you at all.",
        "I can't imagine how hard this must be.",
        "I cannot help but feel sad for you.",
        "I can't believe they did that to you!",
        "As an AI, I can't feel what you feel, but it sounds very hard, and I am here.",
        "I don't have the words, but I'm with you.",
        "I won't give up on you.",
        "I can't express how happy I am for you!",
        "I can't provide the comfort of a friend, but I can listen.",
        "My dog died and I can't complete my work.",
        "I'm an engineer and I don't have siblings.",
    ],
)
def test_sympathy_is_no_refusal(text: str) -> None:
    assert not looks_like_refusal(text)


def test_what_is_said_late_in_a_long_text_is_no_refusal() -> None:
    assert not looks_like_refusal("It was a good day. " * 20 + "I cannot answer this question.")


@pytest.mark.shared_data
def test_hardly_any_of_4000_published_replies_is_a_refusal(shared_data: Path) -> None:
    with (shared_data / "welivita" / "dataset_and_ratings.csv").open(encoding="utf-8") as file:
        replies = [
            text
            for row in csv.DictReader(file)
            for column, text in row.items()
            if column.startswith("response_")
        ]
    assert len(replies) >= 4000
    assert sum(map(looks_like_refusal, replies)) <= len(replies) / 1000
