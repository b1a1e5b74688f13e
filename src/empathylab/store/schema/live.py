"""The tables of live replies and chats: what participants wrote, and what they were answered.

A conversation belongs to one participant and one page of a study. A live reply is a conversation
of two turns. Two participants who talk with each other have a conversation each, which
`partner_id` ties together: each tells in their own and replies in the other's.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    UniqueConstraint,
    text,
)

from empathylab.store.schema.columns import (
    Document,
    Moment,
    RowId,
    metadata,
    one_of,
    refers_to,
    row_number,
    text_column,
)

live_conversations = Table(
    "live_conversations",
    metadata,
    row_number(),
    refers_to("studies"),
    refers_to("places", index=False),
    # The key of the page.
    text_column("step"),
    # By their names in the study file; the label is empty where the study has none.
    text_column("author"),
    text_column("label", nullable=True),
    # Who wrote the replies, or is to: a model, a person, or the study file.
    text_column("kind"),
    Column(
        "partner_id",
        RowId,
        ForeignKey("live_conversations.id", ondelete="SET NULL"),
        nullable=True,
        # Nobody is the partner of two people.
        index=True,
        unique=True,
    ),
    text_column("state"),
    # Why it ended: completed, participant, limit, safety, cap, outage, left …
    text_column("reason", nullable=True),
    Column("started_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
    # When a partner was there, for those who waited for one.
    Column("opened_at", Moment, nullable=True),
    Column("ended_at", Moment, nullable=True),
    # The confederate who answers.
    text_column("taken_by", nullable=True),
    # What else a block keeps of it, such as a role.
    Column("details", Document, nullable=False),
    UniqueConstraint("place_id", "step"),
    one_of("kind", "model", "person", "fixed"),
    one_of("state", "waiting", "open", "ended"),
)

live_turns = Table(
    "live_turns",
    metadata,
    row_number(),
    refers_to("live_conversations", index=False),
    # From 1; a position is given once, so that a turn is.
    Column("position", Integer, nullable=False),
    text_column("sender"),
    # Empty until the turn is ready.
    text_column("text", nullable=True),
    # What a model gets in place of the text; empty where nothing was masked.
    text_column("masked", nullable=True),
    text_column("state"),
    # Which process writes it, and until when no other may.
    text_column("claim", nullable=True),
    Column("claimed_until", Moment, nullable=True),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("asked_at", Moment, nullable=False),
    # Nobody sees it before.
    Column("due_at", Moment, nullable=False),
    Column("ready_at", Moment, nullable=True),
    Column("shown_at", Moment, nullable=True),
    # `valid`, or `fallback` with the reason.
    text_column("outcome", nullable=True),
    text_column("reason", nullable=True),
    # What was caught before it was shown.
    text_column("rejected", nullable=True),
    Column("findings", Document, nullable=True),
    text_column("model", nullable=True),
    Column("prompt_tokens", Integer, nullable=False, server_default=text("0")),
    Column("completion_tokens", Integer, nullable=False, server_default=text("0")),
    # In dollars; while a model is asked, the maximum cost.
    Column("cost", Float, nullable=False, server_default=text("0")),
    Column("latency", Float, nullable=True),
    UniqueConstraint("live_conversation_id", "position"),
    one_of("sender", "participant", "respondent"),
    one_of("state", "pending", "claimed", "ready", "failed"),
    Index("ix_live_turns_state_claimed_until", "state", "claimed_until"),
)
