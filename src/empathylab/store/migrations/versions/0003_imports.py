"""Published data: imports, and which person an administration belongs to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "imports",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("summary", DOCUMENT, nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint("kind", "source", name=op.f("uq_imports_kind_source")),
    )
    op.add_column("administrations", sa.Column("subject", sa.Text(), nullable=True))
    # SQLite takes a reference only together with its column, which Alembic does not write; the
    # sentence below is the same on both databases but for the type.
    whole = "BIGINT" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    op.execute(
        f"ALTER TABLE administrations ADD COLUMN import_id {whole} "
        "CONSTRAINT fk_administrations_import_id REFERENCES imports (id)"
    )
    op.create_index(
        op.f("ix_administrations_import_id"), "administrations", ["import_id"], unique=False
    )
