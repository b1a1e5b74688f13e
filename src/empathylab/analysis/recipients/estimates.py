"""One outcome of recipients: cell means, F tests, differences and change from before the reply."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from empathylab.analysis.recipients.columns import LABEL, RESPONSE, RecipientTable
from empathylab.analysis.recipients.outcome_designs import (
    INTERACTION,
    OutcomeDesign,
    complete_rows,
    outcome_design,
    tested_factors,
)
from empathylab.errors import InputError
from empathylab.stats.anova import anova
from empathylab.stats.anova.effect_sizes import partial_eta_squared
from empathylab.stats.conversations import clustered_mean
from empathylab.stats.corrections import holm
from empathylab.stats.equivalence import Equivalence, equivalence_test
from empathylab.stats.mixed import Lmm, lmm, lmm_contrasts, term_tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The outcome in one condition; the interval treats a participant's values as a cluster."""

    response: str | None
    label: str | None
    outcome: str
    n: int
    participants: int
    mean: float
    sd: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorTest:
    """The F test of author, label or their interaction."""

    outcome: str
    term: str
    type: str
    f: float
    df: int
    df_residual: float
    p: float
    partial_eta2: float
    partial_eta2_low: float
    partial_eta2_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A difference between two levels in points, or between two such differences."""

    outcome: str
    term: str
    level: str
    reference: str
    by: str | None
    """The level of the other factor that it holds for; None where it is over all."""
    estimate: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    p_adjusted: float = math.nan
    """After Holm over outcomes and pairs; NaN for effects within one level of the other factor."""
    equivalence: Equivalence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeResult:
    """All about one outcome."""

    outcome: str
    cells: tuple[Cell, ...]
    changes: tuple[Cell, ...]
    """Value after minus value before the reply, first over all conditions; empty where it was not
    asked before."""
    tests: tuple[FactorTest, ...]
    """Type II, or type III of the mixed model."""
    tests_type3: tuple[FactorTest, ...]
    effects: tuple[Effect, ...]
    formula: str | None
    groups: tuple[str, ...]
    """Whose values are treated as correlated."""
    repliers: Mapping[str, int]
    """How many wrote the replies of each author, where that is known."""
    crossed: bool
    """Whether every combination of author and label occurs."""
    n: int
    dropped: int
    participants: int
    problem: str | None = None
    confidence: float = 0.95


def outcome_result(
    table: RecipientTable, outcome: str, *, margin: float | None, confidence: float
) -> OutcomeResult:
    """The outcome's means, tests and effects, by the model that the design needs.

    One value per participant and no known replier: analysis of variance. Else a linear mixed model
    in which participants, repliers and replies that occur several times vary at random. A value
    from before the reply is a covariate.
    """
    frame = complete_rows(table, outcome)
    factors, crossed = tested_factors(frame, table)
    design = outcome_design(frame, factors, adjusted=outcome in table.before, crossed=crossed)
    cells = tuple(_cells(frame, outcome, "y", confidence))
    tests: list[FactorTest] = []
    effects: list[Effect] = []
    problem = None
    try:
        if not factors:
            raise InputError(
                "there is only one condition", remedy="Give a table with two conditions or more."
            )
        fit = lmm(design.frame, design.formula, confidence=confidence)
        tests = _tests(design, fit, outcome, confidence)
        effects = list(_effects(fit, factors, crossed, outcome, margin))
    except InputError as error:
        problem = error.what.replace("'y'", repr(outcome))
    first = [test for test in tests if test.type == "II"] or tests
    return OutcomeResult(
        outcome=outcome,
        cells=cells,
        changes=tuple(_changes(frame, outcome, confidence)) if outcome in table.before else (),
        tests=tuple(first),
        tests_type3=tuple(test for test in tests if test.type == "III"),
        effects=tuple(effects),
        formula=None if problem else design.formula,
        groups=design.groups,
        repliers=design.repliers,
        crossed=crossed,
        n=frame.height,
        dropped=table.frame.height - frame.height,
        participants=frame["participant"].n_unique(),
        problem=problem,
        confidence=confidence,
    )


def _cells(frame: pl.DataFrame, outcome: str, column: str, confidence: float) -> Iterator[Cell]:
    names = [name for name in (RESPONSE, LABEL) if name in frame.columns]
    for levels, part in frame.sort(names, maintain_order=True).group_by(names, maintain_order=True):
        at = dict(zip(names, map(str, levels), strict=True))
        yield _cell(part, outcome, column, at, confidence)


def _changes(frame: pl.DataFrame, outcome: str, confidence: float) -> Iterator[Cell]:
    """The change over all conditions, then in each."""
    yield _cell(frame, outcome, "change", {}, confidence)
    yield from _cells(frame, outcome, "change", confidence)


def _cell(
    part: pl.DataFrame, outcome: str, column: str, at: Mapping[str, str], confidence: float
) -> Cell:
    values = part[column].to_numpy()
    mean = clustered_mean(values, part["participant"].to_list(), confidence=confidence)
    return Cell(
        response=at.get(RESPONSE),
        label=at.get(LABEL),
        outcome=outcome,
        n=len(values),
        participants=part["participant"].n_unique(),
        mean=mean.estimate,
        sd=float(np.std(values, ddof=1)) if len(values) > 1 else math.nan,
        low=mean.low,
        high=mean.high,
    )


def _tests(design: OutcomeDesign, fit: Lmm, outcome: str, confidence: float) -> list[FactorTest]:
    tests: list[FactorTest] = []
    if not design.random:
        terms = anova(design.frame, design.fixed, confidence=confidence).terms
        tests = [FactorTest(outcome=outcome, **term._asdict()) for term in terms]
    else:
        for test in term_tests(fit):
            sizes = (math.nan, math.nan, math.nan)
            if math.isfinite(test.f) and math.isfinite(test.df_residual):
                sizes = partial_eta_squared(
                    test.f, test.df, test.df_residual, confidence=confidence
                )
            tests.append(
                FactorTest(
                    outcome=outcome,
                    term=test.term,
                    type="III",
                    f=test.f,
                    df=test.df,
                    df_residual=test.df_residual,
                    p=test.p,
                    partial_eta2=sizes[0],
                    partial_eta2_low=sizes[1],
                    partial_eta2_high=sizes[2],
                )
            )
    return [test for test in tests if test.term in design.terms]


def _effects(
    fit: Lmm, factors: Sequence[str], crossed: bool, outcome: str, margin: float | None
) -> Iterator[Effect]:
    """Pairs of levels over all, the interaction, then pairs within levels of the other factor."""
    for factor in factors:
        for pair in lmm_contrasts(fit, factor):
            yield _effect(outcome, factor, pair.level, pair.other, None, pair, margin)
    if not crossed:
        return
    columns = fit.design.terms[INTERACTION]
    if len(columns) == 1:
        contrast = np.eye(len(fit.beta))[columns[0]]
        levels = [fit.design.coding.predictors[name].levels for name in factors]
        names = [f"{first} − {second}" for first, second in levels]
        yield _effect(outcome, INTERACTION, names[0], names[1], None, fit.tested(contrast), margin)
    for factor, other in itertools.permutations(factors):
        for pair in lmm_contrasts(fit, factor, by=other):
            yield _effect(outcome, factor, pair.level, pair.other, pair.by, pair, None)


def _effect(
    outcome: str,
    term: str,
    level: str,
    reference: str,
    by: str | None,
    test: object,
    margin: float | None,
) -> Effect:
    names = ("estimate", "se", "df", "t", "p", "low", "high")
    values = {name: float(getattr(test, name)) for name in names}
    return Effect(
        outcome=outcome,
        term=term,
        level=level,
        reference=reference,
        by=by,
        equivalence=None
        if margin is None
        else equivalence_test(values["estimate"], values["se"], margin, df=values["df"]),
        **values,
    )


def adjusted(outcomes: Sequence[OutcomeResult]) -> tuple[OutcomeResult, ...]:
    """The outcomes with p values after Holm: of a term, over its pairs of levels and outcomes."""
    family: dict[str, list[Effect]] = {}
    for result in outcomes:
        for effect in result.effects:
            if effect.by is None:
                family.setdefault(effect.term, []).append(effect)
    corrected = {
        (effect.outcome, term, effect.level, effect.reference): float(p)
        for term, effects in family.items()
        for effect, p in zip(effects, holm([other.p for other in effects]), strict=True)
    }
    return tuple(
        replace(
            result,
            effects=tuple(
                replace(
                    effect,
                    p_adjusted=corrected[
                        effect.outcome, effect.term, effect.level, effect.reference
                    ],
                )
                if effect.by is None
                else effect
                for effect in result.effects
            ),
        )
        for result in outcomes
    )
