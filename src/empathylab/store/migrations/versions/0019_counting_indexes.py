"""Indexes that hold what lists count, in place of those that hold less or the same."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_index(
        "ix_ratings_arm_id_rater_id", "ratings", ["arm_id", "rater_id"], if_not_exists=True
    )
    op.create_index(
        "ix_responses_respondent_id_situation_id",
        "responses",
        ["respondent_id", "situation_id", "outcome"],
        if_not_exists=True,
    )
    op.drop_index("ix_ratings_arm_id", table_name="ratings")
    # The unique index begins with the rater, too.
    op.drop_index("ix_ratings_rater_id", table_name="ratings")
    op.drop_index("ix_responses_respondent_id", table_name="responses")
