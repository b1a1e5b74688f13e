"""EmotionBench's situations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import InputError
from empathylab.situations.sources.emotionbench import (
    emotion_word,
    factor_label,
    factor_name,
    parse_emotionbench,
    published_factors,
)
from tests.helpers.emotionbench import write_situations


def test_ids_are_emotion_factor_and_situation(tmp_path: Path) -> None:
    path = write_situations(tmp_path / "situations.json")
    found = parse_emotionbench(path.read_text(encoding="utf-8"), where="situations.json")
    assert [item.id for item in found] == ["anger-0-0", "anger-0-1", "anger-1-0", "guilt-0-0"]


def test_factor_names_valence_and_licence_are_kept(tmp_path: Path) -> None:
    path = write_situations(tmp_path / "situations.json")
    found = parse_emotionbench(path.read_text(encoding="utf-8"), where="situations.json")
    last = found.situations[-1]
    assert (last.emotion, last.factor, last.valence) == ("guilt", "Plants", "negative")
    assert found.validated
    assert "GPL-3" in found.licence


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "not JSON"),
        ("[]", "list 'emotions'"),
        ('{"emotions": []}', "contains no situations"),
        ('{"emotions": [{"name": "Anger"}]}', "emotion Anger: there must be a list 'factors'"),
        ('{"emotions": [{"name": "", "factors": []}]}', "'name' must be text"),
        (
            '{"emotions": [{"name": "Fear", "factors": [{"name": "x", "scenarios": [3]}]}]}',
            "emotion Fear, factor x: scenario 0 must be text; got 3",
        ),
    ],
)
def test_a_wrong_file_is_one_sentence(content: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_emotionbench(content, where="situations.json")


@pytest.mark.parametrize(
    ("name", "word"), [("Angry", "anger"), ("Jealous", "jealousy"), ("Fear", "fear")]
)
def test_emotions_have_one_word(name: str, word: str) -> None:
    assert emotion_word(name) == word


def test_a_factor_is_labelled_as_in_the_published_tables() -> None:
    factors = published_factors()
    assert factor_label(factors, "anger", factors["anger"][2]) == "Anger-2"
    assert factor_label(factors, "anger", "Slow lifts") == "Slow lifts"


def test_a_factor_without_a_name_goes_by_its_number() -> None:
    assert factor_name({}, "boredom", 3) == "boredom-3"


@pytest.mark.shared_data
def test_the_published_file_holds_428_situations(shared_data: Path) -> None:
    path = shared_data / "emotionbench" / "situations.json"
    found = parse_emotionbench(path.read_text(encoding="utf-8"), where=path.name)
    assert len(found) == 428
    assert len(found.factors) == 36


@pytest.mark.shared_data
def test_our_factors_have_the_published_names_and_order(shared_data: Path) -> None:
    path = shared_data / "emotionbench" / "situations.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    published = {
        emotion["name"].lower(): tuple(factor["name"] for factor in emotion["factors"])
        for emotion in data["emotions"]
    }
    assert published_factors() == published
