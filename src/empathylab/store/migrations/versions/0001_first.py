"""Situations, respondents, scales, runs and what they bring."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "respondents",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("details", DOCUMENT, nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.CheckConstraint("kind IN ('model', 'human')", name=op.f("ck_respondents_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_respondents")),
        sa.UniqueConstraint("name", name=op.f("uq_respondents_name")),
    )
    op.create_table(
        "scales",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("definition", DOCUMENT, nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scales")),
        sa.UniqueConstraint(
            "name", "version", "fingerprint", name=op.f("uq_scales_name_version_fingerprint")
        ),
    )
    op.create_table(
        "situation_sets",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("validated", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_situation_sets")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_situation_sets_name_version")),
    )
    op.create_table(
        "runs",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("respondent_id", ROW_ID, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("fresh", sa.Boolean(), nullable=False),
        sa.Column("settings", DOCUMENT, nullable=False),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("software", sa.Text(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["respondent_id"],
            ["respondents.id"],
            name=op.f("fk_runs_respondent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint(
            "fingerprint", "generation", name=op.f("uq_runs_fingerprint_generation")
        ),
    )
    op.create_index(op.f("ix_runs_respondent_id"), "runs", ["respondent_id"], unique=False)
    op.create_table(
        "situations",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("situation_set_id", ROW_ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("emotion", sa.Text(), nullable=False),
        sa.Column("factor", sa.Text(), nullable=True),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("valence", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("utterance", sa.Text(), nullable=True),
        sa.Column("counterpart", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "valence IN ('positive', 'negative')", name=op.f("ck_situations_valence")
        ),
        sa.ForeignKeyConstraint(
            ["situation_set_id"],
            ["situation_sets.id"],
            name=op.f("fk_situations_situation_set_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_situations")),
        sa.UniqueConstraint(
            "situation_set_id", "key", name=op.f("uq_situations_situation_set_id_key")
        ),
    )
    op.create_index(op.f("ix_situations_emotion"), "situations", ["emotion"], unique=False)
    op.create_table(
        "answers",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run_id", ROW_ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("messages", DOCUMENT, nullable=False),
        sa.Column("parameters", DOCUMENT, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("finish_reason", sa.Text(), nullable=True),
        sa.Column("reported_model", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("latency", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("logprobs", DOCUMENT, nullable=True),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("answered_at", MOMENT, nullable=False),
        sa.Column("reused_from", ROW_ID, nullable=True),
        sa.ForeignKeyConstraint(
            ["reused_from"],
            ["answers.id"],
            name=op.f("fk_answers_reused_from"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_answers_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint("run_id", "key", name=op.f("uq_answers_run_id_key")),
    )
    op.create_index(op.f("ix_answers_fingerprint"), "answers", ["fingerprint"], unique=False)
    op.create_table(
        "failures",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run_id", ROW_ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failed_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_failures_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failures")),
    )
    op.create_index(op.f("ix_failures_run_id"), "failures", ["run_id"], unique=False)
    op.create_table(
        "administrations",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("respondent_id", ROW_ID, nullable=False),
        sa.Column("scale_id", ROW_ID, nullable=False),
        sa.Column("situation_id", ROW_ID, nullable=True),
        sa.Column("answer_id", ROW_ID, nullable=True),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("counterpart", sa.Boolean(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("order_index", sa.Integer(), nullable=False),
        sa.Column("item_order", DOCUMENT, nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.CheckConstraint(
            "phase = 'default' OR situation_id IS NOT NULL",
            name=op.f("ck_administrations_evoked_by"),
        ),
        sa.CheckConstraint("phase IN ('default', 'evoked')", name=op.f("ck_administrations_phase")),
        sa.ForeignKeyConstraint(
            ["answer_id"],
            ["answers.id"],
            name=op.f("fk_administrations_answer_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["respondent_id"],
            ["respondents.id"],
            name=op.f("fk_administrations_respondent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scale_id"],
            ["scales.id"],
            name=op.f("fk_administrations_scale_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["situation_id"],
            ["situations.id"],
            name=op.f("fk_administrations_situation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_administrations")),
        sa.UniqueConstraint("answer_id", name=op.f("uq_administrations_answer_id")),
    )
    op.create_index(
        op.f("ix_administrations_respondent_id"), "administrations", ["respondent_id"], unique=False
    )
    op.create_index(
        op.f("ix_administrations_scale_id"), "administrations", ["scale_id"], unique=False
    )
    op.create_index(
        op.f("ix_administrations_situation_id"), "administrations", ["situation_id"], unique=False
    )
    op.create_table(
        "responses",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("situation_id", ROW_ID, nullable=False),
        sa.Column("respondent_id", ROW_ID, nullable=False),
        sa.Column("answer_id", ROW_ID, nullable=True),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name=op.f("fk_responses_answer_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["respondent_id"],
            ["respondents.id"],
            name=op.f("fk_responses_respondent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["situation_id"],
            ["situations.id"],
            name=op.f("fk_responses_situation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_responses")),
        sa.UniqueConstraint("answer_id", name=op.f("uq_responses_answer_id")),
    )
    op.create_index(
        op.f("ix_responses_respondent_id"), "responses", ["respondent_id"], unique=False
    )
    op.create_index(op.f("ix_responses_situation_id"), "responses", ["situation_id"], unique=False)
    op.create_table(
        "item_answers",
        sa.Column("administration_id", ROW_ID, nullable=False),
        sa.Column("item", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["administration_id"],
            ["administrations.id"],
            name=op.f("fk_item_answers_administration_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("administration_id", "item", name=op.f("pk_item_answers")),
    )
