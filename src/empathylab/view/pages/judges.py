"""Where judges disagree with people, the largest differences first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import polars as pl
from sqlalchemy import Connection

from empathylab.analysis.judges.disagreements import disagreement_by_judge, judge_disagreements
from empathylab.errors import UserError
from empathylab.store.judged_responses import study_names
from empathylab.store.listings import judges as listings
from empathylab.store.listings.pages import Listing, Row
from empathylab.store.listings.replies import replies_by_id
from empathylab.store.listings.studies import find_study
from empathylab.view.pages.replies import situation_link
from empathylab.view.pages.studies import hidden_sentence
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table, fixed_table
from empathylab.view.visits import Visit, required

_EMPTY = (
    "No judge has rated replies that people also rated. Replies that an open study shows are left "
    "out."
)


def _judge_link(row: Row) -> str:
    if row["study"]:
        return f"/judges/{row['study']}"
    return "/runs?" + urlencode({"protocol": "judge", "respondent": row["judge"]})


def show_judges(visit: Visit) -> Page:
    """Judges by study, with how much they have judged."""

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_judges(connection, offset=offset, limit=limit)

    columns = (
        Column("judge", "Judge", href=_judge_link),
        Column("study_name", "Study"),
        Column("status", "Status", "status"),
        Column("judgements", "Judgements", "number"),
        Column("unusable", "Unusable", "number"),
    )
    empty = "No judge has rated replies yet. To ask one, run: empathylab judge"
    return Page("Judges", "judges", (Table("judges", "Judges", columns, read, empty=empty),))


def show_disagreements(visit: Visit) -> Page:
    """The differences between judges and people in a closed study."""
    number = visit.number("study")
    study = required(find_study(visit.connection, number))
    values: dict[str, Any] = {"study": study, "hidden": hidden_sentence(study)}
    if values["hidden"]:
        return Page(f"Judges of {study['name']}", "disagreements", (), values)
    try:
        differences = judge_disagreements(visit.lab, study_names(visit.lab)[number])
    except UserError as error:
        values["hidden"] = str(error)
        return Page(f"Judges of {study['name']}", "disagreements", (), values)
    summary = fixed_table(
        "by_judge",
        "How far each judge is from people",
        (
            Column("judge", "Judge", href=_only_judge),
            Column("dimension", "Dimension"),
            Column("size", "Mean absolute difference", "number", digits=2),
            Column("bias", "Mean difference", "change"),
            Column("replies", "Replies", "number"),
        ),
        disagreement_by_judge(differences).to_dicts(),
    )
    names = ("judge", "dimension")
    values["choices"] = {name: differences[name].unique().sort().to_list() for name in names}
    for name in names:
        if asked := visit.asked(name):
            differences = differences.filter(pl.col(name) == asked)
    labels = _point_labels(study["protocol"])

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        rows = differences.slice(offset, limit).to_dicts()
        replies = replies_by_id(connection, [row["response"] for row in rows])
        described = [
            {
                **replies.get(row["response"], {}),
                **row,
                "judge_label": labels.get((row["dimension"], row["judge_rating"])),
                "people_label": labels.get((row["dimension"], row["people_rating"])),
            }
            for row in rows
        ]
        return Listing(described, differences.height)

    columns = (
        Column("difference", "Difference", "change"),
        Column("judge_rating", "Judge's rating", "points", note="judge_label"),
        Column("people_rating", "People's rating", "points", note="people_label"),
        Column("raters", "Raters", "number"),
        Column("text", "Reply", href=lambda row: f"/replies/{row['response']}"),
        Column("judge", "Judge", note="dimension"),
        Column("respondent", "Respondent", "respondent"),
        Column("situation", "Situation", href=situation_link, note="emotion"),
    )
    table = Table(
        "disagreements", "Differences between judges and people", columns, read, empty=_EMPTY
    )
    return Page(f"Judges of {study['name']}", "disagreements", (summary, table), values)


def _only_judge(row: Row) -> str:
    return f"?{urlencode({'judge': row['judge'], 'dimension': row['dimension']})}#disagreements"


def _point_labels(protocol: Mapping[str, Any]) -> dict[tuple[str, float], str]:
    """By dimension and point, what raters read, such as Bad, Okay or Good."""
    return {
        (dimension["name"], point): label
        for dimension in protocol.get("dimensions", ())
        for point, label in zip(
            dimension.get("values") or (), dimension.get("labels") or (), strict=False
        )
    }
