"""The scales a lab can use: those that ship, those of plugins, and those its user has brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, select

from empathylab.errors import InputError, UnknownName
from empathylab.files import read_json
from empathylab.scales import (
    Scale,
    find_scale,
    known_scales,
    read_scale,
    read_wording,
    scale_to_dict,
    with_words,
)
from empathylab.store import schema
from empathylab.store.inserts import add_scale, hash_of
from empathylab.store.lab import Lab
from empathylab.store.queries import scales_by_row, scales_frame


@dataclass(frozen=True, slots=True)
class ImportedScale:
    """What became of one scale in a file."""

    scale: Scale
    change: Literal["added", "unchanged"]


def lab_scales(lab: Lab) -> dict[str, Scale]:
    """By id, the newest version that has its wording; the built-in one where none has."""
    stored = scales_by_row(scales_frame(lab)).values()
    chosen: dict[str, Scale] = known_scales()
    # The newest comes last, so that it stays; one with wording is never replaced by one without.
    for scale in sorted(stored, key=lambda item: item.version):
        known = chosen.get(scale.id)
        if scale.words is not None or known is None or known.words is None:
            chosen[scale.id] = scale
    return chosen


def lab_scale(lab: Lab, name: str) -> Scale:
    """The lab's scale of that id or full name, however it is spelled."""
    scales = lab_scales(lab)
    found = find_scale(name, scales.values())
    if found is None:
        raise UnknownName("scale", name, scales)
    return found


def scales_in_file(path: Path, known: Mapping[str, Scale]) -> list[Scale]:
    """The scales that a wording file completes, or the scale that a scale file defines."""
    if path.suffix.lower() == ".toml" or _is_scale_file(path):
        scale = read_scale(path)
        _refuse_other_structure(scale, known.get(scale.id), path.name)
        return [scale]
    found = []
    for wording in read_wording(path, known=known):
        scale = wording.new_scale or with_words(known[wording.scale_id], wording.words)
        found.append(scale)
    return found


def import_scales(lab: Lab, path: Path) -> list[ImportedScale]:
    """Stores the scales of a file in the lab, wording included."""
    found = scales_in_file(path, lab_scales(lab))
    with lab.writing() as connection:
        return save_scales(connection, found)


def save_scales(connection: Connection, scales: Iterable[Scale]) -> list[ImportedScale]:
    """Adds the scales that the lab does not hold yet, and says which."""
    table = schema.scales
    stored_scales = set(connection.execute(select(table.c.fingerprint)).scalars())
    stored = []
    for scale in scales:
        known = hash_of(scale_to_dict(scale)) in stored_scales
        add_scale(connection, scale)
        stored.append(ImportedScale(scale, "unchanged" if known else "added"))
    return stored


def _is_scale_file(path: Path) -> bool:
    if path.suffix.lower() != ".json":
        return False
    content = read_json(path)
    return isinstance(content, Mapping) and (
        "id" in content or isinstance(content.get("items"), int)
    )


def _refuse_other_structure(scale: Scale, known: Scale | None, where: str) -> None:
    """One id and version must not be scored in two ways."""
    if known is None or known.version != scale.version:
        return
    if _structure(known) != _structure(scale):
        raise InputError(
            f"there is already a scale {scale.id} of version {scale.version}, scored differently",
            where=where,
            remedy="Raise the version, or give the scale another id.",
        )


def _structure(scale: Scale) -> Scale:
    texts = dict.fromkeys(("name", "citation", "licence", "instruction"), "")
    return scale.model_copy(update={**texts, "words": None, "anchors": {}})
