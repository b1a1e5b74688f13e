"""Rows of one lab on their way into another: JSON values, numbered as in the lab they come from.

What a reader recognises a row by (a run's fingerprint, a situation's set and id) decides whether
the other lab has it already. So the same rows can be written twice and change nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, select

from empathylab.errors import InputError
from empathylab.store import schema
from empathylab.store.inserts import hash_of, insert_returning_ids
from empathylab.store.schema.statements import insert_rows, update_rows
from empathylab.store.studies.embargo import hidden_answers, written_openly

Row = dict[str, Any]
Records = dict[str, list[Row]]
"""Rows by table."""

_CHUNK = 500  # numbers per query: under every database's limit on parameters
# What identifies rows, where the number does not count. Tables without an entry are compared by
# their whole content.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "situation_sets": ("name", "version"),
    "situations": ("situation_set_id", "key"),
    "selections": ("name",),
    "selected_situations": ("selection_id", "position"),
    "respondents": ("name",),
    "scales": ("name", "version", "fingerprint"),
    "personas": ("collection", "key", "language", "fingerprint"),
    "imports": ("kind", "source"),
    "runs": ("fingerprint", "started_at"),
    "answers": ("run_id", "key"),
    "failures": ("run_id", "key", "failed_at"),
    "responses": (),
    "administrations": (),
    "item_answers": ("administration_id", "item"),
    "conversations": ("run_id", "import_id", "key"),
    "turns": ("conversation_id", "position"),
    "studies": ("name", "version"),
    "study_situations": ("study_id", "position"),
    "study_scales": ("study_id", "name"),
    "arms": ("study_id", "name"),
    "shown_responses": ("arm_id", "situation_id"),
    "raters": ("study_id", "name"),
    "ratings": ("rater_id", "response_id", "dimension"),
    "judgements": ("answer_id", "dimension"),
    "preferences": ("answer_id", "dimension"),
}
# Two rows that share a key but differ here are different things under one name.
_SAME: Mapping[str, tuple[str, str]] = {
    "situation_sets": ("fingerprint", "different texts in this version of the set"),
    "respondents": ("kind", "a respondent of another kind with the name"),
    "imports": ("fingerprint", "a different file with the name"),
    "studies": ("protocol_hash", "a different study with the name"),
}
TABLES: Mapping[str, Table] = {
    table.name: table for table in schema.metadata.sorted_tables if table.name in _KEYS
}
"""What can be carried over; platform ids, slots and accounts cannot."""
_FROM_ANSWERS = ("responses", "administrations", "judgements", "preferences", "turns")


class Carried(NamedTuple):
    """What became of the rows of a table."""

    table: str
    added: int
    known: int
    """Rows that the lab held already."""


def answer_records(connection: Connection, numbers: Sequence[int]) -> Records:
    """The answers of those numbers, what was made of them, and all that these rows refer to.

    People's ratings of the responses are among them where their study is closed. What judges said
    of replies that an open study shows is not.
    """
    hidden = _hidden_answers(connection)
    shown = [number for number in numbers if number not in hidden]
    found = {"answers": _rows(connection, "answers", "id", shown)}
    for name in _FROM_ANSWERS:
        found[name] = _rows(connection, name, "answer_id", shown)
    talks = {row["conversation_id"] for row in found["turns"]}
    found["turns"] = _rows(connection, "turns", "conversation_id", talks)
    given = [row["id"] for row in found["administrations"]]
    found["item_answers"] = _rows(connection, "item_answers", "administration_id", given)
    replies = [row["id"] for row in found["responses"]]
    found["ratings"] = _of_closed_studies(
        connection, _rows(connection, "ratings", "response_id", replies)
    )
    return _with_parents(connection, found)


def run_records(connection: Connection, run: int) -> Records:
    """All that belongs to a run, its failures included."""
    table = schema.answers
    query = select(table.c.id).where(table.c.run_id == run).order_by(table.c.id)
    found = answer_records(connection, list(connection.execute(query).scalars()))
    found["failures"] = _rows(connection, "failures", "run_id", [run])
    if not any(row["id"] == run for row in found["runs"]):
        found["runs"] += _rows(connection, "runs", "id", [run])
    return _with_parents(connection, found)


def lab_records(connection: Connection) -> Records:
    """Every row that can be carried over, without what belongs to studies that are not closed.

    What their participants wrote belongs to them, and what judges said of the replies they show.
    """
    found = whole_tables(connection, TABLES)
    hidden = set(connection.execute(_open_studies()).scalars())
    found["studies"] = [row for row in found["studies"] if row["id"] not in hidden]
    answers = _hidden_answers(connection)
    found["answers"] = [row for row in found["answers"] if row["id"] not in answers]
    responses = select(schema.responses.c.id).where(~written_openly(connection))
    written = set(connection.execute(responses).scalars())
    found["responses"] = [row for row in found["responses"] if row["id"] not in written]
    for name in TABLES:
        _drop_orphans(found, name)
    return found


def whole_tables(connection: Connection, names: Iterable[str]) -> Records:
    """All rows of these tables."""
    return {
        name: [
            _plain(TABLES[name], row)
            for row in connection.execute(
                select(TABLES[name]).order_by(*TABLES[name].primary_key)
            ).mappings()
        ]
        for name in names
    }


def _hidden_answers(connection: Connection) -> set[int]:
    return set(connection.execute(select(schema.answers.c.id).where(hidden_answers())).scalars())


def _open_studies() -> Any:
    return select(schema.studies.c.id).where(schema.studies.c.status != "closed")


def _drop_orphans(found: Records, name: str) -> None:
    """Takes away rows that refer to rows that were taken away."""
    for column, target in _references(TABLES[name]):
        if target not in found or target == name or "id" not in TABLES[target].c:
            continue
        known = {row["id"] for row in found[target]}
        found[name] = [
            row for row in found[name] if row[column.name] is None or row[column.name] in known
        ]


def _of_closed_studies(connection: Connection, ratings: list[Row]) -> list[Row]:
    raters = schema.raters
    closed = select(raters.c.id).where(raters.c.study_id.not_in(_open_studies()))
    known = set(connection.execute(closed).scalars())
    return [row for row in ratings if row["rater_id"] in known]


def _rows(connection: Connection, name: str, column: str, wanted: Collection[int]) -> list[Row]:
    table, numbers = TABLES[name], sorted(wanted)
    found: list[Row] = []
    for start in range(0, len(numbers), _CHUNK):
        chosen = table.c[column].in_(numbers[start : start + _CHUNK])
        query = select(table).where(chosen).order_by(*table.primary_key)
        found += [_plain(table, row) for row in connection.execute(query).mappings()]
    return found


def _plain(table: Table, row: Mapping[Any, Any]) -> Row:
    return {
        column.name: value.isoformat() if isinstance(value, date) else value
        for column, value in zip(table.c, row.values(), strict=True)
    }


def _references(table: Table) -> list[tuple[Column[Any], str]]:
    return [(column, key.column.table.name) for column in table.c for key in column.foreign_keys]


def _with_parents(connection: Connection, found: Records) -> Records:
    """The rows with all that they refer to; of a set of situations all, so that it is whole."""
    complete: Records = {name: list(found.get(name, ())) for name in TABLES}
    for name in reversed(list(TABLES)):
        if name == "situation_sets":
            sets = {row["id"] for row in complete[name]}
            complete["situations"] = _rows(connection, "situations", "situation_set_id", sets)
        for column, target in _references(TABLES[name]):
            if target not in complete:
                continue
            wanted = {row[column.name] for row in complete[name]} - {None}
            missing = wanted - {row["id"] for row in complete[target]}
            complete[target] += _rows(connection, target, "id", missing)
    return complete


def merged(parts: Iterable[Records]) -> Records:
    """The rows of several parts of one lab, each once."""
    found: dict[str, dict[Any, Row]] = {}
    for part in parts:
        for name, rows in part.items():
            _require_table(name)
            keys = [column.name for column in TABLES[name].primary_key]
            for row in rows:
                found.setdefault(name, {})[tuple(row.get(key) for key in keys)] = row
    return {name: list(rows.values()) for name, rows in found.items()}


def _require_table(name: str) -> None:
    if name not in TABLES:
        raise InputError(
            "the file has a table that this version of EmpathyLab does not know",
            got=name,
            remedy="Read the file with the version that wrote it, or a newer one.",
        )


def write_records(connection: Connection, records: Records) -> list[Carried]:
    """Adds the rows that the lab does not hold yet, under numbers of its own."""
    for name in records:
        _require_table(name)
    writing = _Writing(connection)
    return [writing.write(name, records[name]) for name in TABLES if records.get(name)]


class _Writing:
    """Writes table after table, and knows under which number each row is in this lab."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.numbers: dict[str, dict[int, int]] = {name: {} for name in TABLES}

    def write(self, name: str, rows: Sequence[Row]) -> Carried:
        table = TABLES[name]
        ordered = sorted(rows, key=lambda row: row.get("id", 0))
        here = [self._translated(table, row) for row in ordered]
        stored = self._stored(table, here)
        seen: Counter[Any] = Counter()
        new: list[tuple[Row, Row]] = []
        for source, row in zip(ordered, here, strict=True):
            key = _key(table, row)
            seen[key] += 1
            known = stored.get((key, seen[key]))
            if known is None:
                new.append((source, row))
            else:
                _require_same(name, known, row)
                if "id" in row:
                    self.numbers[name][source["id"]] = int(known["id"])
        self._insert(table, new)
        return Carried(name, len(new), len(rows) - len(new))

    def _translated(self, table: Table, row: Row) -> Row:
        """The row with times as times, and references to rows of this lab."""
        names = {column.name for column in table.c}
        required = {column.name for column in table.c if not column.nullable}
        if set(row) - names or required - set(row):
            raise InputError(
                f"the rows of {table.name} are not those of this version",
                got=", ".join(sorted(set(row) ^ names)),
                remedy="Read the file with the version of EmpathyLab that wrote it.",
            )
        here = {column.name: row.get(column.name) for column in table.c}
        for column in table.c:
            value = here[column.name]
            if isinstance(column.type, schema.Moment) and value is not None:
                here[column.name] = datetime.fromisoformat(value)
        for column, target in _references(table):
            there = here[column.name]
            if target == table.name or there is None:
                continue
            number = self.numbers.get(target, {}).get(there)
            if number is None and not column.nullable:
                raise InputError(
                    f"a row of {table.name} refers to a row of {target} that is missing",
                    got=row.get("id"),
                    remedy="The file is incomplete: export it again.",
                )
            here[column.name] = number
        return here

    def _stored(
        self, table: Table, rows: Sequence[Row]
    ) -> dict[tuple[Any, int], Mapping[str, Any]]:
        """The lab's own rows by key; of rows that are alike, one after the other."""
        query = select(table).order_by(*table.primary_key)
        parents = [column for column, target in _references(table) if target != table.name]
        required = next((column for column in parents if not column.nullable), None)
        if required is not None:
            wanted = sorted({row[required.name] for row in rows})
            if len(wanted) <= _CHUNK:
                query = query.where(required.in_(wanted))
        stored: dict[tuple[Any, int], Mapping[str, Any]] = {}
        seen: Counter[Any] = Counter()
        for row in self.connection.execute(query).mappings():
            key = _key(table, dict(row))
            seen[key] += 1
            stored[key, seen[key]] = dict(row)
        return stored

    def _insert(self, table: Table, new: Sequence[tuple[Row, Row]]) -> None:
        rows = [row for _, row in new]
        if table.name == "runs":
            self._number_runs(rows)
        if "id" not in table.c:
            insert_rows(self.connection, table, rows)
            return
        own = [column.name for column, target in _references(table) if target == table.name]
        fresh = [{k: v for k, v in row.items() if k != "id" and k not in own} for row in rows]
        ids = insert_returning_ids(self.connection, table, fresh)
        numbers = self.numbers[table.name]
        numbers.update((source["id"], number) for (source, _), number in zip(new, ids, strict=True))
        for name in own:  # rows that refer to rows of their own table
            referring = [
                {"id": number, name: numbers[source[name]]}
                for (source, _), number in zip(new, ids, strict=True)
                if source.get(name) in numbers
            ]
            update_rows(self.connection, table, referring)

    def _number_runs(self, rows: Sequence[Row]) -> None:
        """A run's generation counts the runs of this lab; a name that is taken is left out."""
        table = schema.runs
        stored = self.connection.execute(select(table.c.fingerprint, table.c.name)).all()
        generations = Counter(row.fingerprint for row in stored)
        names = {row.name for row in stored}
        for row in rows:
            row["generation"] = generations[row["fingerprint"]]
            generations[row["fingerprint"]] += 1
            if row["name"] in names:
                row["name"] = None


def _key(table: Table, row: Mapping[str, Any]) -> Any:
    """What the row is recognised by."""
    names = _KEYS[table.name]
    if names:
        return tuple(row[name] for name in names)
    if row["answer_id"] is not None:
        return row["answer_id"]
    own = {k: v for k, v in row.items() if k not in ("id", "added_at")}
    return hash_of({k: str(v) if isinstance(v, date) else v for k, v in own.items()})


def _require_same(name: str, stored: Mapping[str, Any], row: Row) -> None:
    if name not in _SAME:
        return
    column, what = _SAME[name]
    if stored[column] != row[column]:
        named = row.get("name") or row.get("source")
        raise InputError(
            f"the lab already has {what} {named!r}",
            remedy="Import it into another lab with --lab.",
        )
