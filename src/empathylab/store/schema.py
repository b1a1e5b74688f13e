"""The lab's tables. Each change here comes with a migration; a test compares the two."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Moment(TypeDecorator[datetime]):
    """A time with a zone, kept as UTC; SQLite itself would forget the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# SQLite numbers rows by itself only where the key is a plain INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")
Document = JSON().with_variant(JSONB(), "postgresql")


def _id() -> Column[int]:
    return Column("id", RowId, primary_key=True)


def _to(target: str, *, nullable: bool = False, index: bool = True, **options: Any) -> Column[int]:
    name = f"{target[:-1] if target != 'studies' else 'study'}_id"
    reference = ForeignKey(f"{target}.id", ondelete="CASCADE")
    return Column(name, RowId, reference, nullable=nullable, index=index, **options)


def _key(name: str, target: str) -> Column[int]:
    reference = ForeignKey(f"{target}.id", ondelete="CASCADE")
    return Column(name, RowId, reference, primary_key=True, autoincrement=False)


def _text(name: str, *, nullable: bool = False, **options: Any) -> Column[str]:
    return Column(name, Text, nullable=nullable, **options)


def _one_of(column: str, *values: str) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


situation_sets = Table(
    "situation_sets",
    metadata,
    _id(),
    _text("name"),
    Column("version", Integer, nullable=False),
    _text("title"),
    _text("language"),
    _text("licence"),
    Column("validated", Boolean, nullable=False),
    _text("description"),
    _text("fingerprint"),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("name", "version"),
)

situations = Table(
    "situations",
    metadata,
    _id(),
    _to("situation_sets", index=False),
    _text("key"),
    _text("emotion", nullable=True, index=True),
    _text("factor", nullable=True),
    _text("topic", nullable=True),
    _text("valence", nullable=True),
    _text("text"),
    _text("utterance", nullable=True),
    _text("counterpart", nullable=True),
    _text("title", nullable=True),
    # What was said before the utterance: the speaker first, then in turns.
    Column("context", Document, nullable=True),
    UniqueConstraint("situation_set_id", "key"),
    _one_of("valence", "positive", "negative"),
)

# A draw from a set: which situations, in which order, and by which rules.
selections = Table(
    "selections",
    metadata,
    _id(),
    _text("name", unique=True),
    _to("situation_sets"),
    Column("recipe", Document, nullable=False),
    _text("fingerprint"),
    Column("added_at", Moment, nullable=False),
)

selected_situations = Table(
    "selected_situations",
    metadata,
    Column(
        "selection_id",
        RowId,
        ForeignKey("selections.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _to("situations"),
)

respondents = Table(
    "respondents",
    metadata,
    _id(),
    _text("name", unique=True),
    _text("kind"),
    Column("details", Document, nullable=False),
    Column("added_at", Moment, nullable=False),
    _one_of("kind", "model", "human"),
)

scales = Table(
    "scales",
    metadata,
    _id(),
    _text("name"),
    Column("version", Integer, nullable=False),
    _text("fingerprint"),
    Column("definition", Document, nullable=False),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("name", "version", "fingerprint"),
)

runs = Table(
    "runs",
    metadata,
    _id(),
    _text("protocol"),
    _to("respondents"),
    _text("fingerprint"),
    Column("generation", Integer, nullable=False),
    Column("fresh", Boolean, nullable=False),
    Column("settings", Document, nullable=False),
    Column("planned", Integer, nullable=False),
    _text("software"),
    Column("started_at", Moment, nullable=False),
    Column("finished_at", Moment, nullable=True),
    Column("last_used_at", Moment, nullable=True),
    UniqueConstraint("fingerprint", "generation"),
)

answers = Table(
    "answers",
    metadata,
    _id(),
    _to("runs", index=False),
    _text("key"),
    _text("fingerprint", index=True),
    Column("messages", Document, nullable=False),
    Column("parameters", Document, nullable=False),
    _text("text"),
    _text("finish_reason", nullable=True),
    _text("reported_model", nullable=True),
    _text("outcome"),
    _text("reason", nullable=True),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cost", Float, nullable=True),
    Column("latency", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("logprobs", Document, nullable=True),
    Column("asked_at", Moment, nullable=False),
    Column("answered_at", Moment, nullable=False),
    Column(
        "reused_from",
        RowId,
        ForeignKey("answers.id", ondelete="SET NULL"),
        nullable=True,
    ),
    UniqueConstraint("run_id", "key"),
)

failures = Table(
    "failures",
    metadata,
    _id(),
    _to("runs"),
    _text("key"),
    _text("kind"),
    _text("message"),
    Column("attempts", Integer, nullable=False),
    Column("failed_at", Moment, nullable=False),
)

responses = Table(
    "responses",
    metadata,
    _id(),
    _to("situations"),
    _to("respondents"),
    _to("answers", nullable=True, index=False, unique=True),
    Column("sample", Integer, nullable=False),
    _text("prompt", nullable=True),
    _text("text"),
    _text("outcome"),
    _text("reason", nullable=True),
    Column("added_at", Moment, nullable=False),
    _to("imports", nullable=True),
    # What the source says about it: labels of its sentences, who wrote it …
    Column("details", Document, nullable=True),
)

imports = Table(
    "imports",
    metadata,
    _id(),
    _text("kind"),
    _text("source"),
    _text("fingerprint"),
    Column("summary", Document, nullable=False),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("kind", "source"),
)

administrations = Table(
    "administrations",
    metadata,
    _id(),
    # Who answered: a respondent that is measured, or a rater about themselves.
    _to("respondents", nullable=True),
    _to("raters", nullable=True),
    _to("scales"),
    _to("situations", nullable=True),
    _to("answers", nullable=True, index=False, unique=True),
    _text("phase"),
    Column("counterpart", Boolean, nullable=False),
    _text("mode"),
    Column("order_index", Integer, nullable=False),
    Column("item_order", Document, nullable=False),
    Column("repeat", Integer, nullable=False),
    _text("outcome"),
    _text("reason", nullable=True),
    Column("added_at", Moment, nullable=False),
    # Which of the respondent's people answered; pairs their administrations.
    _text("subject", nullable=True),
    Column("import_id", RowId, ForeignKey("imports.id"), nullable=True, index=True),
    _one_of("phase", "default", "evoked"),
    CheckConstraint("(respondent_id IS NULL) <> (rater_id IS NULL)", name="answered_by"),
    CheckConstraint("phase = 'default' OR situation_id IS NOT NULL", name="evoked_by"),
)

item_answers = Table(
    "item_answers",
    metadata,
    Column(
        "administration_id",
        RowId,
        ForeignKey("administrations.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("item", Integer, primary_key=True, autoincrement=False),
    # The answer; where it comes from a distribution, its expectation, and the entropy in bits.
    Column("value", Float, nullable=False),
    Column("entropy", Float, nullable=True),
)

studies = Table(
    "studies",
    metadata,
    _id(),
    _text("name"),
    Column("version", Integer, nullable=False, server_default=text("1")),
    _text("title"),
    Column("protocol", Document, nullable=False),
    _text("protocol_hash"),
    _text("status"),
    Column("added_at", Moment, nullable=False),
    # What follows is known of studies that this lab runs, not of imported ones.
    _text("secret", nullable=True),
    Column("launched_at", Moment, nullable=True),
    Column("closed_at", Moment, nullable=True),
    # Rises when an arm joins or recruitment changes, so that running servers read it anew.
    Column("revision", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("name", "version"),
    _one_of("status", "draft", "open", "paused", "closed"),
)

# A person in two studies is two raters, so that no study learns of another.
raters = Table(
    "raters",
    metadata,
    _id(),
    _to("studies", index=False),
    _text("name"),
    _text("kind"),
    # Age, country and the like; what a study's demographics block asked or a platform told.
    Column("details", Document, nullable=False),
    Column("seconds", Float, nullable=True),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("study_id", "name"),
    _one_of("kind", "person", "model"),
)

arms = Table(
    "arms",
    metadata,
    _id(),
    _to("studies", index=False),
    _text("name"),
    _to("respondents", nullable=True),
    Column("stopped", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("study_id", "name"),
)

ratings = Table(
    "ratings",
    metadata,
    _id(),
    _to("raters"),
    _to("responses"),
    _to("arms", nullable=True),
    _text("dimension"),
    Column("value", Float, nullable=False),
    _text("label", nullable=True),
    Column("rated_at", Moment, nullable=True),
    Column("seconds", Float, nullable=True),
    _to("imports", nullable=True),
    UniqueConstraint("rater_id", "response_id", "dimension"),
)

# What a study uses of the lab, frozen at its launch: situations, scales, and whose response an arm
# shows to a situation.
study_situations = Table(
    "study_situations",
    metadata,
    _key("study_id", "studies"),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _to("situations"),
)

study_scales = Table(
    "study_scales",
    metadata,
    _key("study_id", "studies"),
    Column("name", Text, primary_key=True),
    _to("scales"),
)

shown_responses = Table(
    "shown_responses",
    metadata,
    _key("arm_id", "arms"),
    _key("situation_id", "situations"),
    _to("responses"),
)

# Everybody who came, under a pseudonym; arm and slot are empty until they are given a place.
places = Table(
    "places",
    metadata,
    _id(),
    _to("studies", index=False),
    _text("person"),
    _text("world"),
    _text("arm", nullable=True),
    Column("slot", Integer, nullable=True),
    _text("status"),
    Column("traits", Document, nullable=False),
    _text("language"),
    _text("outcome", nullable=True),
    Column("arrived_at", Moment, nullable=False),
    Column("claimed_at", Moment, nullable=True),
    Column("seen_at", Moment, nullable=False),
    # The page last shown for the first time, and what was begun on it.
    _text("shown_step", nullable=True),
    Column("shown_at", Moment, nullable=True),
    Column("draft", Document, nullable=False),
    UniqueConstraint("study_id", "world", "person"),
    _one_of("world", "person", "simulated", "test"),
    _one_of(
        "status",
        "arrived",
        "live",
        "finished",
        "abandoned",
        "returned",
        "timed-out",
        "withdrawn",
        "failed",
        "excluded",
        "repeated",
    ),
    Index("ix_places_study_id_person", "study_id", "person"),
)
_held = (places.c.status.in_(("live", "finished"))) & (places.c.world != "test")
Index(
    "uq_places_held_slots",
    places.c.study_id,
    places.c.world,
    places.c.arm,
    places.c.slot,
    unique=True,
    sqlite_where=_held,
    postgresql_where=_held,
)

page_answers = Table(
    "page_answers",
    metadata,
    _id(),
    _to("places", index=False),
    _text("step"),
    Column("given", Document, nullable=False),
    Column("shown_at", Moment, nullable=False),
    Column("answered_at", Moment, nullable=False),
    Column("timing", Document, nullable=False),
    Column("corrections", Integer, nullable=False),
    UniqueConstraint("place_id", "step"),
)

# Platform ids, apart from all answers: deleted when their time is over.
people = Table(
    "people",
    metadata,
    _id(),
    _to("studies", index=False),
    _text("person"),
    _text("platform"),
    Column("ids", Document, nullable=False),
    Column("told", Document, nullable=False),
    UniqueConstraint("study_id", "person"),
)

audit = Table(
    "audit",
    metadata,
    _id(),
    _to("studies"),
    Column("at", Moment, nullable=False),
    _text("who"),
    _text("action"),
    Column("details", Document, nullable=False),
)
