"""Situations without an emotion, draws from sets, imported replies, raters who answer scales."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    # Nothing wrote raters or ratings before this step, so they are made again.
    op.drop_table("ratings")
    op.drop_table("raters")
    _create_raters()
    _create_ratings()
    _create_selections()
    with op.batch_alter_table("situations") as batch:
        batch.alter_column("emotion", existing_type=sa.Text(), nullable=True)
        batch.add_column(sa.Column("title", sa.Text(), nullable=True))
        batch.add_column(sa.Column("context", DOCUMENT, nullable=True))
    with op.batch_alter_table("responses") as batch:
        batch.add_column(sa.Column("import_id", ROW_ID, nullable=True))
        batch.add_column(sa.Column("details", DOCUMENT, nullable=True))
        batch.create_foreign_key(
            op.f("fk_responses_import_id"), "imports", ["import_id"], ["id"], ondelete="CASCADE"
        )
        batch.create_index(op.f("ix_responses_import_id"), ["import_id"])
    with op.batch_alter_table("administrations") as batch:
        batch.alter_column("respondent_id", existing_type=ROW_ID, nullable=True)
        batch.add_column(sa.Column("rater_id", ROW_ID, nullable=True))
        batch.create_foreign_key(
            op.f("fk_administrations_rater_id"), "raters", ["rater_id"], ["id"], ondelete="CASCADE"
        )
        batch.create_index(op.f("ix_administrations_rater_id"), ["rater_id"])
        batch.create_check_constraint(
            op.f("ck_administrations_answered_by"),
            "(respondent_id IS NULL) <> (rater_id IS NULL)",
        )


def _create_raters() -> None:
    op.create_table(
        "raters",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("study_id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("details", DOCUMENT, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.CheckConstraint("kind IN ('person', 'model')", name=op.f("ck_raters_kind")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_raters_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raters")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_raters_study_id_name")),
    )


def _create_ratings() -> None:
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
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("import_id", ROW_ID, nullable=True),
        *(
            sa.ForeignKeyConstraint(
                [f"{item}_id"],
                [f"{item}s.id"],
                name=op.f(f"fk_ratings_{item}_id"),
                ondelete="CASCADE",
            )
            for item in ("arm", "rater", "response", "import")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ratings")),
        sa.UniqueConstraint(
            "rater_id",
            "response_id",
            "dimension",
            name=op.f("uq_ratings_rater_id_response_id_dimension"),
        ),
    )
    for item in ("arm", "rater", "response", "import"):
        op.create_index(op.f(f"ix_ratings_{item}_id"), "ratings", [f"{item}_id"])


def _create_selections() -> None:
    op.create_table(
        "selections",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("situation_set_id", ROW_ID, nullable=False),
        sa.Column("recipe", DOCUMENT, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["situation_set_id"],
            ["situation_sets.id"],
            name=op.f("fk_selections_situation_set_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_selections")),
        sa.UniqueConstraint("name", name=op.f("uq_selections_name")),
    )
    op.create_index(op.f("ix_selections_situation_set_id"), "selections", ["situation_set_id"])
    op.create_table(
        "selected_situations",
        sa.Column("selection_id", ROW_ID, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("situation_id", ROW_ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["selection_id"],
            ["selections.id"],
            name=op.f("fk_selected_situations_selection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["situation_id"],
            ["situations.id"],
            name=op.f("fk_selected_situations_situation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("selection_id", "position", name=op.f("pk_selected_situations")),
    )
    op.create_index(
        op.f("ix_selected_situations_situation_id"), "selected_situations", ["situation_id"]
    )
