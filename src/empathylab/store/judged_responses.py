"""The responses that a judge is to rate: those of a study, or the replies to a set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, select

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation
from empathylab.store import schema
from empathylab.store.lab import Lab
from empathylab.store.schema.joins import RESPONSES
from empathylab.store.selections import resolve_situations
from empathylab.store.situations import SITUATION_FIELDS, situation_from_row
from empathylab.store.studies.records import real_people, shown_or_rated


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A response, and the situation it replies to."""

    response: int
    """Its id in the lab."""
    respondent: str
    """Who wrote it: to choose by and to compare, never for the judge to read."""
    situation: Situation
    set: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    """A study whose responses are judged, run by this lab or imported."""

    row: int
    name: str
    """As the other analyses call it: an older version is `NAME@VERSION`."""
    version: int
    protocol: Mapping[str, Any] = field(hash=False)
    """With `blocks` where its words are known; of a released file the dimensions alone."""


def study_names(lab: Lab) -> dict[int, str]:
    """The names of the lab's studies by id; an older version is called `NAME@VERSION`."""
    table = schema.studies
    query = select(table.c.id, table.c.name, table.c.version).order_by(table.c.version)
    with lab.reading() as connection:
        rows = connection.execute(query).all()
    newest = {row.name: row.version for row in rows}
    return {
        int(row.id): row.name if row.version == newest[row.name] else f"{row.name}@{row.version}"
        for row in rows
    }


def judged_study(lab: Lab, name: str) -> JudgedStudy:
    """The study of that name; `NAME@2` names a version, else it is the newest."""
    known = {called: row for row, called in study_names(lab).items()}
    plain, _, version = name.rpartition("@")
    table = schema.studies
    rule = table.c.id == known.get(name)
    if name not in known and version.isdecimal():
        rule = and_(table.c.name == plain, table.c.version == int(version))
    with lab.reading() as connection:
        study = connection.execute(select(table).where(rule)).one_or_none()
    if study is None:
        raise UnknownName("study", name, known)
    called = next(version_name for version_name, row in known.items() if row == study.id)
    return JudgedStudy(int(study.id), called, int(study.version), study.protocol)


def study_responses(lab: Lab, study: int) -> tuple[JudgedResponse, ...]:
    """The responses that the study's raters see, or have rated, in the order of its situations."""
    return _replies(lab, shown_or_rated(study, real_people()))


def new_respondent_responses(
    lab: Lab, study: int, respondent: str, *, prompt: str | None = None
) -> tuple[JudgedResponse, ...]:
    """A respondent's newest valid reply to each situation of the study, arm of it or not.

    With `prompt`, only replies that were asked for by it.
    """
    # By their texts: the reply may be to another version of the set that says the same.
    own = {(reply.set, reply.situation) for reply in study_responses(lab, study)}
    rule = schema.respondents.c.name == respondent
    if prompt is not None:
        rule = and_(rule, schema.responses.c.prompt == prompt)
    newest = {(reply.set, reply.situation): reply for reply in _replies(lab, rule)}
    return tuple(reply for key, reply in newest.items() if key in own)


def responses_to_prompt(
    lab: Lab, replies: Collection[JudgedResponse], prompt: str
) -> tuple[JudgedResponse, ...]:
    """Everybody's newest valid reply to each situation of these replies, asked for by the prompt.

    As `new_respondent_responses` of each, from one reading.
    """
    own = {(reply.set, reply.situation) for reply in replies}
    sets = {reply.set for reply in replies}
    rule = and_(schema.responses.c.prompt == prompt, schema.situation_sets.c.name.in_(sets))
    newest = {
        (reply.respondent, reply.set, reply.situation): reply for reply in _replies(lab, rule)
    }
    return tuple(response for (_, *place), response in newest.items() if tuple(place) in own)


def asked_situations(lab: Lab, respondent: str, prompt: str, situation_set: str) -> set[str]:
    """The keys of the set's situations that the respondent was asked about with the prompt.

    Also where the response could not be used.
    """
    query = _asked(schema.situations.c.key, prompt, situation_set)
    with lab.reading() as connection:
        named = query.where(schema.respondents.c.name == respondent)
        return set(connection.execute(named).scalars())


def models_with_responses(lab: Lab, prompt: str, situation_set: str) -> tuple[str, ...]:
    """The names of the models that responded to situations of the set with the prompt."""
    respondents = schema.respondents.c
    query = (
        _asked(respondents.name, prompt, situation_set)
        .where(respondents.kind == "model", schema.responses.c.outcome == "valid")
        .distinct()
        .order_by(respondents.name)
    )
    with lab.reading() as connection:
        return tuple(connection.execute(query).scalars())


def _asked(column: ColumnElement[str], prompt: str, situation_set: str) -> Select[Any]:
    """The column for every response to the set's situations that was asked with the prompt."""
    asked = (schema.responses.c.prompt == prompt, schema.situation_sets.c.name == situation_set)
    return select(column).select_from(RESPONSES).where(*asked)


def response_days(lab: Lab, responses: Collection[int]) -> tuple[date, date] | None:
    """The days on which the first and the last of the responses came; None without any."""
    query = select(*schema.responses.c["id", "added_at"])
    wanted = set(responses)
    with lab.reading() as connection:
        days = [at.date() for number, at in connection.execute(query) if number in wanted]
    return (min(days), max(days)) if days else None


def set_responses(lab: Lab, name: str) -> tuple[JudgedResponse, ...]:
    """All valid replies to the set's situations, or to those of a draw."""
    whole, chosen = resolve_situations(lab, name)
    sets = schema.situation_sets
    rule = and_(sets.c.name == whole.id, sets.c.version == whole.version)
    wanted = {item.id for item in chosen}
    return tuple(reply for reply in _replies(lab, rule) if reply.situation.id in wanted)


def single_response(lab: Lab, response: int) -> JudgedResponse | None:
    """The response of that id; None where it is not usable."""
    return next(iter(_replies(lab, schema.responses.c.id == response)), None)


def run_responses(lab: Lab, run: int) -> tuple[JudgedResponse, ...]:
    """The valid replies of one run."""
    answers = schema.answers
    mine = select(answers.c.id).where(answers.c.run_id == run)
    return _replies(lab, schema.responses.c.answer_id.in_(mine))


def responses_to_judge(
    lab: Lab, study: JudgedStudy, respondents: Collection[str]
) -> tuple[JudgedResponse, ...]:
    """The study's responses, or those of the named respondents to its situations.

    Who is no arm of the study can so be judged against it.
    """
    whole = study_responses(lab, study.row)
    arms = {item.respondent for item in whole}
    joined = [
        reply
        for name in dict.fromkeys(respondents)
        if name not in arms
        for reply in new_respondent_responses(lab, study.row, name)
    ]
    return select_responses((*whole, *joined), respondents, where=f"study {study.name}")


def select_responses(
    replies: tuple[JudgedResponse, ...], respondents: Collection[str], *, where: str
) -> tuple[JudgedResponse, ...]:
    """The replies of those respondents, of all where none is named; there must be some."""
    known = {reply.respondent for reply in replies}
    for name in respondents:
        if name not in known:
            raise UnknownName("respondent with replies", name, known, where=where)
    kept = tuple(reply for reply in replies if not respondents or reply.respondent in respondents)
    if not kept:
        raise InputError(
            "there are no replies to judge",
            where=where,
            remedy="Collect some with `empathylab respond`, or import them.",
        )
    return kept


def _replies(lab: Lab, rule: ColumnElement[bool]) -> tuple[JudgedResponse, ...]:
    query = (
        select(
            schema.responses.c.id.label("response"),
            schema.responses.c.text.label("reply"),
            schema.respondents.c.name,
            schema.situation_sets.c.name.label("set"),
            *SITUATION_FIELDS,
        )
        .select_from(RESPONSES)
        .where(rule, schema.responses.c.outcome == "valid")
        .order_by(schema.situations.c.id, schema.responses.c.id)
    )
    with lab.reading() as connection:
        rows = connection.execute(query).mappings().all()
    return tuple(
        JudgedResponse(
            row["response"], row["name"], situation_from_row(row), row["set"], row["reply"]
        )
        for row in rows
    )
