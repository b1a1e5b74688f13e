"""A frame and a formula turned into the arrays that a mixed model is fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.coding import INTERCEPT, Coding, Predictor, aliased_columns, code_terms
from empathylab.stats.mixed.columns import (
    all_levels,
    category_codes,
    column_numbers,
    complete_rows,
    level_codes,
    moved_first,
)
from empathylab.stats.mixed.formulas import Formula, Variable, parse_formula
from empathylab.stats.mixed.random_columns import (
    INTERCEPT_ALONE,
    RandomColumns,
    random_columns,
)
from empathylab.stats.notes import Note, note

NO_REFERENCE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Grouping:
    """Who or what random effects belong to."""

    name: str
    """The column, or `a:b` where two name a group together."""
    codes: Codes
    """Each row's level, as a number."""
    levels: tuple[str, ...]
    """In the order in which they appear."""
    columns: RandomColumns = INTERCEPT_ALONE
    """What varies between the levels."""

    @property
    def effect_names(self) -> tuple[str, ...]:
        """A name for each random column: the group's own for an intercept, else `column|group`."""
        return tuple(
            self.name if column == INTERCEPT else f"{column}|{self.name}"
            for column in self.columns.names
        )


@dataclass(frozen=True, slots=True)
class Repeats:
    """Columns left out of a design, and what they repeat."""

    coding: Coding
    """Of the columns left out."""
    base: Coding
    """Of the columns that stayed, and the intercept."""
    weights: Array
    """What those columns, times these weights, give: the columns left out."""

    def broken_by(self, values: Mapping[str, Codes | Array], n: int) -> NDArray[np.bool_]:
        """Which of n rows break the repetition, so that the model says nothing about them."""
        follows = self.base.matrix(values, n) @ self.weights
        return np.asarray(np.any(np.abs(self.coding.matrix(values, n) - follows) > 1e-6, axis=1))


@dataclass(frozen=True, slots=True)
class MixedDesign:
    """What a mixed model is fitted to."""

    formula: Formula
    response: str
    y: Codes | Array
    """Category numbers from 0 (ordinal), or values."""
    levels: tuple[str, ...]
    """The categories used, lowest first; empty for a number."""
    x: Array
    """Fixed effects, one row per rating; the intercept only where the model is not ordinal."""
    names: tuple[str, ...]
    """Names of the columns, as R writes them."""
    terms: Mapping[str, tuple[int, ...]]
    """The columns of each term, by number."""
    factors: Mapping[str, tuple[str, ...]]
    """The levels of each factor among the fixed effects, the reference first."""
    groups: tuple[Grouping, ...]
    n: int
    """Rows used."""
    dropped: Mapping[str, int]
    """Rows left out, by reason."""
    notes: tuple[Note, ...]
    """What was left out besides rows: categories, levels and columns, a sentence each."""
    aliased: tuple[str, ...]
    """Columns left out because earlier ones say the same."""
    coding: Coding
    """How other values of the predictors become rows of `x`."""
    repeats: Repeats
    """How the columns left out follow from the others."""


def read_design(
    frame: pl.DataFrame,
    formula: str,
    *,
    reference: Mapping[str, str] = NO_REFERENCE,
    levels: Sequence[str | int | float] | None = None,
    ordinal: bool,
) -> MixedDesign:
    """The arrays of a mixed model, with what was left out and why.

    Columns of words, booleans and `C(x)` are factors; the level that appears first is the
    reference (an Enum's own order goes before that) unless `reference` names another. A row with
    a missing value in a column that the formula uses is left out and counted. Ratings are ordered
    by size; words take `levels`, lowest first, or are an Enum. Categories and levels without rows,
    and columns that repeat others, are left out and said in `notes`.
    """
    parsed = parse_formula(formula)
    where = f"formula {formula!r}"
    for column in parsed.columns:
        if column not in frame.columns:
            raise UnknownName("column", column, frame.columns, where=where)
    _check_references(parsed, frame, reference, where)
    used, dropped = complete_rows(frame.select(parsed.columns), where)
    notes: list[Note] = []
    y, categories = (
        category_codes(used[parsed.response], levels, notes)
        if ordinal
        else (column_numbers(used[parsed.response], where), ())
    )
    if used[parsed.response].n_unique() < 2:
        raise InputError(
            f"every {parsed.response!r} is the same, so nothing can be estimated",
            where=where,
            got=used[parsed.response][0],
            remedy="Choose a column that varies.",
        )
    predictors, values = _predictors(parsed, frame, used, reference, notes, where)
    n = used.height
    fixed = {item.label: predictors[item.label] for term in parsed.terms for item in term}
    coding, x, repeats = _coded(parsed, fixed, values, n, ordinal)
    aliased = repeats.coding.names
    if aliased:
        notes.append(note("aliased_columns", columns=tuple(aliased)))
    design = MixedDesign(
        formula=parsed,
        response=parsed.response,
        y=y,
        levels=categories,
        x=x,
        names=coding.names,
        terms=coding.terms,
        factors={p.variable.name: p.levels for p in fixed.values() if p.levels},
        groups=tuple(
            replace(
                _grouping(used, names, where),
                columns=random_columns(
                    [term for term in parsed.random if term.group == names], predictors, values, n
                ),
            )
            for names in parsed.groups
        ),
        n=n,
        dropped=dropped,
        notes=tuple(notes),
        aliased=aliased,
        coding=coding,
        repeats=repeats,
    )
    _check_size(design, where)
    return design


def _check_references(
    formula: Formula, frame: pl.DataFrame, reference: Mapping[str, str], where: str
) -> None:
    fixed = {variable.name: variable for term in formula.terms for variable in term}
    for name in reference:
        if name not in fixed:
            raise UnknownName("factor with a reference level", name, fixed, where=where)
        if not _is_factor(fixed[name], frame[name]):
            raise InputError(
                f"{name!r} contains numbers and has no reference level",
                where=where,
                remedy=f"Write C({name}) to treat it as a factor.",
            )


def _is_factor(variable: Variable, column: pl.Series) -> bool:
    return variable.categorical or not column.dtype.is_numeric()


def _predictors(
    formula: Formula,
    frame: pl.DataFrame,
    used: pl.DataFrame,
    reference: Mapping[str, str],
    notes: list[Note],
    where: str,
) -> tuple[dict[str, Predictor], dict[str, Codes | Array]]:
    """Each predictor, and its level numbers or values in the rows used, by label."""
    predictors: dict[str, Predictor] = {}
    values: dict[str, Codes | Array] = {}
    slopes = [item for random in formula.random for term in random.terms for item in term]
    fixed = [item for term in formula.terms for item in term]
    for variable in dict.fromkeys([*fixed, *slopes]):
        column = used[variable.name]
        if not _is_factor(variable, column):
            numbers = column_numbers(column, where)
            predictors[variable.label] = Predictor(variable, (), float(numbers.mean()))
            values[variable.label] = numbers
            continue
        codes, levels = level_codes(column)
        gone = [name for name in all_levels(frame[variable.name]) if name not in levels]
        if gone:
            notes.append(note("lost_levels", column=variable.name, levels=tuple(gone)))
        if len(levels) < 2:
            raise InputError(
                f"{variable.name!r} has one level only, so there is nothing to compare",
                where=where,
                got=levels[0],
                remedy="Leave it out of the formula, or add rows of other levels.",
            )
        if variable.name in reference:
            codes, levels = moved_first(codes, levels, variable.name, reference[variable.name])
        predictors[variable.label] = Predictor(variable, levels, float("nan"))
        values[variable.label] = codes
    return predictors, values


def _coded(
    formula: Formula,
    predictors: Mapping[str, Predictor],
    values: Mapping[str, Codes | Array],
    n: int,
    ordinal: bool,
) -> tuple[Coding, Array, Repeats]:
    """The coding, its matrix and the columns left out.

    An ordinal model's thresholds take the place of the intercept, so columns are judged beside
    one, and it is left out after that.
    """
    if ordinal and not formula.intercept:
        formula = replace(formula, intercept=True)
    coding = code_terms(formula, predictors)
    x = coding.matrix(values, n)
    aliased = aliased_columns(coding.matrix(_centred(formula, values), n), coding.names)
    kept = np.array([name not in aliased for name in coding.names], dtype=np.bool_)
    base = coding.only(name for name in coding.names if name not in aliased)
    weights: Array = np.zeros((len(base.columns), len(aliased)))
    if aliased:
        weights = np.linalg.lstsq(x[:, kept], x[:, ~kept])[0].astype(np.float64)
        x = x[:, kept]
    repeats = Repeats(coding.only(aliased), base, weights)
    used = [name for name in base.names if not (ordinal and name == INTERCEPT)]
    first = len(base.columns) - len(used)
    return base.only(used), np.asfortranarray(x[:, first:]), repeats


def _centred(formula: Formula, values: Mapping[str, Codes | Array]) -> Mapping[str, Codes | Array]:
    """Numbers minus their mean where that changes no dependency between columns.

    That is so with an intercept and every margin of each interaction. A timestamp then differs
    from a constant however short the study was.
    """
    terms = {frozenset(variable.label for variable in term) for term in formula.terms}
    whole = all(term - {label} in terms for term in terms if len(term) > 1 for label in term)
    if not formula.intercept or not whole:
        return values
    centred = dict(values)
    for label, value in values.items():
        if value.dtype.kind == "f":
            moved = value - value.mean()
            # What rounding leaves of a constant is no variation.
            constant = np.abs(moved).max() <= 1e-14 * np.abs(value).max()
            centred[label] = value if constant else moved
    return centred


def _grouping(used: pl.DataFrame, names: tuple[str, ...], where: str) -> Grouping:
    codes, levels = level_codes(used[names[0]])
    for name in names[1:]:
        inner, inner_levels = level_codes(used[name])
        pairs, codes = np.unique(codes * len(inner_levels) + inner, return_inverse=True)
        outer = levels
        levels = tuple(
            f"{outer[pair // len(inner_levels)]}:{inner_levels[pair % len(inner_levels)]}"
            for pair in pairs.tolist()
        )
    label = ":".join(names)
    if len(levels) < 2:
        raise InputError(
            f"{label!r} has one level only, so how its levels vary cannot be estimated",
            where=where,
            got=levels[0],
            remedy=f"Leave (1|{label}) out of the formula, or add ratings by others.",
        )
    return Grouping(label, codes.astype(np.int64), levels)


def _check_size(design: MixedDesign, where: str) -> None:
    intercepts = max(len(design.levels) - 1, 0)
    spread = sum(group.columns.parameters for group in design.groups)
    parameters = len(design.names) + intercepts + spread
    if design.n <= parameters:
        raise InputError(
            f"the model has {parameters} parameters and only {design.n} complete rows",
            where=where,
            remedy="Leave out terms, or gather more ratings.",
        )
