"""Prolific's export as a file: the same effect as its API, and what it tells about people."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import InputError, UserError
from empathylab.store import Lab, schema
from empathylab.store.ratings import raters_frame
from empathylab.study.design.definition import Quota
from empathylab.study.recruiting.prolific import Submission
from empathylab.study.recruiting.prolific_csv import import_export, read_export
from empathylab.study.session.service import Closed, Page
from tests.study.recruiting.examples import finished, rating, recruiting, sent, served
from tests.study.service_examples import rows_of, step_on, walk

HEADER = (
    "Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,"
    "Reviewed at,Archived at,Time taken,Completion code,Total approvals,Age,Sex,"
    "Country of residence"
)


def line(
    participant: str,
    status: str,
    *,
    age: str = "34",
    sex: str = "Female",
    country: str = "Ireland",
) -> str:
    started = "2026-03-01T09:00:00.000000Z"
    return (
        f"session-{participant},{participant},{status},Not Applicable,{started},,,,600,CODE,12,"
        f"{age},{sex},{country}"
    )


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A file with one row for ann, who has returned, and one for bob, who is through."""
    path = tmp_path / "prolific_export_60d9.csv"
    rows = [HEADER, line("ann", "RETURNED"), line("bob", "APPROVED", age="51", sex="Male")]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_file_has_the_effect_of_the_api(lab: Lab, export: Path) -> None:
    service, _ = served(lab, recruiting("prolific"))
    ann, _ = rating(service, "ann"), finished(service, "bob")
    synced, told, skipped = import_export(service, export, who="eva")
    assert (synced.freed, synced.statuses) == ((ann,), {"APPROVED": 1, "RETURNED": 1})
    assert (told, skipped) == (0, 0)
    assert import_export(service, export)[0].changed == 0
    assert service.actions.audit()[-1].details["source"] == export.name


def test_columns_are_found_in_any_order_and_case(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(
        b"\xef\xbb\xbfSTATUS,age,PARTICIPANT_ID,entered_code,submission ID\r\n"
        b"timed out,30,ann,C1,s1\r\n"
    )
    assert read_export(path).submissions == (Submission("ann", "timed out", "s1", "", "C1"),)


def test_rows_that_say_nothing_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("Participant id,Status\nann,\n,ACTIVE\nbob,ACTIVE\n", encoding="utf-8")
    export = read_export(path)
    assert ([submission.participant for submission in export.submissions], export.skipped) == (
        ["bob"],
        2,
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"Participant id,Age\nann,30\n", "no column 'Status'"),
        (b"Status,Age\nACTIVE,30\n", "no column 'Participant id'"),
        (b"Participant id,Status\nann\n", "a different number of cells"),
        (b'Participant id,Status\n"ann,ACTIVE\n', "not a CSV table"),
        (b"Participant id,Status\n\xff\xfe,ACTIVE\n", "UTF-8"),
        (b"PK\x03\x04\x00\x00", "no column|UTF-8|CSV"),
    ],
)
def test_what_is_no_export_is_refused_and_changes_nothing(
    sqlite_lab: Lab, tmp_path: Path, content: bytes, said: str
) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "ann")
    path = tmp_path / "export.csv"
    path.write_bytes(content)
    before = rows_of(sqlite_lab, schema.people), service.actions.audit()
    with pytest.raises(UserError, match=said):
        import_export(service, path)
    assert (rows_of(sqlite_lab, schema.people), service.actions.audit()) == before


def test_nothing_is_kept_about_people_unless_asked_for(sqlite_lab: Lab, export: Path) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    finished(service, "bob")
    import_export(service, export)
    assert rows_of(sqlite_lab, schema.people)[0]["told"] == {}
    assert "51" not in str(rows_of(sqlite_lab, schema.raters))


def test_what_is_kept_reaches_the_analyses(lab: Lab, export: Path) -> None:
    service, _ = served(lab, recruiting("prolific"))
    finished(service, "bob")
    keep = ["country of residence", "AGE=age on prolific"]
    assert import_export(service, export, keep=keep)[1] == 1
    told = {"country_of_residence": "Ireland", "age on prolific": "51"}
    assert rows_of(lab, schema.people)[0]["told"] == told
    details = rows_of(lab, schema.raters)[0]["details"]
    assert details.items() >= told.items()
    assert details["age"] != "51"  # what they said themselves
    assert raters_frame(lab, "small").height == 1
    assert import_export(service, export, keep=keep)[1] == 0
    assert service.actions.audit()[-1].action == "update platform details"
    assert "Ireland" not in str(service.actions.audit())


def test_what_someone_withdrew_is_deleted(sqlite_lab: Lab, tmp_path: Path, export: Path) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    finished(service, "bob")
    import_export(service, export, keep=["Country of residence"])
    later = tmp_path / "later.csv"
    rows = [HEADER, line("bob", "APPROVED", country="CONSENT_REVOKED")]
    later.write_text("\n".join(rows), encoding="utf-8")
    import_export(service, later, keep=["Country of residence"])
    assert rows_of(sqlite_lab, schema.people)[0]["told"] == {}
    assert "Ireland" not in str(rows_of(sqlite_lab, schema.raters))


def test_quotas_go_by_what_the_platform_tells(sqlite_lab: Lab, tmp_path: Path) -> None:
    quota = Quota(by="country_of_residence", counts={"Ireland": 1}, others=11, source="platform")
    service, _ = served(sqlite_lab, recruiting("prolific", quotas=(quota,)))
    path = tmp_path / "export.csv"
    names = ("ann", "bob")
    people = [sent(service, name) for name in names]
    path.write_text(
        "\n".join([HEADER, *(line(name, "ACTIVE") for name in names)]), encoding="utf-8"
    )
    import_export(service, path, keep=["Country of residence"])
    assert isinstance(walk(service, people[0], until="rate"), Page)
    while step_on(service, people[1]) is not None:
        pass
    view = service.view(people[1])
    assert isinstance(view, Closed)
    assert view.reason == "quota"


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (["Sex"], "a name that the study does not use"),
        (["Total approvals=marks"], "a name that the study does not use"),
        (["Time taken=x", "Total approvals=x"], "given only once"),
        (["Shoe size"], "no column to keep 'Shoe size'"),
        (["Status=x"], "no column to keep 'Status'"),
        (["Completion code"], "no column to keep"),
        (["="], "a name that the study does not use"),
    ],
)
def test_a_column_that_cannot_be_kept_is_refused(
    sqlite_lab: Lab, export: Path, keep: list[str], said: str
) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    rating(service, "ann")
    with pytest.raises(UserError, match=said):
        import_export(service, export, keep=keep)
    assert rows_of(sqlite_lab, schema.people)[0]["state"] is None


def test_a_missing_file_is_said(sqlite_lab: Lab, tmp_path: Path) -> None:
    service, _ = served(sqlite_lab, recruiting("prolific"))
    with pytest.raises(InputError, match="cannot be read"):
        import_export(service, tmp_path / "none.csv")
