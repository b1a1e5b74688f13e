"""Anybody's ratings, from a long table: one row per rating.

Columns: `situation`, `respondent`, `rater`, `rating` (a number, or a label); if wanted
`dimension`, `sample`, `label`, `seconds` and `rater_kind` (`person`, or `model` for a judge). With
the columns of a table of replies (`text`, `situation_text` …) the table brings the replies and
situations along. A second table may tell about the raters: `rater`, `kind`, and any other columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from empathylab.errors import InputError
from empathylab.situations.sources.released import Dimension, RatedStudy, Rater, Rating
from empathylab.situations.sources.reply_tables import filled, sample_of
from empathylab.tables import clean_text, require_columns

if TYPE_CHECKING:
    import polars as pl

KNOWN_LABELS = (("Bad", "Okay", "Good"),)
DEFAULT_DIMENSION = "empathy"
KINDS = ("person", "model")
# A scale with more points than this is one of degrees, not of categories.
_MOST_POINTS = 11


def ratings_from(
    table: pl.DataFrame,
    *,
    where: str,
    name: str,
    title: str,
    labels: Sequence[str] = (),
    points: Sequence[float] = (),
    people: pl.DataFrame | None = None,
    people_where: str = "",
    first_row: int = 2,
) -> RatedStudy:
    """The study that a table of ratings tells.

    `labels` are the scale's labels, lowest first; `points` its values, where not all of them were
    used or they are not whole numbers.
    """
    require_columns(table.columns, ["situation", "respondent", "rater", "rating"], where=where)
    values, named = _values(table, labels, points, where, first_row)
    ratings: dict[object, Rating] = {}
    rows: dict[object, int] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=first_row):
        place = f"{where} row {number}"
        value = values[number - first_row]
        if value is None:
            raise InputError("'rating' is empty", where=place, remedy="Fill it in, or drop it.")
        given = row.get("label")
        one = Rating(
            rater=filled(row, "rater", place),
            situation=filled(row, "situation", place),
            respondent=filled(row, "respondent", place),
            value=value,
            dimension=str(row.get("dimension") or DEFAULT_DIMENSION).strip(),
            sample=sample_of(row, place),
            label=named.get(value) or (None if given is None else clean_text(str(given)).strip()),
            seconds=_seconds(row, place),
        )
        if one.key in ratings:
            raise InputError(
                f"the same rater rated the same reply in row {rows[one.key]}",
                where=place,
                got=one.rater,
                remedy="Keep one of the ratings, or number the replies in a column 'sample'.",
            )
        ratings[one.key] = one
        rows[one.key] = number
    if not ratings:
        raise InputError("there is no rating", where=where, remedy="Add a row for each.")
    kept = tuple(ratings.values())
    raters = _raters(kept, _kinds(table, where, first_row), people, people_where)
    return RatedStudy(
        name=name,
        title=title,
        design=_design(kept, raters),
        dimensions=_dimensions(kept, named, points),
        raters=raters,
        ratings=kept,
    )


def _kinds(table: pl.DataFrame, where: str, first_row: int) -> dict[str, str]:
    """By rater, whether the table says person or model."""
    kinds: dict[str, str] = {}
    if "rater_kind" not in table.columns:
        return kinds
    for number, row in enumerate(table.iter_rows(named=True), start=first_row):
        place = f"{where} row {number}"
        kind = str(row["rater_kind"] or "").strip()
        if not kind:
            continue
        if kind not in KINDS:
            raise InputError(
                "'rater_kind' must be person or model",
                where=place,
                got=kind,
                remedy="Write person for people and model for judges.",
            )
        rater = filled(row, "rater", place)
        if kinds.setdefault(rater, kind) != kind:
            raise InputError(
                f"rater {rater!r} was a {kinds[rater]} before",
                where=place,
                got=kind,
                remedy="Give a rater one rater_kind throughout.",
            )
    return kinds


def _values(
    table: pl.DataFrame,
    labels: Sequence[str],
    points: Sequence[float],
    where: str,
    first_row: int,
) -> tuple[list[float | None], dict[float, str]]:
    """The ratings as numbers, and the labels of the numbers."""
    series = table["rating"]
    texts = [None if value is None else str(value).strip() for value in series]
    given = {text for text in texts if text}
    if not labels and not any(_is_number(text) for text in given):
        labels = next((known for known in KNOWN_LABELS if given <= set(known)), ())
        if given and not labels:
            raise InputError(
                "'rating' holds words, and their order is not known",
                where=where,
                got=", ".join(sorted(given)[:5]),
                remedy="Name them from lowest to highest: --labels Bad,Okay,Good",
            )
    if len(set(labels)) < len(labels):
        raise InputError(
            "a label is named twice", got=", ".join(labels), remedy="Name each point once."
        )
    numbers = [float(point) for point in points] or [float(n + 1) for n in range(len(labels))]
    if labels and len(numbers) != len(labels):
        raise InputError(
            f"there are {len(labels)} labels but {len(numbers)} points",
            remedy="Give as many of one as of the other.",
        )
    by_label = dict(zip(labels, numbers, strict=True)) if labels else {}
    values = [
        _value(text, by_label, numbers, f"{where} row {row}")
        for row, text in enumerate(texts, start=first_row)
    ]
    return values, {value: label for label, value in by_label.items()}


def _value(
    text: str | None, by_label: Mapping[str, float], points: Sequence[float], where: str
) -> float | None:
    if not text:
        return None
    if text in by_label:
        return by_label[text]
    value = float(text) if _is_number(text) else None
    if value is None or (points and value not in points):
        allowed = list(by_label) or [f"{point:g}" for point in points]
        remedy = "Fix the row."
        what = f"'rating' must be {'one of ' + ', '.join(allowed) if allowed else 'a number'}"
        raise InputError(what, where=where, got=text, remedy=remedy)
    return value


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _seconds(row: Mapping[str, Any], where: str) -> float | None:
    given = row.get("seconds")
    if given is None:
        return None
    if not _is_number(str(given)) or float(given) < 0:
        raise InputError("'seconds' must be a number", where=where, got=given, remedy="Fix it.")
    return float(given)


def _design(ratings: Sequence[Rating], raters: Sequence[Rater]) -> Any:
    # A judge rates everybody's replies, whatever people did.
    people = {rater.name for rater in raters if rater.kind == "person"}
    seen: dict[str, set[str]] = {}
    for rating in ratings:
        if rating.rater in people:
            seen.setdefault(rating.rater, set()).add(rating.respondent)
    return "within" if any(len(arms) > 1 for arms in seen.values()) else "between"


def _dimensions(
    ratings: Sequence[Rating], labels: Mapping[float, str], points: Sequence[float]
) -> tuple[Dimension, ...]:
    used: dict[str, set[float]] = {}
    for rating in ratings:
        used.setdefault(rating.dimension, set()).add(rating.value)
    found = []
    for name, values in used.items():
        scale = sorted(labels) or sorted(points) or points_of(values)
        found.append(
            Dimension(name, tuple(scale), tuple(labels[point] for point in scale if labels))
        )
    return tuple(found)


def points_of(values: set[float]) -> list[float]:
    """Every whole number from the lowest to the highest, if they are few."""
    low, high = min(values), max(values)
    if all(value.is_integer() for value in values) and high - low < _MOST_POINTS:
        return [float(point) for point in range(int(low), int(high) + 1)]
    return []


def _raters(
    ratings: Sequence[Rating], kinds: Mapping[str, str], people: pl.DataFrame | None, where: str
) -> tuple[Rater, ...]:
    told: dict[str, dict[str, Any]] = {}
    if people is not None:
        require_columns(people.columns, ["rater"], where=where)
        for number, row in enumerate(people.iter_rows(named=True), start=2):
            name = filled(row, "rater", f"{where} row {number}")
            if name in told:
                raise InputError(
                    "a rater is there twice",
                    where=f"{where} row {number}",
                    got=name,
                    remedy="Keep one of the rows.",
                )
            told[name] = {
                column: _plain(value)
                for column, value in row.items()
                if column != "rater" and value is not None
            }
    names = dict.fromkeys(rating.rater for rating in ratings)
    return tuple(_rater(name, kinds.get(name), told.get(name, {}), where) for name in names)


def _plain(value: object) -> object:
    """The value as JSON holds it; numbers in a text file are numbers."""
    if isinstance(value, bool | int | float):
        return value
    text = clean_text(str(value)).strip()
    return float(text) if _is_number(text) else text


def _rater(name: str, rated_as: str | None, told: Mapping[str, Any], where: str) -> Rater:
    details = dict(told)
    kind = details.pop("kind", rated_as or "person")
    if kind not in KINDS:
        raise InputError(
            "'kind' must be person or model", where=where, got=kind, remedy="Fix the row."
        )
    if rated_as not in (None, kind):
        raise InputError(
            f"rater {name!r} is a {rated_as} by the ratings' rater_kind",
            where=where,
            got=kind,
            remedy="Say the same in both files.",
        )
    seconds = _seconds(details, f"{where}, rater {name}")
    details.pop("seconds", None)
    return Rater(name, details, seconds, kind=kind)
