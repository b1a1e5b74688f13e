"""Archives that were damaged or made to do harm are refused with a sentence."""

from __future__ import annotations

import contextlib
import io
import json
import random
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import InputError, UserError
from empathylab.store import Lab
from empathylab.study.archives import pack_study, read_archive, unpack_study, write_archive
from empathylab.study.archives.members import MANIFEST, MEMBERS, Archive, _hashes, _whole
from tests.study.archived import finished


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    with Lab.open(folder / "lab") as lab:
        finished(lab)
        write_archive(pack_study(lab, "small"), folder / "study.zip")
    return folder / "study.zip"


def packed(members: dict[str, bytes], path: Path) -> Path:
    """An archive of these bytes, whose hashes are right."""
    hashes = _hashes(members)
    manifest: dict[str, Any] = {
        "format": "empathylab-study",
        "format_version": 1,
        "hash": _whole(hashes),
        "members": {name: {"sha256": one} for name, one in hashes.items()},
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {MANIFEST: json.dumps(manifest).encode(), **members}.items():
            file.writestr(name, content)
    path.write_bytes(written.getvalue())
    return path


@pytest.mark.parametrize("row", [b"{}\n", b"0\n", b"[]\n"])
def test_an_archive_bomb_is_refused_before_it_takes_memory(
    archive: Path, tmp_path: Path, row: bytes
) -> None:
    members = dict(read_archive(archive).members)
    members["ratings.jsonl"] = row * 30_000_000
    bomb = packed(members, tmp_path / "bomb.zip")
    del members
    assert bomb.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="compression ratio"):
            read_archive(bomb)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 64 * 1024 * 1024


def test_rows_that_are_no_tables_are_refused_at_the_first(archive: Path, tmp_path: Path) -> None:
    members = dict(read_archive(archive).members)
    members["ratings.jsonl"] = b"{}\n" * 100_000
    with pytest.raises(InputError, match="row 1: a row must be a table"):
        read_archive(packed(members, tmp_path / "empty.zip"))


def test_any_flipped_byte_ends_in_a_sentence(archive: Path, tmp_path: Path) -> None:
    content = archive.read_bytes()
    chance = random.Random(17)
    for number in range(300):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path = tmp_path / f"{number}.zip"
        path.write_bytes(bytes(damaged))
        with contextlib.suppress(UserError):  # anything else is a traceback
            read_archive(path)
        path.unlink()


@pytest.mark.parametrize(
    ("member", "column", "value"),
    [
        ("responses.jsonl", "text", "half \ud800 a character"),
        ("raters.jsonl", "rater", "\udfff"),
        ("responses.jsonl", "response", 10**30),
        ("responses.jsonl", "sample", -(10**30)),
        ("ratings.jsonl", "value", 1e999),
        ("ratings.jsonl", "rater", ["a list"]),
        ("situations.jsonl", "situation", 5),
    ],
)
def test_values_that_no_lab_holds_are_refused_with_their_row(
    archive: Path, tmp_path: Path, member: str, column: str, value: object
) -> None:
    members = dict(read_archive(archive).members)
    lines = members[member].splitlines(keepends=True)
    first = json.loads(lines[0]) | {column: value}
    lines[0] = json.dumps(first).encode() + b"\n"
    members[member] = b"".join(lines)
    with Lab.open(tmp_path / "other") as other, pytest.raises(InputError, match=f"{member} row 1"):
        unpack_study(other, read_archive(packed(members, tmp_path / "changed.zip")))


def test_a_sound_archive_is_still_read(archive: Path, tmp_path: Path) -> None:
    found = read_archive(archive)
    assert isinstance(found, Archive)
    assert set(found.content) == set(MEMBERS)
