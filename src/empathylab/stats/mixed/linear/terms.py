"""Tests of whole terms of a linear mixed model, all columns of a factor at once."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from empathylab.stats.arrays import Array, Codes
from empathylab.stats.mixed.coding import INTERCEPT, Coding, Column
from empathylab.stats.mixed.linear.model import Lmm
from empathylab.stats.notes import Note, note

_MAX_CELLS = 100_000
"""Combinations of levels up to which main effects are averaged over the other factors."""
_EXACT = 1e-8


@dataclass(frozen=True, slots=True)
class TermTest:
    """Whether a term has any effect."""

    term: str
    f: float
    df: int
    df_residual: float
    """Satterthwaite's degrees of freedom."""
    p: float
    note: Note | None = None
    """What the test does not hold; empty where there is nothing to say."""


def term_tests(fit: Lmm) -> tuple[TermTest, ...]:
    """Type III Wald F tests with Satterthwaite's degrees of freedom, one per fixed term.

    A main effect is tested as the difference between means that weigh every level of the other
    factors alike, an interaction beyond all that it contains. A factor that interacts with a
    number is tested where the number is 0, so centre numbers first. Gives the table of lmerTest's
    `anova`. Where a combination of levels has no rating, that hypothesis cannot be tested, and
    the term's columns are tested as they are coded, with a note.

    Kuznetsova, A., Brockhoff, P. B., & Christensen, R. H. B. (2017). Journal of Statistical
    Software 82(13).
    """
    terms = {term: list(own) for term, own in fit.design.terms.items() if term != INTERCEPT}
    hypotheses, note = _hypotheses(fit, terms)
    tests = []
    for term, contrasts in hypotheses.items():
        test = fit.uncertainty.f_test(contrasts, fit.beta)
        tests.append(TermTest(term, test.f, test.df, test.df_residual, test.p, note))
    return tuple(tests)


def _hypotheses(fit: Lmm, terms: dict[str, list[int]]) -> tuple[dict[str, Array], Note | None]:
    """The combinations of coefficients that are 0 without each term, and what they do not hold.

    How a hypothesis is written changes nothing but the pooled degrees of freedom, a little; they
    are written as lmerTest writes them, which is one way for a single term and another for more.
    """
    coding = fit.design.coding
    if len(terms) == 1:
        triangle = np.linalg.qr(fit.design.x, mode="r")
        rows = triangle / np.diagonal(triangle)[:, None]
        return {term: rows[own] for term, own in terms.items()}, None
    turn = _sum_coded(coding) if not fit.design.aliased else None
    if turn is None:
        plain = np.eye(len(coding.columns))
        return {term: plain[own] for term, own in terms.items()}, note("tested_as_coded")
    rows = np.linalg.inv(turn)
    return {
        term: _against_first([coding.columns[i] for i in own]) @ rows[own]
        for term, own in terms.items()
    }, None


def _sum_coded(coding: Coding) -> Array | None:
    """What turns treatment columns into sum-to-zero ones; None where they span less or more."""
    factors = {label: len(one.levels) for label, one in coding.predictors.items() if one.levels}
    if math.prod(factors.values()) > _MAX_CELLS:
        return None
    turn = np.zeros((len(coding.columns), len(coding.columns)))
    for numbers in {_numbers(column) for column in coding.columns}:
        family = [i for i, column in enumerate(coding.columns) if _numbers(column) == numbers]
        columns = [coding.columns[i] for i in family]
        cells = _cells(factors, columns)
        count = len(next(iter(cells.values()))) if cells else 1
        treatment = np.column_stack([_filled(column, cells, count, 0) for column in columns])
        summed = np.column_stack([_filled(column, cells, count, 1) for column in columns])
        own, *_ = np.linalg.lstsq(treatment, summed, rcond=None)
        same = np.abs(treatment @ own - summed).max() < _EXACT
        if not same or np.linalg.matrix_rank(own) < len(own):
            return None
        turn[np.ix_(family, family)] = own
    return turn


def _against_first(columns: list[Column]) -> Array:
    """What turns a term's deviations from its mean into differences from its reference levels."""
    levels = np.array([[level for _, level in column.parts] for column in columns])
    pairs = (levels[:, None, :] == levels[None, :, :]) + 1.0
    return np.asarray(np.where(levels < 0, 1.0, pairs).prod(axis=2))


def _numbers(column: Column) -> frozenset[str]:
    """The numbers a column is a multiple of; only columns that share them are turned together."""
    return frozenset(label for label, level in column.parts if level < 0)


def _cells(factors: dict[str, int], columns: list[Column]) -> dict[str, Codes]:
    """Every combination of the levels of the factors that the columns use."""
    used = dict.fromkeys(label for column in columns for label, level in column.parts if level >= 0)
    grid = np.array(list(itertools.product(*(range(factors[label]) for label in used))))
    return {label: grid[:, i] for i, label in enumerate(used)}


def _filled(column: Column, cells: dict[str, Codes], count: int, last: int) -> Array:
    """The column in every cell; with `last` 1, the reference level counts −1."""
    filled = np.ones(count)
    for label, level in column.parts:
        if level >= 0:
            own = (cells[label] == level).astype(np.float64)
            filled *= own - last * (cells[label] == 0) if level > 0 else own
    return filled
