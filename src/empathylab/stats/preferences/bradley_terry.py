"""Bradley–Terry strengths from comparisons of two replies, with ties and order of showing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns
from empathylab.stats.arrays import Array
from empathylab.stats.clusters.robust import cluster_covariance, cluster_ways, fewest_clusters
from empathylab.stats.preferences.comparisons import (
    Comparisons,
    comparisons,
    require_connected,
    require_finite,
)
from empathylab.stats.t_tests import t_margin

_NOISE = 1e-4
"""A standard error below this is nothing but rounding."""


@dataclass(frozen=True, slots=True)
class Strength:
    """A respondent's strength: the log of its odds to be preferred, the average being 0.

    Standard error and interval are NaN with a single rater or situation as cluster, and where the
    comparisons of clusters do not vary.
    """

    respondent: str
    estimate: float
    low: float
    high: float
    se: float
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True)
class Effect:
    """A parameter that all comparisons share, with its interval, which can be NaN as above."""

    estimate: float
    low: float
    high: float
    se: float


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Fitted strengths; those of the strongest come first."""

    strengths: tuple[Strength, ...]
    tie: Effect | None
    """log ν: how likely ties are; None where there are none."""
    order: Effect | None
    """Log odds of the reply shown first between equals (no ties); None where not asked for."""
    log_likelihood: float
    n: int
    """Comparisons used."""
    dropped: int
    """Rows left out because something was missing."""
    confidence: float
    clustered: bool
    """Whether standard errors let comparisons of a rater or situation be correlated."""
    names: tuple[str, ...]
    """The order of rows and columns of `covariance`."""
    covariance: Array = field(repr=False, compare=False)
    """Of the strengths, whose sum is 0."""
    df: float = math.inf

    def difference(self, first: str, second: str) -> Effect:
        """The first's strength minus the second's, with its interval."""
        for name in (first, second):
            if name not in self.names:
                raise UnknownName("respondent", name, self.names)
        estimates = {strength.respondent: strength.estimate for strength in self.strengths}
        i, j = self.names.index(first), self.names.index(second)
        v = self.covariance
        se = math.sqrt(max(float(v[i, i] + v[j, j] - 2 * v[i, j]), 0.0))
        return _effect(estimates[first] - estimates[second], se, self.df, self.confidence)

    def probabilities(self, first: str, second: str) -> tuple[float, float, float]:
        """How likely the first, the second and neither is preferred, whatever the order."""
        log_odds = self.difference(first, second).estimate
        ease = math.exp(self.tie.estimate) if self.tie is not None else 0.0
        parts = (math.exp(log_odds / 2), math.exp(-log_odds / 2), ease)
        return parts[0] / sum(parts), parts[1] / sum(parts), parts[2] / sum(parts)


def bradley_terry(
    frame: pl.DataFrame,
    *,
    first: str = "first",
    second: str = "second",
    outcome: str = "outcome",
    order_effect: bool = False,
    rater: str | None = None,
    situation: str | None = None,
    prior: float = 0.0,
    confidence: float = 0.95,
) -> BradleyTerry:
    """The strengths of respondents by maximum likelihood, from which of two replies is preferred.

    A row compares the replies of respondents `first` and `second`, in the order shown; `outcome`
    is `first`, `second`, `tie`, or the name of the preferred respondent. With strengths a and b the
    two and the tie are as likely as exp(a + δ/2) : exp(b − δ/2) : ν exp((a + b)/2), where δ is
    the order effect, if asked for, and ν is 0 where there are no ties. Preferences that go in
    circles are averaged over. Name `rater` and `situation` to let their comparisons be correlated
    (sandwich standard errors, clustered).

    Strengths are finite only where no group of respondents won all comparisons with the rest
    (Ford's condition), which raises InputError, as do respondents never compared, even through
    others. `prior` adds that many wins each way to every pair in every order shown, which makes all
    finite and draws strengths together.

    Bradley, R. A., & Terry, M. E. (1952). Biometrika 39, 324–345. Davidson, R. R. (1970). Journal
    of the American Statistical Association 65, 317–328. Davidson, R. R., & Beaver, R. J. (1977).
    Biometrics 33, 693–702. Ford, L. R. (1957). American Mathematical Monthly 64(8), 28–33.
    """
    require_columns(frame, first, second, outcome, rater, situation)
    if prior < 0:
        raise InputError("the prior must not be negative", got=prior, remedy="Leave it out.")
    whole = frame.drop_nulls([first, second, outcome])
    games = comparisons(whole, first, second, outcome)
    require_connected(games)
    if prior == 0:
        require_finite(games, order_effect=order_effect)
    counts = games.counts()
    counts[:, :2] += prior
    model = _Model(games, ties=bool(counts[:, 2].any()), order=order_effect)
    parameters, log_likelihood, information = model.fit(counts)
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    df = math.inf
    clusters = cluster_ways(whole, rater, situation)
    if clusters:
        middle = cluster_covariance(model.scores(parameters), clusters)
        covariance = np.asarray(covariance @ middle @ covariance)
        df = fewest_clusters(len(whole), clusters) - 1
    return _result(
        games,
        model,
        parameters,
        covariance,
        log_likelihood=log_likelihood,
        dropped=len(frame) - len(whole),
        confidence=confidence,
        df=df,
    )


class _Model:
    """The log-linear model of the three outcomes; the first name's strength is fixed at 0."""

    def __init__(self, games: Comparisons, *, ties: bool, order: bool) -> None:
        self.games, self.ties, self.order = games, ties, order
        k = len(games.names)
        size = k + int(ties) + int(order)
        a, b = games.pairs.T
        rows = np.arange(len(games.pairs))
        design = np.zeros((len(rows), 3, size))
        design[rows, 0, a] += 1
        design[rows, 1, b] += 1
        design[rows, 2, a] += 0.5
        design[rows, 2, b] += 0.5
        if ties:
            design[:, 2, k] = 1
        if order:
            design[:, 0, -1], design[:, 1, -1] = 0.5, -0.5
        self.design = design[:, :, 1:]

    def shares(self, parameters: Array) -> Array:
        """How likely each outcome is, for each ordered pair."""
        pull = self.design @ parameters
        if not self.ties:
            pull[:, 2] = -np.inf
        pull -= pull.max(axis=1, keepdims=True)
        weight = np.exp(pull)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def fit(self, counts: Array) -> tuple[Array, float, Array]:
        """Parameters, log-likelihood and observed information, by Newton's method."""
        parameters = np.zeros(self.design.shape[2])
        if np.linalg.matrix_rank(self._derivatives(parameters, counts)[1]) < len(parameters):
            raise InputError(
                "the order effect cannot be separated from the strengths",
                remedy="Show pairs in both orders, or leave the order effect out.",
            )
        value = self._log_likelihood(parameters, counts)
        for _ in range(200):
            gradient, information = self._derivatives(parameters, counts)
            try:
                step = np.linalg.solve(information, gradient)
            except np.linalg.LinAlgError:
                raise _unsettled() from None  # the strengths grow without end
            size = 1.0
            while size > 1e-8:
                new_value = self._log_likelihood(parameters + size * step, counts)
                if new_value >= value - 1e-12 * abs(value):
                    break
                size /= 2
            parameters, value = parameters + size * step, new_value
            if float(gradient @ step) < 1e-16 * max(1.0, abs(value)):
                break
        else:
            raise _unsettled()
        information = self._derivatives(parameters, counts)[1]
        # Some outcome is certain: the strengths grew until the likelihood was flat.
        if np.linalg.eigvalsh(information)[0] < 1e-8 * counts.sum():
            raise _unsettled()
        return parameters, value, information

    def scores(self, parameters: Array) -> Array:
        """Of each comparison: the slope of its log-likelihood."""
        shares = self.shares(parameters)
        mean = np.einsum("po,pok->pk", shares, self.design)
        games = self.games
        return np.asarray(self.design[games.pair_of, games.outcome] - mean[games.pair_of])

    def _log_likelihood(self, parameters: Array, counts: Array) -> float:
        shares = self.shares(parameters)
        return float((counts[counts > 0] * np.log(shares[counts > 0])).sum())

    def _derivatives(self, parameters: Array, counts: Array) -> tuple[Array, Array]:
        shares, totals = self.shares(parameters), counts.sum(axis=1)
        gradient = np.einsum("po,pok->k", counts - totals[:, None] * shares, self.design)
        weighted = self.design * (totals[:, None] * shares)[:, :, None]
        flat, flat_weighted = (
            item.reshape(-1, self.design.shape[2]) for item in (self.design, weighted)
        )
        means = np.einsum("po,pok->pk", shares, self.design)
        information = flat_weighted.T @ flat - (means * totals[:, None]).T @ means
        return gradient, information


def _unsettled() -> InputError:
    return InputError(
        "the strengths did not converge",
        remedy="Some preferences hardly vary: collect more, or give a prior of 0.5.",
    )


def _result(
    games: Comparisons,
    model: _Model,
    parameters: Array,
    covariance: Array,
    *,
    log_likelihood: float,
    dropped: int,
    confidence: float,
    df: float,
) -> BradleyTerry:
    k = len(games.names)
    # From strengths with the first at 0 to strengths whose sum is 0.
    centre = np.eye(k)[:, 1:] - 1 / k
    estimates = centre @ parameters[: k - 1]
    centred = centre @ covariance[: k - 1, : k - 1] @ centre.T
    wins, losses, ties = games.tallies()
    strengths = []
    for i, name in enumerate(games.names):
        se = math.sqrt(max(float(centred[i, i]), 0.0))
        one = _effect(float(estimates[i]), se, df, confidence)
        tally = (int(wins[i]), int(losses[i]), int(ties[i]))
        strengths.append(Strength(name, one.estimate, one.low, one.high, one.se, *tally))

    def shared(place: int) -> Effect:
        se = math.sqrt(max(float(covariance[place, place]), 0.0))
        return _effect(float(parameters[place]), se, df, confidence)

    return BradleyTerry(
        strengths=tuple(sorted(strengths, key=lambda item: -item.estimate)),
        tie=shared(k - 1) if model.ties else None,
        order=shared(len(parameters) - 1) if model.order else None,
        log_likelihood=log_likelihood,
        n=len(games.outcome),
        dropped=dropped,
        confidence=confidence,
        clustered=math.isfinite(df),
        names=games.names,
        covariance=centred,
        df=df,
    )


def _effect(estimate: float, se: float, df: float, confidence: float) -> Effect:
    if df < 1 or se < _NOISE:
        se = math.nan
    margin = t_margin(df, confidence) * se
    return Effect(estimate, estimate - margin, estimate + margin, se)
