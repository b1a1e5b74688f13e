"""Questionnaires of the person who is helped: before, after and days later."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    phases = "phase IN ('default', 'evoked', 'before', 'after', 'later')"
    evoked = "phase <> 'evoked' OR situation_id IS NOT NULL"
    with op.batch_alter_table("administrations") as batch:
        for name, rule in (("phase", phases), ("evoked_by", evoked)):
            constraint = op.f(f"ck_administrations_{name}")
            batch.drop_constraint(constraint, type_="check")
            batch.create_check_constraint(constraint, rule)
