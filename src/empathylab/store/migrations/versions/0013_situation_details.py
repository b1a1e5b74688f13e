"""Situations that are pleasant and unpleasant at once, and what else is known of a situation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"

DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("situations") as batch:
        batch.drop_constraint(op.f("ck_situations_valence"), type_="check")
        batch.create_check_constraint(
            op.f("ck_situations_valence"), "valence IN ('positive', 'negative', 'mixed')"
        )
        batch.add_column(sa.Column("details", DOCUMENT, nullable=True))
