"""Responses side by side, found by words and filters, and two of them word by word."""

from __future__ import annotations

from sqlalchemy import Connection

from empathylab.analysis.text.names import name_of
from empathylab.store.listings import replies as listings
from empathylab.store.listings.judges import list_judgements
from empathylab.store.listings.pages import Listing, Row
from empathylab.store.listings.replies import ReplyFilter
from empathylab.store.listings.search import search_terms
from empathylab.store.listings.search_index import count_waiting
from empathylab.store.listings.studies import list_ratings
from empathylab.view.rendering import Page
from empathylab.view.tables import Column, Table, whole_number
from empathylab.view.visits import Visit, required
from empathylab.view.word_diff import word_diff

_SIDE_BY_SIDE = 12


def _wanted(visit: Visit) -> ReplyFilter:
    return ReplyFilter(
        query=visit.asked("q"),
        respondent=visit.asked("respondent"),
        situation_set=visit.asked("set"),
        emotion=visit.asked("emotion"),
        outcome=visit.asked("outcome"),
    )


def situation_link(row: Row) -> str:
    """The page of the situation that the row's reply answers."""
    return f"/situations/{row['situation_id']}"


_REPLY_COLUMNS = (
    Column(
        "respondent", "Respondent", "respondent", href=lambda row: f"/replies/{row['response']}"
    ),
    Column("set", "Set"),
    Column("situation", "Situation", href=situation_link),
    Column("emotion", "Emotion"),
    Column("sample", "Sample", "number"),
    Column("outcome", "Outcome", "outcome"),
    Column("reason", "Why"),
    Column("text", "Reply"),
    Column("response", "Response"),
)


def _replies_table(wanted: ReplyFilter, situation: int | None = None, size: int = 20) -> Table:
    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return listings.list_replies(
            connection, wanted, situation=situation, offset=offset, limit=limit
        )

    return Table("replies", "Replies", _REPLY_COLUMNS, read, size=size)


def show_replies(visit: Visit) -> Page:
    """Situations with replies; with words or a filter on replies, the replies that fit."""
    wanted = _wanted(visit)
    choices = listings.reply_choices(visit.connection)
    terms = search_terms(wanted.query)
    unsearched = count_waiting(visit.connection) if wanted.query else 0
    indexing = bool(unsearched) and visit.index_replies()
    values = {
        "choices": choices,
        "words": [word for term in terms for word in term.words],
        "no_words": bool(wanted.query) and not terms,
        "unsearched": unsearched,
        "indexing": indexing,
        "finds_all": visit.connection.dialect.name == "postgresql",
    }
    if indexing:
        return Page("Replies", "replies", (), values, live=True)
    if wanted.of_replies:
        return Page("Replies", "replies", (_replies_table(wanted),), values)

    def read(connection: Connection, offset: int, limit: int, *, whole: bool = False) -> Listing:
        return listings.list_situations(connection, wanted, offset=offset, limit=limit, whole=whole)

    columns = (
        Column("key", "Situation", href=lambda row: f"/situations/{row['situation']}"),
        Column("set", "Set"),
        Column("emotion", "Emotion"),
        Column("text", "Text"),
        Column("replies", "Replies", "number"),
    )
    empty = "This lab has no replies yet. To collect some, run: empathylab respond"
    table = Table(
        "situations", "Situations with replies", columns, read, cuts=True, size=25, empty=empty
    )
    return Page("Replies", "replies", (table,), values)


def show_situation(visit: Visit) -> Page:
    """One situation with the replies to it, side by side."""
    number = visit.number("situation")
    situation = required(listings.find_situation(visit.connection, number))
    wanted = _wanted(visit)
    table = _replies_table(wanted, situation=number, size=_SIDE_BY_SIDE)
    values = {"situation": situation, "words": []}
    return Page(situation["title"] or situation["key"], "situation", (table,), values)


def show_reply(visit: Visit) -> Page:
    """One reply in full."""
    reply = required(listings.find_reply(visit.connection, visit.number("response")))
    situation = required(listings.find_situation(visit.connection, reply["situation_id"]))
    tables = (_ratings_table(reply["response"]), _judgements_table(reply["response"]))
    values = {"reply": reply, "situation": situation}
    return Page(f"Reply by {name_of(reply['respondent'])}", "reply", tables, values)


def _ratings_table(response: int) -> Table:
    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return list_ratings(connection, response=response, offset=offset, limit=limit)

    columns = (
        Column("rater", "Rater", href=lambda row: f"/raters/{row['rater_id']}"),
        Column("study_name", "Study", href=lambda row: f"/studies/{row['study']}"),
        Column("dimension", "Dimension"),
        Column("value", "Rating", "points", note="label"),
    )
    return Table("ratings", "Ratings", columns, read)


def _judgements_table(response: int) -> Table:
    def read(connection: Connection, offset: int, limit: int) -> Listing:
        return list_judgements(connection, response, offset=offset, limit=limit)

    columns = (
        Column("judge", "Judge", href=lambda row: f"/answers/{row['answer']}"),
        Column("study_name", "Study"),
        Column("dimension", "Dimension"),
        Column("value", "Rating", "points", note="label"),
        Column("said", "Judge's reason"),
        Column("outcome", "Outcome", "outcome", note="reason"),
    )
    return Table("judgements", "Judges' ratings", columns, read, size=500, paged=False)


def show_diff(visit: Visit) -> Page:
    """Two replies compared word by word."""
    replies = [
        required(listings.find_reply(visit.connection, required(whole_number(visit.asked(name)))))
        for name in ("first", "second")
    ]
    diff = word_diff(replies[0]["text"], replies[1]["text"])
    sides = list(zip(replies, (diff.first, diff.second), strict=True))
    return Page("Two replies compared word by word", "diff", (), {"sides": sides, "diff": diff})
