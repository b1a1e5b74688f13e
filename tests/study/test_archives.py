"""A study as one file: the same in every lab, and refused where anything in it was changed."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from empathylab.analysis import ratings as rated_replies
from empathylab.errors import InputError
from empathylab.protocols import reply_template
from empathylab.scales import builtin_scale
from empathylab.scales.wording import with_words
from empathylab.situations.sources.welivita import read_release
from empathylab.store import Lab, schema
from empathylab.store.imports.releases import import_release
from empathylab.store.inserts import add_scale, hash_of
from empathylab.store.ratings import raters_frame, ratings_frame
from empathylab.study.added_arms.instruments import measured_study
from empathylab.study.archives import (
    Archive,
    pack_study,
    read_archive,
    unpack_study,
    write_archive,
)
from empathylab.study.archives.members import MEMBERS
from empathylab.study.archives.packing import shared_protocol
from empathylab.tables import read_table
from tests.study.archived import finished, rate_all, released
from tests.study.examples import altered, appraisal, between, scales, within
from tests.study.service_examples import furnish, opened, rows_of, someone, walk


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Lab]:
    """Another lab, empty, on SQLite."""
    with Lab.open(tmp_path / "other") as opened_lab:
        yield opened_lab


def archived(lab: Lab, path: Path, name: str = "small") -> Path:
    write_archive(pack_study(lab, name), path)
    return path


def analysed(lab: Lab) -> dict[str, Any]:
    """The analysis as JSON holds it, without the time that the models took."""
    found = rated_replies.from_lab(lab, "small").to_dict()
    for model in (found["mixed_model"], *found["mixed_models"]):
        model.pop("seconds", None)
    return found


def test_lab_to_archive_to_lab_to_archive_gives_the_same_bytes(
    lab: Lab, other: Lab, tmp_path: Path
) -> None:
    finished(lab)
    first = archived(lab, tmp_path / "first.zip")
    unpack_study(other, read_archive(first))
    assert archived(other, tmp_path / "second.zip").read_bytes() == first.read_bytes()


def test_an_archive_from_sqlite_comes_out_of_either_database_as_it_went_in(
    lab: Lab, other: Lab, tmp_path: Path
) -> None:
    finished(other, study=within(2))
    first = archived(other, tmp_path / "first.zip")
    unpack_study(lab, read_archive(first))
    assert archived(lab, tmp_path / "second.zip").read_bytes() == first.read_bytes()


def test_the_analysis_of_an_archived_study_gives_the_same_numbers(
    sqlite_lab: Lab, other: Lab, tmp_path: Path
) -> None:
    finished(sqlite_lab, people=8)
    unpack_study(other, read_archive(archived(sqlite_lab, tmp_path / "one.zip")))
    here, there = (analysed(value) for value in (sqlite_lab, other))
    assert json.dumps(here) == json.dumps(there)
    assert here["n"] == 16
    assert any(
        paragraph.startswith("Raters saw the emotion label") for paragraph in there["paragraphs"]
    )


def test_a_study_of_imagined_situations_is_archived_with_its_scales(
    sqlite_lab: Lab, other: Lab, tmp_path: Path
) -> None:
    service, _ = opened(sqlite_lab, appraisal())
    walk(service, someone(service, "ann"))
    service.actions.close()
    path = archived(sqlite_lab, tmp_path / "one.zip", "feelings")
    unpack_study(other, read_archive(path))
    assert archived(other, tmp_path / "two.zip", "feelings").read_bytes() == path.read_bytes()
    phases = [row["phase"] for row in rows_of(other, schema.administrations)]
    assert phases == ["default", "evoked"]


def test_the_same_archive_again_changes_nothing(
    sqlite_lab: Lab, other: Lab, tmp_path: Path
) -> None:
    finished(sqlite_lab)
    archive = read_archive(archived(sqlite_lab, tmp_path / "one.zip"))
    assert unpack_study(other, archive).change == "added"
    before = [rows_of(other, table) for table in schema.metadata.sorted_tables]
    assert unpack_study(other, archive).change == "unchanged"
    assert [rows_of(other, table) for table in schema.metadata.sorted_tables] == before


def test_a_lab_knows_its_own_study_in_an_archive(lab: Lab, tmp_path: Path) -> None:
    finished(lab)
    archive = read_archive(archived(lab, tmp_path / "one.zip"))
    assert unpack_study(lab, archive).change == "unchanged"


def test_another_study_of_the_same_name_is_left_alone(sqlite_lab: Lab, tmp_path: Path) -> None:
    with Lab.open(tmp_path / "third") as third:
        finished(third, people=2)
        archive = pack_study(third, "small")
    finished(sqlite_lab)
    with pytest.raises(InputError, match="a different study with this name"):
        unpack_study(sqlite_lab, archive)
    done = unpack_study(sqlite_lab, archive, name="small-elsewhere")
    assert (done.study, done.ratings) == ("small-elsewhere", 4)
    assert rated_replies.from_lab(sqlite_lab, "small-elsewhere").ratings.height == 4
    assert rated_replies.from_lab(sqlite_lab, "small").ratings.height == 8


def test_an_archive_tells_nobody_and_holds_no_secret(sqlite_lab: Lab) -> None:
    recruitment = altered(between().recruitment, codes={"completed": "SECRET-CODE"})
    service, _ = finished(sqlite_lab, study=between(recruitment=recruitment))
    content = b"".join(pack_study(sqlite_lab, "small").members.values()).decode()
    assert "SECRET-CODE" not in content
    assert service.secret.hex() not in content
    for name in ("person 0", "robot", "trial"):
        assert name not in content
    # The wording of a scale that does not ship belongs to others.
    assert "Statement 1" not in content
    raters = pack_study(sqlite_lab, "small").content["raters.jsonl"]
    assert len(raters) == 4


def test_moments_finer_than_a_day_stay_in_the_lab(sqlite_lab: Lab) -> None:
    finished(sqlite_lab)
    days = {item["day"] for item in pack_study(sqlite_lab, "small").content["ratings.jsonl"]}
    assert days == {"2026-03-01"}


def test_whom_a_researcher_excluded_is_excluded_elsewhere_too(sqlite_lab: Lab, other: Lab) -> None:
    service, _ = finished(sqlite_lab, close=False)
    out = service.actions.participants()[0].person
    service.actions.exclude(out, "asked to be")
    service.actions.close()
    unpack_study(other, pack_study(sqlite_lab, "small"))
    assert out not in raters_frame(other, "small")["rater"].to_list()
    [kept] = [row for row in rows_of(other, schema.raters) if row["name"] == out]
    assert kept["details"]["marks"] == {"excluded": "asked to be"}


def test_responses_that_the_lab_holds_are_not_doubled(sqlite_lab: Lab, other: Lab) -> None:
    finished(sqlite_lab)
    furnish(other, "first/model", "second/model")
    before = len(rows_of(other, schema.responses))
    unpack_study(other, pack_study(sqlite_lab, "small"))
    assert len(rows_of(other, schema.responses)) == before
    assert pack_study(other, "small").hash == pack_study(sqlite_lab, "small").hash


def test_a_part_of_an_unknown_set_is_not_taken_for_the_whole(sqlite_lab: Lab, other: Lab) -> None:
    finished(sqlite_lab)
    archive = pack_study(sqlite_lab, "small")
    content = json.loads(json.dumps(dict(archive.content)))
    for value in (*content["situations.jsonl"], *content["responses.jsonl"]):
        value["set"] = "mine@3"
    content["sets.json"][0] |= {"set": "mine@3", "id": "mine", "version": 3}
    unpack_study(other, Archive(content))
    names = [row["name"] for row in rows_of(other, schema.situation_sets)]
    assert names == ["small-situations"]
    # It is called again what it was called where it came from.
    assert pack_study(other, "small").content["sets.json"] == content["sets.json"]


def test_a_release_becomes_an_archive_without_the_platforms_ids(
    sqlite_lab: Lab, other: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path)
    path = archived(sqlite_lab, tmp_path / "one.zip", "welivita-2024")
    content = b"".join(read_archive(path).members.values()).decode()
    assert "human-rater-" not in content
    done = unpack_study(other, read_archive(path))
    assert (done.study, done.ratings, done.raters) == ("welivita-2024", 48, 12)
    assert archived(other, tmp_path / "two.zip", "welivita-2024").read_bytes() == path.read_bytes()
    here, there = (rated_replies.from_lab(value).to_dict() for value in (sqlite_lab, other))
    assert here["arms"] == there["arms"]
    assert here["collected"] == there["collected"]


def test_a_release_tells_what_a_later_model_needs(
    sqlite_lab: Lab, other: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path)
    unpack_study(other, pack_study(sqlite_lab, "welivita-2024"))
    for value in (sqlite_lab, other):
        study = measured_study(value, "welivita-2024")
        assert len(study.situations) == 24
        assert study.situation_set == "welivita-2024"
        assert study.dimensions[0].labels == ("Bad", "Okay", "Good")
        assert "compared with how you would have replied" in str(study.dimensions[0].question)
        days = [(arm.arm, str(arm.first), str(arm.last)) for arm in study.arms]
        assert days == [
            ("human", "2023-11-20", "2023-11-20"),
            ("gpt", "2023-11-21", "2023-11-21"),
        ]
        assert study.template is not None
        frozen = reply_template(f"{study.template['template']}@{study.template['version']}")
        assert frozen.version == study.template["version"]
        assert hash_of(dataclasses.asdict(frozen)) == study.template["fingerprint"]


def test_wording_that_another_lab_lacks_is_said(sqlite_lab: Lab, other: Lab) -> None:
    finished(sqlite_lab)
    assert (
        "wording of the scale teq" in unpack_study(other, pack_study(sqlite_lab, "small")).notes[0]
    )


def test_wording_that_another_lab_has_is_used(sqlite_lab: Lab, other: Lab) -> None:
    finished(sqlite_lab)
    with other.writing() as connection:
        number = add_scale(
            connection, with_words(builtin_scale("teq"), scales()["teq"].require_words())
        )
    assert unpack_study(other, pack_study(sqlite_lab, "small")).notes == ()
    assert [row["scale_id"] for row in rows_of(other, schema.study_scales)] == [number]


@pytest.mark.slow
@pytest.mark.shared_data
def test_the_published_ratings_go_from_lab_to_lab_with_their_counts(
    sqlite_lab: Lab, other: Lab, shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "welivita"
    people = [(file.name, read_table(file)) for file in sorted(folder.glob("demographics_*.csv"))]
    table = read_table(folder / "dataset_and_ratings.csv")
    release = read_release(table, where="dataset_and_ratings.csv", people=people)
    import_release(sqlite_lab, release, kind="welivita", source="r.csv", fingerprint="1")
    path = archived(sqlite_lab, tmp_path / "one.zip", "welivita-2024")
    content = b"".join(read_archive(path).members.values()).decode()
    assert not [name for name in table["annotator_human"].unique() if name in content]
    unpack_study(other, read_archive(path))
    assert archived(other, tmp_path / "two.zip", "welivita-2024").read_bytes() == path.read_bytes()
    for value in (sqlite_lab, other):
        ratings = ratings_frame(value, "welivita-2024")
        good = ratings.filter(label="Good").group_by("arm").len().sort("arm").rows()
        assert good == [("chatgpt_empathy", 1295), ("human", 986)]
        days = {arm.arm: str(arm.first) for arm in measured_study(value, "welivita-2024").arms}
        assert days == {"human": "2023-11-03", "chatgpt_empathy": "2023-11-10"}


# What is wrong with a file is said, and nothing is stored.


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good archive."""
    folder = tmp_path_factory.mktemp("archive")
    with Lab.open(folder / "lab") as lab:
        finished(lab)
        return archived(lab, folder / "good.zip")


def changed(
    good: Path, path: Path, *, without: str = "", instead: dict[str, bytes] | None = None
) -> Path:
    """A copy of the archive without a member, or with other ones."""
    with zipfile.ZipFile(good) as read, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in read.namelist():
            if name != without:
                out.writestr(name, (instead or {}).get(name, read.read(name)))
        for name, content in (instead or {}).items():
            if name not in read.namelist():
                out.writestr(name, content)
    return path


@pytest.mark.parametrize("member", MEMBERS)
def test_a_changed_member_is_named_with_its_hash(
    archive: Path, tmp_path: Path, member: str
) -> None:
    with zipfile.ZipFile(archive) as read:
        content = read.read(member)
    path = changed(archive, tmp_path / "bad.zip", instead={member: content + b" "})
    with pytest.raises(InputError, match=rf"{member} was changed: its SHA-256 should be [0-9a-f]+"):
        read_archive(path)


@pytest.mark.parametrize("member", ["manifest.json", "ratings.jsonl"])
def test_a_missing_member_is_named(archive: Path, tmp_path: Path, member: str) -> None:
    with pytest.raises(InputError, match=f"a file is missing from the archive; got '{member}'"):
        read_archive(changed(archive, tmp_path / "bad.zip", without=member))


@pytest.mark.parametrize("member", ["../../etc/passwd", "/tmp/x", "more.json", "a\\..\\b"])
def test_a_member_that_does_not_belong_is_refused(
    archive: Path, tmp_path: Path, member: str
) -> None:
    with pytest.raises(InputError, match="does not belong"):
        read_archive(changed(archive, tmp_path / "bad.zip", instead={member: b"x"}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(archive.read_bytes())
    with zipfile.ZipFile(path, "a") as out:
        out.writestr("ratings.jsonl", b"")
    with pytest.raises(InputError, match="appears twice"):
        read_archive(path)


def test_a_bomb_is_refused_before_it_is_unpacked(archive: Path, tmp_path: Path) -> None:
    bomb = changed(archive, tmp_path / "bad.zip", instead={"ratings.jsonl": b" " * 40_000_000})
    with pytest.raises(InputError, match="compression ratio of a file in the archive is too high"):
        read_archive(bomb)


def test_a_manifest_that_lies_about_the_whole_is_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as read:
        manifest = json.loads(read.read("manifest.json"))
    manifest["hash"] = "0" * 64
    path = changed(
        archive, tmp_path / "bad.zip", instead={"manifest.json": json.dumps(manifest).encode()}
    )
    with pytest.raises(InputError, match="the archive.s hash"):
        read_archive(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", b"PK\x03\x04" + b"\0" * 60])
def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not an archive"):
        read_archive(path)


def test_a_cut_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(InputError, match="not an archive"):
        read_archive(path)


@pytest.mark.parametrize(
    ("member", "change", "said"),
    [
        ("ratings.jsonl", {"rater": "nobody"}, "refer to nothing"),
        ("ratings.jsonl", {"response": 999}, "refer to nothing"),
        ("ratings.jsonl", {"value": "3"}, "wrong type"),
        ("ratings.jsonl", {"value": True}, "wrong type"),
        ("ratings.jsonl", {"day": "yesterday"}, "must be a day"),
        ("ratings.jsonl", {"more": 1}, "this must have"),
        ("raters.jsonl", {"kind": "dog"}, "must be one of"),
        ("responses.jsonl", {"situation": "none"}, "refer to nothing"),
        ("situations.jsonl", {"text": "Other words."}, "protocol's hash should be"),
        ("scale_answers.jsonl", {"answers": {"99": 1}}, "an answer must be"),
        ("arms.json", {"shown": [999]}, "not there"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_nothing_is_stored(
    archive: Path, sqlite_lab: Lab, member: str, change: dict[str, Any], said: str
) -> None:
    content = json.loads(json.dumps(dict(read_archive(archive).content)))
    content[member][0] |= change
    before = [rows_of(sqlite_lab, table) for table in schema.metadata.sorted_tables]
    with pytest.raises(InputError, match=said):
        unpack_study(sqlite_lab, Archive(content))
    assert [rows_of(sqlite_lab, table) for table in schema.metadata.sorted_tables] == before


def test_other_texts_than_those_of_the_hash_are_refused(archive: Path, sqlite_lab: Lab) -> None:
    content = json.loads(json.dumps(dict(read_archive(archive).content)))
    content["protocol.json"]["blocks"][0]["text"] = "Other words."
    with pytest.raises(InputError, match="protocol's hash should be"):
        unpack_study(sqlite_lab, Archive(content))


def test_a_study_that_goes_on_can_be_archived_again_with_the_new_raters(
    sqlite_lab: Lab, other: Lab
) -> None:
    service, _ = finished(sqlite_lab, people=2, close=False)
    before = pack_study(sqlite_lab, "small")
    rate_all(service, someone(service, "late"), "2")
    after = pack_study(sqlite_lab, "small")
    assert after.hash != before.hash
    unpack_study(other, before)
    with pytest.raises(InputError, match="a different study with this name"):
        unpack_study(other, after)


def test_a_protocol_is_shared_without_codes_and_addresses_that_hold_them() -> None:
    recruitment = {"platform": "sona", "codes": {"completed": "C"}, "return_url": "https://a/b?C"}
    assert shared_protocol({"recruitment": recruitment}) == {"recruitment": {"platform": "sona"}}
