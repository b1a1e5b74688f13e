"""Conversations: personas, who talked with whom, and every turn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _create_personas()
    _create_conversations()
    _create_turns()


def _refers(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
    )


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _create_personas() -> None:
    columns = ("collection", "key", "language", "fingerprint")
    op.create_table(
        "personas",
        sa.Column("id", ROW_ID, nullable=False),
        *(_text(name) for name in columns),
        sa.Column("definition", DOCUMENT, nullable=False),
        sa.Column("validated", sa.Boolean(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_personas")),
        sa.UniqueConstraint(*columns, name=op.f(f"uq_personas_{'_'.join(columns)}")),
    )


def _create_conversations() -> None:
    name = "conversations"
    op.create_table(
        name,
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run_id", ROW_ID, nullable=True),
        sa.Column("import_id", ROW_ID, nullable=True),
        _text("key"),
        sa.Column("respondent_id", ROW_ID, nullable=False),
        _text("simulator", nullable=True),
        sa.Column("persona_id", ROW_ID, nullable=True),
        _text("language", nullable=True),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("start", sa.Float(), nullable=True),
        sa.Column("final", sa.Float(), nullable=True),
        sa.Column("success_at", sa.Float(), nullable=True),
        sa.Column("failure_below", sa.Float(), nullable=True),
        sa.Column("exchanges", sa.Integer(), nullable=False),
        _text("outcome"),
        _text("reason", nullable=True),
        _text("ended_by", nullable=True),
        sa.Column("details", DOCUMENT, nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
        _refers(name, "run_id", "runs"),
        _refers(name, "import_id", "imports"),
        _refers(name, "respondent_id", "respondents"),
        _refers(name, "persona_id", "personas"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sa.UniqueConstraint("run_id", "key", name=op.f("uq_conversations_run_id_key")),
        sa.UniqueConstraint("import_id", "key", name=op.f("uq_conversations_import_id_key")),
    )
    for column in ("respondent_id", "persona_id"):
        op.create_index(op.f(f"ix_{name}_{column}"), name, [column])


def _create_turns() -> None:
    name = "turns"
    op.create_table(
        name,
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("conversation_id", ROW_ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        _text("role"),
        _text("text"),
        sa.Column("feeling", sa.Float(), nullable=True),
        sa.Column("state", DOCUMENT, nullable=True),
        _text("outcome"),
        _text("reason", nullable=True),
        sa.Column("answer_id", ROW_ID, nullable=True),
        sa.CheckConstraint("role IN ('person', 'respondent')", name=op.f("ck_turns_role")),
        _refers(name, "conversation_id", "conversations"),
        _refers(name, "answer_id", "answers"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "conversation_id", "position", name=op.f("uq_turns_conversation_id_position")
        ),
    )
    op.create_index(op.f("ix_turns_answer_id"), name, ["answer_id"])
