"""Replies and ratings from files into the lab, so that a corrected file says what it changes.

A source is known by its kind and name. What a file brought before is compared with what it brings
now, thing by thing: what is the same keeps its place, so that nothing that refers to it is lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, delete, func, select, update

from empathylab.errors import InputError
from empathylab.scales import Scale, find_scale, score
from empathylab.situations import SituationSet
from empathylab.situations.released import RatedStudy, Rater, Rating, Release, Reply
from empathylab.store import schema
from empathylab.store.imports import begin_import
from empathylab.store.lab import Lab
from empathylab.store.lab_scales import lab_scales
from empathylab.store.lab_situations import store_set
from empathylab.store.studies import add_arms, add_raters, add_study
from empathylab.store.writing import (
    add_item_answers,
    add_respondent,
    add_scale,
    hash_of,
    insert_numbered,
    now,
)

Key = TypeVar("Key", bound=Hashable)
ReplyKey = tuple[str, str, int]
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Imported:
    """How many things of one kind a file added, changed, took away and left as they were."""

    things: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class ImportedRelease:
    """What became of a source."""

    source: str
    change: str
    situation_set: str
    version: int
    study: str | None
    things: tuple[Imported, ...]
    notes: tuple[str, ...]


def import_release(
    lab: Lab, release: Release, *, kind: str, source: str, fingerprint: str
) -> ImportedRelease:
    """What became of the source; its content's hash tells whether it was here before.

    All or nothing: an error leaves the lab as it was.
    """
    scales = lab_scales(lab)
    with lab.writing() as connection:
        situations = _compared_situations(connection, release.situation_set)
        answers = _held_answers(connection, kind, source)
        stored = store_set(connection, release.situation_set)
        given = {"set": stored.situation_set.id, "study": release.study and release.study.name}
        number, change = begin_import(connection, kind, source, fingerprint, given)
        things: list[Imported] = []
        notes = list(release.notes)
        if number is not None:
            respondents = {
                name: add_respondent(connection, name, what)
                for name, what in release.respondents.items()
            }
            replies = _Replies(connection, number, stored.ids, respondents, source)
            things += [situations, replies.store(release.replies)]
            if release.study is not None:
                things += _store_study(
                    connection, number, release.study, replies, scales, answers, notes
                )
            replies.drop_removed()
            things = [one for one in things if one != Imported(one.things)]
        return ImportedRelease(
            source=source,
            change=change,
            situation_set=stored.situation_set.id,
            version=stored.situation_set.version,
            study=release.study.name if release.study else None,
            things=tuple(things),
            notes=tuple(notes),
        )


def import_ratings(
    lab: Lab,
    study: RatedStudy,
    situation_set: SituationSet,
    *,
    source: str,
    fingerprint: str,
    notes: Iterable[str] = (),
) -> ImportedRelease:
    """Like `import_release`, for ratings of responses that are in the lab already."""
    release = Release(situation_set, {}, (), study, tuple(notes))
    return import_release(lab, release, kind="ratings", source=source, fingerprint=fingerprint)


def compare(
    old: Mapping[Key, Any], new: Mapping[Key, Any], things: str
) -> tuple[list[Key], list[Key], list[Key], Imported]:
    """The keys that were added, changed and removed, and how many of each."""
    added = [key for key in new if key not in old]
    removed = [key for key in old if key not in new]
    changed = [key for key in new if key in old and old[key] != new[key]]
    same = len(new) - len(added) - len(changed)
    return added, changed, removed, Imported(things, len(added), len(changed), len(removed), same)


def _compared_situations(connection: Connection, chosen: SituationSet) -> Imported:
    """How the set differs from its newest version in the lab."""
    sets, table = schema.situation_sets, schema.situations
    newest = (
        select(sets.c.id)
        .where(sets.c.name == chosen.id)
        .order_by(sets.c.version.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = select(table).where(table.c.situation_set_id == newest)
    fields = ("text", "emotion", "valence", "topic", "utterance", "title")
    old = {
        row.key: tuple(getattr(row, name) for name in fields) for row in connection.execute(query)
    }
    new = {one.id: tuple(getattr(one, name) for name in fields) for one in chosen}
    return compare(old, new, "situations")[3]


@dataclass(slots=True)
class _Replies:
    """Stores a file's replies, and finds responses for its ratings."""

    connection: Connection
    number: int
    situations: Mapping[str, int]
    respondents: Mapping[str, int]
    source: str
    removed: list[int] = field(default_factory=list)

    def store(self, replies: Iterable[Reply]) -> Imported:
        new = {one.key: one for one in replies}
        held = self._held()
        content = {key: (one.text, dict(one.details or {}) or None) for key, one in new.items()}
        old = {key: (row.text, row.details) for key, row in held.items()}
        added, changed, removed, told = compare(old, content, "responses")
        if not new:
            return told
        added = self._not_elsewhere(added, new)
        self._refuse_rated([held[key].id for key in (*changed, *removed)])
        table = schema.responses
        moved = [key for key in old if key in new and self._place(held[key], key)]
        for key in {*changed, *moved}:
            text, details = content[key]
            place = self.situations[key[0]]
            self.connection.execute(
                update(table)
                .where(table.c.id == held[key].id)
                .values(text=text, details=details, situation_id=place, outcome=_outcome(text))
            )
        self.removed = [held[key].id for key in removed]
        insert_numbered(self.connection, table, [self._row(new[key]) for key in added])
        return told

    def drop_removed(self) -> None:
        """Takes away what the file no longer holds, after its ratings were compared."""
        _delete(self.connection, schema.responses, self.removed)

    def _place(self, row: Any, key: ReplyKey) -> bool:
        return bool(row.situation_id != self.situations[key[0]])

    def _held(self) -> dict[ReplyKey, Any]:
        """The responses that this source brought before."""
        table = schema.responses
        return self._keyed(table.c.import_id == self.number)

    def _keyed(self, condition: Any) -> dict[ReplyKey, Any]:
        table, situations, respondents = schema.responses, schema.situations, schema.respondents
        query = (
            select(table, situations.c.key, respondents.c.name)
            .join(situations, situations.c.id == table.c.situation_id)
            .join(respondents, respondents.c.id == table.c.respondent_id)
            .where(condition)
            .order_by(table.c.id)
        )
        return {(row.key, row.name, row.sample): row for row in self.connection.execute(query)}

    def _not_elsewhere(
        self, added: list[ReplyKey], new: Mapping[ReplyKey, Reply]
    ) -> list[ReplyKey]:
        """Those that no other file brought; the same reply with another text is refused."""
        table = schema.responses
        here = self._in_set() & (table.c.import_id != self.number)
        others = self._keyed(here & table.c.import_id.is_not(None))
        for key in added:
            if key in others and others[key].text != new[key].text:
                raise InputError(
                    f"the lab holds another text of {key[1]} for the situation {key[0]!r}, from "
                    "another file",
                    where=self.source,
                    remedy="Give the reply another sample number, or mend the file.",
                )
        return [key for key in added if key not in others]

    def _in_set(self) -> Any:
        some = next(iter(self.situations.values()))
        table = schema.situations
        chosen = select(table.c.situation_set_id).where(table.c.id == some).scalar_subquery()
        return table.c.situation_set_id == chosen

    def _refuse_rated(self, ids: list[int]) -> None:
        """A response that others rated must stay what it was when they read it."""
        table = schema.ratings
        for start in range(0, len(ids), _CHUNK):
            query = select(func.count()).where(
                table.c.response_id.in_(ids[start : start + _CHUNK]),
                table.c.import_id.is_distinct_from(self.number),
            )
            count = self.connection.execute(query).scalar_one()
            if count:
                raise InputError(
                    f"the file changes or drops responses that have {count} ratings in this lab",
                    where=self.source,
                    remedy="Import it into another lab, or under another --name.",
                )

    def _row(self, reply: Reply) -> dict[str, Any]:
        return {
            "situation_id": self.situations[reply.situation],
            "respondent_id": self.respondents[reply.respondent],
            "answer_id": None,
            "sample": reply.sample,
            "prompt": None,
            "text": reply.text,
            "outcome": _outcome(reply.text),
            "reason": None if reply.text else "the reply holds no text",
            "added_at": now(),
            "import_id": self.number,
            "details": dict(reply.details) if reply.details else None,
        }

    def responses(self) -> dict[ReplyKey, int]:
        """The ids of the set's usable responses; of several, the newest."""
        usable = self._in_set() & (schema.responses.c.outcome == "valid")
        return {key: int(row.id) for key, row in self._keyed(usable).items()}


def _outcome(text: str) -> str:
    return "valid" if text else "empty"


def _store_study(
    connection: Connection,
    number: int,
    study: RatedStudy,
    replies: _Replies,
    scales: Mapping[str, Scale],
    answers: Mapping[tuple[str, str], list[float]],
    notes: list[str],
) -> list[Imported]:
    protocol = {
        "design": study.design,
        "dimensions": [
            {"name": one.name, "values": list(one.values), "labels": list(one.labels)}
            for one in study.dimensions
        ],
    }
    study_id = add_study(connection, study.name, study.title, protocol, status="closed")
    arms = _arms(connection, study_id, study.ratings)
    table = schema.raters
    held = {
        row.name: (row.details, row.seconds)
        for row in connection.execute(select(table).where(table.c.study_id == study_id))
    }
    new = {one.name: (dict(one.details), one.seconds) for one in study.raters}
    _, _, gone, raters = compare(held, new, "raters")
    rows = [
        {"name": one.name, "kind": one.kind, "details": dict(one.details), "seconds": one.seconds}
        for one in study.raters
    ]
    ids = add_raters(connection, study_id, rows)
    told = _store_ratings(connection, number, study.ratings, ids, arms, replies.responses())
    _delete(connection, table, [ids[name] for name in gone if _idle(connection, ids[name])])
    notes += _store_answers(connection, number, study.raters, ids, scales)
    given = {
        (one.name, name): [float(value) for value in values]
        for one in study.raters
        for name, values in one.answers.items()
    }
    return [raters, told, compare(answers, given, "questionnaires")[3]]


def _held_answers(
    connection: Connection, kind: str, source: str
) -> dict[tuple[str, str], list[float]]:
    """The questionnaires that this source brought before, by rater and scale."""
    table, imports = schema.administrations, schema.imports
    items, raters, scales = schema.item_answers, schema.raters, schema.scales
    query = (
        select(raters.c.name, scales.c.name.label("scale"), items.c.value)
        .join(table, table.c.id == items.c.administration_id)
        .join(imports, imports.c.id == table.c.import_id)
        .join(raters, raters.c.id == table.c.rater_id)
        .join(scales, scales.c.id == table.c.scale_id)
        .where(imports.c.kind == kind, imports.c.source == source)
        .order_by(items.c.administration_id, items.c.item)
    )
    held: dict[tuple[str, str], list[float]] = {}
    for row in connection.execute(query):
        held.setdefault((row.name, row.scale), []).append(row.value)
    return held


def _arms(connection: Connection, study: int, ratings: Iterable[Rating]) -> dict[str, int]:
    names = list(dict.fromkeys(one.respondent for one in ratings))
    table = schema.respondents
    known = {
        row.name: int(row.id)
        for row in connection.execute(select(table.c.name, table.c.id))
        if row.name in names
    }
    return add_arms(connection, study, {name: known[name] for name in names if name in known})


def _idle(connection: Connection, rater: int) -> bool:
    table = schema.ratings
    query = select(func.count()).where(table.c.rater_id == rater)
    return bool(connection.execute(query).scalar_one() == 0)


def _store_ratings(
    connection: Connection,
    number: int,
    ratings: Iterable[Rating],
    raters: Mapping[str, int],
    arms: Mapping[str, int],
    responses: Mapping[ReplyKey, int],
) -> Imported:
    table = schema.ratings
    query = select(table).where(table.c.import_id == number)
    held = {
        (row.rater_id, row.response_id, row.dimension): row for row in connection.execute(query)
    }
    rows: dict[tuple[int, int, str], dict[str, Any]] = {}
    for one in ratings:
        response = responses.get((one.situation, one.respondent, one.sample))
        if response is None:
            raise InputError(
                f"the lab holds no usable response of {one.respondent!r} to the situation "
                f"{one.situation!r}" + (f", sample {one.sample}" if one.sample else ""),
                where=f"rating of {one.rater}",
                remedy="Import the responses first, or mend the names.",
            )
        rows[raters[one.rater], response, one.dimension] = {
            "rater_id": raters[one.rater],
            "response_id": response,
            "arm_id": arms[one.respondent],
            "dimension": one.dimension,
            "value": one.value,
            "label": one.label,
            "seconds": one.seconds,
            "rated_at": None,
            "import_id": number,
        }
    fields = ("value", "label", "seconds")
    old = {key: tuple(getattr(row, name) for name in fields) for key, row in held.items()}
    new = {key: tuple(row[name] for name in fields) for key, row in rows.items()}
    added, changed, removed, told = compare(old, new, "ratings")
    for key in changed:
        values = dict(zip(fields, new[key], strict=True))
        connection.execute(update(table).where(table.c.id == held[key].id).values(**values))
    _delete(connection, table, [held[key].id for key in removed])
    insert_numbered(connection, table, [rows[key] for key in added])
    return told


def _store_answers(
    connection: Connection,
    number: int,
    raters: Iterable[Rater],
    ids: Mapping[str, int],
    scales: Mapping[str, Scale],
) -> Iterable[str]:
    """Adds the raters' own questionnaires, and gives what does not add up.

    Those that the same source brought before are gone already.
    """
    answered = [(one, name) for one in raters for name in one.answers]
    chosen = {name: _scale(scales, name) for _, name in answered}
    rows = [
        {
            "respondent_id": None,
            "rater_id": ids[one.name],
            "scale_id": add_scale(connection, chosen[name]),
            "situation_id": None,
            "answer_id": None,
            "phase": "default",
            "counterpart": False,
            "mode": "imported",
            "order_index": 0,
            "item_order": list(range(1, chosen[name].items + 1)),
            "repeat": 0,
            "outcome": "valid",
            "reason": None,
            "subject": one.name,
            "added_at": now(),
            "import_id": number,
        }
        for one, name in answered
    ]
    numbers = insert_numbered(connection, schema.administrations, rows)
    values = [dict(enumerate(one.answers[name], start=1)) for one, name in answered]
    add_item_answers(connection, zip(numbers, values, strict=True))
    return _totals_that_differ(answered, chosen)


def _scale(scales: Mapping[str, Scale], name: str) -> Scale:
    found = find_scale(name, scales.values())
    if found is None:
        raise InputError(
            "the lab does not know the raters' scale", got=name, remedy="Import the scale first."
        )
    return found


def _totals_that_differ(
    answered: Iterable[tuple[Rater, str]], scales: Mapping[str, Scale]
) -> Iterable[str]:
    wrong: dict[str, list[str]] = {}
    for rater, name in answered:
        if name in rater.stated:
            values = dict(enumerate(rater.answers[name], start=1))
            total = score(scales[name], values)[-1].value
            if total != rater.stated[name]:
                wrong.setdefault(name, []).append(rater.name)
    for name, names in wrong.items():
        yield (
            f"the stated {scales[name].name} total of {len(names)} raters is not the one that "
            f"their answers give (first: {names[0]}); the answers count."
        )


def _delete(connection: Connection, table: Table, ids: list[int]) -> None:
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        connection.execute(delete(table).where(table.c.id.in_(chunk)))


def content_hash(*parts: object) -> str:
    """A hash of what was read, options included: other options read other things."""
    return hash_of([part if isinstance(part, str) else repr(part) for part in parts])
