"""The released file of Welivita & Pu (2024), with any number of arms.

One row per situation; the columns of an arm end in its name: `response_<arm>`, `rating_<arm>`,
`annotator_<arm>`, `empathy_arr_<arm>` (the Toronto Empathy Questionnaire, −2 to +2 in item order),
`empathy_propensity_<arm>` (its total) and `miti_<arm>` (labels of the sentences). The recruiting
platform's demographics are files of their own, one row per person.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from empathylab.columns import numbers
from empathylab.errors import InputError, UnknownName
from empathylab.situations.emotions import emotion_warnings, stated_valence
from empathylab.situations.sets import Situation, SituationSet
from empathylab.situations.sources.released import (
    Dimension,
    RatedStudy,
    Rater,
    Rating,
    Release,
    Reply,
    kind_of,
)
from empathylab.tables import clean_text, require_columns

if TYPE_CHECKING:
    import polars as pl

NAME = "welivita-2024"
TITLE = "Welivita & Pu 2024: replies rated Bad, Okay or Good"
TEQ = "teq"
_TEQ_ITEMS = 16
# What the paper says was asked, in our words.
_POINTS = Dimension(
    "empathy",
    (1.0, 2.0, 3.0),
    ("Bad", "Okay", "Good"),
    "How empathetic is the reply, compared with how you would have replied?",
)
REPLIES = {
    "template": "empathic-listener",
    "version": 1,
    # Of the template's words, so that nobody is asked in other words unnoticed.
    "fingerprint": "ab56cfd8c93068cf5a709406e9e19d18c33269dc5bed36078661da5d1d4dc7c5",
    "words": 28,
    "most_words": 97,
    "note": "The release does not hold the authors' prompt. The template asks for the same: "
    "empathy with its cognitive, affective and compassionate part, about 28 words, at most 97.",
}
_TEXT_PREFIXES = ("response_", "annotator_")
_SHARED = ("dialog_id", "emotion", "situation", "speaker_uttr")
# The platform's columns that tell nothing about the person, or too much.
_UNUSED = {"submission id", "participant id", "completion code", "started at", "completed at"}


def read_release(
    table: pl.DataFrame,
    *,
    where: str,
    people: Iterable[tuple[str, pl.DataFrame]] = (),
    emotions: Mapping[str, str] | None = None,
    respondents: Mapping[str, str] | None = None,
    name: str = NAME,
) -> Release:
    """What the released table holds; `people` are demographics tables, each with its file's name.

    `emotions` and `respondents` map the file's words and arms to names of one's own.
    """
    require_columns(table.columns, _SHARED, where=where)
    table = _with_texts(table, where)
    arms = [column.removeprefix("response_") for column in table.columns if _is_arm(column)]
    if not arms:
        raise InputError(
            "the file contains no arms",
            where=where,
            got=", ".join(table.columns),
            remedy="Each arm needs the columns response_<arm>, rating_<arm>, annotator_<arm>.",
        )
    named = _respondent_names(arms, respondents or {}, where)
    situations = _situations(table, emotions or {}, where, name)
    known = _demographics(people)
    raters: list[Rater] = []
    ratings: list[Rating] = []
    notes: list[str] = []
    for arm in arms:
        if f"rating_{arm}" in table.columns:
            require_columns(table.columns, [f"annotator_{arm}"], where=where)
            raters += _raters(table, arm, known, where)
            ratings += _ratings(table, arm, named[arm], where)
    _refuse_shared_raters(raters, where)
    unmatched = len(known) - sum(rater.name in known for rater in raters)
    if unmatched:
        notes.append(f"In the demographics files but without a rating (left out): {unmatched}.")
    notes += _unused_ratings(table, arms)
    without = sum(not rater.details for rater in raters)
    if known and without:
        notes.append(f"Raters who are in no demographics file: {without}.")
    counts = Counter(situation.emotion for situation in situations if situation.emotion)
    notes += emotion_warnings(counts)
    study = RatedStudy(name, TITLE, "between", (_POINTS,), tuple(raters), tuple(ratings), REPLIES)
    return Release(
        situation_set=situations,
        respondents={named[arm]: kind_of(arm) for arm in arms},
        replies=tuple(reply for arm in arms for reply in _replies(table, arm, named[arm], where)),
        study=study if ratings else None,
        notes=tuple(notes),
    )


def _with_texts(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """The table with ids and texts as text: JSON and Parquet may hold numbers or lists there."""
    import polars as pl

    held_as_text = []
    for name in table.columns:
        if name not in (*_SHARED, "sentiment") and not name.startswith(_TEXT_PREFIXES):
            if table[name].dtype.is_nested() and not name.startswith("miti_"):
                raise _no_text(name, where)
            continue
        kind = table[name].dtype
        if kind.is_nested() or kind == pl.Boolean or kind == pl.Object:
            raise _no_text(name, where)
        column = table[name]
        if kind.is_float():
            column = column.fill_nan(None)
            if column.is_not_null().any() and (column.drop_nulls() % 1 == 0).all():
                column = column.cast(pl.Int64, strict=False)
        held_as_text.append(column.cast(pl.String))
    return table.with_columns(held_as_text)


def _no_text(name: str, where: str) -> InputError:
    return InputError(
        f"the column {name!r} must contain text or numbers in every row",
        where=where,
        remedy="Write one value per cell, not a list or a table.",
    )


def _is_arm(column: str) -> bool:
    return column.startswith("response_") and len(column) > len("response_")


def _respondent_names(arms: list[str], given: Mapping[str, str], where: str) -> dict[str, str]:
    for arm in given:
        if arm not in arms:
            raise UnknownName("arm", arm, arms, where=where)
    named = {arm: given.get(arm, arm) for arm in arms}
    for arm, name in named.items():
        if list(named.values()).count(name) > 1:
            raise InputError(
                "two arms cannot have the same respondent",
                where=where,
                got=f"{arm}={name}",
                remedy="Give each arm its own respondent with --respondent.",
            )
    return named


def _situations(
    table: pl.DataFrame, emotions: Mapping[str, str], where: str, name: str
) -> SituationSet:
    situations: dict[str, Situation] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=2):
        key, text = row["dialog_id"], row["situation"] or row["speaker_uttr"]
        if not key or not text:
            raise InputError(
                "'dialog_id' or 'situation' is empty",
                where=f"{where} row {number}",
                remedy="Fill it in.",
            )
        emotion = (row["emotion"] or "").strip().lower() or None
        emotion = emotions.get(emotion, emotion) if emotion else None
        if key in situations:
            raise InputError(
                "the same 'dialog_id' appears twice",
                where=f"{where} row {number}",
                got=key,
                remedy="Keep one of the rows.",
            )
        situations[key] = Situation(
            id=key,
            text=clean_text(text).strip(),
            emotion=emotion,
            valence=stated_valence(emotion, row.get("sentiment")),
            utterance=clean_text(row["speaker_uttr"] or "").strip() or None,
        )
    return SituationSet(
        id=name,
        version=1,
        title="Welivita & Pu 2024: the situations that were replied to",
        language="en",
        licence="not stated",
        validated=False,
        description="Dialogues of EmpatheticDialogues, as released with the study's ratings.",
        situations=tuple(situations.values()),
    )


def _replies(table: pl.DataFrame, arm: str, respondent: str, where: str) -> Iterable[Reply]:
    labels = table.get_column(f"miti_{arm}", default=None)
    texts = table[f"response_{arm}"]
    for number, (key, text) in enumerate(zip(table["dialog_id"], texts, strict=True)):
        if text is None:
            continue
        given = None if labels is None or labels[number] is None else labels[number]
        details = None
        if given is not None:
            place = f"{where} row {number + 2}"
            details = {"miti": [str(item) for item in _listed(given, f"miti_{arm}", place)]}
        yield Reply(key, respondent, clean_text(text).strip(), details=details)


def _unused_ratings(table: pl.DataFrame, arms: Iterable[str]) -> Iterable[str]:
    """A sentence for each arm with rows that lack a rating, a rater or a reply."""
    for arm in arms:
        for column, what in (("rating", "rating"), ("annotator", "rater"), ("response", "reply")):
            if f"{column}_{arm}" in table.columns:
                missing = table[f"{column}_{arm}"].null_count()
                if missing:
                    yield f"Arm {arm}: rows without a {what}, left out: {missing}."


def _ratings(table: pl.DataFrame, arm: str, respondent: str, where: str) -> Iterable[Rating]:
    values = numbers(table, f"rating_{arm}", where=where)
    rows = zip(table["dialog_id"], table[f"annotator_{arm}"], values, strict=True)
    for number, (key, rater, value) in enumerate(rows, start=2):
        if value is None or rater is None:
            continue
        if value not in _POINTS.values:
            raise InputError(
                f"'rating_{arm}' must be 1, 2 or 3",
                where=f"{where} row {number}",
                got=value,
                remedy="Fix the row.",
            )
        label = _POINTS.labels[_POINTS.values.index(value)]
        yield Rating(rater, key, respondent, value, label=label)


def _raters(
    table: pl.DataFrame, arm: str, known: Mapping[str, Mapping[str, Any]], where: str
) -> list[Rater]:
    arrays = table.get_column(f"empathy_arr_{arm}", default=None)
    totals = _totals(table, f"empathy_propensity_{arm}", where)
    given: dict[str, tuple[str | None, float | None]] = {}
    for number, name in enumerate(table[f"annotator_{arm}"]):
        if name is None:
            continue
        row = (None if arrays is None else arrays[number], totals[number])
        if given.setdefault(name, row) != row:
            raise InputError(
                "a rater's questionnaire differs between rows",
                where=f"{where} row {number + 2}",
                got=name,
                remedy="A rater answers it once: fix the rows.",
            )
    return [
        _rater(name, answers, total, known.get(name, {}), f"empathy_arr_{arm}", where)
        for name, (answers, total) in given.items()
    ]


def _totals(table: pl.DataFrame, column: str, where: str) -> list[float | None]:
    if column not in table.columns:
        return [None] * table.height
    return numbers(table, column, where=where).to_list()


def _rater(
    name: str,
    answers: str | None,
    total: float | None,
    known: Mapping[str, Any],
    column: str,
    where: str,
) -> Rater:
    details = dict(known)
    seconds, day = details.pop("seconds", None), details.pop("day", None)
    if answers is None:
        return Rater(name, details, seconds, day=day)
    shifted = _listed(answers, column, where)
    if len(shifted) != _TEQ_ITEMS or any(item not in (-2, -1, 0, 1, 2) for item in shifted):
        raise InputError(
            f"{column!r} must contain {_TEQ_ITEMS} numbers from -2 to 2",
            where=f"{where}, rater {name}",
            got=answers,
            remedy="Fix the row.",
        )
    stated = {} if total is None else {TEQ: total}
    given = {TEQ: tuple(int(item) + 2 for item in shifted)}
    return Rater(name, details, seconds, given, stated, day=day)


def _listed(text: str, column: str, where: str) -> list[Any]:
    try:
        values = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        values = None
    if not isinstance(values, list):
        raise InputError(
            f"{column!r} must be a list in brackets", where=where, got=text, remedy="Fix the row."
        )
    return values


def _demographics(
    people: Iterable[tuple[str, pl.DataFrame]],
) -> dict[str, dict[str, Any]]:
    """By person, what the platform's files say; with the time taken as `seconds`, and the `day`."""
    known: dict[str, dict[str, Any]] = {}
    for where, table in people:
        columns = {column.lower(): column for column in table.columns}
        require_columns(list(columns), ["participant id"], where=where)
        duration = columns.get("time taken")
        seconds = None if duration is None else numbers(table, duration, where=where)
        for number, row in enumerate(table.iter_rows(named=True)):
            person = row[columns["participant id"]]
            details: dict[str, Any] = {
                name.replace(" ", "_"): row[column]
                for name, column in columns.items()
                if name not in _UNUSED and column != duration and _is_stated(row[column])
            }
            if str(details.get("age", "")).isdecimal():
                details["age"] = int(details["age"])
            if seconds is not None and seconds[number] is not None:
                details["seconds"] = seconds[number]
            day = _day(row.get(columns.get("completed at", "")))
            known[person] = details if day is None else details | {"day": day}
    return known


def _day(written: object) -> date | None:
    """The day of a moment such as 2023-11-27T13:32:41Z; None where it is not stated."""
    try:
        return date.fromisoformat(str(written)[:10])
    except ValueError:
        return None


def _is_stated(value: object) -> bool:
    return value is not None and str(value) not in ("DATA_EXPIRED", "CONSENT_REVOKED")


def _refuse_shared_raters(raters: list[Rater], where: str) -> None:
    counts = Counter(rater.name for rater in raters)
    shared = [name for name, count in counts.items() if count > 1]
    if shared:
        raise InputError(
            "a rater is in two arms, but this is a study between subjects",
            where=where,
            got=shared[0],
            remedy="Import it with `data import ratings`, which takes any design.",
        )
