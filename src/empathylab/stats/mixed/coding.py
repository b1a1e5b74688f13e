"""Fixed effects as numbers: which columns a model has and how rows fill them.

Treatment coding as in R: a factor has one column per level but the first, or per level where the
term it belongs to has no margin in the model (`a:b` without `b`). Columns that repeat what
earlier ones say are left out, as R does.

Chambers, J. M., & Hastie, T. J. (1992). Statistical Models in S, chapter 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.formulas import Formula, Variable

INTERCEPT = "(Intercept)"
_ALIASED = 1e-7
"""Proportion of a column's length that must be left after earlier ones; R's own bound."""


@dataclass(frozen=True, slots=True)
class Predictor:
    """A column among the fixed effects."""

    variable: Variable
    levels: tuple[str, ...]
    """A factor's levels, the reference first; empty for a number."""
    mean: float
    """A number's mean over the rows used; NaN for a factor."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the design matrix: a product of levels and numbers."""

    name: str
    term: str
    parts: tuple[tuple[str, int], ...]
    """Each predictor's label with the level that counts 1, or −1 for a number's own value."""


@dataclass(frozen=True, slots=True)
class Coding:
    """How values of the predictors become a row of the design matrix."""

    predictors: Mapping[str, Predictor]
    """By label."""
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def terms(self) -> dict[str, tuple[int, ...]]:
        """The columns of each term, by number."""
        terms: dict[str, list[int]] = {}
        for number, column in enumerate(self.columns):
            terms.setdefault(column.term, []).append(number)
        return {term: tuple(numbers) for term, numbers in terms.items()}

    def matrix(self, values: Mapping[str, Codes | Array], n: int) -> Array:
        """The design matrix of n rows, given each predictor's level numbers or values."""
        x = np.empty((n, len(self.columns)), order="F")
        for number, column in enumerate(self.columns):
            filled = x[:, number]
            filled[:] = 1.0
            for label, level in column.parts:
                filled *= values[label] if level < 0 else values[label] == level
        return x

    @property
    def factors(self) -> dict[str, str]:
        """The label of each factor, by the name of its column."""
        return {one.variable.name: label for label, one in self.predictors.items() if one.levels}

    def grid(self) -> tuple[dict[str, Codes | Array], int]:
        """Every combination of the factors' levels, numbers at their mean, and their count."""
        factors = {label: len(self.predictors[label].levels) for label in self.factors.values()}
        shape = tuple(factors.values())
        codes = np.indices(shape, dtype=np.int64).reshape(len(shape), -1)
        count = math.prod(shape)
        values: dict[str, Codes | Array] = dict(zip(factors, codes, strict=True))
        for label, predictor in self.predictors.items():
            if label not in factors:
                values[label] = np.full(count, predictor.mean)
        return values, count

    def only(self, names: Iterable[str]) -> Coding:
        """The same with the named columns only."""
        wanted = set(names)
        kept = tuple(column for column in self.columns if column.name in wanted)
        return Coding(self.predictors, kept)


def code_terms(formula: Formula, predictors: Mapping[str, Predictor]) -> Coding:
    """The columns of a formula's fixed terms, the intercept first where there is one."""
    labels = [tuple(variable.label for variable in term) for term in formula.terms]
    present = {frozenset(term) for term in labels}
    columns = [Column(INTERCEPT, INTERCEPT, ())] if formula.intercept else []
    spanned = formula.intercept
    for term in labels:
        choices: list[list[tuple[str, tuple[str, int]]]] = []
        for label in term:
            margin = frozenset(term) - {label}
            reduced = margin in present if margin else spanned
            choices.append(_choices(label, predictors[label], reduced))
            spanned = spanned or (not margin and bool(predictors[label].levels))
        # The first factor's level changes fastest, as R orders interactions.
        for picked in itertools.product(*reversed(choices)):
            ordered = picked[::-1]
            name = ":".join(written for written, _ in ordered)
            columns.append(Column(name, ":".join(term), tuple(part for _, part in ordered)))
    return Coding(predictors, tuple(columns))


def _choices(label: str, predictor: Predictor, reduced: bool) -> list[tuple[str, tuple[str, int]]]:
    if not predictor.levels:
        return [(label, (label, -1))]
    first = 1 if reduced else 0
    return [
        (f"{label}{level}", (label, number))
        for number, level in enumerate(predictor.levels)
        if number >= first
    ]


def aliased_columns(x: Array, names: Sequence[str]) -> list[str]:
    """The names of columns that are combinations of those before them."""
    if x.shape[1] == 0 or x.shape[0] == 0:
        return []
    # R of a QR decomposition has the same dependencies in a p × p matrix.
    small: Array = np.asarray(np.linalg.qr(x, mode="r"), dtype=np.float64)
    basis = np.zeros((small.shape[0], 0))
    aliased = []
    for number, name in enumerate(names):
        column = small[:, number]
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        length, left = float(np.linalg.norm(column)), float(np.linalg.norm(rest))
        if length == 0 or left < _ALIASED * length or basis.shape[1] == small.shape[0]:
            aliased.append(name)
        else:
            basis = np.column_stack([basis, rest / left])
    return aliased
