"""An archive into the lab: checked, then all of it or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.situations import Situation
from empathylab.store import Lab
from empathylab.store.imports.archive_rows import (
    ArchiveRows,
    SavedSets,
    save_archived_scales,
    save_sets,
)
from empathylab.store.studies.archive import archive_import, begin_archive
from empathylab.store.studies.records import find_study
from empathylab.study.archives.checking import check_archive, situation_of
from empathylab.study.archives.members import Archive
from empathylab.study.archives.packing import is_complete, pack


@dataclass(frozen=True, slots=True)
class ImportedArchive:
    """What became of an archive."""

    study: str
    version: int
    change: Literal["added", "unchanged"]
    hash: str
    situations: int
    responses: int
    raters: int
    ratings: int
    notes: tuple[str, ...]


def unpack_study(
    lab: Lab, archive: Archive, *, name: str | None = None, where: str = "archive"
) -> ImportedArchive:
    """What became of the archive's study, under its own name or another.

    The same archive again changes nothing. A study of the same name and version that is not the
    archive's is left alone: the archive is refused.
    """
    content = archive.content
    check_archive(content, where)
    head = content["study.json"]
    study = name or head["name"]
    _check_name(study, where)
    with lab.exclusive(f"archive-{study}", what=f"the study {study}"):
        with lab.writing() as connection:
            stored = _is_stored(connection, archive, study)
            notes: tuple[str, ...] = ()
            if not stored:
                notes = _store(connection, archive, study)
    return ImportedArchive(
        study=study,
        version=head["version"],
        change="unchanged" if stored else "added",
        hash=archive.hash,
        situations=len(content["situations.jsonl"]),
        responses=len(content["responses.jsonl"]),
        raters=len(content["raters.jsonl"]),
        ratings=len(content["ratings.jsonl"]),
        notes=notes,
    )


def _is_stored(connection: Connection, archive: Archive, name: str) -> bool:
    """Whether the lab has exactly this; other content under the name is refused."""
    version = archive.content["study.json"]["version"]
    known = archive_import(connection, name, version)
    row = find_study(connection, name, version)
    if row is None:
        return False
    if known is not None and known.fingerprint == archive.hash:
        return True
    if known is None and pack(connection, row).hash == archive.hash:
        return True
    raise InputError(
        f"the lab has a different study with this name and version ({version})",
        got=name,
        remedy="Give the archive's study another name with --name, or import it into another lab.",
    )


def _store(connection: Connection, archive: Archive, name: str) -> tuple[str, ...]:
    content = archive.content
    situations: dict[str, list[Situation]] = {}
    for row in content["situations.jsonl"]:
        situations.setdefault(row["set"], []).append(situation_of(row))
    own = f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}-situations"
    places = save_sets(connection, content["sets.json"], situations, own)
    scales = save_archived_scales(connection, content["scales.json"])
    head = content["study.json"]
    summary = _summary(content, name, places, scales)
    number = begin_archive(connection, name, head["version"], archive.hash, summary)
    ArchiveRows(connection, content, number).study(name, places, scales)
    return tuple(_notes(content, scales))


def _summary(
    content: Mapping[str, Any],
    name: str,
    places: SavedSets,
    scales: Mapping[str, tuple[int, str]],
) -> dict[str, Any]:
    """What the tables have no place for, so that the study can be archived again as it came."""
    return {
        "study": {**content["study.json"], "name": name},
        "sets": [{**item, "here": places.here[item["set"]]} for item in content["sets.json"]],
        "scales": [
            {"fingerprint": fingerprint, "here": here} for fingerprint, (_, here) in scales.items()
        ],
        "arms": [
            {"arm": item["arm"], "template": item["template"]} for item in content["arms.json"]
        ],
    }


def _notes(content: Mapping[str, Any], scales: Mapping[str, tuple[int, str]]) -> list[str]:
    notes = []
    if not is_complete(content["protocol.json"]):
        notes.append(
            "The archive does not contain the study's texts, because its lab imported the ratings "
            "from a file. To add an arm, you need your own study file."
        )
    notes += [
        f"The wording of the scale {item['called']} is not in the archive. Import it with "
        "`empathylab scales import FILE` before you add an arm."
        for item in content["scales.json"]
        if item["called"] is not None and scales[item["fingerprint"]][1] != item["fingerprint"]
    ]
    return notes


def _check_name(name: str, where: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise InputError(
            "a study's name must be letters, digits, dots, hyphens and underscores",
            where=where,
            got=name,
            remedy="Choose another name with --name.",
        )
