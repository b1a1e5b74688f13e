"""Transcripts as stimuli of rated studies, and the ratings on their way back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import polars as pl

from empathylab.analysis.conversations.analysis import ConversationsAnalysis
from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet
from empathylab.situations.sources.released import Kind, Release, Reply
from empathylab.situations.turns import turn_id
from empathylab.store import Lab
from empathylab.store.conversations import rated_conversations
from empathylab.store.ratings import lab_studies

Unit = Literal["conversation", "turn"]
_NAMES = {"person": "Person", "respondent": "Reply"}
Said = list[tuple[str, str]]
"""Who speaks, `person` or `respondent`, and what they say."""


def transcript_release(
    result: ConversationsAnalysis,
    *,
    name: str,
    unit: Unit = "conversation",
    respondents: Sequence[str] = (),
) -> Release:
    """The scored conversations as situations and replies that a study can show.

    The situation is the person's first message. By conversation, the reply is all that follows. By
    turn, the first reply is one stimulus, the chat up to the second reply the next, and so on, for
    as many turns as all conversations about the same persona have; a study keeps them together and
    in order. `details` hold the chat with its speakers, as pages show it.
    """
    scored = result.conversations.filter("scored")
    for respondent in respondents:
        if respondent not in scored["respondent"].to_list():
            raise UnknownName("respondent", respondent, scored["respondent"].unique().to_list())
    if respondents:
        scored = scored.filter(pl.col("respondent").is_in(list(respondents)))
    if scored.is_empty():
        raise InputError(
            "no conversation is scored, so there is nothing to rate",
            where=name,
            remedy="Run or import conversations first.",
        )
    situations: dict[str, Situation] = {}
    replies: list[Reply] = []
    samples: dict[tuple[str, str], int] = {}
    chats = [(row, _said(result, row["conversation"])) for row in scored.iter_rows(named=True)]
    shared: dict[str, int] = {}
    for row, said in chats:
        count = len(_replies(said))
        shared[_name(row)] = min(count, shared.get(_name(row), count))
    for row, said in chats:
        for situation, chat, exchange in _stimuli(said, row, unit, shared[_name(row)]):
            situations.setdefault(situation.id, situation)
            place = (situation.id, row["respondent"])
            samples[place] = samples.get(place, -1) + 1
            details = {
                "conversation": row["conversation"],
                "exchange": exchange,
                "unit": unit,
                "chat": [list(turn) for turn in chat],
            }
            replies.append(Reply(*place, chat_text(chat[1:]), samples[place], details))
    languages = scored["language"].drop_nulls().unique(maintain_order=True).to_list()
    kinds: dict[str, Kind] = {
        respondent: "human" if kind == "human" else "model"
        for respondent, kind in scored["respondent", "kind"].unique().iter_rows()
    }
    chosen = SituationSet(
        id=name,
        version=1,
        title=f"Conversations, by {unit}",
        language=languages[0] if languages else "en",
        licence="as the conversations",
        validated=False,
        description=f"Made from {scored.height} conversations of this lab.",
        situations=tuple(situations.values()),
    )
    return Release(chosen, kinds, tuple(replies))


def _said(result: ConversationsAnalysis, conversation: int) -> Said:
    turns = result.turns.filter(conversation=conversation).sort("position")
    return list(turns["role", "text"].iter_rows())


def _replies(said: Said) -> list[int]:
    """The places of the replies, which follow the person's first message."""
    return [place for place, (role, _) in enumerate(said) if role == "respondent" and place]


def _name(row: Mapping[str, Any]) -> str:
    return str(row["persona"] or f"conversation-{row['conversation']}")


def _stimuli(
    said: Said, row: Mapping[str, Any], unit: Unit, turns: int
) -> Iterator[tuple[Situation, Said, int]]:
    """Situations with the chat that is rated and the number of replies in it."""
    emotion, places = str(row["emotion"] or "not stated"), _replies(said)
    if unit == "conversation":
        if places:
            yield Situation(id=_name(row), text=said[0][1], emotion=emotion), said, len(places)
        return
    for exchange, place in enumerate(places[:turns], start=1):
        name = turn_id(_name(row), exchange)
        yield Situation(id=name, text=said[0][1], emotion=emotion), said[: place + 1], exchange


def chat_text(said: Sequence[tuple[str, str]]) -> str:
    """The chat as one text that names its speakers."""
    return "\n\n".join(f"{_NAMES[role]}: {text}" for role, text in said)


def with_study(
    lab: Lab, result: ConversationsAnalysis, study: str, *, dimension: str | None = None
) -> ConversationsAnalysis:
    """The analysis with a study's ratings of transcripts beside the simulated feelings."""
    known = lab_studies(lab)
    if study not in known:
        raise UnknownName("study", study, known)
    dimensions = {dimension.name: dimension for dimension in known[study].dimensions}
    chosen = dimension or next(iter(dimensions), "")
    if chosen not in dimensions:
        raise UnknownName("dimension", chosen, dimensions, where=study)
    ratings = rated_conversations(lab, study).filter(dimension=chosen)
    if ratings.is_empty():
        raise InputError(
            "the study has no ratings of transcripts",
            where=study,
            got=chosen,
            remedy="Make its stimuli with `empathylab data stimuli`, or give --dimension.",
        )
    scale = dimensions[chosen]
    values = scale.ends or scale.values or tuple(ratings["rating"])
    table = ratings.select("conversation", "rater", "rating", turn=pl.col("exchange"))
    return result.with_ratings(table, scale=(min(values), max(values)), where=study)
