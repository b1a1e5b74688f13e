"""Wording brought by users: three kinds of file, and what is said of their faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from empathylab.errors import UserError
from empathylab.scales import (
    builtin_scale,
    builtin_scales,
    read_wording,
    render_items,
    with_words,
)
from tests.scales.examples import MOODS

TEXTS = {str(item): f"Statement {item}." for item in range(1, 13)}


def questionnaire(name: str = "Zest", **changes: object) -> dict[str, object]:
    """A questionnaire in EmotionBench's shape."""
    return {
        "name": name,
        "questions": {"1": "I wake up early.", "2": "I stay in bed.", "3": "I sing."},
        "compute_mode": "SUM",
        "prompt": "Score all statements from 1 to 4:",
        "inner_setting": "You reply with numbers from 1 to 4.",
        "scale": 5,
        "reverse": [2],
        "categories": [
            {"cat_name": "Overall", "cat_questions": [1, 2, 3]},
            {"cat_name": "Morning Zest (MOR)", "cat_questions": [1, 2], "crowd": [1]},
        ],
    } | changes


def written(folder: Path, name: str, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def complaint(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_wording(path)
    return str(caught.value)


def test_small_json_gives_the_wording_in_item_order(tmp_path: Path) -> None:
    backwards = dict(reversed(TEXTS.items()))
    [wording] = read_wording(written(tmp_path, "b.json", {"name": "BFNE", "items": backwards}))
    assert (wording.scale_id, wording.source, wording.new_scale) == ("bfne", "b.json", None)
    assert wording.words == tuple(TEXTS.values())


def test_small_json_may_hold_plain_lists_and_several_scales(tmp_path: Path) -> None:
    scales = [
        {"name": "bfne", "items": list(TEXTS.values())},
        {"name": "dass21", "items": ["x"] * 21},
    ]
    found = read_wording(written(tmp_path, "two.json", scales))
    assert [(item.scale_id, len(item.words)) for item in found] == [("bfne", 12), ("dass-21", 21)]


def test_csv_gives_the_wording_of_each_scale(tmp_path: Path) -> None:
    rows = [f'BFNE,{item},"{text}"' for item, text in TEXTS.items()]
    path = written(tmp_path, "b.csv", "\n".join(["\ufeffscale,item,text", *rows]))
    assert read_wording(path)[0].words == tuple(TEXTS.values())


def test_a_published_questionnaire_gives_the_wording_of_a_known_scale(tmp_path: Path) -> None:
    entry = questionnaire("BFNE", questions=TEXTS, scale=6, reverse=[2, 4, 7, 10], categories=[])
    [wording] = read_wording(written(tmp_path, "q.json", [entry]))
    assert (wording.scale_id, wording.new_scale) == ("bfne", None)


def test_a_published_questionnaire_of_unknown_name_is_a_new_scale(tmp_path: Path) -> None:
    [wording] = read_wording(written(tmp_path, "q.json", [questionnaire()]))
    scale = wording.new_scale
    assert scale is not None
    assert (scale.id, scale.minimum, scale.maximum, scale.items) == ("zest", 1, 4, 3)
    assert (scale.reversed, scale.rule, scale.total) == (frozenset({2}), "sum", True)
    assert [(part.id, part.items) for part in scale.subscales] == [("morning-zest-mor", (1, 2))]
    assert scale.words == wording.words


def test_a_new_scale_without_an_overall_category_has_no_total(tmp_path: Path) -> None:
    parts = [{"cat_name": "A", "cat_questions": [1]}, {"cat_name": "B", "cat_questions": [2, 3]}]
    [wording] = read_wording(written(tmp_path, "q.json", [questionnaire(categories=parts)]))
    assert wording.new_scale is not None
    assert not wording.new_scale.total


def test_wording_may_be_for_a_users_own_scale(tmp_path: Path) -> None:
    path = written(tmp_path, "m.json", {"name": "Moods", "items": ["a", "b", "c", "d", "e", "f"]})
    assert read_wording(path, known={"moods": MOODS})[0].scale_id == "moods"


def test_a_scale_with_words_can_be_shown() -> None:
    scale = with_words(builtin_scale("bfne"), list(TEXTS.values()))
    assert render_items(scale, (12, 1)) == "1. Statement 12.\n2. Statement 1."


def test_too_few_words_are_refused() -> None:
    with pytest.raises(UserError, match="bfne has 12 items; got '2 texts'"):
        with_words(builtin_scale("bfne"), ["a", "b"])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"name": "BFN", "items": ["x"]}, "m.json: there is no scale 'BFN'. Did you mean 'bfne'"),
        ({"name": "BFNE"}, "m.json: the key 'items' is missing"),
        ({"nam": "BFNE", "items": []}, "there is no key 'nam'. Did you mean 'name'"),
        (
            {"name": "BFNE", "items": {**TEXTS, "13": "x", "3": " "}},
            "'items' must be a table of whole numbers to labels; got ' '",
        ),
        (
            {"name": "BFNE", "items": {"1": "x", "13": "y"}},
            "no text for item 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and a text for item 13",
        ),
        ([], "m.json: the list is empty"),
        ([3], "m.json, entry 1: this must be a table of keys and values; got 'int'"),
        ([questionnaire(scale=9)], "'scale' must be lowest plus highest answer"),
        (
            [questionnaire(compute_mode="MAX")],
            "'compute_mode': there is no compute mode 'MAX'. Did you mean 'MEAN'?",
        ),
        ([questionnaire(reverse=[4])], "'reversed' must be item numbers from 1 to 3; got 4"),
        (
            [questionnaire("BFNE", questions=TEXTS)],
            "'reverse' must be the reversed items of bfne, [2, 4, 7, 10]; got [2]",
        ),
    ],
)
def test_faults_in_json_are_named(tmp_path: Path, content: object, expected: str) -> None:
    assert expected in complaint(written(tmp_path, "m.json", content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("scale,number,text\n", "m.csv: the columns must be scale, item, text; got 'scale, number"),
        ("scale,item,text\n", "m.csv: the file has only a header line"),
        ("scale,item,text\nBFNE,one,x\n", "m.csv line 2: 'item' must be a whole number; got 'one'"),
        ("scale,item,text\nBFNE,1,x\nBFNE,1,y\n", "m.csv line 3: bfne already has a text"),
        ("scale,item,text\nBFNE,1,x\n", "bfne has items 1 to 12; got 'no text for item 2, 3"),
        ("scale,item,text\nnone,1,x\n", "m.csv line 2: there is no scale 'none'"),
    ],
)
def test_faults_in_csv_are_named(tmp_path: Path, content: str, expected: str) -> None:
    assert expected in complaint(written(tmp_path, "m.csv", content))


def test_other_kinds_of_file_are_refused(tmp_path: Path) -> None:
    assert "wording is read from JSON or CSV; got '.txt'" in complaint(tmp_path / "m.txt")
    assert "wording is read from JSON or CSV; got 'no ending'" in complaint(tmp_path / "m")
    assert "wording is read from JSON or CSV; got 'a folder'" in complaint(tmp_path)


@pytest.mark.shared_data
def test_the_published_questionnaires_give_the_wording_of_nine_scales(shared_data: Path) -> None:
    found = read_wording(shared_data / "emotionbench" / "questionnaires.json")
    assert {item.scale_id for item in found} == set(builtin_scales()) - {"teq"}
    assert all(item.new_scale is None for item in found)


@pytest.mark.shared_data
def test_the_published_words_of_panas_are_those_that_ship(shared_data: Path) -> None:
    found = read_wording(shared_data / "emotionbench" / "questionnaires.json")
    published = {item.scale_id: item.words for item in found}
    assert published["panas"] == builtin_scale("panas").words


@pytest.mark.shared_data
def test_the_empathy_questionnaire_is_read_from_small_json(shared_data: Path) -> None:
    [wording] = read_wording(shared_data / "teq.json")
    assert (wording.scale_id, len(wording.words)) == ("teq", 16)


@pytest.mark.shared_data
def test_the_published_questionnaires_become_new_scales_where_none_is_known(
    shared_data: Path,
) -> None:
    found = read_wording(shared_data / "emotionbench" / "questionnaires.json", known={})
    for wording in found:
        shipped = builtin_scale(wording.scale_id)
        new = wording.new_scale
        assert new is not None
        assert (new.minimum, new.maximum, new.items) == (
            shipped.minimum,
            shipped.maximum,
            shipped.items,
        )
        assert (new.reversed, new.rule) == (shipped.reversed, shipped.rule)
