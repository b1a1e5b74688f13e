"""A file's replies in the lab: stored once, and never changed under those who rated them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy import Connection, func, select

from empathylab.errors import InputError
from empathylab.situations.sources.released import Reply
from empathylab.situations.sources.rows import frames_of
from empathylab.store import schema
from empathylab.store.frames import read_frame, read_parts
from empathylab.store.imports.bulk import insert_frames, loading
from empathylab.store.imports.changes import CHUNK, ImportCounts, delete_rows
from empathylab.store.inserts import now
from empathylab.store.schema.statements import change_rows, update_rows

_KEY = ["situation", "respondent", "sample"]
_TYPES = {
    "situation": pl.String,
    "respondent": pl.String,
    "text": pl.String,
    "sample": pl.Int64,
    "details": pl.String,
}


@dataclass(slots=True)
class ResponseImport:
    """Stores a file's replies, and finds responses for its ratings."""

    connection: Connection
    number: int
    situations: Mapping[str, int]
    respondents: Mapping[str, int]
    source: str
    tick: Callable[[int], None] = lambda rows: None
    """Called with the number of rows, part by part."""
    removed: list[int] = field(default_factory=list)

    def store(self, replies: Sequence[Reply]) -> ImportCounts:
        """Adds, changes and marks for removal; gives how many of each."""
        if not replies:
            return ImportCounts("responses")
        stored = self._keyed(schema.responses.c.import_id == self.number)
        shared, known = self._compared(replies, stored)
        changed = known.filter(pl.col("content") != pl.col("content_held"))
        moved = known.filter(pl.col("place") != pl.col("situation_id"))
        removed = stored.join(known, on=_KEY, how="anti", maintain_order="left")
        heirs = self._heirs(removed)
        dropped = removed.filter(~pl.col("id").is_in(list(heirs)))["id"].to_list()
        self._refuse_rated([*changed["id"], *dropped])
        self._update(pl.concat([changed, moved]).unique("id"))
        inherited = [{"id": number, "import_id": heir} for number, heir in heirs.items()]
        update_rows(self.connection, schema.responses, inherited)
        self.removed = dropped
        added = self._insert(replies, stored, shared)
        self._remember(shared.rows())
        return ImportCounts(
            "responses",
            added,
            changed.height,
            removed.height,
            known.height - changed.height + shared.height,
        )

    def drop_removed(self) -> None:
        """Takes away what the file no longer holds, after its ratings were compared."""
        delete_rows(self.connection, schema.responses, self.removed)

    def _compared(
        self, replies: Sequence[Reply], stored: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The keys that another source brought before, and the rows that this one did."""
        table = schema.responses
        here = self._in_set() & (table.c.import_id != self.number)
        others = self._keyed(here & table.c.import_id.is_not(None)).join(
            stored, on=_KEY, how="anti"
        )
        shared, known = [others.select(_KEY).clear()], [stored.clear()]
        known[0] = known[0].with_columns(
            pl.lit(0, pl.UInt64).alias("content_held"),
            pl.lit(0, pl.Int64).alias("place"),
            *(pl.lit(None, pl.String).alias(name) for name in ("text", "details")),
        )
        for plain in self._frames(replies) if stored.height or others.height else ():
            frame = _with_content(plain)
            both = frame.join(others, on=_KEY, how="inner", suffix="_held", maintain_order="left")
            self._refuse_other_text(both.filter(pl.col("words") != pl.col("words_held")))
            shared.append(both.select(_KEY))
            again = frame.join(stored, on=_KEY, how="inner", suffix="_held", maintain_order="left")
            known.append(
                again.rename({"situation_id": "place"})
                .rename({"situation_id_held": "situation_id"})
                .select(known[0].columns)
            )
        return pl.concat(shared), pl.concat(known)

    def _frames(self, replies: Sequence[Reply]) -> Iterator[pl.DataFrame]:
        """The replies part by part, with their situations' ids."""
        ids = self._situation_ids()
        for frame in frames_of(replies, Reply, _TYPES):
            yield frame.join(ids, on="situation", how="left", maintain_order="left")

    def _situation_ids(self) -> pl.DataFrame:
        columns = {"situation": pl.String, "situation_id": pl.Int64}
        return pl.DataFrame(list(self.situations.items()), schema=columns, orient="row")

    def _insert(self, replies: Sequence[Reply], stored: pl.DataFrame, shared: pl.DataFrame) -> int:
        """Adds what the lab does not hold; gives how many."""
        known = pl.concat([stored.select(_KEY), shared])
        columns = {"respondent": pl.String, "respondent_id": pl.Int64}
        respondents = pl.DataFrame(list(self.respondents.items()), schema=columns, orient="row")
        rows = self._rows(replies, known, respondents)
        with loading(self.connection, schema.responses, len(replies) - known.height):
            return sum(insert_frames(self.connection, schema.responses, rows))

    def _rows(
        self, replies: Sequence[Reply], known: pl.DataFrame, respondents: pl.DataFrame
    ) -> Iterator[pl.DataFrame]:
        """The rows of the table for the replies that are not known, part by part."""
        added_at, empty = now(), pl.col("text") == ""
        for frame in self._frames(replies):
            fresh = frame
            if known.height:
                fresh = frame.join(known, on=_KEY, how="anti", maintain_order="left")
            yield fresh.join(
                respondents, on="respondent", how="left", maintain_order="left"
            ).select(
                "situation_id",
                "respondent_id",
                "sample",
                "text",
                outcome=pl.when(empty).then(pl.lit("empty")).otherwise(pl.lit("valid")),
                reason=pl.when(empty).then(pl.lit("the reply contains no text")),
                added_at=pl.lit(added_at),
                import_id=pl.lit(self.number),
                details=pl.col("details").fill_null("null"),
            )

    def _update(self, rows: pl.DataFrame) -> None:
        """Writes other texts, or another place, where the file has changed."""
        changes = [
            {
                "id": row["id"],
                "text": row["text"],
                "details": None if row["details"] is None else json.loads(row["details"]),
                "situation_id": row["place"],
                "outcome": "valid" if row["text"] else "empty",
            }
            for row in rows.iter_rows(named=True)
        ]
        update_rows(self.connection, schema.responses, changes)

    def _remember(self, shared: Iterable[tuple[object, ...]]) -> None:
        """Notes what this source brings, too, should the other one drop it."""
        table = schema.imports
        query = select(table.c.summary).where(table.c.id == self.number)
        summary = dict(self.connection.execute(query).scalar_one())
        summary["shared"] = [list(key) for key in shared]
        change_rows(self.connection, table, table.c.id == self.number, summary=summary)

    def _heirs(self, removed: pl.DataFrame) -> dict[int, int]:
        """Of the responses that this file drops, which other source brings them still."""
        deleted = {tuple(key): number for *key, number in removed.select(*_KEY, "id").iter_rows()}
        if not deleted:
            return {}
        table = schema.imports
        found: dict[int, int] = {}
        for row in self.connection.execute(select(table).where(table.c.id != self.number)):
            for key in row.summary.get("shared", ()):
                if tuple(key) in deleted:
                    found.setdefault(deleted[tuple(key)], int(row.id))
        return found

    def _keyed(self, condition: Any) -> pl.DataFrame:
        """Responses by their keys; of several with one key the newest."""
        table, situations, respondents = schema.responses, schema.situations, schema.respondents
        query = (
            select(
                table.c.id,
                table.c.situation_id,
                situations.c.key.label("situation"),
                respondents.c.name.label("respondent"),
                table.c.sample,
                table.c.text,
                table.c.details,
            )
            .join(situations, situations.c.id == table.c.situation_id)
            .join(respondents, respondents.c.id == table.c.respondent_id)
            .where(condition)
            .order_by(table.c.id)
        )
        found = [
            _with_content(part).drop("text", "details")
            for part in read_parts(self.connection, query)
        ]
        return pl.concat(found).unique(_KEY, keep="last", maintain_order=True)

    def _refuse_other_text(self, rows: pl.DataFrame) -> None:
        for situation, respondent in rows.select("situation", "respondent").head(1).iter_rows():
            raise InputError(
                f"the lab has a different text of {respondent} for the situation {situation!r}, "
                "from another file",
                where=self.source,
                remedy="Give the reply another sample number, or fix the file.",
            )

    def _in_set(self) -> Any:
        some = next(iter(self.situations.values()))
        table = schema.situations
        chosen = select(table.c.situation_set_id).where(table.c.id == some).scalar_subquery()
        return table.c.situation_set_id == chosen

    def _refuse_rated(self, ids: list[int]) -> None:
        """A response that others rated must stay what it was when they read it."""
        table = schema.ratings
        for start in range(0, len(ids), CHUNK):
            query = select(func.count()).where(
                table.c.response_id.in_(ids[start : start + CHUNK]),
                table.c.import_id.is_distinct_from(self.number),
            )
            count = self.connection.execute(query).scalar_one()
            if count:
                raise InputError(
                    f"the file changes or drops responses that have {count} ratings in this lab",
                    where=self.source,
                    remedy="Import it into another lab, or under another --name.",
                )

    def responses(self) -> pl.DataFrame:
        """The ids of the set's usable responses by their keys; of several, the newest."""
        table, situations, respondents = schema.responses, schema.situations, schema.respondents
        query = (
            select(
                table.c.id.label("response_id"),
                table.c.situation_id,
                table.c.respondent_id,
                table.c.sample,
            )
            .join(situations, situations.c.id == table.c.situation_id)
            .where(self._in_set(), table.c.outcome == "valid")
        )
        names = select(respondents.c.id.label("respondent_id"), respondents.c.name)
        key = ["situation_id", "respondent_id", "sample"]
        return (
            read_frame(self.connection, query)
            .group_by(key)
            .agg(pl.col("response_id").max())
            .join(self._situation_ids(), on="situation_id")
            .join(read_frame(self.connection, names), on="respondent_id")
            .select("response_id", "situation", "sample", respondent="name")
        )


def _with_content(frame: pl.DataFrame) -> pl.DataFrame:
    """With hashes that tell whether a text, or a text and its details, are the same."""
    details = frame["details"]
    if not details.is_null().all():
        details = pl.Series([_canonical(text) for text in details], dtype=pl.String)
    return frame.with_columns(
        words=pl.col("text").hash(), content=pl.struct(pl.col("text"), details.alias("d")).hash()
    )


def _canonical(details: str | None) -> str | None:
    """The same text for the same JSON, whatever the order of its keys."""
    content = json.loads(details or "null")
    return None if content is None else json.dumps(content, sort_keys=True)
