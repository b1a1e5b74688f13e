"""Live replies and chats: conversations with participants, and their turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)


def _one_of(table: str, column: str, *values: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=op.f(f"ck_{table}_{column}"))


def _refers(
    table: str, column: str, target: str, ondelete: str = "CASCADE"
) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete=ondelete
    )


def upgrade() -> None:
    table = "live_conversations"
    op.create_table(
        table,
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("study_id", ROW_ID, nullable=False),
        sa.Column("place_id", ROW_ID, nullable=False),
        _text("step"),
        _text("author"),
        _text("label", nullable=True),
        _text("kind"),
        sa.Column("partner_id", ROW_ID, nullable=True),
        _text("state"),
        _text("reason", nullable=True),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.Column("details", DOCUMENT, nullable=False),
        _one_of(table, "kind", "model", "person", "fixed"),
        _one_of(table, "state", "waiting", "open", "ended"),
        _refers(table, "study_id", "studies"),
        _refers(table, "place_id", "places"),
        _refers(table, "partner_id", table, "SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint("place_id", "step", name=op.f(f"uq_{table}_place_id_step")),
    )
    for column in ("study_id", "partner_id"):
        op.create_index(op.f(f"ix_{table}_{column}"), table, [column])
    _create_turns("live_turns")


def _create_turns(table: str) -> None:
    conversation = "live_conversation_id"
    op.create_table(
        table,
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column(conversation, ROW_ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        _text("sender"),
        _text("text", nullable=True),
        _text("masked", nullable=True),
        _text("state"),
        _text("claim", nullable=True),
        sa.Column("claimed_until", MOMENT, nullable=True),
        _count("attempts"),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("ready_at", MOMENT, nullable=True),
        sa.Column("shown_at", MOMENT, nullable=True),
        _text("outcome", nullable=True),
        _text("reason", nullable=True),
        _text("rejected", nullable=True),
        sa.Column("findings", DOCUMENT, nullable=True),
        _text("model", nullable=True),
        _count("prompt_tokens"),
        _count("completion_tokens"),
        sa.Column("cost", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("latency", sa.Float(), nullable=True),
        _one_of(table, "sender", "participant", "respondent"),
        _one_of(table, "state", "pending", "claimed", "ready", "failed"),
        _refers(table, conversation, "live_conversations"),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint(
            conversation, "position", name=op.f(f"uq_{table}_{conversation}_position")
        ),
    )
    op.create_index("ix_live_turns_state_claimed_until", table, ["state", "claimed_until"])
