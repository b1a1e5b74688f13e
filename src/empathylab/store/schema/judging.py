"""The tables of judges: what models say of responses, apart from what people say."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, Table, UniqueConstraint

from empathylab.store.schema.columns import (
    Document,
    Moment,
    RowId,
    metadata,
    one_of,
    refers_to,
    row_number,
    text_column,
)

# One row for each answer and dimension, also where the answer could not be used.
judgements = Table(
    "judgements",
    metadata,
    row_number(),
    refers_to("answers", index=False),
    # None where the responses were judged as replies to a set, not as those of a study.
    refers_to("studies", nullable=True),
    refers_to("responses"),
    # A hash of how the judge was asked: only judgements of one setup belong together.
    text_column("setup"),
    text_column("dimension"),
    Column("value", Float, nullable=True),
    text_column("label", nullable=True),
    # Where the judge's alternatives are known: their shares by point, the expectation, the entropy
    # in bits, and how much of the probability all points together had.
    Column("probabilities", Document, nullable=True),
    Column("expected", Float, nullable=True),
    Column("entropy", Float, nullable=True),
    Column("mass", Float, nullable=True),
    # The judge's own reason, where it was asked for one.
    text_column("said", nullable=True),
    Column("order_index", Integer, nullable=False),
    Column("turned", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    text_column("outcome"),
    text_column("reason", nullable=True),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("answer_id", "dimension"),
)


def _response(place: str) -> Column[int]:
    reference = ForeignKey("responses.id", ondelete="CASCADE")
    return Column(f"{place}_response_id", RowId, reference, nullable=False, index=True)


# Which of two replies to one situation; each pair is asked in both orders.
preferences = Table(
    "preferences",
    metadata,
    row_number(),
    refers_to("answers", index=False),
    refers_to("studies", nullable=True),
    _response("first"),
    _response("second"),
    text_column("setup"),
    text_column("dimension"),
    text_column("preferred", nullable=True),
    Column("probabilities", Document, nullable=True),
    Column("entropy", Float, nullable=True),
    Column("mass", Float, nullable=True),
    text_column("said", nullable=True),
    Column("order_index", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    text_column("outcome"),
    text_column("reason", nullable=True),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("answer_id", "dimension"),
    one_of("preferred", "first", "second", "tie"),
)
