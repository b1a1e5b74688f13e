"""What every column of an exported study means: its type, its values, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from empathylab.situations.sources.released import Dimension
from empathylab.study.blocks.types import Demographics, Field
from empathylab.study.design.definition import Study
from empathylab.study.exports.tables import StudyTables

_RATER = "The rater: a name drawn for this study alone, the same in all tables"
_DAY = "In UTC; moments finer than a day stay in the lab"
_SET = "The set that the situation is from"
_SITUATION = "The situation's id in its set"
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "ratings": {
        "rater": _RATER,
        "arm": "The arm whose response was rated",
        "respondent": "Who wrote the response",
        "response": "The response's number in the table responses",
        "set": _SET,
        "situation": _SITUATION,
        "emotion": "The situation's emotion",
        "valence": "Whether that emotion is pleasant",
        "topic": "The situation's topic",
        "dimension": "What was rated",
        "rating": "The value that the rater chose",
        "label": "The words beside that value",
        "seconds": "From showing the page to the answer, by the server's clock",
        "day": f"The day of the rating. {_DAY}",
    },
    "raters": {
        "rater": _RATER,
        "kind": "A person, or a model as a rater",
        "arm": "The arm that they were in, empty where they saw several or none",
        "status": "How their place stands or ended",
        "outcome": "How their part ended",
        "excluded": "Why a researcher left them out of every result; empty: they were not",
        "language": "The language they took part in",
        "day": f"The day they came. {_DAY}",
        "seconds": "From coming to finishing, by the server's clock",
        "ratings": "How many ratings they gave",
        "failed_attention": "How many attention checks they failed",
    },
    "scale_answers": {
        "rater": _RATER,
        "scale": "The scale that was answered",
        "phase": "At rest (default), or after imagining a situation (evoked)",
        "situation": "After which situation; empty at rest",
        "item": "The item's number in the scale",
        "position": "In which place the item was shown",
        "value": "The answer as given; reversed items are not turned round",
    },
    "written_replies": {
        "rater": _RATER,
        "set": _SET,
        "situation": _SITUATION,
        "text": "What the person would say, in their own words",
        "excluded": "Why a researcher left the writer out of every result; empty: they were not",
    },
    "pages": {
        "rater": _RATER,
        "page": "The page: its block, and the number of the item where there are several",
        "seconds": "From showing to answering, by the server's clock",
        "browser_seconds": "The same as the browser reported it; not to be trusted",
        "away_seconds": "How long the page was out of sight, as the browser reported it",
        "focus_losses": "How often the page lost the focus, as the browser reported it",
        "corrections": "How often the answer was changed",
    },
    "attention": {
        "rater": _RATER,
        "check": "The attention check: its block",
        "chosen": "The option chosen, counted from 1",
        "right": "Whether that was the right one",
    },
    "comments": {
        "rater": _RATER,
        "block": "Where the comment was asked for",
        "text": "Free words; read them before you pass them on, they may tell who somebody is",
    },
    "partial_answers": {
        "rater": f"{_RATER}; one who did not finish and did not ask for deletion",
        "page": "The page: its block, and the number of the item where there are several",
        "arm": "The arm whose response was rated",
        "situation": "The situation that the page was about",
        "response": "The response's number in the table responses",
        "question": "What was asked: a dimension, an item of a scale, a question about oneself",
        "answer": "The answer; comments and attention checks are in their own tables",
    },
    "arms": {
        "arm": "The arm",
        "respondent": "Whose responses it shows",
        "kind": "A model, or people",
        "responses": "How many responses it shows",
        "raters": "How many raters gave ratings that count",
        "ratings": "How many ratings count",
        "first": f"The day of the first of them. {_DAY}",
        "last": f"The day of the last of them. {_DAY}",
    },
    "responses": {
        "response": "The response's number",
        "respondent": "Who wrote it",
        "kind": "A model, or people",
        "set": _SET,
        "situation": _SITUATION,
        "sample": "Which of the respondent's replies to the situation, from 0",
        "prompt": "The template that it was asked for by, with its version",
        "text": "The reply",
    },
    "situations": {
        "set": _SET,
        "situation": _SITUATION,
        "text": "What somebody goes through",
        "emotion": "The emotion it is about",
        "valence": "Whether that emotion is pleasant",
        "factor": "What brings the emotion about",
        "topic": "What it is about",
        "utterance": "What the person says",
        "counterpart": "The same situation without what evokes the emotion",
        "title": "The post's title",
        "context": "What was said before, as a JSON list: the person first, then in turns",
    },
}
_TYPES = {
    pl.String: "text",
    pl.Int64: "whole number",
    pl.Float64: "number",
    pl.Boolean: "true or false",
}
_VALUES: Mapping[str, str] = {
    "valence": "positive; negative; mixed",
    "phase": "default; evoked",
    "day": "YYYY-MM-DD",
    "first": "YYYY-MM-DD",
    "last": "YYYY-MM-DD",
    "right": "true; false",
}
_MOST_VALUES = 20


def dictionary_rows(
    found: StudyTables, dimensions: tuple[Dimension, ...]
) -> list[dict[str, str | None]]:
    """A row for each column of each table: what it means, its type, its values or range."""
    rows: list[dict[str, str | None]] = []
    for table, frame in found.tables.items():
        known = MEANINGS.get(table, MEANINGS["ratings"])
        for name in frame.columns:
            meaning, values = _own(found, name) if table == "raters" else (None, None)
            rows.append(
                {
                    "table": table,
                    "column": name,
                    "meaning": known.get(name) or meaning,
                    "type": _TYPES[type(frame[name].dtype)],
                    "values": values
                    or _VALUES.get(name)
                    or _points(name, dimensions)
                    or _values(frame[name]),
                }
            )
    return rows


def _own(found: StudyTables, column: str) -> tuple[str | None, str | None]:
    """What is peculiar to this study's raters: scores, answers about oneself, what was told."""
    if column in found.scores:
        scale, part, phase = found.scores[column]
        of = "Total" if part == "total" else f"Subscale {part}"
        when = "" if phase == "default" else ", answered after a situation"
        return f"{of} of the {scale.name} ({scale.id}){when}", _score_range(scale, part)
    if column not in found.told:
        return None, None
    asked = _field(found.study, column)
    if asked is None:
        return "Told about the rater by the platform or the imported file", None
    first = found.study.languages[0] if found.study else "en"
    values = "; ".join(asked.values) or None
    return f"Asked: {asked.label.said(first)}", values


def _field(study: Study | None, name: str) -> Field | None:
    if study is None:
        return None
    return next(
        (
            one
            for block in study.blocks
            if isinstance(block, Demographics)
            for one in block.fields
            if one.name == name
        ),
        None,
    )


def _score_range(scale: Any, part: str) -> str:
    items = scale.items
    if part != "total":
        items = len(next(one.items for one in scale.subscales if one.id == part))
    times = {"sum": items, "double-sum": 2 * items, "mean": 1}[scale.rule]
    return f"{times * scale.minimum:g} to {times * scale.maximum:g}"


def _points(column: str, dimensions: tuple[Dimension, ...]) -> str | None:
    if column == "rating":
        said = [
            f"{one.name}: " + ", ".join(_point(one, place) for place in range(len(one.values)))
            for one in dimensions
            if one.values
        ]
        return "; ".join(said) or None
    if column == "dimension":
        return "; ".join(
            f"{one.name} ({one.question})" if one.question else one.name for one in dimensions
        )
    return None


def _point(one: Dimension, place: int) -> str:
    label = one.labels[place] if one.labels else ""
    return f"{one.values[place]:g} = {label}" if label else f"{one.values[place]:g}"


def _values(column: pl.Series) -> str | None:
    """Those that occur where they are few words; the range of numbers."""
    known = column.drop_nulls()
    if known.is_empty():
        return None
    if column.dtype.is_numeric():
        numbers = known.to_list()
        return f"{min(numbers):g} to {max(numbers):g}"
    words = sorted(known.unique().to_list(), key=str)
    if len(words) > _MOST_VALUES or any(len(str(one)) > 60 for one in words):
        return None
    return "; ".join(str(one) for one in words)
