"""Reading answers: a corpus of hard ones, structured ones, and what the reasons say."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from empathylab.scales import Scale, parse_answer
from tests.scales.examples import BLANK, MOODS, PANAS, PULLS, SINGLE, VIEWS, example_scale

SHOWN: dict[str, tuple[Scale, tuple[int, ...]]] = {
    "moods": (MOODS, (3, 1, 6, 2, 5, 4)),
    "views": (VIEWS, (3, 1, 2)),
    "pulls": (PULLS, (2, 1, 4, 3)),
    "blank": (BLANK, tuple(range(1, 22))),
    "single": (SINGLE, (1,)),
    "panas": (PANAS, tuple(range(1, 21))),
}
CORPUS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "hard_answers.toml").read_text(encoding="utf-8")
)["answer"]
MOODS_ORDER = SHOWN["moods"][1]


def reason_of(text: str) -> str | None:
    return parse_answer(text, MOODS, MOODS_ORDER).reason


@pytest.mark.parametrize("answer", CORPUS, ids=lambda answer: answer["name"])
def test_hard_answers_are_read_or_refused(answer: dict[str, Any]) -> None:
    scale, order = SHOWN[answer.get("scale", "moods")]
    shown = dict(enumerate(answer.get("answers", ()), start=1))
    shown |= {int(position): value for position, value in answer.get("partial", {}).items()}
    parsed = parse_answer(answer["text"], scale, order)
    assert parsed.outcome == answer["outcome"], parsed.reason
    assert parsed.values == {order[position - 1]: value for position, value in shown.items()}


def test_the_corpus_has_no_name_twice() -> None:
    names = [answer["name"] for answer in CORPUS]
    assert len(names) == len(set(names)) >= 60


def test_a_reason_lists_the_numbers_without_an_answer() -> None:
    assert reason_of("1. 2\n3. 1\n5. 3\n6. 3") == "no answer to 2, 4"


def test_a_reason_names_both_answers_of_a_contradiction() -> None:
    text = "1. 2\n2. 4\n3. 1\n4. 5\n5. 3\n6. 3\n2. 1"
    assert reason_of(text) == "2 is answered 1 and 4"


def test_a_reason_names_the_value_outside_the_range() -> None:
    assert reason_of("1. 2\n2. 9\n3. 1\n4. 5\n5. 3\n6. 3") == "2: 9 is not between 1 and 5"


def test_a_reason_says_that_a_word_has_another_number() -> None:
    text = "1. Calm: 2"
    assert reason_of(text) == "it numbers 'calm' 1, but that was shown as number 2"


def test_a_reason_stays_short_when_much_is_wrong() -> None:
    reason = reason_of("\n".join(f"{number}. 2-3" for number in range(1, 7)))
    assert reason is not None
    assert reason.endswith("; and 1 more")


def test_true_answers_that_read_like_the_range_explained_are_kept() -> None:
    scale, order = SHOWN["panas"]
    values = [1, 2, 3, 4, 5] * 4
    text = "\n".join(f"{k}. {scale.anchors[value]}" for k, value in enumerate(values, start=1))
    assert parse_answer(text, scale, order).values == dict(zip(order, values, strict=True))


def test_a_label_of_a_value_that_is_no_item_number_names_no_item() -> None:
    scale = example_scale(
        "often", minimum=0, maximum=2, items=2, anchors={"0": "never", "2": "daily"}
    )
    assert parse_answer("0 = never\n1. 1\n2. 0", scale, (1, 2)).values == {1: 1, 2: 0}


def test_words_that_two_items_share_name_neither() -> None:
    scale = example_scale("twins", words=["Calm", "calm", "Bold"])
    parsed = parse_answer("Calm: 2\nCalm: 2\nBold: 1", scale, (1, 2, 3))
    assert parsed.values == {3: 1}


def test_some_items_of_a_scale_may_be_asked() -> None:
    assert parse_answer("Tired: 2\nBold: 5", MOODS, (4, 3)).values == {4: 2, 3: 5}


def test_a_structured_answer_is_read_by_number_shown() -> None:
    text = json.dumps({str(number): value for number, value in enumerate([2, 4, 1, 5, 3, 3], 1)})
    parsed = parse_answer(text, MOODS, MOODS_ORDER, structured=True)
    assert parsed.outcome == "valid"
    assert parsed.values == dict(zip(MOODS_ORDER, [2, 4, 1, 5, 3, 3], strict=True))


def test_a_structured_answer_may_stand_in_a_fence() -> None:
    text = '```json\n{"1": 2, "2": 4, "3": 1, "4": 5, "5": 3, "6": 3}\n```'
    assert parse_answer(text, MOODS, MOODS_ORDER, structured=True).outcome == "valid"


def test_a_structured_answer_is_nothing_but_json() -> None:
    text = "1. 2\n2. 4\n3. 1\n4. 5\n5. 3\n6. 3"
    assert parse_answer(text, MOODS, MOODS_ORDER, structured=True).outcome == "unparseable"


def test_a_structured_answer_that_is_cut_off_is_unparseable() -> None:
    text = '{"1": 2, "2": 4, "3"'
    assert parse_answer(text, MOODS, MOODS_ORDER, structured=True).outcome == "unparseable"


def test_a_structured_answer_that_lacks_a_key_is_incomplete() -> None:
    parsed = parse_answer('{"1": 2, "2": 4}', MOODS, MOODS_ORDER, structured=True)
    assert (parsed.outcome, parsed.reason) == ("incomplete", "no answer to 3, 4, 5, 6")


def test_a_refusal_in_structured_mode_is_a_refusal() -> None:
    text = "I'm sorry, but I can't rate feelings."
    assert parse_answer(text, MOODS, MOODS_ORDER, structured=True).outcome == "refusal"


def test_what_is_longer_than_any_answer_is_not_read() -> None:
    parsed = parse_answer("It was a long day, and then another. " * 28_000, *SHOWN["panas"])
    assert parsed.outcome == "unparseable"
    assert parsed.reason == "the answer is 1,036,000 characters long"
