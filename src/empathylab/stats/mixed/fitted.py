"""What linear and ordinal mixed models have in common once they are fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from empathylab.stats.arrays import Array
from empathylab.stats.mixed.design import MixedDesign
from empathylab.stats.mixed.effects.solvers import Method
from empathylab.stats.mixed.spread import Correlation, RandomEffect
from empathylab.stats.notes import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedModel:
    """A fitted mixed model; `Lmm` and `Clmm` add their coefficients."""

    formula: str
    random_effects: Mapping[str, RandomEffect]
    """By group for intercepts, by `column|group` for slopes."""
    correlations: tuple[Correlation, ...]
    """Between random effects of one grouping."""
    singular: bool
    """Whether a standard deviation is 0, or random effects determine each other."""
    method: Method
    """`exact`, or `iterative` where very many levels are connected: the log-likelihood then is an
    estimate, good to about one unit."""
    log_likelihood: float
    """Restricted for a linear model by REML; then it compares models with the same fixed effects
    only."""
    aic: float
    bic: float
    parameters: int
    """Estimated ones, standard deviations at the boundary included, as R counts."""
    n: int
    """Ratings used."""
    dropped: Mapping[str, int]
    """Ratings left out, by reason."""
    converged: bool
    boundary: tuple[str, ...]
    """Random effects whose standard deviation is zero."""
    problems: tuple[Note, ...]
    """Why the result may not be trusted; empty where nothing speaks against it."""
    notes: tuple[Note, ...]
    """Categories, levels and columns left out, and a missing random term, a sentence each."""
    seconds: float
    confidence: float
    covariance: Array = field(repr=False)
    """Of the coefficients in their order; of an ordinal model of `covariance_names`."""
    random_covariances: tuple[Array, ...] = field(repr=False)
    """Per grouping, of the effects of its random columns."""
    modes: Mapping[str, pl.DataFrame] = field(repr=False)
    """Per random effect, the predicted effect of each `level` as `mode`, of an ordinal model on
    the latent scale."""
    design: MixedDesign = field(repr=False)
