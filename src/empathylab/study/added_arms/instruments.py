"""What a later model needs to be measured against a study: its situations, question and prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from empathylab.situations import Situation
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab
from empathylab.store.ratings import study_from_row
from empathylab.store.studies.archive import any_study, release_told, situation_rows
from empathylab.study.archives.checking import situation_of
from empathylab.study.archives.packing import pack


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """An arm that people rated."""

    arm: str
    respondent: str | None
    template: Mapping[str, Any] | None = field(hash=False)
    """The words by which its replies were asked for, where the lab made them."""
    ratings: int
    first: date | None
    """The day of its first rating, where that is known."""
    last: date | None


@dataclass(frozen=True, slots=True)
class MeasuredStudy:
    """A study that a later model can be measured against."""

    name: str
    title: str
    design: str
    protocol_hash: str
    situation_set: str
    """In this lab."""
    situations: tuple[Situation, ...]
    dimensions: tuple[Dimension, ...]
    """With the question, as far as it is known, and the points with their labels."""
    arms: tuple[MeasuredArm, ...]
    template: Mapping[str, Any] | None = field(hash=False)
    """The words by which a later model is asked.

    A whole template where all models' arms were asked by the same one in a lab; `template`,
    `version` and `fingerprint` of a built-in one where a release tells so; None: it is not known.
    """


def measured_study(lab: Lab, name: str) -> MeasuredStudy:
    """The study of that name, launched here, archived elsewhere, or published with its ratings."""
    with lab.reading() as connection:
        row = any_study(connection, name)
        content = pack(connection, row).content
        released = row.protocol.get("replies") or release_told(connection, row.id).get("replies")
        study = study_from_row(row)
        first_set = str(situation_rows(connection, row.id)[0].set_name)
    counts: dict[str | None, int] = {}
    for item in content["ratings.jsonl"]:
        counts[item["arm"]] = counts.get(item["arm"], 0) + 1
    arms = tuple(
        MeasuredArm(
            item["arm"],
            item["respondent"],
            item["template"],
            counts.get(item["arm"], 0),
            _date(item["first"]),
            _date(item["last"]),
        )
        for item in content["arms.json"]
    )
    return MeasuredStudy(
        name=row.name,
        title=row.title,
        design=study.design,
        protocol_hash=row.protocol_hash,
        situation_set=first_set,
        situations=tuple(situation_of(item) for item in content["situations.jsonl"]),
        dimensions=study.dimensions,
        arms=arms,
        template=released or _shared_template(content),
    )


def _shared_template(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    models = [item["template"] for item in content["arms.json"] if item["kind"] == "model"]
    known = [model for model in models if model is not None]
    same = bool(known) and len(known) == len(models) and all(item == known[0] for item in known)
    return known[0] if same else None


def _date(day: str | None) -> date | None:
    return None if day is None else date.fromisoformat(day)
