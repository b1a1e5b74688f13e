"""Where judges disagree with people, the largest differences first."""

from __future__ import annotations

from sqlalchemy import Connection

from empathylab.analysis.judges.disagreements import judge_disagreements
from empathylab.errors import UserError
from empathylab.store.judged_responses import study_names
from empathylab.store.listings import judges as listings
from empathylab.store.listings.pages import Listing
from empathylab.store.listings.replies import replies_by_id
from empathylab.store.listings.studies import find_study
from empathylab.view.pages.studies import hidden_sentence
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table
from empathylab.view.visits import Visit, required

_EMPTY = "No judge has rated replies that people also rated."


def show_judges(visit: Visit) -> Page:
    """Judges by study, with how much they have judged."""

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_judges(connection, offset=offset, limit=limit)

    columns = (
        Column("judge", "Judge", href=lambda row: row["study"] and f"/judges/{row['study']}"),
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
    values = {"study": study, "hidden": hidden_sentence(study), "judges": []}
    if values["hidden"]:
        return Page(f"Judges of {study['name']}", "disagreements", (), values)
    try:
        found = judge_disagreements(visit.lab, study_names(visit.lab)[number])
    except UserError as error:
        values["hidden"] = str(error)
        return Page(f"Judges of {study['name']}", "disagreements", (), values)
    judges = found["judge"].unique(maintain_order=True).sort().to_list() if found.height else []
    asked = visit.asked("judge")
    shown = found.filter(judge=asked) if asked and found.height else found

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        rows = shown.slice(offset, limit).to_dicts()
        replies = replies_by_id(connection, [row["response"] for row in rows])
        return Listing([{**replies.get(row["response"], {}), **row} for row in rows], shown.height)

    columns = (
        Column("difference", "Judge minus people", "points"),
        Column("judge_rating", "Judge", "points"),
        Column("people_rating", "People", "points"),
        Column("raters", "Raters", "number"),
        Column("text", "Reply", href=lambda row: f"/replies/{row['response']}"),
        Column("judge", "By"),
        Column("dimension", "Dimension"),
        Column("respondent", "Respondent"),
        Column("situation", "Situation"),
        Column("emotion", "Emotion"),
    )
    table = Table(
        "disagreements", "Differences between judges and people", columns, read, empty=_EMPTY
    )
    values["judges"] = judges
    return Page(f"Judges of {study['name']}", "disagreements", (table,), values)
