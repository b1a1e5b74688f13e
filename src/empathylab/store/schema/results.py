"""Results of analyses, kept so that the same data need not be analysed twice."""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, Table, Text

from empathylab.store.schema.columns import Moment, metadata, text_column

cached_results = Table(
    "cached_results",
    metadata,
    # A hash of the data, the options and the code: whatever changes one of them has another key.
    Column("key", Text, primary_key=True),
    text_column("topic"),
    # Compressed JSON.
    Column("content", LargeBinary, nullable=False),
    Column("size", Integer, nullable=False),
    Column("made_at", Moment, nullable=False),
)
