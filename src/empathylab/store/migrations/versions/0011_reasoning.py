"""Reasoning apart from answers, what was really sent, batches; stored replies are re-checked."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import postgresql

from empathylab.models.reasoning import part_reasoning

revision = "0011"
down_revision = "0010"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("answers", sa.Column("reasoning", sa.Text(), nullable=True))
    op.add_column("answers", sa.Column("reasoning_tokens", sa.Integer(), nullable=True))
    op.add_column("answers", sa.Column("sent", DOCUMENT, nullable=True))
    _create_batches()
    _part_answers()
    changed, seen = _part_responses()
    if changed or seen:
        context.config.attributes.setdefault("notes", []).append(_note(changed, seen))


def _create_batches() -> None:
    op.create_table(
        "batches",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run_id", ROW_ID, nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("keys", DOCUMENT, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("submitted_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.CheckConstraint("status IN ('submitted', 'ended')", name=op.f("ck_batches_status")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_batches_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
        sa.UniqueConstraint("token", name=op.f("uq_batches_token")),
    )
    op.create_index(op.f("ix_batches_run_id"), "batches", ["run_id"])


# Most texts hold no tag: the database leaves those out.
_MAY_HOLD = """(lower({0}) LIKE '%<%>%' OR lower({0}) LIKE '%[%think%]%'
                OR {0} LIKE '%think▷%' OR {0} LIKE 'analysis%assistantfinal%')"""


def _part_answers() -> None:
    connection = op.get_bind()
    found = connection.execute(
        sa.text(f"SELECT id, text FROM answers WHERE {_MAY_HOLD.format('text')}")  # noqa: S608
    ).all()
    for row in found:
        parted = part_reasoning(row.text)
        if parted.reasoning is None:
            continue
        connection.execute(
            sa.text(
                "UPDATE answers SET text = :text, reasoning = :reasoning, "
                "reasoning_tokens = :tokens WHERE id = :id"
            ),
            {
                "id": row.id,
                "text": parted.text,
                "reasoning": parted.reasoning,
                "tokens": len(parted.reasoning) // 4 + 1,
            },
        )


def _part_responses() -> tuple[int, int]:
    """How many replies were changed, and how many were left because raters have seen them."""
    connection = op.get_bind()
    seen: set[Any] = set()
    for table in ("shown_responses", "ratings", "judgements"):
        query = sa.text(f"SELECT DISTINCT response_id FROM {table}")  # noqa: S608
        seen.update(connection.execute(query).scalars())
    found = connection.execute(
        sa.text(
            "SELECT responses.id, responses.text, responses.outcome, answers.finish_reason "  # noqa: S608
            "FROM responses JOIN respondents ON respondents.id = responses.respondent_id "
            "LEFT JOIN answers ON answers.id = responses.answer_id "
            f"WHERE respondents.kind = 'model' AND {_MAY_HOLD.format('responses.text')}"
        )
    ).all()
    changed = kept = 0
    for row in found:
        parted = part_reasoning(row.text)
        if parted.reasoning is None:
            continue
        if row.id in seen:
            kept += 1
            continue
        changed += 1
        values = {"id": row.id, "text": parted.text, "outcome": row.outcome, "reason": None}
        if not parted.text:
            cut_off = row.finish_reason == "length"
            values["outcome"] = "reasoning_cut_off" if cut_off else "empty"
            values["reason"] = "the text was reasoning only"
        statement = "UPDATE responses SET text = :text, outcome = :outcome"
        if not parted.text:
            statement += ", reason = :reason"
        else:
            del values["reason"]
        connection.execute(sa.text(f"{statement} WHERE id = :id"), values)
    return changed, kept


def _note(changed: int, seen: int) -> str:
    note = f"Reasoning text was removed from {changed} stored replies."
    if seen:
        note += (
            f" {seen} more replies hold reasoning text but stay as they are, because raters or "
            "judges have seen them: read their ratings with that in mind."
        )
    return note
