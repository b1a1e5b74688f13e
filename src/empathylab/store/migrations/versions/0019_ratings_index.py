"""One index of ratings less: the unique one begins with the rater, too."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.drop_index("ix_ratings_rater_id", table_name="ratings")
