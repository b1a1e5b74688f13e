"""The columns whose effects vary between the levels of a grouping, on a scale fit for searching.

A covariate may be a timestamp or a share; its slope's standard deviation then is tiny or huge. The
search works on columns centred and scaled, and covariances are turned back afterwards. Columns are
centred only where intercept and slopes are correlated: otherwise that would be another model.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.coding import INTERCEPT, Predictor, aliased_columns, code_terms
from empathylab.stats.mixed.formulas import Formula, RandomTerm


@dataclass(frozen=True, slots=True)
class RandomColumns:
    """The random columns of one grouping."""

    names: tuple[str, ...]
    values: Array | None
    """Rows × columns, as the search uses them; None for an intercept alone."""
    blocks: tuple[tuple[int, ...], ...]
    """Columns whose effects are correlated."""
    back: Array
    """What turns effects of the columns as searched into effects of the columns as given."""

    @property
    def parameters(self) -> int:
        """Standard deviations and correlations."""
        return sum(len(block) * (len(block) + 1) // 2 for block in self.blocks)

    def covariance(self, factor: Array) -> Array:
        """Of the effects of the columns as given."""
        turned = self.back @ factor
        return np.asarray(turned @ turned.T)

    @property
    def given(self) -> Array | None:
        """Rows × columns as the data have them."""
        return None if self.values is None else np.asarray(self.values @ np.linalg.inv(self.back))


INTERCEPT_ALONE = RandomColumns((INTERCEPT,), None, ((0,),), np.eye(1))


def random_columns(
    terms: Sequence[RandomTerm],
    predictors: Mapping[str, Predictor],
    values: Mapping[str, Codes | Array],
    n: int,
) -> RandomColumns:
    """The columns of all random terms of one grouping, side by side."""
    if all(not term.terms for term in terms):
        return INTERCEPT_ALONE
    names: list[str] = []
    columns: list[Array] = []
    blocks: list[tuple[int, ...]] = []
    backs: list[Array] = []
    for term in terms:
        formula = Formula("", "", term.intercept, term.terms, ())
        coding = code_terms(formula, predictors)
        x = coding.matrix(values, n)
        _check(coding.names, x, names, term)
        scaled, back = _scaled(x, coding.names, centred=term.correlated)
        places = tuple(range(len(names), len(names) + len(coding.names)))
        blocks += [places] if term.correlated else [(place,) for place in places]
        names += coding.names
        columns.append(scaled)
        backs.append(back)
    whole = np.zeros((len(names), len(names)))
    first = 0
    for back in backs:
        last = first + len(back)
        whole[first:last, first:last] = back
        first = last
    if names == [INTERCEPT]:
        return INTERCEPT_ALONE
    return RandomColumns(
        tuple(names), np.asfortranarray(np.column_stack(columns)), tuple(blocks), whole
    )


def _check(names: Sequence[str], x: Array, before: Sequence[str], term: RandomTerm) -> None:
    group = ":".join(term.group)
    twice = [name for name in names if name in before]
    if twice:
        raise InputError(
            f"the random effect of {twice[0]} by {group!r} is named twice",
            remedy="Name it in one random term; write (0 + x|g) for a slope alone.",
        )
    aliased = aliased_columns(x, names)
    if aliased:
        raise InputError(
            f"the random effect of {aliased[0]} by {group!r} repeats that of other columns",
            remedy="Leave the column out of the random term.",
        )


def _scaled(x: Array, names: Sequence[str], *, centred: bool) -> tuple[Array, Array]:
    """Columns of unit size, and what turns their effects back."""
    size = x.shape[1]
    scaled, back = np.array(x, order="F"), np.eye(size)
    if names[0] != INTERCEPT or not centred:
        shift = np.zeros(size)
    else:
        shift = np.where(_binary(x), 0.0, x.mean(axis=0))
        shift[0] = 0.0
    for column in range(size):
        if _binary(x)[column]:
            continue
        moved = x[:, column] - shift[column]
        spread = float(np.sqrt(np.mean(moved**2)))
        scaled[:, column] = moved / spread
        back[column, column] = 1 / spread
        back[0, column] -= shift[column] / spread
    return scaled, back


def _binary(x: Array) -> Array:
    """Which columns hold 0 and 1 only: levels of factors, and the intercept."""
    return np.asarray(np.all((x == 0) | (x == 1), axis=0))


def correlation_pairs(columns: RandomColumns) -> list[tuple[int, int]]:
    """The pairs of columns whose correlation is estimated."""
    return [pair for block in columns.blocks for pair in itertools.combinations(block, 2)]
