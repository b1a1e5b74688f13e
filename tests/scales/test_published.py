"""Published result files: what is read, and what becomes of faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.errors import InputError
from empathylab.scales import builtin_scale, builtin_scales
from empathylab.scales.published import (
    PublishedAdministration,
    PublishedResults,
    name_parts,
    read_cells,
    read_results,
)
from tests.helpers.emotionbench import ITEMS, told, write_results

PANAS = builtin_scale("panas")
FILE = "some-model-PANAS-testing.csv"


def read(path: Path) -> PublishedResults:
    return read_results(path, "some-model", PANAS)


def only(path: Path, answers: list[object]) -> PublishedAdministration:
    write_results(path / FILE, {"General_test-0_order-0": answers})
    (found,) = read(path / FILE).administrations
    return found


@pytest.mark.parametrize(
    ("file", "model", "scale"),
    [
        ("gpt-3.5-turbo-PANAS-testing.csv", "gpt-3.5-turbo", "panas"),
        ("gpt-4-DASS-21-testing.csv", "gpt-4", "dass-21"),
        ("mixtral-8x22b-BFNE-testing.csv", "mixtral-8x22b", "bfne"),
    ],
)
def test_a_name_gives_model_and_scale(file: str, model: str, scale: str) -> None:
    parts = name_parts(file, builtin_scales().values())
    assert parts is not None
    assert (parts[0], parts[1].id) == (model, scale)


@pytest.mark.parametrize("file", ["gpt-4-testing.csv", "gpt-4-NOSUCH-testing.csv", "PANAS.csv"])
def test_a_name_without_a_known_scale_gives_nothing(file: str) -> None:
    assert name_parts(file, builtin_scales().values()) is None


def test_a_column_at_baseline_is_a_default_administration(tmp_path: Path) -> None:
    found = only(tmp_path, [3] * ITEMS)
    assert (found.phase, found.emotion, found.repeat, found.outcome) == (
        "default",
        None,
        0,
        "valid",
    )
    assert found.values == dict.fromkeys(range(1, 21), 3)


def test_a_column_after_a_situation_names_emotion_factor_situation_and_text(
    tmp_path: Path,
) -> None:
    name = "Anger-2_scenario-3_test-7_order-0"
    write_results(
        tmp_path / FILE, {name: [2] * ITEMS}, prompts={name: told('It rains. "Again," she says.')}
    )
    (found,) = read(tmp_path / FILE).administrations
    assert (found.phase, found.emotion, found.factor, found.situation, found.repeat) == (
        "evoked",
        "Anger",
        2,
        3,
        7,
    )
    assert found.text == 'It rains. "Again," she says.'


def test_answers_go_to_the_items_of_their_order(tmp_path: Path) -> None:
    order = [20, *range(1, 20)]
    write_results(tmp_path / FILE, {"General_test-0_order-1": [5, *[1] * 19]}, orders={1: order})
    (found,) = read(tmp_path / FILE).administrations
    assert found.item_order == tuple(order)
    assert found.values[20] == 5
    assert found.values[1] == 1


def test_the_tenth_order_is_not_read_as_the_first(tmp_path: Path) -> None:
    forwards, backwards = list(range(1, 21)), list(range(20, 0, -1))
    orders = dict.fromkeys(range(10), forwards) | {10: backwards}
    write_results(tmp_path / FILE, {"General_test-0_order-10": [5, *[1] * 19]}, orders=orders)
    (found,) = read(tmp_path / FILE).administrations
    assert found.order_index == 10
    assert found.values[20] == 5


def test_whole_numbers_written_as_decimals_are_read(tmp_path: Path) -> None:
    assert only(tmp_path, ["4.0"] * ITEMS).values[7] == 4


@pytest.mark.parametrize(
    ("cell", "outcome", "reason"),
    [
        ("four", "unparseable", "an answer is not a whole number"),
        ("3.5", "unparseable", "an answer is not a whole number"),
        ("³", "unparseable", "an answer is not a whole number"),
        ("nan", "unparseable", "an answer is not a whole number"),
        ("I'm sorry, but I cannot answer that.", "refusal", "the answer declines the task"),
        ("6", "out_of_range", "an answer is not from 1 to 5"),
        ("-1", "out_of_range", "an answer is not from 1 to 5"),
        ("", "incomplete", "an item has no answer"),
    ],
)
def test_one_bad_cell_makes_its_administration_invalid_with_a_reason(
    tmp_path: Path, cell: str, outcome: str, reason: str
) -> None:
    found = only(tmp_path, [*[3] * 19, cell])
    assert (found.outcome, found.reason, found.values) == (outcome, reason, {})


def test_a_column_without_any_answer_is_empty(tmp_path: Path) -> None:
    assert only(tmp_path, []).outcome == "empty"


def test_more_answers_than_items_are_not_shifted(tmp_path: Path) -> None:
    assert only(tmp_path, [3] * 21).reason == "there are more answers than items"


def test_a_missing_order_column_spoils_only_its_own_administrations(tmp_path: Path) -> None:
    columns = {"General_test-0_order-0": [3] * ITEMS, "General_test-0_order-1": [3] * ITEMS}
    found = read(write_results(tmp_path / FILE, columns))
    assert [administration.outcome for administration in found.administrations] == [
        "valid",
        "unparseable",
    ]
    assert found.invalid == {"the file has no column order-1": 1}


def test_an_order_that_lacks_an_item_is_not_used(tmp_path: Path) -> None:
    columns = {"General_test-0_order-0": [3] * ITEMS}
    found = read(write_results(tmp_path / FILE, columns, orders={0: [1] * 20}))
    assert found.invalid == {"order-0 does not hold every item once": 1}


def test_columns_that_are_not_understood_are_counted(tmp_path: Path) -> None:
    columns = {"General_test-0_order-0": [3] * ITEMS, "Anger_test-1": [3] * ITEMS, "": [1]}
    found = read(write_results(tmp_path / FILE, columns))
    assert found.ignored == {"the column's name is not understood": 2}


def test_a_short_row_is_an_answer_missing(tmp_path: Path) -> None:
    path = write_results(tmp_path / FILE, {"General_test-0_order-0": [3] * ITEMS})
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1].rpartition(",")[0]]), encoding="utf-8")
    assert read(path).invalid == {"an item has no answer": 1}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b'"unclosed'])
def test_a_file_that_is_no_table_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(InputError, match=FILE):
        read(tmp_path / FILE)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.integers(-1, 7).map(str), st.text(max_size=6)), max_size=23))
def test_any_cells_are_either_read_whole_or_invalid_with_a_reason(cells: list[str]) -> None:
    outcome, reason, values = read_cells(cells, range(1, 21), PANAS)
    if outcome == "valid":
        assert reason is None
        assert [values[item] for item in range(1, 21)] == [int(float(cell)) for cell in cells[:20]]
    else:
        assert reason
        assert values == {}
