"""Random intercepts and slopes as vectors: one vector per level of a grouping.

The effect of level l of grouping g on row i is rᵢ'Λu_l, where rᵢ holds the row's values of the
random columns, u_l is standard normal and Λ is the lower triangular factor of the covariance
matrix. The free elements of all Λ form the parameter vector θ.

Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Journal of Statistical Software 67(1).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from empathylab.stats.arrays import Array, Codes


class GroupEffects(NamedTuple):
    """One grouping: which level each row has, and the random columns."""

    codes: Codes
    size: int
    """Number of levels."""
    columns: Array | None
    """Values per row and random column; None for an intercept alone."""
    blocks: tuple[tuple[int, ...], ...]
    """Columns whose effects are correlated, one tuple per set."""

    @property
    def width(self) -> int:
        return 1 if self.columns is None else int(self.columns.shape[1])

    def times(self, column: int, values: Array) -> Array:
        """Values per row times a random column."""
        return values if self.columns is None else self.columns[:, column] * values

    def only(self, rows: Codes, codes: Codes, size: int) -> GroupEffects:
        """The same for some rows, with levels numbered again."""
        columns = None if self.columns is None else self.columns[rows]
        return GroupEffects(codes, size, columns, self.blocks)


class Parameter(NamedTuple):
    """The place of one free element of Λ."""

    group: int
    row: int
    column: int


class Effects:
    """The random effects of a model; level vectors lie one after another in an array u."""

    def __init__(self, groups: Sequence[GroupEffects]) -> None:
        self.groups = tuple(groups)
        self.n = len(groups[0].codes) if groups else 0
        self.offsets = np.cumsum([0, *(group.size * group.width for group in groups)]).astype(
            np.intp
        )
        pairs = itertools.pairwise(self.offsets.tolist())
        self.spans = [slice(first, last) for first, last in pairs]
        self.length = int(self.offsets[-1])
        self.parameters = tuple(
            Parameter(number, block[i], block[j])
            for number, group in enumerate(groups)
            for block in group.blocks
            for j in range(len(block))
            for i in range(j, len(block))
        )

    @property
    def is_scalar(self) -> bool:
        """Whether every grouping has an intercept only."""
        return all(group.columns is None for group in self.groups)

    @property
    def on_diagonal(self) -> Array:
        """Per parameter, 1 where it lies on the diagonal of Λ and else 0."""
        return np.array([float(parameter.row == parameter.column) for parameter in self.parameters])

    def factors(self, theta: Array) -> list[Array]:
        """Λ of each grouping."""
        factors = [np.zeros((group.width, group.width)) for group in self.groups]
        for parameter, value in zip(self.parameters, theta, strict=True):
            factors[parameter.group][parameter.row, parameter.column] = value
        return factors

    def signs(self, theta: Array) -> Array:
        """What makes the diagonals positive: a column of Λ turned round is the same model."""
        turned = {
            (one.group, one.column)
            for one, value in zip(self.parameters, theta, strict=True)
            if one.row == one.column and value < 0
        }
        return np.array(
            [
                -1.0 if (parameter.group, parameter.column) in turned else 1.0
                for parameter in self.parameters
            ]
        )

    def linear(self, u: Array, factors: Sequence[Array]) -> Array:
        """ZΛu: what the random effects add to each row."""
        total = np.zeros(self.n)
        for group, effects in zip(self.groups, self.effects(u, factors), strict=True):
            if group.columns is None:
                total += effects.reshape(-1)[group.codes]
                continue
            for column in range(group.width):
                total += group.times(column, effects[group.codes, column])
        return total

    def effects(self, u: Array, factors: Sequence[Array]) -> list[Array]:
        """Λu per grouping, levels × columns."""
        return [
            (float(factor[0, 0]) * u[span])[:, None]
            if group.columns is None
            else u[span].reshape(group.size, group.width) @ factor.T
            for group, span, factor in zip(self.groups, self.spans, factors, strict=True)
        ]

    def sums(self, values: Array) -> list[Array]:
        """Z' times values over rows, per grouping as levels × columns."""
        return [
            np.asarray(np.bincount(group.codes, values, minlength=group.size), np.float64)[:, None]
            if group.columns is None
            else np.column_stack(
                [
                    np.bincount(group.codes, group.times(column, values), minlength=group.size)
                    for column in range(group.width)
                ]
            )
            for group in self.groups
        ]

    def summed(self, values: Array, factors: Sequence[Array]) -> Array:
        """Λ'Z' times values over rows."""
        return np.concatenate(
            [
                float(factor[0, 0]) * sums[:, 0]
                if sums.shape[1] == 1
                else (sums @ factor).reshape(-1)
                for sums, factor in zip(self.sums(values), factors, strict=True)
            ]
        )

    def products(self, values: Array, u: Array) -> Array:
        """Per parameter: the sum over rows of value × random column × element of u."""
        sums = self.sums(values)
        spread = [
            total.T @ u[span].reshape(total.shape)
            for total, span in zip(sums, self.spans, strict=True)
        ]
        return np.array(
            [
                spread[parameter.group][parameter.row, parameter.column]
                for parameter in self.parameters
            ]
        )

    def row_products(self, values: Array, rows: Sequence[Array]) -> Array:
        """Per parameter: the sum over rows of value × random column × the row's own vector."""
        products = []
        for parameter in self.parameters:
            group = self.groups[parameter.group]
            products.append(
                float(
                    group.times(parameter.row, values) @ rows[parameter.group][:, parameter.column]
                )
            )
        return np.array(products)


def singular_trials(effects: Effects, theta: Array, number: int) -> list[tuple[Array, set[int]]]:
    """θ with an effect's variance at zero, then with it following from the effects before it.

    With each come the elements of θ that are then fixed.
    """
    chosen = effects.parameters[number]
    factor = effects.factors(theta)[chosen.group]
    without = factor @ factor.T
    without[chosen.row, :] = without[:, chosen.row] = 0.0
    follows, rest = factor.copy(), factor[:, chosen.row].copy()
    # What the column gave to later effects goes to their own part.
    follows[:, chosen.row] = 0.0
    later = np.arange(len(follows)) > chosen.row
    follows[later, later] = np.hypot(follows[later, later], rest[later])
    trials = []
    for shape, row_too in ((lower_factor(without), True), (follows, False)):
        changed, gone = theta.copy(), set()
        for place, one in enumerate(effects.parameters):
            if one.group != chosen.group:
                continue
            changed[place] = shape[one.row, one.column]
            if one.column == chosen.column or (row_too and one.row == chosen.row):
                gone.add(place)
        trials.append((changed, gone))
    return trials


def intercepts(codes: Sequence[Codes], sizes: Sequence[int]) -> Effects:
    """Random intercepts only."""
    return Effects(
        [GroupEffects(code, size, None, ((0,),)) for code, size in zip(codes, sizes, strict=True)]
    )


def lower_factor(covariance: Array, tolerance: float = 1e-10) -> Array:
    """The lower triangular factor of a matrix that may be singular; columns of zeros there."""
    size = len(covariance)
    factor = np.zeros((size, size))
    largest = max(float(np.diag(covariance).max(initial=0.0)), 0.0)
    for j in range(size):
        left = covariance[j:, j] - factor[j:, :j] @ factor[j, :j]
        if left[0] > tolerance * largest:
            factor[j:, j] = left / np.sqrt(left[0])
    return factor
