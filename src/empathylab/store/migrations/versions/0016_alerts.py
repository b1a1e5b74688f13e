"""Alerts that researchers are sent, and the second factor of their accounts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("researchers", sa.Column("second_factor", DOCUMENT, nullable=True))
    unique = ("study_id", "kind", "key", "channel")
    states = "state IN ('pending', 'sent', 'failed', 'off')"
    op.create_table(
        "alerts",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("study_id", ROW_ID, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in unique[1:]),
        sa.Column("details", DOCUMENT, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_at", MOMENT, nullable=False),
        sa.CheckConstraint("channel IN ('email', 'webhook')", name=op.f("ck_alerts_channel")),
        sa.CheckConstraint(states, name=op.f("ck_alerts_state")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_alerts_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
        sa.UniqueConstraint(*unique, name=op.f(f"uq_alerts_{'_'.join(unique)}")),
    )
