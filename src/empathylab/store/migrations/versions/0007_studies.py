"""Studies that the lab runs itself: versions, places, answers page by page, and who did what."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)
STATUSES = (
    "'arrived', 'live', 'finished', 'abandoned', 'returned', 'timed-out', 'withdrawn', 'failed', "
    "'excluded', 'repeated'"
)
HELD = "status IN ('live', 'finished') AND world <> 'test'"


def upgrade() -> None:
    with op.batch_alter_table("studies") as batch:
        batch.drop_constraint("uq_studies_name", type_="unique")
        batch.add_column(
            sa.Column("version", sa.Integer(), nullable=False, server_default=sa.text("1"))
        )
        batch.add_column(sa.Column("secret", sa.Text(), nullable=True))
        batch.add_column(sa.Column("launched_at", MOMENT, nullable=True))
        batch.add_column(sa.Column("closed_at", MOMENT, nullable=True))
        batch.add_column(
            sa.Column("revision", sa.Integer(), nullable=False, server_default=sa.text("0"))
        )
        batch.create_unique_constraint(op.f("uq_studies_name_version"), ["name", "version"])
    with op.batch_alter_table("arms") as batch:
        batch.add_column(
            sa.Column("stopped", sa.Boolean(), nullable=False, server_default=sa.text("false"))
        )
    _create_frozen()
    _create_places()
    _create_page_answers()
    _create_people()
    _create_audit()


def _refers(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
    )


def _id() -> sa.Column[int]:
    return sa.Column("id", ROW_ID, nullable=False)


def _reference(name: str) -> sa.Column[int]:
    return sa.Column(name, ROW_ID, autoincrement=False, nullable=False)


def _create_frozen() -> None:
    op.create_table(
        "study_situations",
        _reference("study_id"),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        _reference("situation_id"),
        _refers("study_situations", "study_id", "studies"),
        _refers("study_situations", "situation_id", "situations"),
        sa.PrimaryKeyConstraint("study_id", "position", name=op.f("pk_study_situations")),
    )
    op.create_index(op.f("ix_study_situations_situation_id"), "study_situations", ["situation_id"])
    op.create_table(
        "study_scales",
        _reference("study_id"),
        sa.Column("name", sa.Text(), nullable=False),
        _reference("scale_id"),
        _refers("study_scales", "study_id", "studies"),
        _refers("study_scales", "scale_id", "scales"),
        sa.PrimaryKeyConstraint("study_id", "name", name=op.f("pk_study_scales")),
    )
    op.create_index(op.f("ix_study_scales_scale_id"), "study_scales", ["scale_id"])
    op.create_table(
        "shown_responses",
        _reference("arm_id"),
        _reference("situation_id"),
        _reference("response_id"),
        _refers("shown_responses", "arm_id", "arms"),
        _refers("shown_responses", "situation_id", "situations"),
        _refers("shown_responses", "response_id", "responses"),
        sa.PrimaryKeyConstraint("arm_id", "situation_id", name=op.f("pk_shown_responses")),
    )
    op.create_index(op.f("ix_shown_responses_response_id"), "shown_responses", ["response_id"])


def _create_places() -> None:
    op.create_table(
        "places",
        _id(),
        _reference("study_id"),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("world", sa.Text(), nullable=False),
        sa.Column("arm", sa.Text(), nullable=True),
        sa.Column("slot", sa.Integer(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("traits", DOCUMENT, nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("arrived_at", MOMENT, nullable=False),
        sa.Column("claimed_at", MOMENT, nullable=True),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("shown_step", sa.Text(), nullable=True),
        sa.Column("shown_at", MOMENT, nullable=True),
        sa.Column("draft", DOCUMENT, nullable=False),
        sa.CheckConstraint(
            "world IN ('person', 'simulated', 'test')", name=op.f("ck_places_world")
        ),
        sa.CheckConstraint(f"status IN ({STATUSES})", name=op.f("ck_places_status")),
        _refers("places", "study_id", "studies"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_places")),
        sa.UniqueConstraint(
            "study_id", "world", "person", name=op.f("uq_places_study_id_world_person")
        ),
    )
    op.create_index("ix_places_study_id_person", "places", ["study_id", "person"])
    op.create_index(
        "uq_places_held_slots",
        "places",
        ["study_id", "world", "arm", "slot"],
        unique=True,
        sqlite_where=sa.text(HELD),
        postgresql_where=sa.text(HELD),
    )


def _create_page_answers() -> None:
    op.create_table(
        "page_answers",
        _id(),
        _reference("place_id"),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("given", DOCUMENT, nullable=False),
        sa.Column("shown_at", MOMENT, nullable=False),
        sa.Column("answered_at", MOMENT, nullable=False),
        sa.Column("timing", DOCUMENT, nullable=False),
        sa.Column("corrections", sa.Integer(), nullable=False),
        _refers("page_answers", "place_id", "places"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_answers")),
        sa.UniqueConstraint("place_id", "step", name=op.f("uq_page_answers_place_id_step")),
    )


def _create_people() -> None:
    op.create_table(
        "people",
        _id(),
        _reference("study_id"),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("ids", DOCUMENT, nullable=False),
        sa.Column("told", DOCUMENT, nullable=False),
        _refers("people", "study_id", "studies"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("study_id", "person", name=op.f("uq_people_study_id_person")),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        _id(),
        _reference("study_id"),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("details", DOCUMENT, nullable=False),
        _refers("audit", "study_id", "studies"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_study_id"), "audit", ["study_id"])
