"""How undecided an item's answer was, where the model's distribution is known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("item_answers", sa.Column("entropy", sa.Float(), nullable=True))
