"""When a run was used last, so that a report shows what its reader has just asked for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("runs", sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE runs SET last_used_at = started_at")
