"""Entries of a table that look like typing errors: spellings of one name, and stray ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from empathylab.analysis.text.apa import counted, listed
from empathylab.analysis.text.numbers import number

_MOST_NAMED = 3
"""Groups of spellings that are named for each column."""
_RARE = 0.001
"""An end of the scale that a smaller share of ratings uses may be a typing error."""
_FEWEST = 20
"""Ratings without which nothing can be called rare."""


def doubtful_entries(ratings: pl.DataFrame, *, inferred_scale: bool) -> tuple[str, ...]:
    """What may be typing errors, a sentence each; nothing is changed or left out."""
    sentences = list(_spellings(ratings))
    if inferred_scale:
        for (name,), part in ratings.group_by("dimension", maintain_order=True):
            counts = part.group_by("rating").len().sort("rating")
            sentences += _stray(str(name), dict(counts.iter_rows()))
    return tuple(sentences)


def _spellings(ratings: pl.DataFrame) -> Iterator[str]:
    """Names that differ in nothing but spaces and capital letters."""
    for column in ("arm", "rater", "situation"):
        key = pl.col(column).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
        names = ratings.group_by(column).len().with_columns(key=key).sort("key", column)
        doubled = names.filter(pl.len().over("key") > 1)
        groups = doubled.partition_by("key", maintain_order=True)
        for group in groups[:_MOST_NAMED]:
            spelled = [
                f"'{name}' ({counted(count, 'rating')})"
                for name, count in group.select(column, "len").iter_rows()
            ]
            yield (
                f"The {column}s {listed(spelled)} differ only in spaces or capital letters "
                f"but count as {len(spelled)} {column}s. If they are the same, correct the table."
            )
        if len(groups) > _MOST_NAMED:
            yield f"Spellings of {len(groups) - _MOST_NAMED} further {column}s differ in this way."


def _stray(dimension: str, counts: Mapping[float, int]) -> Iterator[str]:
    """Ratings at an end of the scale that are far from the others, or that hardly anybody gave."""
    total = sum(counts.values())
    points = list(counts)
    stray = []
    while total >= _FEWEST and len(points) > 2:
        ends = [
            (points[0], points[1:]),
            (points[-1], points[:-1]),
        ]
        wrong = next((end for end, rest in ends if _is_stray(end, rest, counts, total)), None)
        if wrong is None:
            break
        points.remove(wrong)
        stray.append(wrong)
    for value in sorted(stray):
        count = counts[value]
        yield (
            f"{count:,} of {total:,} ratings of {dimension} {'is' if count == 1 else 'are'} "
            f"{_text(value)}; the others are between {_text(points[0])} and {_text(points[-1])}. "
            f"{_text(value)} counts as a point of the scale. If it is a typing error, correct it: "
            "it changes the results. If the scale has this point, name all points as levels."
        )


def _is_stray(end: float, rest: list[float], counts: Mapping[float, int], total: int) -> bool:
    gap = min(abs(end - other) for other in rest)
    far = gap > max(rest) - min(rest) and counts[end] <= max(1, 0.01 * total)
    steps = len(rest) <= 12 and all(value.is_integer() for value in (end, *rest))
    return far or (steps and counts[end] <= _RARE * total)


def _text(value: float) -> str:
    return number(value).removesuffix(".0")
