"""Transcripts as stimuli of rated studies, and the ratings on their way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from empathylab.analysis.conversations.analysis import ConversationsAnalysis
from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet
from empathylab.situations.sources.released import Kind, Release, Reply
from empathylab.store import Lab
from empathylab.store.conversations import rated_conversations
from empathylab.store.ratings import lab_studies

Unit = Literal["conversation", "turn"]
_PERSON, _OTHER = "Person", "Reply"


def transcript_release(
    result: ConversationsAnalysis,
    *,
    name: str,
    unit: Unit = "conversation",
    respondents: Sequence[str] = (),
) -> Release:
    """The scored conversations as situations and replies that a study can show.

    By conversation, the situation is the person's first message and the reply is all that follows.
    By turn, each reply is one of its own, with the chat before it.
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
    for row in scored.iter_rows(named=True):
        turns = result.turns.filter(conversation=row["conversation"]).sort("position")
        said = list(turns["role", "text"].iter_rows())
        for situation, text, exchange in _stimuli(said, row, unit):
            situations.setdefault(situation.id, situation)
            place = (situation.id, row["respondent"])
            samples[place] = samples.get(place, -1) + 1
            details = {"conversation": row["conversation"], "exchange": exchange}
            replies.append(Reply(*place, text, samples[place], details))
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


def _stimuli(
    said: list[tuple[str, str]], row: dict[str, object], unit: Unit
) -> list[tuple[Situation, str, int]]:
    emotion = str(row["emotion"] or "not stated")
    if unit == "conversation":
        rest = _chat(said[1:])
        number = sum(role == "respondent" for role, _ in said)
        situation = Situation(id=str(row["persona"]), text=said[0][1], emotion=emotion)
        return [(situation, rest, number)] if rest else []
    found, exchange = [], 0
    for place, (role, text) in enumerate(said):
        if role != "respondent" or not place:
            continue
        exchange += 1
        name = f"{row['conversation']}-{exchange}"
        situation = Situation(id=name, text=_chat(said[:place]), emotion=emotion)
        found.append((situation, text, exchange))
    return found


def _chat(said: list[tuple[str, str]]) -> str:
    names = {"person": _PERSON, "respondent": _OTHER}
    return "\n\n".join(f"{names[role]}: {text}" for role, text in said)


def with_study(
    lab: Lab, result: ConversationsAnalysis, study: str, *, dimension: str | None = None
) -> ConversationsAnalysis:
    """The analysis with a study's ratings of transcripts beside the simulated feelings."""
    known = lab_studies(lab)
    if study not in known:
        raise UnknownName("study", study, known)
    dimensions = {one.name: one for one in known[study].dimensions}
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
