"""Replies and ratings from files into the lab, so that a corrected file says what it changes.

A source is known by its kind and name. What a file brought before is compared with what it brings
now, thing by thing: what is the same keeps its place, so that nothing that refers to it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from empathylab.errors import InputError
from empathylab.situations import SituationSet
from empathylab.situations.sources.released import Release
from empathylab.store import schema
from empathylab.store.imports.changes import ImportCounts, compare_rows
from empathylab.store.imports.files import begin_import
from empathylab.store.imports.rated_studies import store_study
from empathylab.store.imports.rater_answers import stored_answers
from empathylab.store.imports.responses import ResponseImport
from empathylab.store.inserts import add_respondent, hash_of
from empathylab.store.lab import Lab
from empathylab.store.scales import lab_scales
from empathylab.store.situations import save_situation_set


@dataclass(frozen=True, slots=True)
class ImportedRelease:
    """What became of a source."""

    source: str
    change: str
    situation_set: str
    version: int
    study: str | None
    things: tuple[ImportCounts, ...]
    notes: tuple[str, ...]


def import_release(
    lab: Lab,
    release: Release,
    *,
    kind: str,
    source: str,
    fingerprint: str,
    replace: bool = False,
    tick: Callable[[int], None] = lambda rows: None,
) -> ImportedRelease:
    """What became of the source; its content's hash tells whether it was here before.

    All or nothing: an error leaves the lab as it was. A file that would take away most of what
    another of its name brought is refused, unless it is meant to (`replace`). `tick` is called
    with the number of rows that were written.
    """
    scales = lab_scales(lab)
    with lab.writing() as connection:
        situations = _compared_situations(connection, release.situation_set)
        answers = stored_answers(connection, kind, source)
        stored = save_situation_set(connection, release.situation_set)
        given = {"set": stored.situation_set.id, "study": release.study and release.study.name}
        number, change = begin_import(connection, kind, source, fingerprint, given)
        things: list[ImportCounts] = []
        notes = list(release.notes)
        if number is not None:
            respondents = {
                name: add_respondent(connection, name, what)
                for name, what in release.respondents.items()
            }
            replies = ResponseImport(connection, number, stored.ids, respondents, source, tick)
            things += [situations, replies.store(release.replies)]
            if release.study is not None:
                things += store_study(
                    connection, number, release.study, replies, scales, answers, notes
                )
            replies.drop_removed()
            things = [thing for thing in things if thing != ImportCounts(thing.things)]
            if not replace:
                _refuse_another_file(things, source)
            # A lab of an older version holds another hash of the same content.
            same = not any(thing.added or thing.changed or thing.removed for thing in things)
            if same and change == "replaced":
                change = "unchanged"
        return ImportedRelease(
            source=source,
            change=change,
            situation_set=stored.situation_set.id,
            version=stored.situation_set.version,
            study=release.study.name if release.study else None,
            things=tuple(things),
            notes=tuple(notes),
        )


def _refuse_another_file(things: Iterable[ImportCounts], source: str) -> None:
    for thing in things:
        before = thing.removed + thing.changed + thing.unchanged
        if thing.things in ("responses", "ratings") and thing.removed > max(1, before // 2):
            raise InputError(
                f"another file of this name was imported before, and this one would remove "
                f"{thing.removed:,} of its {before:,} {thing.things}",
                where=source,
                remedy="Rename this file to keep both, or add --replace.",
            )


def _compared_situations(connection: Connection, chosen: SituationSet) -> ImportCounts:
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

    def content(item: Any) -> tuple[Any, ...]:
        return (*(getattr(item, name) for name in fields), tuple(item.context or ()))

    old = {row.key: content(row) for row in connection.execute(query)}
    new = {item.id: content(item) for item in chosen}
    return compare_rows(old, new, "situations")[3]


def content_hash(*parts: object) -> str:
    """A hash of what was read, options included: other options read other things."""
    return hash_of([part if isinstance(part, str) else repr(part) for part in parts])
