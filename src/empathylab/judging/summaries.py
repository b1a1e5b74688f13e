"""What a run of judges came to: how many answers can be used, and how they are spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

_KEYS = ("judge", "dimension", "respondent")


def rating_summary(
    judged: pl.DataFrame, *, by_respondent: bool, spread: bool = True
) -> list[dict[str, Any]]:
    """By judge and dimension (and respondent): usable answers, their mean, and the points' shares.

    `judged` comes from `lab_judgements`. Points that were never chosen are not listed. Without
    `spread`, only how many answers can be used.
    """
    keys = _KEYS if by_respondent else _KEYS[:2]
    rows = []
    for named, group, valid in _groups(judged, keys):
        if not spread:
            rows.append({**named, **_usable(group, valid)})
            continue
        counts = valid.group_by("value", "label").len().sort("value")
        rows.append(
            {
                **named,
                **_usable(group, valid),
                "mean": valid["value"].mean(),
                "entropy": valid["entropy"].mean(),
                "shares": {label: count / valid.height for _, label, count in counts.iter_rows()},
            }
        )
    return rows


def preference_summary(compared: pl.DataFrame) -> list[dict[str, Any]]:
    """By judge and dimension: how often each place won, and how often both orders agree.

    `compared` comes from `lab_preferences`. `steady` is the share of pairs, asked in both orders,
    for which both answers name the same reply, or a tie; None where there is no such pair.
    """
    return [
        {
            **named,
            **_usable(group, valid),
            **{place: valid.filter(preferred=place).height for place in ("first", "second", "tie")},
            "steady": _steady(valid),
        }
        for named, group, valid in _groups(compared, _KEYS[:2])
    ]


def win_summary(compared: pl.DataFrame) -> list[dict[str, Any]]:
    """By judge, dimension and respondent: wins, losses and ties."""
    valid = compared.filter(outcome="valid")
    sides = [
        valid.select(
            "judge",
            "dimension",
            pl.col(place).alias("respondent"),
            wins=(pl.col("preferred") == place).cast(pl.Int64),
            losses=(pl.col("preferred") == other).cast(pl.Int64),
            ties=(pl.col("preferred") == "tie").cast(pl.Int64),
        )
        for place, other in (("first", "second"), ("second", "first"))
    ]
    return (
        pl.concat(sides)
        .group_by(_KEYS, maintain_order=True)
        .agg(pl.col("wins", "losses", "ties").sum())
        .sort("judge", "dimension", "wins", descending=[False, False, True])
        .to_dicts()
    )


def _groups(
    frame: pl.DataFrame, keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]]:
    for values, group in frame.group_by(keys, maintain_order=True):
        yield dict(zip(keys, values, strict=True)), group, group.filter(outcome="valid")


def _usable(group: pl.DataFrame, valid: pl.DataFrame) -> dict[str, Any]:
    others = group.filter(pl.col("outcome") != "valid")["outcome"].value_counts(sort=True)
    return {
        "answers": group.height,
        "valid": valid.height,
        "invalid": dict(others.iter_rows()),
    }


def _steady(valid: pl.DataFrame) -> float | None:
    preferred = pl.col("preferred")
    won = (
        pl.when(preferred == "first")
        .then(pl.col("first_response"))
        .when(preferred == "second")
        .then(pl.col("second_response"))
        .otherwise(-1)
    )
    both = (
        valid.with_columns(won=won)
        .group_by("set", "situation", "pair", "repeat")
        .agg(pl.col("won").n_unique().alias("answers"), pl.len())
        .filter(pl.col("len") == 2)
    )
    return float((both["answers"] == 1).mean()) if both.height else None  # type: ignore[arg-type]
