"""p values corrected for the number of tests in a family.

Each function gives corrected p values in the order given, none above 1: a corrected p below α
rejects at α. NaN stands for a test that was not made; it stays NaN and is not counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from empathylab.errors import UnknownName


def bonferroni(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Each p times the number of tests; the chance of any false rejection stays below α."""
    p, made = _checked(p_values)
    corrected: NDArray[np.float64] = np.minimum(1.0, p * made.sum())
    return corrected


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Holm's step-down correction: the same guarantee as Bonferroni's, never less power.

    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65–70.
    """
    p, made = _checked(p_values)
    tests = int(made.sum())
    order = np.argsort(p, kind="stable")[:tests]  # NaN sorts last
    stepped = np.maximum.accumulate(p[order] * np.arange(tests, 0, -1))
    p[order] = np.minimum(1.0, stepped)
    return p


def benjamini_hochberg(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Controls the expected proportion of false rejections (independent tests).

    Benjamini, Y., & Hochberg, Y. (1995). Journal of the Royal Statistical Society B 57, 289–300.
    """
    p, made = _checked(p_values)
    tests = int(made.sum())
    order = np.argsort(p, kind="stable")[:tests][::-1]
    stepped = np.minimum.accumulate(p[order] * tests / np.arange(tests, 0, -1))
    p[order] = np.minimum(1.0, stepped)
    return p


def benjamini_yekutieli(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Controls the expected proportion of false rejections for dependent tests, with less power.

    Benjamini, Y., & Yekutieli, D. (2001). Annals of Statistics 29, 1165–1188.
    """
    _, made = _checked(p_values)
    harmonic = float((1 / np.arange(1, int(made.sum()) + 1)).sum())
    corrected: NDArray[np.float64] = np.minimum(1.0, benjamini_hochberg(p_values) * harmonic)
    return corrected


def corrected_by(name: str, p_values: Sequence[float]) -> NDArray[np.float64]:
    """The p values corrected by the method of that name."""
    if name not in CORRECTIONS:
        raise UnknownName("correction", name, CORRECTIONS)
    return CORRECTIONS[name](p_values)


Test = TypeVar("Test", bound=Any)


class Corrected(NamedTuple):
    """One test's p values, corrected over its family."""

    family_size: int
    """Tests that were made."""
    p_holm: float
    p_bh: float
    p_bonferroni: float


def corrected_by_family(families: Sequence[object], p_values: Sequence[float]) -> list[Corrected]:
    """The p value of each test corrected over the tests of its family, in the order given."""
    members: dict[object, list[int]] = {}
    for test, family in enumerate(families):
        members.setdefault(family, []).append(test)
    corrected: dict[int, Corrected] = {}
    for tests in members.values():
        p = [p_values[test] for test in tests]
        made = int(np.isfinite(p).sum())
        for test, *values in zip(tests, holm(p), benjamini_hochberg(p), bonferroni(p), strict=True):
            corrected[test] = Corrected(made, *map(float, values))
    return [corrected[test] for test in range(len(families))]


def with_corrected_p(tests: Sequence[Test]) -> list[Test]:
    """The tests with the fields of `Corrected` filled in from their `p` and `family`."""
    corrected = corrected_by_family([test.family for test in tests], [test.p for test in tests])
    return [
        dataclasses.replace(test, **p._asdict()) for test, p in zip(tests, corrected, strict=True)
    ]


def _uncorrected(p_values: Sequence[float]) -> NDArray[np.float64]:
    return _checked(p_values)[0]


def _checked(p_values: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    p = np.array(p_values, dtype=np.float64)
    made = ~np.isnan(p)
    if np.any((p[made] < 0) | (p[made] > 1)):
        raise ValueError("a p value is outside 0 to 1")
    return p, made


CORRECTIONS: Mapping[str, Callable[[Sequence[float]], NDArray[np.float64]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "benjamini-yekutieli": benjamini_yekutieli,
    "bonferroni": bonferroni,
    "none": _uncorrected,
}
