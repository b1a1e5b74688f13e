"""Users' own scales: reading, storing, and what the check says of faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import InputError, UserError
from empathylab.scales import (
    Scale,
    builtin_scale,
    builtin_scales,
    read_scale,
    scale_from_dict,
    scale_to_dict,
)

TOML = """
id = "my-moods"
version = 2
name = "My moods"
citation = "Doe, J. (2024). Moods."
licence = "CC0-1.0"
instruction = "Say how you feel."
minimum = 1
maximum = 5
items = 3
reversed = [2]
rule = "mean"
words = ["Calm", "Gloomy", "Bold"]

[anchors]
1 = "not at all"
5 = "utterly"

[[subscales]]
id = "good"
name = "Good moods"
items = [1, 3]
"""


def table(**changes: object) -> dict[str, Any]:
    """A sound scale's table with some keys changed; None takes a key out."""
    sound = scale_to_dict(builtin_scale("bfne")) | {"subscales": []}
    return {key: value for key, value in (sound | changes).items() if value is not None}


def complaint(**changes: object) -> str:
    with pytest.raises(UserError) as caught:
        scale_from_dict(table(**changes), where="mine.toml")
    return str(caught.value)


def test_a_toml_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "moods.toml"
    path.write_text(TOML, encoding="utf-8")
    scale = read_scale(path)
    assert (scale.id, scale.version, scale.rule, scale.total) == ("my-moods", 2, "mean", True)
    assert scale.anchors == {1: "not at all", 5: "utterly"}
    assert scale.reversed == {2}
    assert scale.subscales[0].items == (1, 3)
    assert scale.require_words() == ("Calm", "Gloomy", "Bold")


def test_a_json_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(table(id="mine")), encoding="utf-8")
    assert read_scale(path).id == "mine"


@pytest.mark.parametrize("scale", builtin_scales().values(), ids=lambda s: s.id)
def test_a_scale_survives_json(scale: Scale) -> None:
    assert scale_from_dict(json.loads(json.dumps(scale_to_dict(scale)))) == scale


def test_a_scale_can_be_a_key() -> None:
    assert {builtin_scale("panas"): 1}[builtin_scale("PANAS")] == 1


def test_missing_wording_is_one_clear_sentence() -> None:
    with pytest.raises(InputError) as caught:
        builtin_scale("teq").require_words()
    assert str(caught.value) == (
        "the wording of the Toronto Empathy Questionnaire (teq) is copyrighted and does not ship "
        "with EmpathyLab. Import it from your own file: empathylab scales import FILE"
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"revrsed": [1]}, "mine.toml: there is no key 'revrsed'. Did you mean 'reversed'?"),
        ({"citation": None}, "mine.toml: the key 'citation' is missing"),
        ({"reversed": [13]}, "'reversed' must be item numbers from 1 to 12; got 13"),
        ({"reversed": [0]}, "'reversed' must be item numbers from 1 to 12; got 0"),
        ({"reversed": [2, 2]}, "'reversed' must be item numbers, each once; got [2]"),
        ({"reversed": "2"}, "'reversed' must be a list of whole numbers; got '2'"),
        ({"minimum": 5}, "'minimum' must be less than 'maximum', which is 5; got '5'"),
        ({"maximum": "5"}, "'maximum' must be a whole number; got '5'"),
        ({"items": 0}, "'items' must be 1 or more; got '0'"),
        ({"items": True}, "'items' must be a whole number; got 'True'"),
        ({"anchors": {"6": "more"}}, "'anchors' must be labels of values from 1 to 5; got 6"),
        ({"anchors": {"one": "x"}}, "'anchors' must be a table of whole numbers to labels"),
        ({"anchors": ["x"]}, "'anchors' must be a table of number = label"),
        ({"rule": "average"}, "'rule': there is no rule 'average'. Known: double-sum, mean, sum."),
        ({"words": ["Calm"]}, "'words' must be 12 texts, one for each item; got 1"),
        ({"words": [""] * 12}, "'words[1]' must be text that is not empty; got 'nothing'"),
        ({"id": "My Scale"}, "'id' must be lower-case letters, digits and hyphens"),
        ({"name": " "}, "'name' must be text that is not empty; got ' '"),
        ({"total": "no"}, "'total' must be true or false; got 'no'"),
        ({"total": False}, "'total' must be true where there is no subscale"),
    ],
)
def test_the_check_names_what_is_wrong(changes: dict[str, object], expected: str) -> None:
    assert expected in complaint(**changes)


@pytest.mark.parametrize(
    ("subscale", "expected"),
    [
        ({"items": []}, "mine.toml: 'subscales[1].items' must be at least one item number"),
        ({"items": [13]}, "'subscales[1].items' must be item numbers from 1 to 12; got 13"),
        ({"items": [1, 2, 1]}, "'subscales[1].items' must be item numbers, each once; got [1]"),
        ({"id": "total"}, "'subscales[1].id' must be another word; got 'total'"),
        ({"item": [1]}, "there is no key 'item'. Did you mean 'items'?"),
    ],
)
def test_the_check_names_what_is_wrong_in_a_subscale(
    subscale: dict[str, object], expected: str
) -> None:
    part = {"id": "part", "name": "Part", "items": [1, 2]} | subscale
    assert expected in complaint(subscales=[part])


def test_two_subscales_cannot_share_an_id() -> None:
    part = {"id": "part", "name": "Part", "items": [1, 2]}
    assert "'subscales[2].id' must be used once; got 'part'" in complaint(subscales=[part, part])


def test_every_complaint_ends_with_a_remedy() -> None:
    assert complaint(minimum=9).endswith("Correct it in the file.")


def test_something_that_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="must be a table of keys and values; got 'list'"):
        scale_from_dict([])


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("mine.yaml", b"", "a scale file is TOML or JSON; got '.yaml'"),
        ("mine.toml", b"id = ", "mine.toml: this is not TOML"),
        ("mine.json", b"{", "mine.json: this is not JSON"),
        ("mine.toml", b"id = '\xff'", "mine.toml: byte 6 is not UTF-8 text"),
    ],
)
def test_an_unreadable_file_is_refused(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_scale(tmp_path / name)
    assert expected in str(caught.value)


def test_a_missing_file_is_refused_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: the file cannot be read"):
        read_scale(tmp_path / "none.toml")
