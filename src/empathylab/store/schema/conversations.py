"""The tables of conversations: who talked with whom, and every turn."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Integer, Table, UniqueConstraint

from empathylab.store.schema.columns import (
    Document,
    Moment,
    metadata,
    one_of,
    refers_to,
    row_number,
    text_column,
)

# Written for a simulator to play; the same text in another language is a row of its own.
personas = Table(
    "personas",
    metadata,
    row_number(),
    text_column("collection"),
    text_column("key"),
    text_column("language"),
    text_column("fingerprint"),
    Column("definition", Document, nullable=False),
    Column("validated", Boolean, nullable=False),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("collection", "key", "language", "fingerprint"),
)

conversations = Table(
    "conversations",
    metadata,
    row_number(),
    # Where it comes from: a run of this lab, or an imported file.
    refers_to("runs", nullable=True, index=False),
    refers_to("imports", nullable=True, index=False),
    # Unique within its run or file.
    text_column("key"),
    refers_to("respondents"),
    # None where the person was a person, or nobody says who simulated them.
    text_column("simulator", nullable=True),
    refers_to("personas", nullable=True),
    text_column("language", nullable=True),
    Column("sample", Integer, nullable=False),
    # The person's feeling at the first message and after the last reply.
    Column("start", Float, nullable=True),
    Column("final", Float, nullable=True),
    Column("success_at", Float, nullable=True),
    Column("failure_below", Float, nullable=True),
    # Replies of the respondent.
    Column("exchanges", Integer, nullable=False),
    # `unfinished`, `completed`, or what went wrong.
    text_column("outcome"),
    text_column("reason", nullable=True),
    text_column("ended_by", nullable=True),
    Column("details", Document, nullable=True),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("run_id", "key"),
    UniqueConstraint("import_id", "key"),
)

turns = Table(
    "turns",
    metadata,
    row_number(),
    refers_to("conversations", index=False),
    Column("position", Integer, nullable=False),
    text_column("role"),
    text_column("text"),
    # The person's feeling when they wrote this, 0 to 100 or as the source says.
    Column("feeling", Float, nullable=True),
    # A reply's turn: the state of the simulated person after it.
    Column("state", Document, nullable=True),
    text_column("outcome"),
    text_column("reason", nullable=True),
    refers_to("answers", nullable=True),
    UniqueConstraint("conversation_id", "position"),
    one_of("role", "person", "respondent"),
)
