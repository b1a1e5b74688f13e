"""The model that an outcome of recipients needs: its rows, factors and random effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.recipients.columns import LABEL, RESPONSE, RecipientTable, before_name

INTERACTION = f"{RESPONSE}:{LABEL}"
_BEFORE = "before"
_GROUPS = ("participant", "replier", "reply")


def complete_rows(table: RecipientTable, outcome: str) -> pl.DataFrame:
    """The rows with the outcome and its conditions; a participant without a name is one alone."""
    known = table.frame.with_row_index("row").rename({outcome: "y"})
    used = ["y", *(name for name in (RESPONSE, LABEL) if name in table.columns)]
    for name in (RESPONSE, LABEL):
        if name in table.columns:
            kind = pl.Enum(table.levels(name))
            known = known.with_columns(pl.col(name).cast(kind))
    if outcome in table.before:
        known = known.rename({before_name(outcome): _BEFORE})
        known = known.with_columns(change=pl.col("y") - pl.col(_BEFORE))
        used.append(_BEFORE)
    alone = pl.format("row {}", "row")
    for name in _GROUPS:
        if name in table.columns:
            known = known.with_columns(pl.col(name).fill_null(alone))
    if "participant" not in table.columns:
        known = known.with_columns(participant=alone)
    return known.drop_nulls(used)


def tested_factors(frame: pl.DataFrame, table: RecipientTable) -> tuple[list[str], bool]:
    """The factors to test, and whether their interaction can be."""
    factors = [name for name in table.factors if frame[name].n_unique() > 1]
    if len(factors) < 2:
        return factors, False
    counts = [frame[name].n_unique() for name in factors]
    combinations = frame.select(factors).n_unique()
    if combinations == max(counts):
        # Each level of one goes with one level of the other: their effects cannot be separated.
        return [factors[counts.index(max(counts))]], False
    return factors, combinations == math.prod(counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeDesign:
    """The model of one outcome, and the rows that it is fitted to."""

    frame: pl.DataFrame
    fixed: str
    random: tuple[str, ...]
    terms: tuple[str, ...]
    groups: tuple[str, ...]
    repliers: Mapping[str, int]
    """How many wrote the replies of each author, where that is known."""

    @property
    def formula(self) -> str:
        """The formula with its random effects."""
        return " + ".join([self.fixed, *self.random])


def outcome_design(
    frame: pl.DataFrame, factors: Sequence[str], *, adjusted: bool, crossed: bool
) -> OutcomeDesign:
    """The model for these factors: whose values occur several times varies at random."""
    fixed = (" * " if crossed else " + ").join(factors) or "1"
    if adjusted:
        fixed = f"{_BEFORE} + {fixed}"
    random: list[str] = []
    groups: list[str] = []
    partitions: list[pl.Series] = []
    repliers: dict[str, int] = {}
    for group in _GROUPS:
        if group not in frame.columns:
            continue
        by_author = _by_author(frame, group) if group != "participant" else {}
        alone = [author for author, count in by_author.items() if count == 1]
        if group == "replier":
            repliers = by_author
        varies = ~pl.col(RESPONSE).cast(pl.String).is_in(alone) if alone else pl.lit(value=True)
        own = frame.filter(varies)
        codes = frame[group].rank("dense")
        known = any((codes == other).all() for other in partitions)
        if known or not 1 < own[group].n_unique() < own.height:
            continue
        partitions.append(codes)
        groups.append(group)
        if alone:
            # The one replier of an author cannot be separated from the author: the result is
            # about this replier, and only the others vary.
            frame = frame.with_columns(varies.cast(pl.Float64).alias(f"several_{group}"))
            random.append(f"(0 + several_{group}|{group})")
        else:
            random.append(f"(1|{group})")
        if group == "participant":
            random += _within(frame, factors)
    return OutcomeDesign(
        frame=frame,
        fixed=f"y ~ {fixed}",
        random=tuple(random),
        terms=(*factors, *([INTERACTION] if crossed else [])),
        groups=tuple(groups),
        repliers=repliers,
    )


def _by_author(frame: pl.DataFrame, group: str) -> dict[str, int]:
    """How many repliers or replies each author has."""
    if RESPONSE not in frame.columns:
        return {}
    counts = frame.group_by(RESPONSE, maintain_order=True).agg(pl.col(group).n_unique())
    return {str(author): int(count) for author, count in counts.iter_rows()}


def _within(frame: pl.DataFrame, factors: Sequence[str]) -> Iterator[str]:
    """Where participants met a factor's levels several times, its effect may differ by person."""
    for factor in factors:
        per = frame.group_by("participant").agg(pl.col(factor).n_unique(), pl.len())
        several = per.filter((pl.col(factor) > 1) & (pl.col("len") > pl.col(factor))).height
        if several > 1:
            yield f"(1|participant:{factor})"
