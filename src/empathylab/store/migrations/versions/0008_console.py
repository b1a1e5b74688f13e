"""The console: researchers and their logins, invitations, messages, reviews of work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)
ROLES = "role IN ('owner', 'researcher', 'viewer')"


def upgrade() -> None:
    for table, names in (("places", ("review", "review_reason")), ("people", ("state",))):
        for name in names:
            op.add_column(table, sa.Column(name, sa.Text(), nullable=True))
    op.add_column("people", sa.Column("state_at", MOMENT, nullable=True))
    _create_accounts()
    _create_invitations()
    _create_messages()


def _create_accounts() -> None:
    op.create_table(
        "researchers",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.Column("signed_out_at", MOMENT, nullable=False),
        sa.CheckConstraint(ROLES, name=op.f("ck_researchers_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_researchers")),
        sa.UniqueConstraint("name", name=op.f("uq_researchers_name")),
    )
    op.create_table(
        "console_links",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT, nullable=True),
        sa.CheckConstraint(ROLES, name=op.f("ck_console_links_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_console_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_console_links_digest")),
    )
    op.create_table(
        "login_attempts",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_attempts")),
    )
    op.create_index("ix_login_attempts_who_at", "login_attempts", ["who", "at"])


def _create_invitations() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("study_id", ROW_ID, nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_invitations_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("study_id", "person", name=op.f("uq_invitations_study_id_person")),
    )


def _create_messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("place_id", ROW_ID, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sent_at", MOMENT, nullable=False),
        sa.Column("read_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["place_id"], ["places.id"], name=op.f("fk_messages_place_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
    )
    op.create_index(op.f("ix_messages_place_id"), "messages", ["place_id"])
