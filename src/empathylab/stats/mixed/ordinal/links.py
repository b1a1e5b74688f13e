"""How likely ratings are on the latent scale, with the derivatives of that.

A rating has probability F(a) − F(b), where a and b are the thresholds above and below its category
less its linear predictor η. Thresholds are given per rating, or as one for all, or as None where
they are infinite: below the lowest category, above the highest.

McCullagh, P. (1980). Journal of the Royal Statistical Society B 42, 109–142.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from empathylab.errors import UnknownName
from empathylab.stats.arrays import Array

_ROOT_TAU = 0.5 * math.log(2 * math.pi)
_FAR = 700.0
"""Largest power of e that is a number."""


class Slopes(NamedTuple):
    """The log-likelihood, and the first and second derivative of −log p in η."""

    log_likelihood: float
    score: Array
    weight: Array


class Derivatives(NamedTuple):
    """Derivatives in a and b: of log p (l), of the score (s) and of the weight (w).

    None where the threshold is infinite.
    """

    la: Array | None
    lb: Array | None
    laa: Array | None
    lab: Array | None
    lbb: Array | None
    sa: Array | None
    sb: Array | None
    wa: Array | None
    wb: Array | None


class Link(Protocol):
    """A distribution of the latent scale."""

    name: str
    latent_sd: float
    """Standard deviation of the latent error."""

    def cdf(self, at: Array) -> Array: ...

    def quantile(self, share: Array) -> Array: ...

    def slopes(self, lower: Array | None, upper: Array | None, eta: Array) -> Slopes: ...

    def derivatives(self, lower: Array | None, upper: Array | None, eta: Array) -> Derivatives: ...


class Logit:
    """The logistic distribution: proportional odds.

    F(a) − F(b) = F(a) · F(−b) · (1 − exp(b − a)), so the score is 1 − F(a) − F(b) and the weight
    f(a) + f(b), without any difference of small numbers; the last factor is one per category.
    """

    name = "logit"
    latent_sd = math.pi / math.sqrt(3)

    def cdf(self, at: Array) -> Array:
        from scipy.special import expit

        return np.asarray(expit(at), dtype=np.float64)

    def quantile(self, share: Array) -> Array:
        from scipy.special import logit

        return np.asarray(logit(share), dtype=np.float64)

    def slopes(self, lower: Array | None, upper: Array | None, eta: Array) -> Slopes:
        if lower is None:
            if upper is None:
                return Slopes(0.0, np.zeros(len(eta)), np.zeros(len(eta)))
            over, below = self._tails(eta - upper)
            return Slopes(float(np.log(below).sum()), over, below * over)
        under, above = self._tails(lower - eta)
        total = float(np.log(above).sum())
        if upper is None:
            return Slopes(total, -under, above * under)
        over, below = self._tails(eta - upper)
        total += float(np.log(below).sum())
        total += len(eta) * float(np.log(-np.expm1(lower - upper)).mean())
        return Slopes(total, over - under, below * over + above * under)

    def derivatives(self, lower: Array | None, upper: Array | None, eta: Array) -> Derivatives:
        la = lb = laa = lab = lbb = sa = sb = wa = wb = None
        if upper is not None:
            la, below = self._tails(eta - upper)
            laa = sa = -below * la
            wa = sa * (1 - 2 * la)
        if lower is not None:
            under, above = self._tails(lower - eta)
            lb = -under
            lbb = sb = -above * under
            wb = sb * (2 * under - 1)
            if upper is not None and la is not None and laa is not None:
                kappa = 1 / np.expm1(np.minimum(upper - lower, _FAR))
                lab = kappa * (1 + kappa)
                la, lb, laa, lbb = la + kappa, lb - kappa, laa - lab, lbb - lab
        return Derivatives(la, lb, laa, lab, lbb, sa, sb, wa, wb)

    @staticmethod
    def _tails(beyond: Array) -> tuple[Array, Array]:
        """F at what is given, and 1 − F there; neither loses its last digits in a tail."""
        odds = np.exp(np.minimum(beyond, _FAR))
        rest = 1 / (1 + odds)
        return odds * rest, rest


class Probit:
    """The normal distribution."""

    name = "probit"
    latent_sd = 1.0

    def cdf(self, at: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr(at), dtype=np.float64)

    def quantile(self, share: Array) -> Array:
        from scipy.special import ndtri

        return np.asarray(ndtri(share), dtype=np.float64)

    def slopes(self, lower: Array | None, upper: Array | None, eta: Array) -> Slopes:
        log_p = self._log_p(lower, upper, eta)
        a, ra = self._ratio(upper, eta, log_p)
        b, rb = self._ratio(lower, eta, log_p)
        score = ra - rb
        return Slopes(float(log_p.sum()), score, score**2 + a * ra - b * rb)

    def derivatives(self, lower: Array | None, upper: Array | None, eta: Array) -> Derivatives:
        log_p = self._log_p(lower, upper, eta)
        a, ra = self._ratio(upper, eta, log_p)
        b, rb = self._ratio(lower, eta, log_p)
        score, curve = ra - rb, b * rb - a * ra  # differences of f and of f′, over p
        la = lb = laa = lab = lbb = sa = sb = wa = wb = None
        if upper is not None:
            la, laa, sa = ra, -(a + ra) * ra, -(a + score) * ra
            wa = 2 * score * sa - (a**2 - 1 - curve) * ra
        if lower is not None:
            lb, lbb, sb = -rb, (b - rb) * rb, (b + score) * rb
            wb = 2 * score * sb + (b**2 - 1 - curve) * rb
        if upper is not None and lower is not None:
            lab = ra * rb
        return Derivatives(la, lb, laa, lab, lbb, sa, sb, wa, wb)

    @staticmethod
    def _log_p(lower: Array | None, upper: Array | None, eta: Array) -> Array:
        from scipy.special import log_ndtr

        if upper is not None and lower is not None:
            a, b = upper - eta, lower - eta
            # In the upper tail the difference is taken from the other side, where it is not lost.
            flip = a + b > 0
            more, less = log_ndtr(np.where(flip, -b, a)), log_ndtr(np.where(flip, -a, b))
            return np.asarray(more + np.log1p(-np.exp(less - more)), dtype=np.float64)
        beyond = eta - lower if lower is not None else -eta + (0 if upper is None else upper)
        return np.asarray(log_ndtr(beyond), dtype=np.float64)

    @staticmethod
    def _ratio(threshold: Array | None, eta: Array, log_p: Array) -> tuple[Array, Array]:
        """The threshold minus η, and the density there over p; both 0 where it is infinite."""
        if threshold is None:
            return np.zeros(1), np.zeros(1)
        at = threshold - eta
        return at, np.asarray(np.exp(-0.5 * at**2 - _ROOT_TAU - log_p), dtype=np.float64)


LINKS: dict[str, Link] = {"logit": Logit(), "probit": Probit()}


def find_link(name: str) -> Link:
    """The link of that name."""
    if name not in LINKS:
        raise UnknownName("link", name, LINKS)
    return LINKS[name]
