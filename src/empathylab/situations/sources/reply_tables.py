"""Anybody's replies, from a long table: one row per reply.

Columns: `situation` (its id), `respondent`, `text`; if wanted `sample` (0, 1 …), `kind` (model or
human). Either the situations are in the lab already, or the table tells them, too, in
`situation_text` and if wanted `emotion`, `valence`, `topic`, `title`, `utterance`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from empathylab.errors import InputError
from empathylab.situations.emotions import emotion_warnings, told_valence
from empathylab.situations.sets import Situation, SituationSet
from empathylab.situations.sources.released import Kind, Release, Reply
from empathylab.situations.sources.tables import check_set_id
from empathylab.tables import clean_text, require_columns

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
    table: pl.DataFrame,
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
    """The replies of a table, to the situations of `situation_set` or to those it tells itself.

    `respondent` names who wrote every reply, for a table without that column.
    """
    needed = ["situation", "text"] + ([] if respondent else ["respondent"])
    require_columns(table.columns, needed, where=where)
    if respondent is not None and "respondent" not in table.columns:
        import polars as pl

        table = table.with_columns(respondent=pl.lit(respondent))
    if situation_set is None:
        situation_set = situations_told(
            table,
            where=where,
            set_id=set_id,
            title=title,
            licence=licence,
            emotions=emotions or {},
            first_row=first_row,
        )
        counts = Counter(item.emotion for item in situation_set if item.emotion)
        notes = tuple(emotion_warnings(counts))
    else:
        notes = ()
    known = {item.id for item in situation_set}
    replies, kinds = _replies(table, known, where, situation_set.id, first_row)
    return Release(situation_set, kinds, tuple(replies), notes=notes)


def _replies(
    table: pl.DataFrame, known: set[str], where: str, set_id: str, first_row: int
) -> tuple[list[Reply], dict[str, Kind]]:
    found: dict[tuple[str, str, int], Reply] = {}
    rows: dict[tuple[str, str, int], int] = {}
    kinds: dict[str, Kind] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=first_row):
        place = f"{where} row {number}"
        situation, respondent = filled(row, "situation", place), filled(row, "respondent", place)
        if situation not in known:
            raise InputError(
                f"the set {set_id} has no such situation",
                where=place,
                got=situation,
                remedy="Fix the id, name the right set with --set, or add the column "
                "'situation_text'.",
            )
        reply = Reply(
            situation, respondent, clean_text(str(row["text"] or "")).strip(), sample_of(row, place)
        )
        if reply.key in found and found[reply.key].text != reply.text:
            raise InputError(
                f"another text of {respondent} for the same situation stands in row "
                f"{rows[reply.key]}",
                where=place,
                got=situation,
                remedy="Number the replies in a column 'sample', or keep one of them.",
            )
        kinds.setdefault(respondent, kind_of(respondent, row.get("kind"), place))
        found[reply.key] = reply
        rows.setdefault(reply.key, number)
    if not found:
        raise InputError("there is no reply", where=where, remedy="Add a row for each.")
    return list(found.values()), kinds


def situations_told(
    table: pl.DataFrame,
    *,
    where: str,
    set_id: str,
    title: str,
    licence: str,
    emotions: Mapping[str, str],
    first_row: int = 2,
) -> SituationSet:
    """The situations that a table of replies or ratings tells beside them."""
    check_set_id(set_id, where)
    if "situation_text" not in table.columns:
        raise InputError(
            "it is not known which situations these are",
            where=where,
            got=", ".join(table.columns),
            remedy="Name their set with --set, or add the column 'situation_text'.",
        )
    found: dict[str, tuple[Situation, int]] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=first_row):
        place = f"{where} row {number}"
        situation = _situation_told(row, emotions, place)
        known = found.setdefault(situation.id, (situation, number))
        if known[0] != situation:
            raise InputError(
                f"the situation differs from row {known[1]}",
                where=place,
                got=situation.id,
                remedy="Give it another id, or fix the text.",
            )
    return SituationSet(
        id=set_id,
        version=1,
        title=title,
        language="en",
        licence=licence,
        validated=False,
        description=f"Imported from {where}.",
        situations=tuple(situation for situation, _ in found.values()),
    )


def _situation_told(row: Mapping[str, Any], emotions: Mapping[str, str], where: str) -> Situation:
    told = {
        name: clean_text(str(row[name])).strip() or None
        for name in SITUATION_COLUMNS
        if row.get(name) is not None
    }
    text = told.pop("situation_text", None)
    if text is None:
        raise InputError("'situation_text' is empty", where=where, remedy="Fill it in.")
    emotion = (told.pop("emotion", None) or "").lower() or None
    emotion = emotions.get(emotion, emotion) if emotion else None
    valence = told_valence(emotion, told.pop("valence", None))
    key = filled(row, "situation", where)
    return Situation(key, text, emotion, valence, **told)  # type: ignore[arg-type]


def filled(row: Mapping[str, Any], column: str, where: str) -> str:
    """The cell's text, which must not be empty."""
    value = "" if row[column] is None else clean_text(str(row[column])).strip()
    if not value:
        raise InputError(f"{column!r} is empty", where=where, remedy="Fill it in.")
    return value


def sample_of(row: Mapping[str, Any], where: str) -> int:
    """Which of a respondent's replies it is; 0 where the table does not say."""
    given = row.get("sample")
    if given is None:
        return 0
    if not re.fullmatch(r"\d{1,6}(\.0)?", str(given).strip()):
        raise InputError(
            "'sample' must be 0, 1, 2 …", where=where, got=given, remedy="Fix the row."
        )
    return int(float(given))


def kind_of(respondent: str, given: object, where: str) -> Kind:
    """Whether a model or people: as the table says, else by the name."""
    if given is None:
        return "human" if re.match(r"(human|people|person)s?\b|human", respondent) else "model"
    if str(given).strip().lower() not in ("model", "human"):
        raise InputError(
            "'kind' must be model or human", where=where, got=given, remedy="Fix the row."
        )
    return "human" if str(given).strip().lower() == "human" else "model"


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
        told = {role: row[name] for role, name in columns.items() if name is not None}
        cells = {role: clean_text(str(value)).strip() for role, value in told.items() if value}
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
        raise InputError("there is no post", where=where, remedy="Add a row for each.")
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
