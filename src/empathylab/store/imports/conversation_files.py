"""Anybody's conversations: a long table, a table of transcripts, or a text file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from empathylab.columns import numbers
from empathylab.errors import InputError
from empathylab.files import read_text
from empathylab.store.conversations import ImportedConversation, Speaker, SpokenTurn
from empathylab.tables import clean_text, first_row, missing_as_null, read_table

SPEAKERS: dict[str, Speaker] = {
    "seeker": "person",
    "person": "person",
    "user": "person",
    "client": "person",
    "supporter": "respondent",
    "respondent": "respondent",
    "assistant": "respondent",
    "listener": "respondent",
    "model": "respondent",
}
_IDS = ("conversation", "conversation_id", "id")
_LONG = ("turn", "speaker", "text")
_BREAK = re.compile(r"^\s*(?:-{3,}|={3,})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ConversationSource:
    """What the file itself may not say."""

    respondent: str
    kind: Literal["model", "human"] = "human"
    simulator: str | None = None
    language: str | None = None
    success_at: float | None = None
    failure_below: float | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    """Other names of speakers, each with one of SPEAKERS."""


def read_conversations(path: Path, source: ConversationSource) -> list[ImportedConversation]:
    """The file's conversations, in its order."""
    roles = _roles(source.speakers)
    if path.suffix.lower() in (".txt", ".md"):
        found = list(_of_text(path, source, roles))
    else:
        frame = missing_as_null(read_table(path))
        first = first_row(path)
        if all(name in frame.columns for name in _LONG):
            found = list(_of_long_table(frame, path.name, first, source, roles))
        else:
            found = list(_of_transcripts(frame, path.name, first, source, roles))
    if not found:
        raise InputError(
            "the file contains no conversations", where=path.name, remedy="Give another file."
        )
    return found


def _roles(speakers: Mapping[str, str]) -> dict[str, Speaker]:
    roles = dict(SPEAKERS)
    for name, known in speakers.items():
        if known.lower() not in SPEAKERS:
            raise InputError(
                "a speaker can only be mapped to a known role",
                where="--map",
                got=f"{name}={known}",
                remedy=f"Map it to one of: {', '.join(SPEAKERS)}.",
            )
        roles[name.lower()] = SPEAKERS[known.lower()]
    return roles


def _role(name: object, roles: Mapping[str, Speaker], where: str) -> Speaker:
    role = roles.get(str(name).strip().lower())
    if role is None:
        raise InputError(
            "this speaker is unknown",
            where=where,
            got=name,
            remedy=f"Known: {', '.join(roles)}. Map others with --map {name}=supporter.",
        )
    return role


def _base(key: str, source: ConversationSource) -> ImportedConversation:
    return ImportedConversation(
        key=key,
        respondent=source.respondent,
        turns=(),
        kind=source.kind,
        simulator=source.simulator,
        language=source.language,
        success_at=source.success_at,
        failure_below=source.failure_below,
    )


# -- long tables ----------------------------------------------------------------------------------


def _of_long_table(
    frame: pl.DataFrame,
    where: str,
    first: int,
    source: ConversationSource,
    roles: Mapping[str, Speaker],
) -> Iterator[ImportedConversation]:
    name = _id_column(frame, where)
    frame = frame.with_columns(
        turn=numbers(frame, "turn", where=where),
        row=pl.int_range(first, first + frame.height),
        **(
            {"emotion": numbers(frame, "emotion", where=where)}
            if "emotion" in frame.columns
            else {"emotion": pl.lit(None, dtype=pl.Float64)}
        ),
    )
    for column in (name, "turn", "speaker", "text"):
        empty = frame.filter(pl.col(column).is_null())
        if empty.height:
            raise InputError(
                f"{column!r} is empty",
                where=f"{where} row {empty['row'][0]}",
                remedy="Fill in the cell, or delete the row.",
            )
    for (key,), part in frame.group_by(name, maintain_order=True):
        rows = part.sort("turn")
        twice = rows.filter(pl.col("turn").is_duplicated())
        if twice.height:
            raise InputError(
                f"conversation {key!r} has a turn number twice",
                where=f"{where} row {twice['row'][1]}",
                got=twice["turn"][1],
                remedy="Number the turns of each conversation 1, 2, 3 …",
            )
        turns = tuple(
            SpokenTurn(
                _role(row["speaker"], roles, f"{where} row {row['row']}"),
                clean_text(str(row["text"])),
                row["emotion"],
            )
            for row in rows.iter_rows(named=True)
        )
        yield _with_turns(_with_details(_base(str(key), source), part), turns)


def _with_details(conversation: ImportedConversation, part: pl.DataFrame) -> ImportedConversation:
    """The conversation with what the table's own columns say about it."""
    details: dict[str, Any] = {}
    for column in ("respondent", "simulator", "language"):
        if column in part.columns and part[column][0] is not None:
            details[column] = str(part[column][0])
    if "persona" in part.columns and part["persona"][0] is not None:
        language = details.get("language") or conversation.language or "not stated"
        key = str(part["persona"][0])
        details["persona"] = {"id": key, "collection": "imported", "language": language}
    return replace(conversation, **details)


def _with_turns(
    conversation: ImportedConversation, turns: Sequence[SpokenTurn]
) -> ImportedConversation:
    felt = [turn.feeling for turn in turns if turn.feeling is not None]
    return replace(
        conversation,
        turns=tuple(turns),
        start=felt[0] if felt else None,
        final=felt[-1] if felt else None,
    )


def _id_column(frame: pl.DataFrame, where: str) -> str:
    name = next((name for name in _IDS if name in frame.columns), None)
    if name is None:
        raise InputError(
            "the column 'conversation' is missing",
            where=where,
            got=", ".join(frame.columns),
            remedy="Add a column that identifies the conversations.",
        )
    return name


# -- transcripts ----------------------------------------------------------------------------------


def _of_transcripts(
    frame: pl.DataFrame,
    where: str,
    first: int,
    source: ConversationSource,
    roles: Mapping[str, Speaker],
) -> Iterator[ImportedConversation]:
    name = _id_column(frame, where)
    label = _label(roles)
    texts = [
        column
        for column in frame.columns
        if frame[column].dtype == pl.String
        and frame.height
        and all(text is None or label.search(text) for text in frame[column])
        and frame[column].null_count() < frame.height
    ]
    if not texts:
        raise InputError(
            "there are neither the columns turn, speaker and text nor a column of transcripts",
            where=where,
            got=", ".join(frame.columns),
            remedy="A transcript has lines that begin with 'Seeker:' and 'Supporter:'.",
        )
    keys: set[str] = set()
    for number, row in enumerate(frame.iter_rows(named=True), start=first):
        key = str(row[name])
        if row[name] is None or key in keys:
            raise InputError(
                "each conversation needs its own ID",
                where=f"{where} row {number}",
                got=row[name],
                remedy="Number the conversations.",
            )
        keys.add(key)
        turns = _transcript(row[texts[0]] or "", roles, f"{where} row {number}")
        conversation = _with_details(_base(key, source), frame[number - first])
        yield _with_turns(conversation, turns)


def _label(roles: Mapping[str, Speaker]) -> re.Pattern[str]:
    known = "|".join(re.escape(name) for name in sorted(roles, key=len, reverse=True))
    return re.compile(rf"^[ \t]*({known})[ \t]*[:：]", re.IGNORECASE | re.MULTILINE)


def _transcript(text: str, roles: Mapping[str, Speaker], where: str) -> list[SpokenTurn]:
    """The turns of a text in which each begins with its speaker; lines without one belong on."""
    parts = _label(roles).split(clean_text(text))
    if parts[0].strip():
        raise InputError(
            "the transcript does not begin with a speaker",
            where=where,
            got=parts[0].strip()[:40],
            remedy="Begin each turn with 'Seeker:' or 'Supporter:'; map others with --map.",
        )
    spoken = zip(parts[1::2], parts[2::2], strict=True)
    return [
        SpokenTurn(_role(name, roles, where), words.strip())
        for name, words in spoken
        if words.strip()
    ]


def _of_text(
    path: Path, source: ConversationSource, roles: Mapping[str, Speaker]
) -> Iterator[ImportedConversation]:
    """Transcripts in a text file, with a line of dashes between conversations."""
    text = read_text(path)
    if not text.strip():
        raise InputError("the file is empty", where=path.name, remedy="Give another file.")
    parts = [part for part in _BREAK.split(text) if part.strip()]
    for number, part in enumerate(parts, start=1):
        turns = _transcript(part, roles, f"{path.name}, conversation {number}")
        yield _with_turns(_base(f"{path.stem}-{number}", source), turns)
