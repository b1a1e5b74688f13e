"""How long respondents' replies are, and subsets in which they are equally long.

Longer replies are rated better, so a difference between respondents may be one of length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.arrays import Array
from empathylab.stats.t_tests import t_margin
from empathylab.words import count_words

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class LengthDistribution:
    """How many words one respondent's replies have."""

    respondent: str
    n: int
    n_dropped: int
    """Replies without any text."""
    mean: float
    low: float
    high: float
    sd: float
    shortest: int | None
    longest: int | None
    quantiles: dict[float, float]
    """By probability, interpolated between neighbours (type 7 of Hyndman & Fan 1996)."""


@dataclass(frozen=True, slots=True)
class LengthMatched:
    """Replies of several respondents, drawn so that they are about equally long."""

    replies: pl.DataFrame
    """The rows that were drawn, in their order, with the columns that were given."""
    respondents: tuple[str, ...]
    n: int
    """Replies of each respondent."""
    n_dropped: dict[str, int]
    """Replies that were left out, by respondent."""
    imbalance_before: float
    imbalance: float
    """The largest standardised difference in length between two respondents, before and after."""


def length_distributions(
    frame: pl.DataFrame,
    *,
    respondent: str = "respondent",
    text: str = "text",
    quantiles: Sequence[float] = QUANTILES,
    confidence: float = 0.95,
) -> list[LengthDistribution]:
    """The distribution of each respondent's lengths, in order of first appearance.

    The interval is Student's for the mean; it takes replies as independent, so it is too narrow
    where several samples reply to one situation. NaN below two replies. Replies that are missing
    or blank are dropped and counted.
    """
    table = _with_words(frame, respondent, text)
    return [
        _distribution(str(name), group, quantiles, confidence)
        for (name,), group in table.group_by("respondent", maintain_order=True)
    ]


def length_matched(
    frame: pl.DataFrame,
    *,
    respondent: str = "respondent",
    text: str = "text",
    ratio: float = 1.25,
    seed: int = 1,
) -> LengthMatched:
    """A subset in which every respondent has the same number of replies of each length band.

    Bands are even on the log scale: the longest of a band is at most `ratio` times the shortest.
    In each band every respondent keeps as many replies as the one that has fewest there, drawn by
    the seed (coarsened exact matching with equal numbers: Iacus, King & Porro 2012, Political
    Analysis 20, 1–24). Situations need not be the same afterwards; where they matter, take
    `length_matched_situations`. The imbalance is the difference of means over the root mean of
    the two variances (Austin 2009, Statistics in Medicine 28, 3083–3107).
    """
    _check_ratio(ratio)
    table = _with_words(frame, respondent, text)
    names = _respondents(table)
    used = table.filter(pl.col("words") > 0)
    # A hair above the band's edge: log(1.25²)/log(1.25) must not fall below 2.
    band = (used["words"].cast(pl.Float64).log() / math.log(ratio) + 1e-9).floor()
    used = used.with_columns(band=band)
    random = np.random.default_rng(seed)
    kept: list[int] = []
    for _, group in sorted(used.group_by("band"), key=lambda entry: entry[0]):
        rows = {name: group.filter(respondent=name)["row"].sort().to_list() for name in names}
        fewest = min(map(len, rows.values()))
        for name in names:
            kept += random.choice(rows[name], fewest, replace=False).tolist() if fewest else []
    return _matched(frame, table, names, kept)


def length_matched_situations(
    frame: pl.DataFrame,
    *,
    respondent: str = "respondent",
    situation: str = "situation",
    text: str = "text",
    ratio: float = 1.25,
) -> LengthMatched:
    """The situations to which all respondents replied at about the same length.

    A situation stays if the longest of its replies has at most `ratio` times the words of the
    shortest, one reply of each respondent taken. Where a respondent replied several times, those
    are taken that are nearest in length to the others' (the earlier ones, if equally near). No
    chance is involved. Keeps the pairing that within-subjects analyses need, at the price of
    fewer replies than `length_matched`.
    """
    _check_ratio(ratio)
    table = _with_words(frame, respondent, text, situation=situation)
    names = _respondents(table)
    kept: list[int] = []
    used = table.filter((pl.col("words") > 0) & pl.col("situation").is_not_null())
    by_situation: dict[object, dict[str, list[tuple[int, int]]]] = {}
    for place, name, words, row in used.select("situation", "respondent", "words", "row").rows():
        by_situation.setdefault(place, {}).setdefault(name, []).append((words, row))
    for replies in by_situation.values():
        nearest = _nearest([sorted(replies.get(name, ())) for name in names])
        if nearest and nearest[-1][0] <= ratio * nearest[0][0] * (1 + 1e-9):
            kept += [row for _, row in nearest]
    return _matched(frame, table, names, kept)


def _nearest(replies: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """One (words, row) of each respondent with the smallest ratio, by length; else nothing.

    The best choice has some reply as its shortest; the others then take their shortest one that
    is no shorter.
    """
    best: list[tuple[int, int]] = []
    for start in sorted(entry for reply in replies for entry in reply):
        chosen = [
            next((entry for entry in reply if entry[0] >= start[0]), None) for reply in replies
        ]
        if None in chosen:
            break
        candidate = sorted(entry for entry in chosen if entry is not None)
        if not best or candidate[-1][0] * best[0][0] < best[-1][0] * candidate[0][0]:
            best = candidate
    return best


def _with_words(
    frame: pl.DataFrame, respondent: str, text: str, situation: str | None = None
) -> pl.DataFrame:
    for column in filter(None, (respondent, text, situation)):
        if column not in frame.columns:
            raise InputError(
                f"the column {column!r} is missing",
                got=", ".join(frame.columns),
                remedy="Name the column that contains it.",
            )
    if frame[respondent].null_count():
        raise InputError(
            "a reply has no respondent",
            where=f"reply {(frame[respondent].is_null().arg_max() or 0) + 1}",
            remedy="Fill the column in, or leave such rows out.",
        )
    table = pl.DataFrame(
        {
            "row": range(frame.height),
            "respondent": frame[respondent].cast(pl.String),
            "words": [count_words(reply or "") for reply in frame[text].cast(pl.String)],
        },
        schema_overrides={"row": pl.Int64, "words": pl.Int64},
    )
    return table if situation is None else table.with_columns(frame[situation].alias("situation"))


def _check_ratio(ratio: float) -> None:
    if not (ratio > 1 and math.isfinite(ratio)):
        raise InputError(
            "the ratio of lengths must be above 1", got=ratio, remedy="Give 1.25, for example."
        )


def _respondents(table: pl.DataFrame) -> tuple[str, ...]:
    names = tuple(table["respondent"].unique(maintain_order=True))
    if len(names) < 2:
        raise InputError(
            "matching lengths needs two or more respondents",
            got=", ".join(names) or "none",
            remedy="Add the replies of another respondent.",
        )
    return names


def _matched(
    frame: pl.DataFrame, table: pl.DataFrame, names: tuple[str, ...], kept: Iterable[int]
) -> LengthMatched:
    rows = sorted(kept)
    drawn = table[rows]
    return LengthMatched(
        replies=frame[rows],
        respondents=names,
        n=len(rows) // len(names),
        n_dropped={
            name: table.filter(respondent=name).height - len(rows) // len(names) for name in names
        },
        imbalance_before=_imbalance(table.filter(pl.col("words") > 0), names),
        imbalance=_imbalance(drawn, names),
    )


def _imbalance(table: pl.DataFrame, names: tuple[str, ...]) -> float:
    groups = [table.filter(respondent=name)["words"].to_numpy().astype(float) for name in names]
    differences = list(_differences(groups))
    return max(differences) if differences and not any(map(math.isnan, differences)) else math.nan


def _differences(groups: Sequence[Array]) -> Iterator[float]:
    for place, one in enumerate(groups):
        for other in groups[place + 1 :]:
            if min(len(one), len(other)) < 2:
                yield math.nan
                continue
            difference = abs(float(one.mean() - other.mean()))
            spread = math.sqrt((float(one.var(ddof=1)) + float(other.var(ddof=1))) / 2)
            yield difference / spread if spread > 0 else (0.0 if difference == 0 else math.inf)


def _distribution(
    name: str, group: pl.DataFrame, quantiles: Sequence[float], confidence: float
) -> LengthDistribution:
    words = group.filter(pl.col("words") > 0)["words"].to_numpy().astype(float)
    n = len(words)
    mean = float(words.mean()) if n else math.nan
    sd = float(words.std(ddof=1)) if n > 1 else math.nan
    margin = t_margin(n - 1, confidence) * sd / math.sqrt(n) if n > 1 else math.nan
    return LengthDistribution(
        respondent=name,
        n=n,
        n_dropped=group.height - n,
        mean=mean,
        low=mean - margin,
        high=mean + margin,
        sd=sd,
        shortest=int(words.min()) if n else None,
        longest=int(words.max()) if n else None,
        quantiles={
            quantile: float(np.quantile(words, quantile)) if n else math.nan
            for quantile in quantiles
        },
    )
