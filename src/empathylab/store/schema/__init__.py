"""The lab's tables. Each change here comes with a migration; a test compares the two."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    UniqueConstraint,
)

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
from empathylab.store.schema.conversations import conversations, personas, turns
from empathylab.store.schema.judging import judgements, preferences
from empathylab.store.schema.live import live_conversations, live_turns
from empathylab.store.schema.results import cached_results
from empathylab.store.schema.search import add_search
from empathylab.store.schema.studies import (
    alerts,
    arms,
    audit,
    console_links,
    departures,
    invitations,
    login_attempts,
    messages,
    page_answers,
    people,
    raters,
    ratings,
    researchers,
    shown_responses,
    slots,
    studies,
    study_scales,
    study_situations,
)

__all__ = [
    "Document",
    "Moment",
    "RowId",
    "administrations",
    "alerts",
    "answers",
    "arms",
    "audit",
    "batches",
    "cached_results",
    "console_links",
    "conversations",
    "departures",
    "failures",
    "imports",
    "invitations",
    "item_answers",
    "judgements",
    "live_conversations",
    "live_turns",
    "login_attempts",
    "messages",
    "metadata",
    "page_answers",
    "people",
    "personas",
    "preferences",
    "raters",
    "ratings",
    "researchers",
    "respondents",
    "responses",
    "runs",
    "scales",
    "selected_situations",
    "selections",
    "shown_responses",
    "situation_sets",
    "situations",
    "slots",
    "studies",
    "study_scales",
    "study_situations",
    "turns",
]

situation_sets = Table(
    "situation_sets",
    metadata,
    row_number(),
    text_column("name"),
    Column("version", Integer, nullable=False),
    text_column("title"),
    text_column("language"),
    text_column("licence"),
    Column("validated", Boolean, nullable=False),
    text_column("description"),
    text_column("fingerprint"),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("name", "version"),
)

situations = Table(
    "situations",
    metadata,
    row_number(),
    refers_to("situation_sets", index=False),
    text_column("key"),
    text_column("emotion", nullable=True, index=True),
    text_column("factor", nullable=True),
    text_column("topic", nullable=True),
    text_column("valence", nullable=True),
    text_column("text"),
    text_column("utterance", nullable=True),
    text_column("counterpart", nullable=True),
    text_column("title", nullable=True),
    # What was said before the utterance: the speaker first, then in turns.
    Column("context", Document, nullable=True),
    # What else is known of it: `tags` for content notes, `norms` from a norming study.
    Column("details", Document, nullable=True),
    UniqueConstraint("situation_set_id", "key"),
    one_of("valence", "positive", "negative", "mixed"),
)

# A draw from a set: which situations, in which order, and by which rules.
selections = Table(
    "selections",
    metadata,
    row_number(),
    text_column("name", unique=True),
    refers_to("situation_sets"),
    Column("recipe", Document, nullable=False),
    text_column("fingerprint"),
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
    refers_to("situations"),
)

respondents = Table(
    "respondents",
    metadata,
    row_number(),
    text_column("name", unique=True),
    text_column("kind"),
    Column("details", Document, nullable=False),
    Column("added_at", Moment, nullable=False),
    one_of("kind", "model", "human"),
)

scales = Table(
    "scales",
    metadata,
    row_number(),
    text_column("name"),
    Column("version", Integer, nullable=False),
    text_column("fingerprint"),
    Column("definition", Document, nullable=False),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("name", "version", "fingerprint"),
)

runs = Table(
    "runs",
    metadata,
    row_number(),
    text_column("protocol"),
    refers_to("respondents"),
    text_column("fingerprint"),
    Column("generation", Integer, nullable=False),
    Column("fresh", Boolean, nullable=False),
    Column("settings", Document, nullable=False),
    Column("planned", Integer, nullable=False),
    text_column("software"),
    Column("started_at", Moment, nullable=False),
    Column("finished_at", Moment, nullable=True),
    Column("last_used_at", Moment, nullable=True),
    # What people call it, and since when the report must show it.
    text_column("name", nullable=True, unique=True),
    Column("pinned_at", Moment, nullable=True),
    UniqueConstraint("fingerprint", "generation"),
)

answers = Table(
    "answers",
    metadata,
    row_number(),
    refers_to("runs", index=False),
    text_column("key"),
    text_column("fingerprint", index=True),
    Column("messages", Document, nullable=False),
    Column("parameters", Document, nullable=False),
    text_column("text"),
    text_column("finish_reason", nullable=True),
    text_column("reported_model", nullable=True),
    text_column("outcome"),
    text_column("reason", nullable=True),
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
    # What the model wrote for itself before it answered: never part of the text.
    text_column("reasoning", nullable=True),
    Column("reasoning_tokens", Integer, nullable=True),
    # The settings that were really sent, where they differ from the parameters.
    Column("sent", Document, nullable=True),
    UniqueConstraint("run_id", "key"),
    # What a list of runs sums up, so that their texts need not be read.
    Index(
        "ix_answers_totals",
        "run_id",
        "outcome",
        "reused_from",
        "prompt_tokens",
        "completion_tokens",
        "cost",
        "answered_at",
    ),
)

# Requests handed to a provider's batch API, so that a resumed run fetches their answers.
batches = Table(
    "batches",
    metadata,
    row_number(),
    refers_to("runs"),
    # Known to the provider, too, so that a batch is found again after a kill while it was sent.
    text_column("token", unique=True),
    text_column("provider_id", nullable=True),
    Column("keys", Document, nullable=False),
    text_column("status"),
    Column("submitted_at", Moment, nullable=False),
    Column("ended_at", Moment, nullable=True),
    one_of("status", "submitted", "ended"),
)

failures = Table(
    "failures",
    metadata,
    row_number(),
    refers_to("runs"),
    text_column("key"),
    text_column("kind"),
    text_column("message"),
    Column("attempts", Integer, nullable=False),
    Column("failed_at", Moment, nullable=False),
)

responses = Table(
    "responses",
    metadata,
    row_number(),
    refers_to("situations"),
    refers_to("respondents", index=False),
    refers_to("answers", nullable=True, index=False, unique=True),
    Column("sample", Integer, nullable=False),
    text_column("prompt", nullable=True),
    text_column("text"),
    text_column("outcome"),
    text_column("reason", nullable=True),
    Column("added_at", Moment, nullable=False),
    refers_to("imports", nullable=True),
    # What the source says about it: labels of its sentences, who wrote it …
    Column("details", Document, nullable=True),
    Index("ix_responses_outcome_id", "outcome", "id"),
    # What a list of respondents counts, so that the texts need not be read.
    Index("ix_responses_respondent_id_situation_id", "respondent_id", "situation_id", "outcome"),
)
add_search(responses)

imports = Table(
    "imports",
    metadata,
    row_number(),
    text_column("kind"),
    text_column("source"),
    text_column("fingerprint"),
    Column("summary", Document, nullable=False),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("kind", "source"),
)

administrations = Table(
    "administrations",
    metadata,
    row_number(),
    # Who answered: a respondent that is measured, or a rater about themselves.
    refers_to("respondents", nullable=True),
    refers_to("raters", nullable=True),
    refers_to("scales"),
    refers_to("situations", nullable=True),
    refers_to("answers", nullable=True, index=False, unique=True),
    text_column("phase"),
    Column("counterpart", Boolean, nullable=False),
    text_column("mode"),
    Column("order_index", Integer, nullable=False),
    Column("item_order", Document, nullable=False),
    Column("repeat", Integer, nullable=False),
    text_column("outcome"),
    text_column("reason", nullable=True),
    Column("added_at", Moment, nullable=False),
    # Which of the respondent's people answered; pairs their administrations.
    text_column("subject", nullable=True),
    Column("import_id", RowId, ForeignKey("imports.id"), nullable=True, index=True),
    one_of("phase", "default", "evoked", "before", "after", "later"),
    CheckConstraint("(respondent_id IS NULL) <> (rater_id IS NULL)", name="answered_by"),
    CheckConstraint("phase <> 'evoked' OR situation_id IS NOT NULL", name="evoked_by"),
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
