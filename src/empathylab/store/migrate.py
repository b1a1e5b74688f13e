"""Bringing a lab's database to today's schema, keeping its data.

A new one is made as the schema says; taking it through all steps would give the same, more slowly.
"""

from __future__ import annotations

import logging
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    inspect,
    text,
)

from empathylab.errors import LabError, LabTooNew
from empathylab.store.database import changing_schema, transaction, translated_errors
from empathylab.store.migrations import HEAD, ONLINE_INDEXES, ONLINE_SINCE
from empathylab.store.schema import metadata

# Without a handler of the user's own, Python writes warnings to stderr.
_LOGGER = logging.getLogger("empathylab")

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def schema_version(connection: Connection) -> str | None:
    """The lab's schema version; None for an empty database."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" not in tables:
        if tables:
            raise LabError(
                "this database belongs to another program",
                where=connection.engine.url.render_as_string(hide_password=True),
                got=f"tables {', '.join(sorted(tables)[:5])}",
                remedy="Give the lab its own database.",
            )
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def require_latest(connection: Connection, *, where: str) -> None:
    """Raises LabError where the lab has another schema than this version."""
    found = schema_version(connection) or "none"
    if found > HEAD:
        raise _too_new(found, where)
    if found != HEAD:
        raise LabError(
            "this lab was made by an older version of EmpathyLab",
            where=where,
            got=f"schema {found}, this version has {HEAD}",
            remedy=f"Run `empathylab runs list --lab {where}` once: it updates the lab and keeps "
            "its data.",
        )


def require_replica(connection: Connection) -> None:
    """Raises LabError where the replica's schema is not this version's."""
    found = schema_version(connection)
    if found != HEAD:
        raise LabError(
            "the replica does not have this lab's schema",
            where=connection.engine.url.render_as_string(hide_password=True),
            got=f"schema {found or 'none'}, this version has {HEAD}",
            remedy="Wait until it has caught up, or leave EMPATHYLAB_REPLICA_URL out.",
        )


def _too_new(found: str, where: str) -> LabTooNew:
    return LabTooNew(
        "this lab was written by a newer EmpathyLab",
        where=where,
        got=f"schema {found}, this version knows up to {HEAD}",
        remedy="Run: pip install --upgrade empathylab",
    )


def upgrade_to_latest(engine: Engine) -> bool:
    """Whether the database had to be created or migrated; it is up to date afterwards."""
    with transaction(engine, writes=False) as connection:
        if schema_version(connection) == HEAD:
            return False
        before = schema_version(connection)
    notes: list[str] = []
    if engine.dialect.name == "postgresql" and before == ONLINE_SINCE:
        _build_indexes(engine)
    with changing_schema(engine) as connection:
        if engine.dialect.name == "postgresql":
            # Two processes may open a new lab at once; SQLite's write lock settles it there.
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            # Who waits for a table keeps everybody else waiting behind it.
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
        found = schema_version(connection)
        if found is not None and found > HEAD:
            raise _too_new(found, engine.url.render_as_string(hide_password=True))
        if found is None:
            create(connection)
        else:
            notes = upgrade(connection, HEAD)
    for note in notes:
        _LOGGER.warning("%s: %s", engine.url.database, note)
    return True


def _build_indexes(engine: Engine) -> None:
    """Builds what the next step needs while others read and write; the step then finds it there."""
    with engine.connect() as connection, translated_errors(engine):
        alone = connection.execution_options(isolation_level="AUTOCOMMIT")
        alone.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
        alone.execute(text(f"SET lock_timeout = '{_LOCK_SECONDS}s'"))
        try:
            for name, on in ONLINE_INDEXES.items():
                broken = text(
                    "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:name) "
                    "AND NOT indisvalid"
                )
                if alone.execute(broken, {"name": name}).first():  # a build that was interrupted
                    alone.execute(text(f"DROP INDEX CONCURRENTLY {name}"))
                alone.execute(text(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {on}"))
        finally:
            alone.execute(text("RESET lock_timeout"))
            alone.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})


def create(connection: Connection) -> None:
    """Makes all tables in an empty database, and notes their version as Alembic does."""
    metadata.create_all(connection, checkfirst=False)
    _VERSION.create(connection, checkfirst=False)
    connection.execute(_VERSION.insert().values(version_num=HEAD))


def upgrade(connection: Connection, revision: str) -> list[str]:
    """Takes the database of that connection to a revision; what users should know of it."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    notes: list[str] = []
    config.attributes |= {"connection": connection, "notes": notes}
    command.upgrade(config, revision)
    return notes


_LOCK = 0x454D5041  # "EMPA"
_LOCK_SECONDS = 10
