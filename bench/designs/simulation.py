"""What every design has: a name, and what one simulated study counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Array = NDArray[np.float64]
Counts = Mapping[str, tuple[int, int]]
"""By measure: how often it occurred, and how often it could have."""
THREE, FIVE = (-1.2, 0.4), (-2.0, -0.8, 0.3, 1.5)
"""Thresholds on the logit scale of three and of five points."""


class Design(Protocol):
    """A study that can be simulated again and again."""

    @property
    def name(self) -> str: ...

    def count(self, seed: int) -> Counts:
        """What happened in one simulated study."""
        ...


def names(prefix: str, numbers: Codes) -> list[str]:
    """Numbers as ids."""
    return [f"{prefix}{number}" for number in numbers]


def rated(latent: Array, thresholds: tuple[float, ...] = THREE) -> Array:
    """Points from 1 on, for values on the logit scale before the rating's own error."""
    return 1.0 + np.searchsorted(thresholds, latent)
