"""Studies, and the raters and ratings of closed ones; an open study shows its status alone."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from empathylab.analysis.recipients.received import received_replies
from empathylab.store.listings import studies as listings
from empathylab.store.listings.pages import Listing, Row
from empathylab.store.recipients import KIND as RECIPIENTS
from empathylab.study.admin.embargo import RUNNING
from empathylab.view.pages.replies import situation_link
from empathylab.view.pages.scales import questionnaires_table
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table
from empathylab.view.visits import Visit, required

_MOST = 1_000
"""Comparisons of one rater on their page."""


def _study_link(row: Row) -> str:
    return f"/studies/{row['study']}"


def _rater_link(row: Row) -> str:
    return f"/raters/{row['rater_id']}"


def studies_table() -> Table:
    """The studies with their status."""

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_studies(connection, offset=offset, limit=limit)

    columns = (
        Column("name", "Study", href=_study_link),
        Column("version", "Version", "number"),
        Column("title", "Title"),
        Column("status", "Status", "status"),
        Column("launched_at", "Launched (UTC)", "time"),
        Column("closed_at", "Closed (UTC)", "time"),
    )
    empty = "This lab has no studies yet."
    return Table("studies", "Studies", columns, read, empty=empty)


def show_studies(visit: Visit) -> Page:
    """All studies."""
    return Page("Studies", "studies", (studies_table(),))


def show_study(visit: Visit) -> Page:
    """A closed study's raters and ratings; of any other its status alone."""
    number = visit.number("study")
    study = required(listings.find_study(visit.connection, number))
    values: dict[str, Any] = {"study": study, "hidden": hidden_sentence(study), "dimensions": []}
    if values["hidden"]:
        return Page(study["title"], "study", (), values)
    values["dimensions"] = [
        dimension["name"] for dimension in study["protocol"].get("dimensions", ())
    ]

    def read_raters(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_raters(connection, number, offset=offset, limit=limit)

    rated, compared = _asked(study["protocol"])
    values |= {"rated": rated, "compared": compared}
    ratings = (
        Column("arm", "Arm", "respondent"),
        Column("ratings", "Ratings", "number"),
        Column("mean", "Mean rating", "number", digits=2),
    )
    raters = Table(
        "raters",
        "Raters",
        (
            Column("rater", "Rater", href=_rater_link),
            Column("kind", "Kind"),
            *(ratings if rated else ()),
            *((Column("comparisons", "Comparisons", "number"),) if compared else ()),
            Column("seconds", "Time", "seconds"),
        ),
        read_raters,
        size=25,
        empty="This study has no raters.",
    )
    recipients = _recipients_table(visit.connection, study)
    values["recipients"] = recipients is not None
    view = visit.asked("view") or ("raters" if recipients is None else "recipients")
    values["view"] = view
    if view == "ratings":
        shown = _ratings_table(number, dimension=visit.asked("dimension"))
    elif view == "comparisons" and compared:
        shown = _comparisons_table(number)
    elif view == "recipients" and recipients is not None:
        shown = recipients
    else:
        shown = raters
    return Page(study["title"], "study", (shown,), values)


def _asked(protocol: Row) -> tuple[bool, bool]:
    """Whether raters rated replies, and whether they compared two; all others rated."""
    kinds = {block.get("block") for block in protocol.get("blocks", ())}
    compared = "compare" in kinds
    return not compared or "rate" in kinds, compared


def _comparisons_table(study: int, *, rater: int | None = None) -> Table:
    """Which of two replies raters chose."""

    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_comparisons(connection, study, rater=rater, offset=offset, limit=limit)

    columns = (
        Column("rater", "Rater", href=_rater_link, csv_only=rater is not None),
        Column("situation", "Situation"),
        Column("first", "Shown first", "respondent"),
        Column("second", "Shown second", "respondent"),
        Column("chosen", "Chosen", "respondent"),
    )
    alone = rater is not None  # the page of a rater has room for all, beside the ratings
    return Table(
        "comparisons", "Comparisons", columns, read, size=_MOST if alone else 50, paged=not alone
    )


def _recipients_table(connection: Connection, study: Row) -> Table | None:
    """What recipients got and said, a row per reply; None where the study has none."""
    protocol = study["protocol"]
    if not (RECIPIENTS in protocol or protocol.get("live")):
        return None
    rows = received_replies(connection, f"{study['name']}@{study['version']}")
    if not rows:
        return None
    columns = [
        Column("participant", "Participant"),
        Column("response", "Real author", "respondent"),
        Column("label", "Named author", "respondent"),
        Column("replier", "Replier"),
        Column("reply", "Reply"),
    ]
    described = {"replaced", *(column.key for column in columns)}
    columns += [
        Column(name, name.replace("_", " ").capitalize(), "points")
        for name in rows[0]
        if name not in described
    ]

    def read(_connection: Connection, offset: int, limit: int) -> Listing:
        return Listing(rows[offset : offset + limit], len(rows))

    return Table("recipients", "Recipients", columns, read, size=25)


def hidden_sentence(study: Row) -> str:
    """Why nothing of the study is shown; empty where it is closed."""
    if study["status"] == "closed":
        return ""
    if study["status"] in RUNNING:
        return (
            f"The study is {study['status']}. Raters and ratings are shown once it is closed, so "
            "that early results do not affect decisions and nobody can see who is in which arm."
        )
    return "The study has not been launched."


def show_rater(visit: Visit) -> Page:
    """One rater of a closed study, with all ratings."""
    rater = required(listings.find_rater(visit.connection, visit.number("rater")))
    details = [
        (name.replace("_", " ").capitalize(), value)
        for name, value in (rater["details"] or {}).items()
        if name != "marks"
    ]
    number, study = rater["rater_id"], rater["study"]
    values = {"rater": rater, "details": details}
    tables = (
        questionnaires_table(visit.connection, number),
        _comparisons_table(study, rater=number),
        _ratings_table(study, rater=number),
    )
    return Page(f"Rater {rater['rater']}", "rater", tables, values)


def _ratings_table(study: int, *, rater: int | None = None, dimension: str = "") -> Table:
    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_ratings(
            connection,
            study=study,
            rater=rater,
            dimension=dimension,
            offset=offset,
            limit=limit,
        )

    columns = (
        Column("rater", "Rater", href=_rater_link, csv_only=rater is not None),
        Column("arm", "Arm", "respondent"),
        Column("situation", "Situation", href=situation_link, note="emotion"),
        Column("dimension", "Dimension"),
        Column("value", "Rating", "points", note="label"),
        Column("seconds", "Time", "seconds"),
        Column("text", "Reply", href=lambda row: f"/replies/{row['response']}"),
    )
    return Table("ratings", "Ratings", columns, read, empty="This study has no ratings.")
