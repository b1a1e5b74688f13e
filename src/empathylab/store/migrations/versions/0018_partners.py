"""People who answer participants, and how the person who is helped feels."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    table = "live_conversations"
    op.add_column(table, sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(table, sa.Column("taken_by", sa.Text(), nullable=True))
    op.drop_index(op.f(f"ix_{table}_partner_id"), table)
    op.create_index(op.f(f"ix_{table}_partner_id"), table, ["partner_id"], unique=True)
    phases = "phase IN ('default', 'evoked', 'before', 'after', 'later')"
    evoked = "phase <> 'evoked' OR situation_id IS NOT NULL"
    with op.batch_alter_table("administrations") as batch:
        for name, rule in (("phase", phases), ("evoked_by", evoked)):
            constraint = op.f(f"ck_administrations_{name}")
            batch.drop_constraint(constraint, type_="check")
            batch.create_check_constraint(constraint, rule)
