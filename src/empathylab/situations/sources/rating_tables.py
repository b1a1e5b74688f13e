"""Ratings of any origin, from a long table: one row per rating.

Columns: `situation`, `respondent`, `rater`, `rating` (a number, or a label); if wanted
`dimension`, `sample`, `label`, `seconds` and `rater_kind` (`person`, or `model` for a judge). With
the columns of a table of replies (`text`, `situation_text` …) the table brings the replies and
situations along. A second table may tell about the raters: `rater`, `kind`, and any other columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from empathylab.errors import InputError
from empathylab.situations.sources.cells import (
    by_value,
    clean_texts,
    filled,
    parts_of,
    repeated,
    sample_number,
)
from empathylab.situations.sources.released import Dimension, RatedStudy, Rater, Rating
from empathylab.situations.sources.rows import Rows
from empathylab.tables import clean_text, require_columns

if TYPE_CHECKING:
    import polars as pl

KNOWN_LABELS = (("Bad", "Okay", "Good"),)
DEFAULT_DIMENSION = "empathy"
KINDS = ("person", "model")
_NEEDED = ("situation", "respondent", "rater", "rating")
_KEY = ("rater", "situation", "respondent", "sample", "dimension")
# A scale with more points than this is one of degrees, not of categories.
_MOST_POINTS = 11


def ratings_from(
    table: pl.DataFrame | Iterable[pl.DataFrame],
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
    """The study that a table of ratings tells; a large table comes in parts.

    `labels` are the scale's labels, lowest first; `points` its values, where not all of them were
    used or they are not whole numbers.
    """
    import polars as pl

    given: set[str] = set()
    for _, part in parts_of(table, first_row):
        require_columns(part.columns, _NEEDED, where=where)
        given |= _texts(part["rating"].unique())
        if labels or any(_is_number(text) for text in given):
            break  # the scale is known, and the rest of a large file need not be read for it
    reading = _Ratings(_Points(given, labels, points, where), where)
    for number, part in parts_of(table, first_row):
        reading.take(part, number)
    reading.refuse_repeated(first_row)
    used = pl.concat(reading.used).unique(maintain_order=True)
    raters = _raters(used["rater"].unique(maintain_order=True), reading.kinds, people, people_where)
    return RatedStudy(
        name=name,
        title=title,
        design=_design(used, raters),
        dimensions=_dimensions(reading.values, reading.points.labels, points),
        raters=raters,
        ratings=reading.rows,
    )


def _texts(series: pl.Series) -> set[str]:
    return {str(value).strip() for value in series.to_list() if value is not None} - {""}


class _Ratings:
    """The ratings of a table's parts."""

    def __init__(self, points: _Points, where: str) -> None:
        self.points, self.where = points, where
        self.rows: Rows[Rating] = Rows(Rating)
        self.kinds: dict[str, str] = {}
        self.values: dict[str, set[float]] = {}
        """By dimension, what was given."""
        self.used: list[pl.DataFrame] = []
        """Which rater rated whose replies."""
        self.keys: list[pl.Series] = []

    def take(self, part: pl.DataFrame, number: int) -> None:
        """Checks and keeps a part, whose first row has that number."""
        import polars as pl

        require_columns(part.columns, _NEEDED, where=self.where)
        frame = pl.DataFrame(
            {
                "rater": clean_texts(part, "rater"),
                "situation": clean_texts(part, "situation"),
                "respondent": clean_texts(part, "respondent"),
                "value": by_value(part, "rating", self.points.value, pl.Float64),
                "dimension": by_value(part, "dimension", _dimension, pl.String),
                "sample": by_value(part, "sample", sample_number, pl.Int64),
                "label": clean_texts(part, "label"),
                "seconds": by_value(part, "seconds", _seconds, pl.Float64),
            }
        )
        stated = part["seconds"].is_not_null() if "seconds" in part.columns else None
        wrong = pl.any_horizontal(
            pl.col("rater", "situation", "respondent", "value", "sample").is_null()
        )
        if stated is not None:
            wrong = wrong | (pl.col("seconds").is_null() & stated)
        positions = frame.select(wrong).to_series().arg_true()
        if len(positions):
            position = int(positions[0])
            self._refuse(part.row(position, named=True), f"{self.where} row {number + position}")
        if self.points.labels:
            named = pl.col("value").replace_strict(self.points.labels, default=pl.col("label"))
            frame = frame.with_columns(label=named)
        if "rater_kind" in part.columns:
            self._take_kinds(part, number)
        self.rows.append(frame)
        self.keys.append(frame.select(*_KEY).hash_rows())
        self.used.append(frame.select("rater", "respondent").unique(maintain_order=True))
        for dimension, value in (
            frame.select("dimension", "value").unique(maintain_order=True).iter_rows()
        ):
            self.values.setdefault(dimension, set()).add(value)

    def _refuse(self, row: Mapping[str, Any], place: str) -> None:
        """Says what is wrong with the row."""
        if self.points.value(row["rating"], place) is None:
            raise InputError(
                "'rating' is empty", where=place, remedy="Fill it in, or delete the row."
            )
        for column in ("rater", "situation", "respondent"):
            filled(row, column, place)
        sample_number(row.get("sample"), place)
        _seconds(row.get("seconds"), place)

    def _take_kinds(self, part: pl.DataFrame, start: int) -> None:
        """By rater, whether the table says person or model."""
        rows = part.select("rater", "rater_kind").with_row_index("row", start)
        for row in rows.unique(
            subset=["rater", "rater_kind"], keep="first", maintain_order=True
        ).rows(named=True):
            place = f"{self.where} row {row['row']}"
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
            if self.kinds.setdefault(rater, kind) != kind:
                raise InputError(
                    f"rater {rater!r} is a {self.kinds[rater]} in an earlier row",
                    where=place,
                    got=kind,
                    remedy="Give each rater the same rater_kind in all rows.",
                )

    def refuse_repeated(self, first_row: int) -> None:
        """Refuses two ratings of one reply by one rater, and a table without ratings."""
        if not self.rows:
            raise InputError(
                "the file contains no ratings", where=self.where, remedy="Add a row for each."
            )
        rows: dict[object, int] = {}
        for position, rating in self.rows.at(set(repeated(self.keys))):
            first = rows.setdefault(rating.key, position)
            if first != position:
                raise InputError(
                    f"the same rater rated the same reply in row {first + first_row}",
                    where=f"{self.where} row {position + first_row}",
                    got=rating.rater,
                    remedy="Keep one of the ratings, or number the replies in a column 'sample'.",
                )


class _Points:
    """How a rating's text becomes a number, and the labels of the numbers."""

    def __init__(
        self, given: set[str], labels: Sequence[str], points: Sequence[float], where: str
    ) -> None:
        if not labels and not any(_is_number(text) for text in given):
            labels = next((known for known in KNOWN_LABELS if given <= set(known)), ())
            if given and not labels:
                raise InputError(
                    "'rating' contains words, and their order is unknown",
                    where=where,
                    got=", ".join(sorted(given)[:5]),
                    remedy="Name them from lowest to highest: --labels Bad,Okay,Good",
                )
        if len(set(labels)) < len(labels):
            raise InputError(
                "a label is named twice", got=", ".join(labels), remedy="Name each point once."
            )
        self._numbers = [float(point) for point in points] or [
            float(n + 1) for n in range(len(labels))
        ]
        if labels and len(self._numbers) != len(labels):
            raise InputError(
                f"there are {len(labels)} labels but {len(self._numbers)} points",
                remedy="Give the same number of labels and points.",
            )
        self._by_label = dict(zip(labels, self._numbers, strict=True)) if labels else {}
        self.labels = {value: label for label, value in self._by_label.items()}

    def value(self, given: object, where: str = "") -> float | None:
        """The cell as a number; None where it is empty."""
        text = "" if given is None else str(given).strip()
        if not text:
            return None
        if text in self._by_label:
            return self._by_label[text]
        value = float(text) if _is_number(text) else None
        if value is None or (self._numbers and value not in self._numbers):
            allowed = list(self._by_label) or [f"{point:g}" for point in self._numbers]
            what = f"'rating' must be {'one of ' + ', '.join(allowed) if allowed else 'a number'}"
            raise InputError(what, where=where, got=text, remedy="Fix the row.")
        return value


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _dimension(given: object) -> str:
    return str(given or DEFAULT_DIMENSION).strip()


def _seconds(given: object, where: str = "") -> float | None:
    if given is None:
        return None
    if not _is_number(str(given)) or float(str(given)) < 0:
        raise InputError("'seconds' must be a number", where=where, got=given, remedy="Fix it.")
    return float(str(given))


def _design(used: pl.DataFrame, raters: Sequence[Rater]) -> Any:
    # A judge rates everybody's replies, whatever people did.
    people = [rater.name for rater in raters if rater.kind == "person"]
    seen = used.filter(used["rater"].is_in(people))["rater"]
    return "within" if seen.is_duplicated().any() else "between"


def _dimensions(
    used: Mapping[str, set[float]], labels: Mapping[float, str], points: Sequence[float]
) -> tuple[Dimension, ...]:
    dimensions = []
    for name, values in used.items():
        scale = sorted(labels) or sorted(points) or points_of(values)
        dimensions.append(
            Dimension(name, tuple(scale), tuple(labels[point] for point in scale if labels))
        )
    return tuple(dimensions)


def points_of(values: set[float]) -> list[float]:
    """Every whole number from the lowest to the highest, if they are few."""
    low, high = min(values), max(values)
    if all(value.is_integer() for value in values) and high - low < _MOST_POINTS:
        return [float(point) for point in range(int(low), int(high) + 1)]
    return []


def _raters(
    names: Iterable[str], kinds: Mapping[str, str], people: pl.DataFrame | None, where: str
) -> tuple[Rater, ...]:
    details: dict[str, dict[str, Any]] = {}
    if people is not None:
        require_columns(people.columns, ["rater"], where=where)
        for number, row in enumerate(people.iter_rows(named=True), start=2):
            name = filled(row, "rater", f"{where} row {number}")
            if name in details:
                raise InputError(
                    "a rater appears twice",
                    where=f"{where} row {number}",
                    got=name,
                    remedy="Keep one of the rows.",
                )
            details[name] = {
                column: _plain(value)
                for column, value in row.items()
                if column != "rater" and value is not None
            }
    return tuple(_rater(name, kinds.get(name), details.get(name, {}), where) for name in names)


def _plain(value: object) -> object:
    """The value as JSON holds it; numbers in a text file are numbers."""
    if isinstance(value, bool | int | float):
        return value
    text = clean_text(str(value)).strip()
    return float(text) if _is_number(text) else text


def _rater(name: str, rated_as: str | None, given: Mapping[str, Any], where: str) -> Rater:
    details = dict(given)
    kind = details.pop("kind", rated_as or "person")
    if kind not in KINDS:
        raise InputError(
            "'kind' must be person or model", where=where, got=kind, remedy="Fix the row."
        )
    if rated_as not in (None, kind):
        raise InputError(
            f"rater {name!r} is a {rated_as} in the ratings' column rater_kind",
            where=where,
            got=kind,
            remedy="Use the same kind in both files.",
        )
    seconds = _seconds(details.get("seconds"), f"{where}, rater {name}")
    details.pop("seconds", None)
    return Rater(name, details, seconds, kind=kind)
