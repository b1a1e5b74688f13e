"""Scale administrations, item by item."""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection

from empathylab.analysis.text.names import name_of
from empathylab.scales import Scale, scale_from_dict
from empathylab.scales.scoring import score
from empathylab.store.listings import administrations as listings
from empathylab.store.listings.pages import Listing, Row
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table, fixed_table
from empathylab.view.visits import Visit, required

_SCORE_COLUMNS = (
    Column("subscale", "Subscale"),
    Column("value", "Score", "points"),
    Column("items", "Items", "number"),
    Column("missing", "Missing", "number"),
)


def show_administrations(visit: Visit) -> Page:
    """All administrations."""
    asked = {name: visit.asked(name) for name in ("respondent", "scale", "phase", "outcome")}

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        listing = listings.list_administrations(connection, **asked, offset=offset, limit=limit)
        named = [{**row, "phase": _phase(row)} for row in listing.rows]
        return Listing(named, listing.total)

    columns = (
        Column("administration", "Number", href=lambda row: f"/scales/{row['administration']}"),
        Column("respondent", "Respondent", "respondent"),
        Column("subject", "Person"),
        Column("scale", "Scale"),
        Column("phase", "Phase"),
        Column("situation", "Situation", note="emotion"),
        Column("mode", "Mode"),
        Column("outcome", "Outcome", "outcome", note="reason"),
    )
    empty = "No scale has been answered yet. To ask a model, run: empathylab appraise"
    table = Table("administrations", "Scale administrations", columns, read, empty=empty)
    choices = listings.administration_choices(visit.connection)
    return Page("Scales", "scales", (table,), {"choices": choices})


def _phase(row: Row) -> str:
    named = {"default": "baseline", "evoked": "after a situation"}
    return named.get(row["phase"], str(row["phase"]))


def show_administration(visit: Visit) -> Page:
    """One administration: every item and the scores."""
    number = visit.number("administration")
    administration = required(listings.find_administration(visit.connection, number))
    scale = _scale(administration)
    answers = {row["item"]: row for row in listings.administration_items(visit.connection, number)}
    items = fixed_table(
        "items",
        "Items",
        (
            Column("item", "Item", "number"),
            Column("words", "Wording"),
            Column("position", "Position", "number"),
            Column("answer", "Answer", "points"),
            Column("anchor", "Label"),
            Column("reversed", "Reversed"),
            Column("subscales", "Subscales"),
            Column("entropy", "Entropy (bits)", "number", digits=2),
        ),
        _items(scale, answers, list(administration["item_order"] or ())),
    )
    scores = fixed_table(
        "scores",
        "Scores",
        _SCORE_COLUMNS,
        _scores(scale, {item: row["value"] for item, row in answers.items()}),
    )
    values = {"administration": {**administration, "phase": _phase(administration)}, "scale": scale}
    respondent = name_of(administration["respondent"])
    title = f"{administration['scale'].upper()} answered by {respondent}"
    return Page(title, "administration", (scores, items), values)


def questionnaires_table(connection: Connection, rater: int) -> Table:
    """The scores of the questionnaires that a rater filled in about themselves."""
    rows = []
    answers = listings.rater_questionnaires(connection, rater)
    for _, group in groupby(answers, key=itemgetter("administration")):
        items = list(group)
        named = {"scale": items[0]["scale"].upper(), "phase": _phase(items[0])}
        scores = _scores(_scale(items[0]), {row["item"]: row["value"] for row in items})
        rows += [{**named, **scored} for scored in scores]
    columns = (Column("scale", "Scale"), Column("phase", "Phase"), *_SCORE_COLUMNS)
    return fixed_table("questionnaires", "Questionnaires", columns, rows)


def _scale(row: Row) -> Scale:
    definition = row["definition"]
    return scale_from_dict(json.loads(definition) if isinstance(definition, str) else definition)


def _items(scale: Scale, answers: dict[int, Row], order: list[int]) -> list[dict[str, Any]]:
    positions = {item: place for place, item in enumerate(order, start=1)}
    rows = []
    for item in range(1, scale.items + 1):
        given = answers.get(item)
        value = None if given is None else given["value"]
        label = "" if value is None or value != int(value) else scale.anchors.get(int(value), "")
        rows.append(
            {
                "item": item,
                "words": scale.words[item - 1] if scale.words else "",
                "position": positions.get(item),
                "answer": value,
                "anchor": label,
                "reversed": "yes" if item in scale.reversed else "",
                "subscales": ", ".join(part.id for part in scale.subscales if item in part.items),
                "entropy": None if given is None else given["entropy"],
            }
        )
    return rows


def _scores(scale: Scale, values: dict[int, float]) -> list[dict[str, Any]]:
    if not values:
        return []
    return [
        {
            "subscale": scored.subscale,
            "value": scored.value,
            "items": scored.items,
            "missing": scored.missing,
        }
        for scored in score(scale, values)
    ]
