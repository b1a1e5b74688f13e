"""Word differences and emotion curves."""

from __future__ import annotations

from typing import Any

from empathylab.view.pages.conversations import emotion_curve, with_changes
from empathylab.view.word_diff import word_diff


def test_words_that_only_one_text_has_are_marked() -> None:
    found = word_diff("I am so sorry.", "I am truly sorry!")
    assert [(piece.text, piece.kind) for piece in found.first] == [
        ("I am ", "same"),
        ("so", "only"),
        (" sorry", "same"),
        (".", "only"),
    ]
    assert "".join(piece.text for piece in found.second) == "I am truly sorry!"
    assert found.shared == 6 / 8  # three words of four in each text


def test_texts_without_words_and_very_long_ones_are_compared() -> None:
    assert word_diff("", "").shared == 1
    assert word_diff("…", "!").first[0].kind == "only"
    assert word_diff("a b " * 10_000, "c d " * 10_000).cut


def turn(position: int, feeling: float | None = None) -> dict[str, Any]:
    role = "person" if position % 2 == 0 else "respondent"
    return {"position": position, "role": role, "feeling": feeling}


def test_each_reply_has_the_change_that_followed_it() -> None:
    turns = with_changes([turn(0, 40), turn(1), turn(2, 55), turn(3), turn(4, 50), turn(5)], 80)
    assert [shown["change"] for shown in turns] == [None, 15, None, -5, None, 30]


def test_the_curve_has_every_feeling_and_its_turning_points() -> None:
    known = {"final": 80.0, "success_at": 90.0, "failure_below": None}
    turns = [turn(0, 40), turn(1), turn(2, 55), turn(3), turn(4, 50), turn(5)]
    curve = emotion_curve(turns, known)
    assert curve is not None
    assert [point.value for point in curve.points] == [40, 55, 50, 80]
    assert (curve.rise and curve.rise.value, curve.fall and curve.fall.value) == (80, 50)
    assert curve.points[0].y > curve.points[1].y  # higher feelings are drawn higher
    assert [label for _, label in curve.thresholds] == ["success"]
    assert emotion_curve([turn(0, 40)], known) is None
    beyond = emotion_curve([turn(0, -10), turn(1)], known | {"final": 130.0})
    assert beyond is not None
    assert [value for _, value in beyond.ticks] == [-10, 60, 130]
