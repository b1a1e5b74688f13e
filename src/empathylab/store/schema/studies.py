"""The tables of studies: designs, raters and ratings, slots and answers, and the console."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, Table, Text, UniqueConstraint, text

from empathylab.store.schema.columns import (
    Document,
    Moment,
    key_to,
    metadata,
    one_of,
    refers_to,
    row_number,
    text_column,
)

studies = Table(
    "studies",
    metadata,
    row_number(),
    text_column("name"),
    Column("version", Integer, nullable=False, server_default=text("1")),
    text_column("title"),
    Column("protocol", Document, nullable=False),
    text_column("protocol_hash"),
    text_column("status"),
    Column("added_at", Moment, nullable=False),
    # What follows is known of studies that this lab runs, not of imported ones.
    text_column("secret", nullable=True),
    Column("launched_at", Moment, nullable=True),
    Column("closed_at", Moment, nullable=True),
    # Rises when an arm joins or recruitment changes, so that running servers read it again.
    Column("revision", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("name", "version"),
    one_of("status", "draft", "open", "paused", "closed"),
)

# A person in two studies is two raters, so that no study learns of another.
raters = Table(
    "raters",
    metadata,
    row_number(),
    refers_to("studies", index=False),
    text_column("name"),
    text_column("kind"),
    # Age, country and the like; what a study's demographics block asked or a platform told.
    Column("details", Document, nullable=False),
    Column("seconds", Float, nullable=True),
    Column("added_at", Moment, nullable=False),
    UniqueConstraint("study_id", "name"),
    one_of("kind", "person", "model"),
)

arms = Table(
    "arms",
    metadata,
    row_number(),
    refers_to("studies", index=False),
    text_column("name"),
    refers_to("respondents", nullable=True),
    Column("stopped", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("study_id", "name"),
)

ratings = Table(
    "ratings",
    metadata,
    row_number(),
    refers_to("raters", index=False),
    refers_to("responses"),
    refers_to("arms", nullable=True, index=False),
    text_column("dimension"),
    Column("value", Float, nullable=False),
    text_column("label", nullable=True),
    Column("rated_at", Moment, nullable=True),
    Column("seconds", Float, nullable=True),
    refers_to("imports", nullable=True),
    UniqueConstraint("rater_id", "response_id", "dimension"),
    # What a list of studies counts, so that the ratings themselves need not be read.
    Index("ix_ratings_arm_id_rater_id", "arm_id", "rater_id"),
)

# What a study uses of the lab, frozen at its launch: situations, scales, and whose response an arm
# shows to a situation.
study_situations = Table(
    "study_situations",
    metadata,
    key_to("study_id", "studies"),
    Column("position", Integer, primary_key=True, autoincrement=False),
    refers_to("situations"),
)

study_scales = Table(
    "study_scales",
    metadata,
    key_to("study_id", "studies"),
    Column("name", Text, primary_key=True),
    refers_to("scales"),
)

shown_responses = Table(
    "shown_responses",
    metadata,
    key_to("arm_id", "arms"),
    key_to("situation_id", "situations"),
    refers_to("responses"),
)

# Everybody who came, under a pseudonym; arm and slot number are empty until they get a slot.
slots = Table(
    "places",
    metadata,
    row_number(),
    refers_to("studies", index=False),
    text_column("person"),
    text_column("world"),
    text_column("arm", nullable=True),
    Column("slot", Integer, nullable=True),
    text_column("status"),
    Column("traits", Document, nullable=False),
    text_column("language"),
    text_column("outcome", nullable=True),
    Column("arrived_at", Moment, nullable=False),
    Column("claimed_at", Moment, nullable=True),
    Column("seen_at", Moment, nullable=False),
    # The page last shown for the first time, and what was begun on it.
    text_column("shown_step", nullable=True),
    Column("shown_at", Moment, nullable=True),
    Column("draft", Document, nullable=False),
    # What a researcher decided of finished work: approved or rejected, and why.
    text_column("review", nullable=True),
    text_column("review_reason", nullable=True),
    UniqueConstraint("study_id", "world", "person"),
    one_of("world", "person", "simulated", "test"),
    one_of(
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
_occupied = (slots.c.status.in_(("live", "finished"))) & (slots.c.world != "test")
Index(
    "uq_places_held_slots",
    slots.c.study_id,
    slots.c.world,
    slots.c.arm,
    slots.c.slot,
    unique=True,
    sqlite_where=_occupied,
    postgresql_where=_occupied,
)

page_answers = Table(
    "page_answers",
    metadata,
    row_number(),
    refers_to("places", index=False),
    text_column("step"),
    Column("given", Document, nullable=False),
    Column("shown_at", Moment, nullable=False),
    Column("answered_at", Moment, nullable=False),
    Column("timing", Document, nullable=False),
    Column("corrections", Integer, nullable=False),
    UniqueConstraint("place_id", "step"),
)

# Platform IDs, separate from all answers: deleted after the retention period.
people = Table(
    "people",
    metadata,
    row_number(),
    refers_to("studies", index=False),
    text_column("person"),
    text_column("platform"),
    Column("ids", Document, nullable=False),
    Column("told", Document, nullable=False),
    # What the platform last said of their submission, in its own word.
    text_column("state", nullable=True),
    Column("state_at", Moment, nullable=True),
    UniqueConstraint("study_id", "person"),
)

# That someone had their data deleted who may not take part again: a keyed digest and nothing
# else, not even when. Deleted with the platform ids.
departures = Table(
    "departures",
    metadata,
    key_to("study_id", "studies"),
    Column("digest", Text, primary_key=True),
)

audit = Table(
    "audit",
    metadata,
    row_number(),
    refers_to("studies"),
    Column("at", Moment, nullable=False),
    text_column("who"),
    text_column("action"),
    Column("details", Document, nullable=False),
)

# Who may see the console, for all studies of the lab.
researchers = Table(
    "researchers",
    metadata,
    row_number(),
    text_column("name", unique=True),
    text_column("password"),
    text_column("role"),
    Column("added_at", Moment, nullable=False),
    # Cookies that were given before are worth nothing.
    Column("signed_out_at", Moment, nullable=False),
    # The authenticator's key, the last code that was used, and digests of recovery codes.
    Column("second_factor", Document, nullable=True),
    one_of("role", "owner", "researcher", "viewer"),
)

# Links that make one account each; only a digest of them is kept.
console_links = Table(
    "console_links",
    metadata,
    row_number(),
    text_column("digest", unique=True),
    text_column("role"),
    Column("added_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("used_at", Moment, nullable=True),
    one_of("role", "owner", "researcher", "viewer"),
)

# Failed ones, by a keyed digest of the name or the address; shared by all processes.
login_attempts = Table(
    "login_attempts",
    metadata,
    row_number(),
    text_column("who"),
    Column("at", Moment, nullable=False),
    Index("ix_login_attempts_who_at", "who", "at"),
)

# What researchers are notified of: one row for each event and channel, so that it is sent once.
alerts = Table(
    "alerts",
    metadata,
    row_number(),
    refers_to("studies", index=False),
    text_column("kind"),
    text_column("key"),
    text_column("channel"),
    Column("details", Document, nullable=False),
    Column("at", Moment, nullable=False),
    text_column("state"),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # Nobody else sends it before.
    Column("next_at", Moment, nullable=False),
    UniqueConstraint("study_id", "kind", "key", "channel"),
    one_of("channel", "email", "webhook"),
    one_of("state", "pending", "sent", "failed", "off"),
)

# Single-use links, by the key of the person who uses one.
invitations = Table(
    "invitations",
    metadata,
    row_number(),
    refers_to("studies", index=False),
    text_column("person"),
    text_column("label", nullable=True),
    Column("added_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=True),
    Column("revoked_at", Moment, nullable=True),
    UniqueConstraint("study_id", "person"),
)

# From researchers to a participant, shown on the participant's next page.
messages = Table(
    "messages",
    metadata,
    row_number(),
    refers_to("places"),
    text_column("who"),
    text_column("text"),
    Column("sent_at", Moment, nullable=False),
    Column("read_at", Moment, nullable=True),
)
