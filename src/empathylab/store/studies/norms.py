"""Raters' answers about situations in a norming study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, select, true

from empathylab.scales import Scale, scale_from_dict
from empathylab.store import schema
from empathylab.store.studies.records import real_people


@dataclass(frozen=True, slots=True)
class SituationAnswers:
    """One rater's answers about one situation."""

    rater: int
    set: str
    version: int
    situation: str
    values: Mapping[int, float] = field(hash=False)
    """By item of the scale."""
    label: str | None
    """The feeling in the rater's own words."""


@dataclass(frozen=True, slots=True)
class NormingAnswers:
    """All answers of a norming study, with the scale that was asked."""

    scale: Scale
    answers: tuple[SituationAnswers, ...]


def norming_answers(
    connection: Connection, study: int, *, simulated: bool = False
) -> tuple[NormingAnswers, ...]:
    """Raters' answers about situations, by scale; with `simulated` also those of bots."""
    given, raters, scales = schema.administrations, schema.raters, schema.scales
    situations, sets, items = schema.situations, schema.situation_sets, schema.item_answers
    rule: ColumnElement[bool] = true() if simulated else real_people()
    query = (
        select(
            given.c.id,
            raters.c.id.label("rater"),
            raters.c.details,
            scales.c.id.label("scale"),
            scales.c.definition,
            situations.c.key,
            *sets.c["name", "version"],
        )
        .select_from(given.join(raters).join(scales).join(situations).join(sets))
        .where(raters.c.study_id == study, given.c.phase == "evoked", rule)
        .order_by(raters.c.id, given.c.id)
    )
    rows = connection.execute(query).all()
    chosen = select(given.c.id).select_from(given.join(raters)).where(raters.c.study_id == study)
    values: dict[int, dict[int, float]] = {}
    for row in connection.execute(select(items).where(items.c.administration_id.in_(chosen))):
        values.setdefault(row.administration_id, {})[row.item] = row.value
    asked: dict[int, Scale] = {}
    answers: dict[int, list[SituationAnswers]] = {}
    shown: dict[int, int] = {}
    for row in rows:
        # Labels are numbered as the situations were shown, which is how they were stored.
        position = shown[row.rater] = shown.get(row.rater, 0) + 1
        if row.scale not in asked:
            asked[row.scale] = scale_from_dict(row.definition, where="the lab's scale")
        answers.setdefault(row.scale, []).append(
            SituationAnswers(
                row.rater,
                row.name,
                row.version,
                row.key,
                values.get(row.id, {}),
                (row.details or {}).get(f"label_{position}"),
            )
        )
    return tuple(NormingAnswers(asked[number], tuple(rows)) for number, rows in answers.items())
