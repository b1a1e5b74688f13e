"""Live replies to participants who finished, with the participants' ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl
from sqlalchemy import Connection, select

from empathylab.scales.score_frames import score_frame
from empathylab.store import schema
from empathylab.store.frames import read_frame
from empathylab.store.queries import scale_table, scales_by_row
from empathylab.store.studies.records import real_people


class LiveReply(NamedTuple):
    """A participant's first conversation of a study, all of its turns."""

    participant: str
    author: str
    label: str | None
    replier: str
    """The partner or the confederate; else the author, also where its fallback is shown."""
    reply: str
    """The conversation's number in the lab."""
    turns: tuple[tuple[str, str], ...]
    """Who speaks, `person` or `respondent`, and what they say, masked where the study masks."""
    fallback: bool
    """Whether the model's reply was replaced."""
    partner: str | None
    details: dict[str, Any]
    """What is known about the participant, such as answers to questions."""


def live_replies(connection: Connection, study: int) -> list[LiveReply]:
    """The replies to all people who finished and are not excluded, in the order of arrival."""
    talks, slots, raters = schema.live_conversations, schema.slots, schema.raters
    people = select(raters.c.name, raters.c.details).where(
        raters.c.study_id == study, real_people()
    )
    known = {row.name: row.details for row in connection.execute(people)}
    query = (
        select(talks, slots.c.person)
        .select_from(talks.join(slots))
        .where(talks.c.study_id == study, slots.c.world == "person")
        .order_by(talks.c.id)
    )
    rows = connection.execute(query).all()
    names = {int(row.id): str(row.person) for row in rows}
    first = {row.person: row for row in reversed(rows)}
    turns = _turns(connection, study)
    found = []
    for row in sorted(first.values(), key=lambda item: int(item.id)):
        if row.person not in known:
            continue
        own = turns.get(int(row.id), [])
        replies = [turn for turn in own if turn.sender == "respondent"]
        partner = names.get(int(row.partner_id)) if row.partner_id is not None else None
        found.append(
            LiveReply(
                participant=str(row.person),
                author=row.author,
                label=row.label,
                replier=partner or row.taken_by or row.author,
                reply=str(row.id),
                turns=tuple(
                    (
                        "person" if turn.sender == "participant" else "respondent",
                        turn.masked or turn.text or "",
                    )
                    for turn in own
                ),
                fallback=any(turn.outcome == "fallback" for turn in replies),
                partner=partner,
                details=known[row.person],
            )
        )
    return found


def _turns(connection: Connection, study: int) -> dict[int, list[Any]]:
    talks, turns = schema.live_conversations, schema.live_turns
    query = (
        select(turns)
        .select_from(turns.join(talks))
        .where(talks.c.study_id == study, turns.c.state == "ready")
        .order_by(turns.c.live_conversation_id, turns.c.position)
    )
    by_conversation: dict[int, list[Any]] = {}
    for row in connection.execute(query):
        by_conversation.setdefault(int(row.live_conversation_id), []).append(row)
    return by_conversation


def follow_ups(connection: Connection, name: str) -> list[tuple[int, dict[str, str]]]:
    """The closed studies that follow one up: by their raters, the participants of the first."""
    studies, raters = schema.studies, schema.raters
    found = []
    closed = select(studies.c.id, studies.c.protocol).where(studies.c.status == "closed")
    for row in connection.execute(closed):
        follows = (row.protocol or {}).get("follow_up") or {}
        if str(follows.get("study", "")).partition("@")[0] == name:
            people = select(raters.c.name, raters.c.details).where(
                raters.c.study_id == row.id, real_people()
            )
            linked = {
                rater.name: rater.details["first_participant"]
                for rater in connection.execute(people)
                if "first_participant" in rater.details
            }
            found.append((int(row.id), linked))
    return found


def feeling_scores(
    connection: Connection, study: int, phases: Sequence[str] = ("before", "after")
) -> pl.DataFrame:
    """Scores of questionnaires for people who are helped: rater, scale, subscale, phase, score."""
    given, items = schema.administrations, schema.item_answers
    raters, scales = schema.raters, schema.scales
    query = (
        select(
            given.c.id.label("administration"),
            given.c.scale_id.label("scale_row"),
            raters.c.name.label("rater"),
            scales.c.name.label("scale"),
            given.c.phase,
            *items.c["item", "value"],
        )
        .select_from(items.join(given).join(raters).join(scales))
        .where(raters.c.study_id == study, given.c.phase.in_(phases))
        .order_by(given.c.id, items.c.item)
    )
    answers = read_frame(connection, query)
    scores = score_frame(answers, scales_by_row(scale_table(connection)))
    of = answers.select("administration", "rater", "scale", "phase").unique(maintain_order=True)
    return of.join(scores, on="administration", maintain_order="left_right")
