"""Alembic's entry: migrates the connection that the store hands over."""

from __future__ import annotations

from alembic import context

from empathylab.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
