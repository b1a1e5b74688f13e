"""The columns of a recipients' table: who, which condition, which outcomes, before and after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.columns import numbers
from empathylab.errors import InputError, UnknownName
from empathylab.store.recipients import BEFORE
from empathylab.tables import column_named

RESPONSE, LABEL = "response", "label"
FACTORS = (RESPONSE, LABEL)
NAMES: Mapping[str, tuple[str, ...]] = {
    "participant": (
        *("participant", "recipient", "participant_id", "recipient_id", "prolific_pid"),
        *("prolific_id", "subject", "person", "pid", "id"),
    ),
    RESPONSE: ("response", "author", "true_author", "actual_author", "source", "writer"),
    LABEL: ("label", "labelled", "labeled", "shown_label", "disclosed", "disclosure"),
    "replier": ("replier", "replier_id", "responder_id", "writer_id", "confederate", "partner"),
    "reply": ("reply", "reply_id", "response_id", "text_id"),
}
"""The roles, each with the names under which released files have it."""

# Numbers about the participant or the session, which no reply changes.
_ABOUT = {
    *("age", "year", "birth_year", "seconds", "duration", "time", "time_taken", "row", "index"),
    *("batch", "wave", "session", "position", "order", "words", "gender", "sex", "x", "unnamed"),
}
_MISSING = ["", "na", "n/a", "nan", "null"]
_BEFORE = ("before", "pre", "baseline", "t0")
_AFTER = ("after", "post", "t1")
# In which a reference comes last, so that differences are the other level minus it.
_REFERENCES = ("human", "person", "people", "none", "no label", "unlabelled")


@dataclass(frozen=True, slots=True)
class RecipientTable:
    """A table in which every column has the name of its role."""

    frame: pl.DataFrame
    """`participant`, `response`, `label`, `replier`, `reply` where known, and the outcomes."""
    outcomes: tuple[str, ...]
    before: Mapping[str, str]
    """By outcome, the column with its value before the reply."""
    columns: Mapping[str, str]
    """By role, the column of the user's table."""
    ignored: tuple[str, ...]

    @property
    def factors(self) -> tuple[str, ...]:
        """Those of author and label that have two levels or more."""
        return tuple(
            name
            for name in FACTORS
            if name in self.columns and self.frame[name].drop_nulls().n_unique() > 1
        )

    def levels(self, factor: str) -> list[str]:
        """The factor's levels, its reference last."""
        levels = self.frame[factor].drop_nulls().unique(maintain_order=True).to_list()
        return sorted(levels, key=lambda level: level.lower() in _REFERENCES)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as a lab keeps them; a participant without a name gets the row's number."""
        named = self.frame
        if "participant" not in named.columns:
            named = named.with_row_index("participant", offset=1)
        alone = pl.format("row {}", pl.int_range(1, pl.len() + 1))
        return named.with_columns(pl.col("participant").cast(pl.String).fill_null(alone)).to_dicts()


def read_columns(
    frame: pl.DataFrame,
    *,
    roles: Mapping[str, str] | None = None,
    outcomes: Sequence[str] = (),
    before: Mapping[str, str] | None = None,
    where: str = "table",
) -> RecipientTable:
    """The table with its columns recognised; `roles`, `outcomes` and `before` name the user's own.

    Outcomes are all columns of numbers that are left, except those known to be about the person.
    `mood_before` and `mood_after` are one outcome, `mood`.
    """
    columns = _roles(frame.columns, roles or {}, where)
    taken = set(columns.values())
    chosen = _outcomes(frame, outcomes, taken, where)
    befores = _befores(frame.columns, chosen, before or {}, where)
    chosen = {name: column for name, column in chosen.items() if column not in befores.values()}
    if not chosen:
        raise InputError(
            "the table has no outcome: no other column has numbers that differ",
            where=where,
            got=", ".join(frame.columns),
            remedy="Name its columns with --outcome.",
        )
    texts = [_words(frame[column]).alias(role) for role, column in columns.items()]
    values = [numbers(frame, column, where=where).alias(name) for name, column in chosen.items()]
    values += [
        numbers(frame, column, where=where).alias(before_name(name))
        for name, column in befores.items()
    ]
    used = taken | set(chosen.values()) | set(befores.values())
    return RecipientTable(
        frame=pl.DataFrame([*texts, *values]),
        outcomes=tuple(chosen),
        before=befores,
        columns=columns,
        ignored=tuple(name for name in frame.columns if name not in used),
    )


def before_name(outcome: str) -> str:
    """The column with the outcome's value before the reply."""
    return f"{outcome}{BEFORE}"


def _roles(names: Sequence[str], given: Mapping[str, str], where: str) -> dict[str, str]:
    for role, column in given.items():
        if role not in NAMES:
            raise UnknownName("role", role, NAMES)
        if column not in names:
            raise UnknownName("column", column, names, where=where)
    lowered = {name.strip().lower(): name for name in reversed(names)}
    roles = dict(given)
    for role, known in NAMES.items():
        free = (lowered[name] for name in known if name in lowered)
        own = next((name for name in free if name not in roles.values()), None)
        if role not in roles and own is not None:
            roles[role] = own
    if not set(FACTORS) & set(roles):
        raise InputError(
            "the table says neither who wrote the replies nor how they were labelled",
            where=where,
            got=", ".join(names),
            remedy="Name the columns with --response and --label.",
        )
    return {role: roles[role] for role in NAMES if role in roles}


def _outcomes(
    frame: pl.DataFrame, given: Sequence[str], taken: Iterable[str], where: str
) -> dict[str, str]:
    """The columns of outcomes by the names they get."""
    if given:
        return {_plain(column_named(frame, name, where=where)): name for name in given}
    left = [name for name in frame.columns if name not in set(taken)]
    return {
        _plain(name): name
        for name in left
        if _tag(name, _BEFORE) is None and _is_outcome(frame[name])
    }


def _words(column: pl.Series) -> pl.Series:
    """The column as text; `none` is a label of its own, not a missing one."""
    texts = column.cast(pl.String).str.strip_chars()
    return texts.set(texts.str.to_lowercase().is_in(_MISSING), None)


def _is_outcome(column: pl.Series) -> bool:
    if column.name.strip().lower() in _ABOUT:
        return False
    try:
        known = numbers(column.to_frame(), column.name, where="").drop_nulls()
    except InputError:
        return False
    return known.n_unique() > 1


def _befores(
    names: Sequence[str], outcomes: Mapping[str, str], given: Mapping[str, str], where: str
) -> dict[str, str]:
    for outcome, column in given.items():
        if outcome not in outcomes:
            raise UnknownName("outcome", outcome, outcomes)
        if column not in names:
            raise UnknownName("column", column, names, where=where)
    tagged = {_tag(name, _BEFORE): name for name in names}
    befores = {name: tagged[name] for name in outcomes if name in tagged}
    return befores | dict(given)


def _tag(name: str, tags: Sequence[str]) -> str | None:
    """What is left of `before_mood` or `mood_before`; None where no such word stands there."""
    words = "|".join(tags)
    match = re.fullmatch(rf"(?:{words})[_. -](.+)|(.+)[_. -](?:{words})", name.strip(), re.I)
    return next((part for part in match.groups() if part), None) if match else None


def _plain(name: str) -> str:
    return _tag(name, _AFTER) or name
