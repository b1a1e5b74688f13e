"""F tests of factorial designs with any numbers of rows per cell, and the cells' means.

Type II tests a term beyond all others that do not contain it; type III beyond all others, with
factors coded to sum to zero, so that a main effect is that of unweighted means. They agree where
cells hold equally many rows.

Fox, J., & Weisberg, S. (2019). An R Companion to Applied Regression, 3rd edition, section 5.3.4
(car::Anova gives the same numbers). Steiger, J. H. (2004). Psychological Methods 9, 164–182.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.stats.anova.effect_sizes import partial_eta_squared
from empathylab.stats.arguments import require_confidence, without_gaps
from empathylab.stats.arrays import Array
from empathylab.stats.mixed.columns import level_codes
from empathylab.stats.mixed.design import MixedDesign, read_design
from empathylab.stats.t_tests import t_margin

Kind = Literal["II", "III"]

_EXACT = 1e-12
"""Proportion of the variance below which the terms give every value exactly."""


class Term(NamedTuple):
    """The F test of one term."""

    term: str
    type: Kind
    f: float
    """NaN for type III where a combination of levels has no rows."""
    df: int
    df_residual: int
    p: float
    partial_eta2: float
    partial_eta2_low: float
    partial_eta2_high: float


class Cell(NamedTuple):
    """The values of one combination of levels."""

    levels: Mapping[str, str]
    n: int
    mean: float
    sd: float
    """NaN with one value."""
    low: float
    """Ends of the t interval from the cell's own standard deviation."""
    high: float


@dataclass(frozen=True, slots=True)
class Anova:
    """An analysis of variance."""

    formula: str
    terms: tuple[Term, ...]
    """Type II of each term, then type III of each."""
    cells: tuple[Cell, ...]
    residual_sd: float
    r2: float
    n: int
    dropped: Mapping[str, int]
    """Rows left out, by reason."""
    empty_cells: int
    """Combinations of levels without rows; type III is then not defined."""
    confidence: float


def anova(frame: pl.DataFrame, formula: str, *, confidence: float = 0.95) -> Anova:
    """Type II and III F tests of every term of `y ~ a * b`, with cell means and partial η².

    Columns of words, booleans and `C(x)` are factors, numbers are covariates. Not for repeated
    measures: rows are independent (`lmm` otherwise). The interval of partial η² inverts the
    noncentral F distribution. Rows with a missing value are left out and counted.
    """
    require_confidence(confidence)
    design = read_design(frame, formula, ordinal=False)
    _check(design)
    used = without_gaps(frame, *design.formula.columns)
    y = np.asarray(design.y, dtype=np.float64)
    blocks = _blocks(design, used)
    fits = _Fits(y, blocks)
    residual = fits.residual(list(blocks))
    df_residual = design.n - fits.rank(list(blocks))
    total = float(((y - y.mean()) ** 2).sum())
    if df_residual < 1 or residual <= _EXACT * total:
        raise InputError(
            "the terms predict every value exactly, so there is no residual to test against",
            where=f"formula {formula!r}",
            remedy="Leave out interactions, or add rows.",
        )
    cells, empty = _cells(design, used, y, confidence)
    terms = [
        _tested(name, kind, fits, list(blocks), (residual, df_residual), confidence, empty)
        for kind in ("II", "III")
        for name in blocks
    ]
    return Anova(
        formula=formula,
        terms=tuple(terms),
        cells=cells,
        residual_sd=math.sqrt(residual / df_residual),
        r2=1 - residual / total,
        n=design.n,
        dropped=design.dropped,
        empty_cells=empty,
        confidence=confidence,
    )


def _check(design: MixedDesign) -> None:
    where = f"formula {design.formula.text!r}"
    if design.groups:
        raise InputError(
            "an analysis of variance has no random terms",
            where=where,
            remedy="Fit it with `empathylab stats lmm`.",
        )
    if not design.formula.terms:
        raise InputError(
            "the formula has no terms to test", where=where, remedy="Write it like 'y ~ a * b'."
        )
    if not design.formula.intercept:
        raise InputError(
            "an analysis of variance needs the intercept",
            where=where,
            remedy="Leave out `0 +` or `- 1`.",
        )


def _blocks(design: MixedDesign, used: pl.DataFrame) -> dict[str, Array]:
    """The columns of each term, factors coded to sum to zero."""
    single: dict[str, Array] = {}
    for label, predictor in design.coding.predictors.items():
        column = used[predictor.variable.name]
        if not predictor.levels:
            values = column.cast(pl.Float64).to_numpy()
            spread = float(values.std())
            single[label] = ((values - values.mean()) / (spread or 1.0))[:, None]
            continue
        codes, levels = level_codes(column)
        size = len(levels)
        contrasts = np.vstack([np.eye(size - 1), -np.ones(size - 1)])
        single[label] = contrasts[codes]
    blocks = {}
    for term in design.formula.terms:
        columns = np.ones((used.height, 1))
        for variable in term:
            own = single[variable.label]
            columns = (columns[:, :, None] * own[:, None, :]).reshape(used.height, -1)
        blocks[":".join(variable.label for variable in term)] = columns
    return blocks


class _Fits:
    """Residual sums of squares of models with some of the terms."""

    def __init__(self, y: Array, blocks: Mapping[str, Array]) -> None:
        self._y, self._blocks = y, blocks
        self._fitted: dict[frozenset[str], tuple[float, int]] = {}

    def residual(self, names: Sequence[str]) -> float:
        return self._fit(names)[0]

    def rank(self, names: Sequence[str]) -> int:
        return self._fit(names)[1]

    def _fit(self, names: Sequence[str]) -> tuple[float, int]:
        key = frozenset(names)
        if key not in self._fitted:
            ones = np.ones((len(self._y), 1))
            x = np.column_stack([ones, *(self._blocks[name] for name in names)])
            vectors, values, _ = np.linalg.svd(x, full_matrices=False)
            kept = vectors[:, values > 1e-9 * values[0]]
            rest = self._y - kept @ (kept.T @ self._y)
            self._fitted[key] = float(rest @ rest), kept.shape[1]
        return self._fitted[key]


def _tested(
    name: str,
    kind: Kind,
    fits: _Fits,
    names: list[str],
    error: tuple[float, int],
    confidence: float,
    empty: int,
) -> Term:
    from scipy.special import fdtrc

    residual, df_residual = error
    own = set(name.split(":"))
    others = [item for item in names if item != name]
    if kind == "II":
        others = [other for other in others if not own < set(other.split(":"))]
    gained = fits.residual(others) - fits.residual([*others, name])
    df = fits.rank([*others, name]) - fits.rank(others)
    if df == 0 or (kind == "III" and empty):
        nan = math.nan
        return Term(name, kind, nan, df, df_residual, nan, nan, nan, nan)
    f = max(gained, 0.0) / df / (residual / df_residual)
    size = partial_eta_squared(f, df, df_residual, confidence=confidence)
    p = float(fdtrc(df, df_residual, f))
    return Term(name, kind, f, df, df_residual, p, size.estimate, size.low, size.high)


def _cells(
    design: MixedDesign, used: pl.DataFrame, y: Array, confidence: float
) -> tuple[tuple[Cell, ...], int]:
    """The combinations of levels that have rows, and how many have none."""
    factors = design.factors
    if not factors:
        return (), 0
    codes = {name: level_codes(used[name])[0] for name in factors}
    names = {name: level_codes(used[name])[1] for name in factors}
    cells, empty = [], 0
    for levels in itertools.product(*(names[name] for name in factors)):
        rows = np.ones(len(y), dtype=np.bool_)
        for name, level in zip(factors, levels, strict=True):
            rows &= codes[name] == names[name].index(level)
        if not rows.any():
            empty += 1
            continue
        cells.append(_cell(dict(zip(factors, levels, strict=True)), y[rows], confidence))
    return tuple(cells), empty


def _cell(levels: Mapping[str, str], values: Array, confidence: float) -> Cell:
    n, mean = len(values), float(values.mean())
    if n < 2:
        return Cell(levels, n, mean, math.nan, math.nan, math.nan)
    sd = float(values.std(ddof=1))
    margin = t_margin(n - 1, confidence) * sd / math.sqrt(n)
    return Cell(levels, n, mean, sd, mean - margin, mean + margin)
