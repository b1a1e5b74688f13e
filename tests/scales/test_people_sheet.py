"""People's answers in a spreadsheet."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.scales import builtin_scale
from empathylab.scales.people_sheet import read_people
from empathylab.scales.spreadsheet import read_sheet
from tests.helpers.emotionbench import write_people, write_sheet

PANAS = builtin_scale("panas")


def test_a_person_gives_two_administrations_of_one_subject(tmp_path: Path) -> None:
    path = write_people(tmp_path / "crowd.xlsx", [("Angry_F1S3", [2] * 20, [4] * 20)])
    rest, after = read_people(path, PANAS).administrations
    assert (rest.phase, after.phase) == ("default", "evoked")
    assert rest.subject == after.subject == "person-0001"
    assert (after.emotion, after.factor, after.situation) == ("Angry", 0, 2)
    assert set(rest.values.values()) == {2}
    assert set(after.values.values()) == {4}


def test_a_bad_cell_makes_one_administration_invalid(tmp_path: Path) -> None:
    path = write_people(
        tmp_path / "crowd.xlsx",
        [("Fear_F2S1", [*[2] * 19, "often"], [4] * 20), ("Fear_F2S1", [1] * 20, [9] * 20)],
    )
    found = read_people(path, PANAS)
    assert [administration.outcome for administration in found.administrations] == [
        "unparseable",
        "valid",
        "valid",
        "out_of_range",
    ]


def test_a_column_with_another_heading_is_counted(tmp_path: Path) -> None:
    people = [("Fear_F1S1", [1] * 20, [1] * 20), ("Average", [1] * 20, [1] * 20)]
    found = read_people(write_people(tmp_path / "crowd.xlsx", people), PANAS)
    assert len(found.administrations) == 2
    assert found.ignored == {"the column's name is not understood": 1}


def test_a_sheet_without_people_is_one_sentence(tmp_path: Path) -> None:
    write_sheet(tmp_path / "crowd.xlsx", "Raw", [["a"], ["b"], ["c"]])
    with pytest.raises(InputError, match="no column has a name like Angry_F1S1"):
        read_people(tmp_path / "crowd.xlsx", PANAS)


def test_a_workbook_without_the_sheet_names_those_it_has(tmp_path: Path) -> None:
    write_sheet(tmp_path / "crowd.xlsx", "Summary", [["a"]])
    with pytest.raises(InputError, match="no sheet 'Raw'; got 'Summary'"):
        read_people(tmp_path / "crowd.xlsx", PANAS)


def test_columns_past_z_and_empty_cells_keep_their_places(tmp_path: Path) -> None:
    columns = [[f"head {place}", "" if place == 3 else place] for place in range(30)]
    write_sheet(tmp_path / "wide.xlsx", "Raw", columns)
    first, second = read_sheet(tmp_path / "wide.xlsx", "Raw")
    assert first[29] == "head 29"
    assert second[28] == "28"
    assert 3 not in second


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 half"])
def test_what_is_no_workbook_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "crowd.xlsx").write_bytes(content)
    with pytest.raises(InputError, match="not a spreadsheet that can be read"):
        read_people(tmp_path / "crowd.xlsx", PANAS)


def test_a_zip_without_a_workbook_is_one_sentence(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "crowd.xlsx", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="not a spreadsheet that can be read"):
        read_people(tmp_path / "crowd.xlsx", PANAS)
