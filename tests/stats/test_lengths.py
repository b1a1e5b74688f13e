"""Lengths of replies, and subsets of equal length.

Outside figures: tests/reference/lengths.json, made by lengths.R beside it (base R and MatchIt).
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.stats.lengths import (
    length_distributions,
    length_matched,
    length_matched_situations,
)
from empathylab.words import count_words

REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "reference" / "lengths.json").read_text(encoding="utf-8")
)


def replies(**lengths: list[int]) -> pl.DataFrame:
    """Replies of those lengths; the place in the list is the situation."""
    rows = [
        {"respondent": name, "situation": place, "text": "word " * words}
        for name, given in lengths.items()
        for place, words in enumerate(given)
    ]
    schema = {"respondent": pl.String, "situation": pl.Int64, "text": pl.String}
    return pl.DataFrame(rows, schema=schema)


def lengths_of(frame: pl.DataFrame, name: str) -> list[int]:
    return sorted(count_words(text) for text in frame.filter(respondent=name)["text"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n", 0),
        ("I'm so sorry — really.", 5),
        ("well-meant", 1),
        ("听到这个消息我很难过", 5),
        ("我在这里。OK?", 3),
        ("ขอโทษ", 3),
        ("안녕하세요 친구", 2),
    ],
)
def test_words_stand_between_spaces_or_are_two_characters(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_distribution_by_hand() -> None:
    # 2, 4, 9: mean 5, variance (9 + 1 + 16) / 2 = 13; t(0.975, 2) = 4.302653
    [found] = length_distributions(replies(one=[9, 2, 4]), quantiles=(0.25, 0.5))
    assert (found.respondent, found.n, found.n_dropped) == ("one", 3, 0)
    assert found.mean == 5
    assert found.sd == pytest.approx(math.sqrt(13))
    assert found.high - found.mean == pytest.approx(4.302653 * math.sqrt(13 / 3), rel=1e-6)
    assert (found.shortest, found.longest) == (2, 9)
    assert found.quantiles == {0.25: 3, 0.5: 4}


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_distribution_is_as_in_r(name: str) -> None:
    [found] = length_distributions(replies(**{name: REFERENCE[name]}))
    told = REFERENCE[f"{name}_described"]
    assert found.n == told["n"]
    for figure in ("mean", "low", "high", "sd"):
        assert getattr(found, figure) == pytest.approx(told[figure], abs=1e-9)
    assert list(found.quantiles.values()) == pytest.approx(told["quantiles"], abs=1e-9)


def test_replies_without_text_are_dropped_and_counted() -> None:
    frame = pl.DataFrame({"respondent": ["a"] * 4, "text": ["one two", None, " ", "three"]})
    [found] = length_distributions(frame)
    assert (found.n, found.n_dropped, found.mean) == (2, 2, 1.5)


def test_one_reply_has_no_interval() -> None:
    [found] = length_distributions(replies(one=[5]))
    assert (found.mean, found.shortest) == (5, 5)
    assert math.isnan(found.low)
    assert math.isnan(found.sd)


def test_no_reply_has_no_length() -> None:
    [found] = length_distributions(replies(one=[0]))
    assert (found.n, found.n_dropped, found.shortest, found.longest) == (0, 1, None, None)
    assert math.isnan(found.mean)
    assert length_distributions(replies()) == []


def test_columns_are_given_by_role() -> None:
    frame = pl.DataFrame({"who": ["x"], "said": ["one two"]})
    [found] = length_distributions(frame, respondent="who", text="said")
    assert (found.respondent, found.mean) == ("x", 2)


def test_bands_keep_as_many_of_each_as_the_scarcer_has() -> None:
    # Bands of ratio 2: 2–3, 4–7, 8–15, 16–31. a has 1, 2, 1, 0 there, b has 0, 1, 3, 1.
    frame = replies(a=[3, 4, 7, 8], b=[5, 8, 9, 15, 16])
    found = length_matched(frame, ratio=2)
    assert found.n == 2
    assert found.n_dropped == {"a": 2, "b": 3}
    assert found.replies.columns == frame.columns
    [first, second] = lengths_of(found.replies, "b")
    assert first == 5
    assert second in (8, 9, 15)


def test_a_band_begins_with_its_edge() -> None:
    assert length_matched(replies(a=[4, 8], b=[7, 16]), ratio=2).n == 1


def test_as_many_pairs_are_found_as_by_matchit() -> None:
    found = length_matched(replies(a=REFERENCE["a"], b=REFERENCE["b"]))
    assert found.n == REFERENCE["pairs"]
    assert found.imbalance_before == pytest.approx(REFERENCE["imbalance"], abs=1e-9)
    assert found.imbalance < 0.1 < found.imbalance_before


def test_the_seed_decides_the_draw() -> None:
    frame = replies(a=REFERENCE["a"], b=REFERENCE["b"])
    first, again = length_matched(frame, seed=3), length_matched(frame, seed=3)
    assert first.replies.equals(again.replies)
    assert not first.replies.equals(length_matched(frame, seed=4).replies)


def test_three_respondents_are_matched_together() -> None:
    found = length_matched(replies(a=[4, 5, 9], b=[5, 6, 8], c=[7, 30, 31]), ratio=2)
    assert found.respondents == ("a", "b", "c")
    assert found.n == 1
    assert [len(lengths_of(found.replies, name)) for name in "abc"] == [1, 1, 1]


def test_respondents_without_a_length_in_common_leave_nothing() -> None:
    found = length_matched(replies(a=[2, 3], b=[90, 100]))
    assert (found.n, found.replies.height) == (0, 0)
    assert math.isnan(found.imbalance)


def test_equal_replies_are_all_kept() -> None:
    found = length_matched(replies(a=[7, 7], b=[7, 7]))
    assert (found.n, found.imbalance_before, found.imbalance) == (2, 0, 0)


def test_situations_with_replies_of_like_length_stay() -> None:
    found = length_matched_situations(replies(a=[10, 10, 20], b=[12, 13, 25]))
    assert found.replies["situation"].unique().sort().to_list() == [0, 2]
    assert (found.n, found.n_dropped) == (2, {"a": 1, "b": 1})


def test_of_several_samples_the_nearest_are_taken() -> None:
    frame = pl.DataFrame(
        {
            "respondent": ["a", "a", "b", "b", "b"],
            "situation": ["s"] * 5,
            "text": ["word " * words for words in (10, 40, 19, 37, 80)],
        }
    )
    found = length_matched_situations(frame)
    assert [count_words(text) for text in found.replies["text"]] == [40, 37]


def test_a_situation_that_somebody_did_not_reply_to_is_left_out() -> None:
    found = length_matched_situations(replies(a=[10, 0], b=[10, 10, 10]))
    assert found.replies["situation"].to_list() == [0, 0]


@pytest.mark.parametrize("draw", [length_matched, length_matched_situations])
@pytest.mark.parametrize(
    ("frame", "options", "sentence"),
    [
        (replies(a=[3]), {}, "two or more respondents"),
        (replies(), {}, "two or more respondents"),
        (replies(a=[3], b=[3]), {"ratio": 1.0}, "must be above 1"),
        (replies(a=[3], b=[3]), {"text": "reply"}, "the column 'reply' is missing"),
    ],
)
def test_wrong_input_is_one_sentence(
    draw: Any, frame: pl.DataFrame, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        draw(frame, **options)


def test_a_reply_of_nobody_is_refused() -> None:
    frame = pl.DataFrame({"respondent": ["a", None], "text": ["one", "two"]})
    with pytest.raises(InputError, match=r"reply 2: a reply has no respondent"):
        length_distributions(frame)


@pytest.mark.shared_data
def test_the_published_replies_can_be_matched(shared_data: Path) -> None:
    path = shared_data / "welivita" / "dataset_and_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    frame = pl.DataFrame(
        [
            {"respondent": arm, "situation": row["dialog_id"], "text": row[f"response_{arm}"]}
            for arm in ("human", "chatgpt_empathy")
            for row in rows
        ]
    )
    human, model = length_distributions(frame)
    # Counted with wc -w on the two columns: 48,390 and 57,803 words.
    assert (human.mean * 2000, model.mean * 2000) == (48_390, 57_803)
    assert length_matched(frame).imbalance < 0.1 < length_matched(frame).imbalance_before
    paired = length_matched_situations(frame)
    assert paired.replies.group_by("situation").len()["len"].unique().to_list() == [2]
