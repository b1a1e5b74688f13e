"""Rows of a lab in another lab, on both databases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store.transfer import lab_records, write_records
from tests.helpers.labs import filled
from tests.study.archived import released


def test_every_row_is_written_once_and_comes_back_the_same(lab: Lab, tmp_path: Path) -> None:
    with Lab.open(tmp_path / "source") as source:
        filled(source)
        released(source, tmp_path)
        with source.reading() as connection:
            records = json.loads(json.dumps(lab_records(connection)))
    with lab.writing() as connection:
        done = write_records(connection, records)
    assert sum(item.added for item in done) == sum(map(len, records.values())) > 1000
    with lab.writing() as connection:
        again = write_records(connection, records)
    assert sum(item.added for item in again) == 0
    with lab.reading() as connection:
        assert json.loads(json.dumps(lab_records(connection))) == records


def test_other_things_under_a_known_name_are_refused(sqlite_lab: Lab) -> None:
    filled(sqlite_lab)
    with sqlite_lab.reading() as connection:
        records = lab_records(connection)
    records["situation_sets"][0]["fingerprint"] = "another"
    with pytest.raises(InputError, match="different texts"), sqlite_lab.writing() as connection:
        write_records(connection, records)
    with pytest.raises(InputError, match="refers to a row of runs"):
        with sqlite_lab.writing() as connection:
            write_records(connection, {"answers": records["answers"][:1]})
    with pytest.raises(InputError, match="does not know"):
        with sqlite_lab.writing() as connection:
            write_records(connection, {"planets": []})
