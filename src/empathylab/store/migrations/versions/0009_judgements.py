"""Judges: what models say of responses, and which of two they prefer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _create_judgements()
    _create_preferences()


def _refers(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
    )


def _reference(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, ROW_ID, nullable=nullable)


def _asked() -> list[sa.Column[object]]:
    """The columns that both tables end with: how it was asked, and what became of it."""
    return [
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
    ]


def _create_judgements() -> None:
    name = "judgements"
    op.create_table(
        name,
        sa.Column("id", ROW_ID, nullable=False),
        _reference("answer_id"),
        _reference("study_id", nullable=True),
        _reference("response_id"),
        sa.Column("setup", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("probabilities", DOCUMENT, nullable=True),
        sa.Column("expected", sa.Float(), nullable=True),
        sa.Column("entropy", sa.Float(), nullable=True),
        sa.Column("mass", sa.Float(), nullable=True),
        sa.Column("said", sa.Text(), nullable=True),
        sa.Column("order_index", sa.Integer(), nullable=False),
        sa.Column("turned", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        *_asked(),
        _refers(name, "answer_id", "answers"),
        _refers(name, "study_id", "studies"),
        _refers(name, "response_id", "responses"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sa.UniqueConstraint(
            "answer_id", "dimension", name=op.f("uq_judgements_answer_id_dimension")
        ),
    )
    for column in ("study_id", "response_id"):
        op.create_index(op.f(f"ix_{name}_{column}"), name, [column])


def _create_preferences() -> None:
    name = "preferences"
    op.create_table(
        name,
        sa.Column("id", ROW_ID, nullable=False),
        _reference("answer_id"),
        _reference("study_id", nullable=True),
        _reference("first_response_id"),
        _reference("second_response_id"),
        sa.Column("setup", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("preferred", sa.Text(), nullable=True),
        sa.Column("probabilities", DOCUMENT, nullable=True),
        sa.Column("entropy", sa.Float(), nullable=True),
        sa.Column("mass", sa.Float(), nullable=True),
        sa.Column("said", sa.Text(), nullable=True),
        sa.Column("order_index", sa.Integer(), nullable=False),
        *_asked(),
        sa.CheckConstraint(
            "preferred IN ('first', 'second', 'tie')", name=op.f("ck_preferences_preferred")
        ),
        _refers(name, "answer_id", "answers"),
        _refers(name, "study_id", "studies"),
        _refers(name, "first_response_id", "responses"),
        _refers(name, "second_response_id", "responses"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_preferences")),
        sa.UniqueConstraint(
            "answer_id", "dimension", name=op.f("uq_preferences_answer_id_dimension")
        ),
    )
    for column in ("study_id", "first_response_id", "second_response_id"):
        op.create_index(op.f(f"ix_{name}_{column}"), name, [column])
