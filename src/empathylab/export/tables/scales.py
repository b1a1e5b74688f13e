"""Scales, their administrations, the answers and the scores."""

from __future__ import annotations

import json

import polars as pl

from empathylab.export.source import LabSource
from empathylab.export.tables.columns import (
    DAY,
    EMOTION,
    IMPORTED_FROM,
    KIND,
    OUTCOME,
    REASON,
    REPEAT,
    RUN,
    SET,
    SET_VERSION,
)
from empathylab.scales.score_frames import score_frame
from empathylab.table_specs import TableSpec, flag, number, text, whole


def _scales(source: LabSource) -> pl.DataFrame:
    """Their structure; the wording belongs to others and stays in the lab."""
    rows = []
    for row in source.definitions.iter_rows(named=True):
        scale = source.scales[row["scale_row"]]
        rows.append(
            {
                "scale": scale.id,
                "scale_version": scale.version,
                "name": scale.name,
                "items": scale.items,
                "minimum": scale.minimum,
                "maximum": scale.maximum,
                "reversed": json.dumps(sorted(scale.reversed)),
                "rule": scale.rule,
                "subscales": json.dumps({part.id: list(part.items) for part in scale.subscales}),
                "has_total": scale.total,
                "citation": scale.citation,
                "licence": scale.licence,
                "fingerprint": row["fingerprint"],
            }
        )
    return SCALES.frame(rows)


def _administrations(source: LabSource) -> pl.DataFrame:
    return source.administrations.drop(
        "run_used_at", "run_pinned_at", "run_mode", "scale_row", "answered_at"
    )


def _scores(source: LabSource) -> pl.DataFrame:
    valid = source.administrations.filter(outcome="valid")
    rows = valid.select("administration", "scale_row")
    answers = source.item_answers.join(rows, on="administration")
    scores = score_frame(answers, source.scales)
    joined = valid.join(scores, on="administration", maintain_order="left_right")
    return joined.rename({"order": "order_index"}).select(SCORES.names)


_ADMINISTRATION = whole("administration", "The administration's number")
_RESPONDENT = text("respondent", "Who answered")
_SCALE = text("scale", "The scale")
_OCCASION = (
    text("phase", "At baseline (default), or after a situation (evoked)", values="default; evoked"),
    flag("counterpart", "Whether the situation is the version in which it went well"),
)
_SITUATION = (
    text("situation", "The situation's id in its set; empty at baseline"),
    EMOTION,
    text("factor", "What causes that emotion"),
)
_SUBJECT = text("subject", "The person who answered; pairs a person's administrations")
SCALES = TableSpec[LabSource](
    "scales",
    "Questionnaires: their structure, without their wording",
    (
        text("scale", "The scale's id"),
        whole("scale_version", "Its version"),
        text("name", "Its full name"),
        whole("items", "How many items it has, numbered from 1"),
        number("minimum", "The lowest answer"),
        number("maximum", "The highest answer"),
        text("reversed", "Reversed items, scored as minimum + maximum - answer, as a JSON list"),
        text("rule", "How answers become a score"),
        text("subscales", "The items of each subscale, as a JSON object"),
        flag("has_total", "Whether the scale has a total score of all items"),
        text("citation", "Where it was published"),
        text("licence", "The licence of its wording"),
        text("fingerprint", "A hash of the whole definition, wording included"),
    ),
    _scales,
)

ADMINISTRATIONS = TableSpec[LabSource](
    "administrations",
    "One administration of a scale to a respondent per row, usable or not",
    (
        _ADMINISTRATION,
        RUN,
        _RESPONDENT,
        KIND,
        _SCALE,
        whole("scale_version", "The scale's version"),
        *_OCCASION,
        text("mode", "The answer mode"),
        SET,
        SET_VERSION,
        *_SITUATION,
        whole("order", "The number of the item order"),
        REPEAT,
        _SUBJECT,
        OUTCOME,
        REASON,
        DAY,
        IMPORTED_FROM,
        flag("used", "Whether analyses consider it: imported, or from the run used last"),
        flag("counted", "Whether analyses count it: used, and usable"),
    ),
    _administrations,
)

ITEM_ANSWERS = TableSpec[LabSource](
    "item_answers",
    "Answers to the items of those scales, as given",
    (
        _ADMINISTRATION,
        whole("item", "The item's number in the scale"),
        whole("position", "The item's position on the page, from 1"),
        number(
            "value",
            "The answer, or the expected value where it was read from probabilities. Reversed "
            "items are not yet reversed",
        ),
        number(
            "entropy", "The entropy of the model's answer, in bits, where probabilities are known"
        ),
    ),
    lambda source: source.item_answers,
)

SCORES = TableSpec[LabSource](
    "scores",
    "Scores of those scales, one row per administration and subscale",
    (
        _ADMINISTRATION,
        _RESPONDENT,
        KIND,
        _SCALE,
        *_OCCASION,
        SET,
        *_SITUATION,
        _SUBJECT,
        whole("order_index", "Which order of the items was shown; empty where it is not known"),
        text("subscale", "The subscale, or total"),
        number("score", "The score by the scale's own rule, after reversing items"),
        flag("counted", "Whether analyses count it: imported, or from the run used last"),
    ),
    _scores,
)
