"""EmotionBench's published files into the lab: situations, scales, results, people."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select, update

from empathylab.errors import InputError
from empathylab.files import read_text
from empathylab.scales import Scale
from empathylab.scales.people_sheet import PEOPLE_FILE, read_people
from empathylab.scales.published import (
    RESULTS_SUFFIX,
    PublishedAdministration,
    PublishedResults,
    name_parts,
    read_results,
)
from empathylab.situations import Situation, SituationSet
from empathylab.situations.sources.emotionbench import (
    TESTED_ID,
    Factors,
    emotion_word,
    factor_name,
    factors_of,
    parse_emotionbench,
    published_factors,
    published_situation,
    situation_id,
    tested_set,
)
from empathylab.store import schema
from empathylab.store.imports.files import Change, ImportedFile, add_published, begin_import
from empathylab.store.inserts import add_scale, add_situation_set, hash_of, insert_or_ignore
from empathylab.store.lab import Lab
from empathylab.store.scales import lab_scales, save_scales, scales_in_file
from empathylab.store.schema.statements import ids_by
from empathylab.store.situations import save_situation_set

SITUATIONS_FILE = "situations.json"
QUESTIONNAIRES_FILE = "questionnaires.json"

_READER = "1"  # raise it when the same bytes are read otherwise, so that files are read again
_NO_TEXT = "(The published sheet names this situation by its number only.)"


@dataclass(frozen=True, slots=True)
class _Read:
    """A result file as read, with what it takes to store it."""

    path: Path
    fingerprint: str
    scale: Scale
    results: PublishedResults
    people: bool


def import_emotionbench(lab: Lab, path: Path) -> list[ImportedFile]:
    """Brings a folder, a checkout or one file into the lab, all or nothing, and says what changed.

    Result files of any model and any scale are taken. A file whose name holds no known scale is
    skipped, and an administration that cannot be read is kept as invalid; both are reported.
    """
    files = _files(path)
    known = lab_scales(lab)
    brought: dict[Path, list[Scale]] = {}
    published: dict[Path, SituationSet] = {}
    for file in files:
        if file.name == QUESTIONNAIRES_FILE:
            brought[file] = scales_in_file(file, known)
            known |= {scale.id: scale for scale in brought[file]}
        elif file.name == SITUATIONS_FILE:
            published[file] = parse_emotionbench(read_text(file), where=file.name)
    factors = dict(published_factors())
    for item in published.values():
        factors |= factors_of(item)
    read = [_read(file, known) for file in files if file not in brought | published]
    with lab.writing() as connection:
        done = [_store_set(connection, file, results) for file, results in published.items()]
        done += [_store_scales(connection, file, scales) for file, scales in brought.items()]
        return done + _store_results(connection, read, factors)


def _files(path: Path) -> list[Path]:
    """The files to read, by name; hidden folders are left out."""
    if path.is_file():
        found = [path] if _is_known(path.name) else []
    elif path.is_dir():
        found = [
            file
            for file in path.rglob("*")
            if _is_known(file.name)
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        ]
    else:
        raise InputError(
            "there is no such file or folder", where=str(path), remedy="Check the path."
        )
    if not found:
        raise InputError(
            f"there is no {SITUATIONS_FILE}, {QUESTIONNAIRES_FILE}, {PEOPLE_FILE} or "
            f"…{RESULTS_SUFFIX} here",
            where=str(path),
            remedy="Give the folder of EmotionBench's files, or run: "
            "empathylab data fetch emotionbench",
        )
    found.sort(key=lambda file: (file.name, str(file)))
    _refuse_twice(found)
    return found


def _is_known(name: str) -> bool:
    names = (SITUATIONS_FILE, QUESTIONNAIRES_FILE, PEOPLE_FILE)
    return name in names or name.endswith(RESULTS_SUFFIX)


def _refuse_twice(files: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        if file.name in seen:
            raise InputError(
                f"two files are called {file.name}",
                where=str(seen[file.name].parent),
                got=str(file.parent),
                remedy="Give the folder that contains the right one.",
            )
        seen[file.name] = file


def _read(file: Path, known: Mapping[str, Scale]) -> _Read | ImportedFile:
    if file.name == PEOPLE_FILE:
        scale, results = known["panas"], read_people(file, known["panas"])
        return _Read(file, _fingerprint(file, scale), scale, results, people=True)
    parts = name_parts(file.name, known.values())
    if parts is None:
        note = f"the name must be <model>-<SCALE>{RESULTS_SUFFIX} with a scale the lab knows"
        return ImportedFile(file.name, "unknown", "skipped", note=note)
    results = read_results(file, *parts)
    if not results.administrations:
        reasons = "; ".join(f"{count} columns: {why}" for why, count in results.ignored.items())
        note = f"it contains no administrations ({reasons or 'it has no columns'})"
        return ImportedFile(file.name, "results", "skipped", note=note)
    return _Read(file, _fingerprint(file, parts[1]), parts[1], results, people=False)


def _fingerprint(file: Path, scale: Scale) -> str:
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    return hash_of([_READER, content, scale.id, scale.version])


def _store_set(connection: Connection, file: Path, chosen: SituationSet) -> ImportedFile:
    stored = save_situation_set(connection, chosen)
    return ImportedFile(file.name, "situations", stored.change, count=len(chosen))


def _store_scales(connection: Connection, file: Path, scales: Sequence[Scale]) -> ImportedFile:
    new = [
        save_scale.scale.id
        for save_scale in save_scales(connection, scales)
        if save_scale.change == "added"
    ]
    note = f"new: {', '.join(new)}" if new and len(new) < len(scales) else None
    change: Change = "added" if new else "unchanged"
    return ImportedFile(file.name, "scales", change, count=len(scales), note=note)


def _store_results(
    connection: Connection, read: Sequence[_Read | ImportedFile], factors: Factors
) -> list[ImportedFile]:
    situations = _TestedSituations(connection, factors)
    situations.add(
        administration
        for entry in read
        if isinstance(entry, _Read)
        for administration in entry.results.administrations
    )
    done = []
    for entry in read:
        if isinstance(entry, ImportedFile):
            done.append(entry)
            continue
        results = entry.results
        summary = {"administrations": len(results.administrations), "invalid": results.invalid}
        number, change = begin_import(
            connection, "emotionbench", entry.path.name, entry.fingerprint, summary
        )
        if number is not None:
            add_published(
                connection,
                results,
                kind="human" if entry.people else "model",
                scale_id=add_scale(connection, entry.scale),
                situation_ids=[
                    situations.find(administration) for administration in results.administrations
                ],
                import_id=number,
            )
        done.append(
            ImportedFile(
                entry.path.name,
                "people" if entry.people else "results",
                change,
                count=len(results.administrations),
                respondent=results.respondent,
                scale=results.scale,
                invalid=results.invalid,
                ignored=results.ignored,
            )
        )
    return done


class _TestedSituations:
    """The lab's set of situations as result files number them; it grows with each import.

    Files may tell different situations under one number. The first keeps the plain id, others
    get a short hash of their text behind it.
    """

    def __init__(self, connection: Connection, factors: Factors) -> None:
        self.connection = connection
        self.factors = factors
        self.stored: dict[str, Situation] = {}
        self.ids: dict[str, int] = {}
        sets, table = schema.situation_sets, schema.situations
        self.row = connection.execute(select(sets.c.id).where(sets.c.name == TESTED_ID)).scalar()
        if self.row is not None:
            query = select(table).where(table.c.situation_set_id == self.row)
            for row in connection.execute(query).mappings():
                self.ids[row["key"]] = row["id"]
                names = ("text", "emotion", "valence", "factor")
                self.stored[row["key"]] = Situation(row["key"], *(row[name] for name in names))

    def add(self, administrations: Iterable[PublishedAdministration]) -> None:
        """Takes in all situations that the administrations name; those with texts come first."""
        evoked = [
            administration for administration in administrations if administration.phase == "evoked"
        ]
        wanted = {_named(item): None for item in evoked}
        before = dict(self.stored)
        for named in sorted(wanted, key=lambda named: named[3] is None):
            self._take(*named)
        if self.stored != before:
            self._save(before)

    def find(self, administration: PublishedAdministration) -> int | None:
        """The lab's id of the situation; None at baseline."""
        return (
            self.ids[self._key(*_named(administration))]
            if administration.phase == "evoked"
            else None
        )

    def _key(self, emotion: str, factor: int, number: int, text: str | None) -> str:
        plain = situation_id(emotion, factor, number)
        known = self.stored.get(plain)
        if known is None or text is None or known.text in (text, _NO_TEXT):
            return plain
        return f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def _take(self, emotion: str, factor: int, number: int, text: str | None) -> None:
        key = self._key(emotion, factor, number, text)
        if key in self.stored and (text is None or self.stored[key].text == text):
            return
        name = factor_name(self.factors, emotion, factor)
        situation = published_situation(emotion, factor, number, name, text or _NO_TEXT)
        values = (getattr(situation, field) for field in ("text", "emotion", "valence", "factor"))
        self.stored[key] = Situation(key, *values)

    def _save(self, before: Mapping[str, Situation]) -> None:
        chosen = tested_set(self.stored.values())
        if self.row is None:
            self.ids = add_situation_set(self.connection, chosen)
            return
        table = schema.situations
        rows = [
            {
                "situation_set_id": self.row,
                "key": key,
                **{
                    name: getattr(situation, name)
                    for name in ("emotion", "factor", "valence", "text")
                },
            }
            for key, situation in self.stored.items()
            if key not in before
        ]
        insert_or_ignore(self.connection, table, rows)
        for key in (key for key in before if self.stored[key] != before[key]):
            change = update(table).where(table.c.id == self.ids[key])
            self.connection.execute(change.values(text=self.stored[key].text))
        sets = schema.situation_sets
        fresh = update(sets).where(sets.c.id == self.row).values(fingerprint=chosen.fingerprint)
        self.connection.execute(fresh)
        self.ids = ids_by(self.connection, table.c.key, table.c.situation_set_id == self.row)


def _named(administration: PublishedAdministration) -> tuple[str, int, int, str | None]:
    return (
        emotion_word(administration.emotion or ""),
        administration.factor or 0,
        administration.situation or 0,
        administration.text,
    )
