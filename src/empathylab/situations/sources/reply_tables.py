"""Replies of any origin, from a long table: one row per reply.

Columns: `situation` (its id), `respondent`, `text`; if wanted `sample` (0, 1 …), `kind` (model or
human). Either the situations are in the lab already, or the table tells them, too, in
`situation_text` and if wanted `emotion`, `valence`, `topic`, `title`, `utterance`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from empathylab.errors import InputError
from empathylab.situations.emotions import emotion_warnings, stated_valence
from empathylab.situations.sets import Situation, SituationSet
from empathylab.situations.sources.cells import (
    by_value,
    clean_texts,
    filled,
    parts_of,
    repeated,
    sample_number,
    texts_in,
)
from empathylab.situations.sources.released import Kind, Release, Reply, kind_of
from empathylab.situations.sources.rows import Rows
from empathylab.situations.sources.tables import check_set_id
from empathylab.tables import require_columns

if TYPE_CHECKING:
    import polars as pl

SITUATION_COLUMNS = ("situation_text", "emotion", "valence", "topic", "title", "utterance")
HUMAN = "human"
_POST_COLUMNS = {
    "topic": ("topic", "domain", "subreddit"),
    "title": ("title", "post_title"),
    "text": ("text", "post", "body"),
    "reply": ("reply", "human_reply", "human_response", "response"),
    "id": ("id", "post_id"),
}


def replies_from(
    table: pl.DataFrame | Iterable[pl.DataFrame],
    *,
    where: str,
    situation_set: SituationSet | None = None,
    set_id: str = "",
    title: str = "",
    licence: str = "not stated",
    respondent: str | None = None,
    emotions: Mapping[str, str] | None = None,
    first_row: int = 2,
) -> Release:
    """The replies of a table, to the situations of `situation_set` or to those in the table.

    A large table comes in parts. `respondent` names who wrote every reply, for a table without
    that column.
    """
    situations = _Situations(where, set_id, emotions or {}, _needed(respondent))
    if situation_set is None:
        check_set_id(set_id, where)
    reading = _Replies(where, respondent, situation_set)
    for number, part in parts_of(table, first_row):
        if situation_set is None:
            situations.take(part, number)
            reading.known = situations.found.keys()
        reading.take(part, number)
    replies = reading.read_replies(first_row)
    if situation_set is not None:
        return Release(situation_set, reading.kinds, replies, notes=tuple(reading.notes()))
    new_set = situations.as_set(title, licence)
    counts = Counter(item.emotion for item in new_set if item.emotion)
    notes = (*emotion_warnings(counts), *reading.notes())
    return Release(new_set, reading.kinds, replies, notes=notes)


def _needed(respondent: str | None) -> list[str]:
    return ["situation", "text"] + ([] if respondent else ["respondent"])


class _Replies:
    """The replies of a table's parts."""

    def __init__(
        self, where: str, respondent: str | None, situation_set: SituationSet | None
    ) -> None:
        self.where, self.respondent = where, respondent
        self.set_id = situation_set.id if situation_set else ""
        self.known: Collection[str] = {item.id for item in situation_set or ()}
        self.kinds: dict[str, Kind] = {}
        self.rows: Rows[Reply] = Rows(Reply)
        self.keys: list[pl.Series] = []
        self.empty: Counter[str] = Counter()

    def take(self, part: pl.DataFrame, number: int) -> None:
        """Checks and keeps a part, whose first row has that number."""
        import polars as pl

        require_columns(part.columns, _needed(self.respondent), where=self.where)
        if "respondent" not in part.columns:
            part = part.with_columns(respondent=pl.lit(self.respondent))
        frame = pl.DataFrame(
            {
                "situation": clean_texts(part, "situation"),
                "respondent": clean_texts(part, "respondent"),
                "text": clean_texts(part, "text").fill_null(""),
                "sample": by_value(part, "sample", sample_number, pl.Int64),
                "details": pl.Series([None], dtype=pl.String).new_from_index(0, part.height),
            }
        )
        known = by_value(frame, "situation", lambda key: key in self.known, pl.Boolean)
        kinds = by_value(part, "kind", stated_kind, pl.String)
        wrong = (
            ~known.fill_null(False)
            | frame["respondent"].is_null()
            | frame["sample"].is_null()
            | kinds.is_null()
        ).arg_true()
        if len(wrong):
            position = int(wrong[0])
            self._refuse(part.row(position, named=True), f"{self.where} row {number + position}")
        stated = frame.select("respondent", kind=kinds).unique(
            subset="respondent", keep="first", maintain_order=True
        )
        for name, kind in stated.iter_rows():
            self.kinds.setdefault(name, kind or kind_of(name))
        self.empty.update(frame.filter(frame["text"] == "")["respondent"])
        self.rows.append(frame)
        self.keys.append(frame.select("situation", "respondent", "sample").hash_rows())

    def _refuse(self, row: Mapping[str, Any], place: str) -> None:
        """Says what is wrong with the row."""
        situation = filled(row, "situation", place)
        filled(row, "respondent", place)
        if situation not in self.known:
            raise InputError(
                f"the set {self.set_id} has no such situation",
                where=place,
                got=situation,
                remedy="Fix the id, name the right set with --set, or leave out --set and give the "
                "situations in a column 'situation_text'.",
            )
        sample_number(row.get("sample"), place)
        stated_kind(row.get("kind"), place)

    def notes(self) -> Iterator[str]:
        """What is allowed, but is often a mistake in the file."""
        for name, count in self.empty.items():
            were = "1 reply is" if count == 1 else f"{count:,} replies are"
            yield f"{name}: {were} empty. Empty replies are kept, but not shown to raters."
        alike: dict[str, list[str]] = {}
        for name in self.kinds:
            alike.setdefault(" ".join(name.casefold().split()), []).append(name)
        for names in alike.values():
            if len(names) > 1:
                same = " and ".join(repr(name) for name in names)
                yield (
                    f"The names {same} differ only in capitals or spaces and count as different "
                    "respondents. If they are the same one, use one spelling "
                    "and import the file again."
                )

    def read_replies(self, first_row: int) -> Rows[Reply]:
        """The replies, each once; two texts for the same one are refused."""
        if not self.rows:
            raise InputError(
                "the file contains no replies", where=self.where, remedy="Add a row for each."
            )
        again = set(repeated(self.keys))
        first_of: dict[tuple[str, str, int], tuple[int, str]] = {}
        superfluous = []
        for position, reply in self.rows.at(again):
            first, text = first_of.setdefault(reply.key, (position, reply.text))
            if text != reply.text:
                raise InputError(
                    f"{reply.respondent} has a different text for the same situation in row "
                    f"{first + first_row}",
                    where=f"{self.where} row {position + first_row}",
                    got=reply.situation,
                    remedy="Number the replies in a column 'sample', or keep one of them.",
                )
            if first != position:
                superfluous.append(position)
        return self.rows.without(superfluous) if superfluous else self.rows


class _Situations:
    """The situations that a table tells beside the replies to them."""

    def __init__(
        self, where: str, set_id: str, emotions: Mapping[str, str], needed: Sequence[str]
    ) -> None:
        self.where, self.set_id, self.emotions, self.needed = where, set_id, emotions, needed
        self.found: dict[str, tuple[Situation, int]] = {}
        """By id, with the first row that has it."""

    def take(self, part: pl.DataFrame, start: int) -> None:
        """Keeps the situations of a part, whose first row has that number."""
        require_columns(part.columns, self.needed, where=self.where)
        if "situation_text" not in part.columns:
            raise InputError(
                "the file does not say which situations these are",
                where=self.where,
                got=", ".join(part.columns),
                remedy="Name their set with --set, or add the column 'situation_text'.",
            )
        columns = [name for name in ("situation", *SITUATION_COLUMNS) if name in part.columns]
        rows = part.select(columns).with_row_index("row", start)
        for row in rows.unique(subset=columns, keep="first", maintain_order=True).rows(named=True):
            number = row.pop("row")
            place = f"{self.where} row {number}"
            situation = _situation_in(row, self.emotions, place)
            known = self.found.setdefault(situation.id, (situation, number))
            if known[0] != situation:
                raise InputError(
                    f"the situation differs from row {known[1]}",
                    where=place,
                    got=situation.id,
                    remedy="Give it another id, or fix the text.",
                )

    def as_set(self, title: str, licence: str) -> SituationSet:
        """All that were found."""
        return SituationSet(
            id=self.set_id,
            version=1,
            title=title,
            language="en",
            licence=licence,
            validated=False,
            description=f"Imported from {self.where}.",
            situations=tuple(situation for situation, _ in self.found.values()),
        )


def _situation_in(row: Mapping[str, Any], emotions: Mapping[str, str], where: str) -> Situation:
    fields = texts_in({name: row.get(name) for name in SITUATION_COLUMNS})
    text = fields.pop("situation_text", None)
    if text is None:
        raise InputError("'situation_text' is empty", where=where, remedy="Fill it in.")
    emotion = fields.pop("emotion", "").lower() or None
    emotion = emotions.get(emotion, emotion) if emotion else None
    valence = stated_valence(emotion, fields.pop("valence", None))
    key = filled(row, "situation", where)
    return Situation(key, text, emotion, valence, **fields)  # type: ignore[arg-type]


def stated_kind(given: object, where: str = "") -> str:
    """What the table says the respondent is; empty where it says nothing."""
    kind = "" if given is None else str(given).strip().lower()
    if given is not None and kind not in ("model", "human"):
        raise InputError(
            "'kind' must be model or human", where=where, got=given, remedy="Fix the row."
        )
    return kind


def posts_from(
    table: pl.DataFrame,
    *,
    where: str,
    set_id: str,
    title: str,
    licence: str,
    first_row: int = 2,
) -> Release:
    """Posts of a forum, with a person's reply to each where there is one (Lee et al. 2024).

    Columns: `domain` (or `topic`), `post` (or `text`), and if wanted `title`, `human_reply`, `id`.
    """
    check_set_id(set_id, where)
    columns = {
        role: next((name for name in names if name in table.columns), None)
        for role, names in _POST_COLUMNS.items()
    }
    for role, shown in (("topic", "domain"), ("text", "post")):
        if columns[role] is None:
            require_columns(table.columns, [shown], where=where)
    posts: list[Situation] = []
    replies: list[Reply] = []
    seen: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for number, row in enumerate(table.iter_rows(named=True), start=first_row):
        place = f"{where} row {number}"
        cells = texts_in({role: row[name] for role, name in columns.items() if name is not None})
        topic, text = (filled(row, str(columns[role]), place) for role in ("topic", "text"))
        key = cells.get("id") or f"{_slug(topic)}-{counts[_slug(topic)] + 1}"
        counts[_slug(topic)] += 1
        if key in seen:
            raise InputError(
                f"the id is the same as in row {seen[key]}",
                where=place,
                got=key,
                remedy="Give each post its own.",
            )
        seen[key] = number
        posts.append(Situation(key, text, topic=topic, title=cells.get("title")))
        if cells.get("reply"):
            replies.append(Reply(key, HUMAN, cells["reply"]))
    if not posts:
        raise InputError("the file contains no posts", where=where, remedy="Add a row for each.")
    chosen = SituationSet(
        id=set_id,
        version=1,
        title=title,
        language="en",
        licence=licence,
        validated=False,
        description=f"Posts imported from {where}.",
        situations=tuple(posts),
    )
    return Release(chosen, {HUMAN: "human"} if replies else {}, tuple(replies))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "post"
