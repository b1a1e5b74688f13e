"""Studies with people: raters, studies, arms, ratings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "raters",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("details", DOCUMENT, nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.CheckConstraint("kind IN ('person', 'model')", name=op.f("ck_raters_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raters")),
        sa.UniqueConstraint("name", name=op.f("uq_raters_name")),
    )
    op.create_table(
        "studies",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("protocol", DOCUMENT, nullable=False),
        sa.Column("protocol_hash", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.CheckConstraint(
            "status IN ('draft', 'open', 'paused', 'closed')", name=op.f("ck_studies_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
        sa.UniqueConstraint("name", name=op.f("uq_studies_name")),
    )
    op.create_table(
        "arms",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("study_id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("respondent_id", ROW_ID, nullable=True),
        sa.ForeignKeyConstraint(
            ["respondent_id"],
            ["respondents.id"],
            name=op.f("fk_arms_respondent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_arms_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arms")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_arms_study_id_name")),
    )
    op.create_index(op.f("ix_arms_respondent_id"), "arms", ["respondent_id"], unique=False)
    op.create_table(
        "ratings",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("rater_id", ROW_ID, nullable=False),
        sa.Column("response_id", ROW_ID, nullable=False),
        sa.Column("arm_id", ROW_ID, nullable=True),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("rated_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["arm_id"], ["arms.id"], name=op.f("fk_ratings_arm_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name=op.f("fk_ratings_rater_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["responses.id"],
            name=op.f("fk_ratings_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ratings")),
        sa.UniqueConstraint(
            "rater_id",
            "response_id",
            "dimension",
            name=op.f("uq_ratings_rater_id_response_id_dimension"),
        ),
    )
    op.create_index(op.f("ix_ratings_arm_id"), "ratings", ["arm_id"], unique=False)
    op.create_index(op.f("ix_ratings_rater_id"), "ratings", ["rater_id"], unique=False)
    op.create_index(op.f("ix_ratings_response_id"), "ratings", ["response_id"], unique=False)
