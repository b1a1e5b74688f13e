"""The exported tables of questionnaires: scores of raters, and every answer to an item."""

from __future__ import annotations

from collections import Counter

from empathylab.scales import Scale, scale_from_dict, score
from empathylab.store.schema.statements import Rows
from empathylab.store.studies.archive import (
    administration_rows,
    item_values,
    scale_rows,
)
from empathylab.study.exports.source import Record, StudySource


def scale_scores(
    source: StudySource,
) -> tuple[dict[tuple[str, str], float], dict[str, tuple[Scale, str, str]]]:
    """Scores by rater and column, and by column its scale, subscale and phase."""
    rows = administration_rows(source.connection, source.row.id)
    values = item_values(source.connection, source.row.id)
    known = _scales(source, rows)
    scores: dict[tuple[str, str], float] = {}
    columns: dict[str, tuple[Scale, str, str]] = {}
    for row in rows:
        scale = known[int(row.scale_id)]
        for part in score(scale, values.get(int(row.id), {})):
            base = scale.id if part.subscale == "total" else f"{scale.id}_{part.subscale}"
            column = base if row.phase == "default" else f"{base}_{row.phase}"
            columns[column] = (scale, part.subscale, row.phase)
            if part.value is not None:
                scores[source.names[int(row.rater_id)], column] = part.value
    return scores, columns


def _scales(source: StudySource, rows: Rows) -> dict[int, Scale]:
    used = {int(row.scale_id) for row in rows}
    return {
        int(scale_row.id): scale_from_dict(
            scale_row.definition, where=f"scale {scale_row.name} of the lab"
        )
        for scale_row in scale_rows(source.connection, source.row.id, used)
    }


def scale_answers(source: StudySource) -> list[Record]:
    """Every answer to an item, as given: reversed items are not turned round."""
    rows = administration_rows(source.connection, source.row.id)
    values = item_values(source.connection, source.row.id)
    known = _scales(source, rows)
    answers = []
    seen: Counter[tuple[int, int, str]] = Counter()
    for row in rows:
        situation = source.situation_rows.get(int(row.situation_id or 0))
        trial = (int(row.rater_id), int(row.scale_id), str(row.phase))
        seen[trial] += situation is not None
        places = {item: place for place, item in enumerate(row.item_order, start=1)}
        answers += [
            {
                "rater": source.names[int(row.rater_id)],
                "scale": known[int(row.scale_id)].id,
                "phase": row.phase,
                "situation": None if situation is None else situation.key,
                "trial": None if situation is None else seen[trial],
                "item": item,
                "position": places.get(item),
                "value": value,
            }
            for item, value in values.get(int(row.id), {}).items()
        ]
    return answers
