"""The studies that an arm can join: run here, archived elsewhere, or published with ratings only.

Each gives what raters saw, checked against the hash of its protocol as far as that can be done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from empathylab.errors import InputError
from empathylab.scales import Scale, scale_from_dict
from empathylab.store.inserts import add_scale
from empathylab.store.studies.added_arms import (
    freeze_anew,
    scale_fingerprints,
    show_rated,
    study_scale_fingerprints,
)
from empathylab.store.studies.archive import archive_import, situation_rows
from empathylab.store.studies.records import frozen_scales, frozen_situations
from empathylab.study.admin.launching import fingerprints
from empathylab.study.archives.packing import is_complete, read_protocol
from empathylab.study.design.definition import Study
from empathylab.study.design.materials import choose_scales, choose_situations
from empathylab.study.design.protocol import differences, protocol_hash, to_dict
from empathylab.study.design.reading import study_from_dict

MOST_NAMED = 5
UNCHECKED = (
    "Not checked, because the release does not contain it: the texts of consent, tutorial and "
    "instructions, the order of the pages, the wording of the raters' scales, how many responses a "
    "rater got, and how people were recruited."
)


@dataclass(frozen=True, slots=True)
class JoinBase:
    """The study that the arm joins, as it was frozen."""

    row: Any
    study: Study
    situations: tuple[int, ...]
    keys: tuple[str, ...]
    scales: Mapping[str, Scale] = dataclasses.field(hash=False)
    hash: str
    notes: tuple[str, ...] = ()

    @property
    def here(self) -> bool:
        """Whether the study ran in this lab."""
        return self.row.launched_at is not None


def join_base(
    connection: Connection,
    row: Any,
    file: Study | None,
    known: Mapping[str, Scale],
    offered: Any,
) -> JoinBase:
    """The study that an arm can join; `offered` are the set and situations that the file names."""
    where = f"study {row.name}"
    if row.launched_at is not None:
        base = _of_here(connection, row, file, where)
    elif is_complete(row.protocol):
        base = _of_archive(connection, row, file, where)
    else:
        base = _of_release(connection, row, file, known, offered, where)
    if base.study.design != "between" or not base.study.rated:
        raise InputError(
            "only a between-subjects study with rated responses can get a new arm later; within "
            "subjects, every rater sees all arms",
            where=where,
            remedy=f"Launch version {row.version + 1} with all arms.",
        )
    return base


def _of_here(connection: Connection, row: Any, file: Study | None, where: str) -> JoinBase:
    study = _with_recruitment(study_from_dict(row.protocol, where=where), file, where)
    return _frozen(connection, row, study, study_scale_fingerprints(connection, row.id), where)


def _of_archive(connection: Connection, row: Any, file: Study | None, where: str) -> JoinBase:
    given = None if file is None else to_dict(file)["recruitment"]
    study = read_protocol(row.protocol, where=where, recruitment=given)  # type: ignore[arg-type]
    study = _with_recruitment(study, file, where)
    wanted = _worded(connection, row, where)
    situations = list(frozen_situations(connection, row.id))
    numbers = {name: number for name, (number, _) in wanted.items()}
    freeze_anew(connection, row.id, situations, numbers)
    hashes = {name: known for name, (_, known) in wanted.items()}
    base = _frozen(connection, row, study, hashes, where)
    notes = [
        (
            "Participants of the study where the archive was made cannot be recognised here: "
            "exclude them on the recruiting platform."
        )
    ]
    if file is None:
        notes.append(
            "The study recruits with an open link, because an archive contains no completion "
            "codes. To recruit in another way, give the study's file with --file."
        )
    return dataclasses.replace(base, notes=tuple(notes))


def _frozen(
    connection: Connection, row: Any, study: Study, scale_hashes: Mapping[str, str], where: str
) -> JoinBase:
    """The study with its frozen material, which must have the protocol's hash."""
    situations = frozen_situations(connection, row.id)
    scales = {
        name: scale_from_dict(definition, where=where)
        for name, (_, definition) in frozen_scales(connection, row.id).items()
    }
    prints = fingerprints(list(situations.values()), scale_hashes)
    actual_hash = protocol_hash(study, prints)
    _require_hash(row, actual_hash, where)
    keys = tuple(situation.id for situation in situations.values())
    return JoinBase(row, study, tuple(situations), keys, scales, actual_hash)


def _worded(connection: Connection, row: Any, where: str) -> dict[str, tuple[int, str]]:
    """By name, the lab's row and hash of each scale, which must have the archive's very words."""
    brought = archive_import(connection, row.name, row.version)
    here = {
        item["here"]: item["fingerprint"] for item in (brought.summary["scales"] if brought else ())
    }
    stored = scale_fingerprints(connection)
    rows = {}
    for name, current in study_scale_fingerprints(connection, row.id).items():
        wanted = here.get(current, current)
        if wanted not in stored:
            raise InputError(
                f"the lab does not have the wording of the scale {name} that the study used "
                f"(SHA-256 {wanted})",
                where=where,
                remedy="Import the same file as in the study's lab: empathylab scales import FILE",
            )
        rows[name] = (stored[wanted], wanted)
    return rows


def _of_release(
    connection: Connection,
    row: Any,
    file: Study | None,
    known: Mapping[str, Scale],
    offered: Any,
    where: str,
) -> JoinBase:
    if file is None or offered is None:
        raise InputError(
            "the lab has the ratings of this study, but not the texts that raters saw",
            where=where,
            remedy="Write them into a study file and give it with --file STUDY.yaml.",
        )
    study = file.model_copy(update={"name": row.name, "version": row.version})
    _require_same_points(row, study, where)
    whole, from_set = offered
    chosen = choose_situations(study, from_set)
    rated = situation_rows(connection, row.id)
    mine = {item.key: int(item.id) for item in rated if item.set_name == whole.id}
    extra = [item.id for item in chosen if item.id not in mine]
    lacking = {int(item.id): item.key for item in rated}
    for item in chosen:
        lacking.pop(mine.get(item.id, 0), None)
    if extra or lacking:
        named = extra[:MOST_NAMED] or list(lacking.values())[:MOST_NAMED]
        raise InputError(
            f"the file's situations are not those that were rated: {len(extra)} were not rated, "
            f"{len(lacking)} are missing",
            where=where,
            got=", ".join(named),
            remedy=f"Set situations to {{set: {rated[0].set_name}}}.",
        )
    scales = choose_scales(study, known)
    numbers = {name: add_scale(connection, scale) for name, scale in scales.items()}
    ids = [mine[item.id] for item in chosen]
    freeze_anew(connection, row.id, ids, numbers)
    show_rated(connection, row.id)
    prints = fingerprints(chosen, study_scale_fingerprints(connection, row.id))
    keys = tuple(item.id for item in chosen)
    actual_hash = protocol_hash(study, prints)
    return JoinBase(row, study, tuple(ids), keys, scales, actual_hash, tuple(_unchecked(row)))


def _unchecked(row: Any) -> list[str]:
    sentences = [UNCHECKED]
    if not all(dimension.get("question") for dimension in row.protocol["dimensions"]):
        sentences.append(
            "The release does not say what raters were asked, only the points of the scale."
        )
    note = row.protocol.get("replies", {}).get("note")
    return [*sentences, note] if note else sentences


def _require_same_points(row: Any, study: Study, where: str) -> None:
    """The file must ask for the release's dimensions, on the same points with the same words."""
    first = study.languages[0]
    mine = {
        dimension.name: (
            [float(value) for value in dimension.values],
            ["" if label is None else label.in_language(first) for label in dimension.labels],
            dimension.question.in_language(first),
        )
        for dimension in study.dimensions
    }
    for dimension in row.protocol["dimensions"]:
        wanted = ([float(value) for value in dimension["values"]], list(dimension["labels"]))
        got = mine.pop(dimension["name"], None)
        asked = dimension.get("question")
        if got is None or (wanted[1] and got[:2] != wanted) or got[0] != wanted[0]:
            points = ", ".join(wanted[1]) or ", ".join(f"{value:g}" for value in wanted[0])
            raise InputError(
                f"the study was rated on {dimension['name']}: {points}",
                where=f"{where}, 'dimensions'",
                got="no such dimension" if got is None else ", ".join(got[1]),
                remedy="Write the dimension into the file as it was.",
            )
        if asked and got[2] != asked:
            raise InputError(
                f"the question for {dimension['name']} was {asked!r}",
                where=f"{where}, 'dimensions'",
                got=got[2],
                remedy="Ask the same question.",
            )
    if mine:
        raise InputError(
            "the file asks for a dimension that the study was not rated on",
            where=f"{where}, 'dimensions'",
            got=", ".join(mine),
            remedy="Remove it.",
        )


def _with_recruitment(study: Study, file: Study | None, where: str) -> Study:
    """The study with the file's recruitment; everything that raters see must be as it was."""
    if file is None:
        return study
    changed = [difference.key for difference in differences(study, file) if difference.frozen]
    if changed:
        shown = ", ".join(changed[:MOST_NAMED])
        raise InputError(
            "the file does not match the study: a new arm needs the same protocol",
            where=where,
            got=f"other {shown}",
            remedy="Undo these changes, or leave out --file.",
        )
    return study.model_copy(update={"recruitment": file.recruitment})


def _require_hash(row: Any, actual_hash: str, where: str) -> None:
    if actual_hash != row.protocol_hash:
        raise InputError(
            f"the protocol's hash should be {row.protocol_hash}: situations, scales or texts have "
            "changed in the lab",
            where=where,
            got=actual_hash,
            remedy="Restore them, or import the study's archive into another lab.",
        )
