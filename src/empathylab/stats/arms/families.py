"""p values of a family of tests, corrected for how many tests it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from empathylab.stats.corrections import benjamini_hochberg, bonferroni, holm


class Corrected(NamedTuple):
    """One test's p values, corrected over its family."""

    family_size: int
    """Tests that were made."""
    p_holm: float
    p_bh: float
    p_bonferroni: float


def corrected_by_family(families: Sequence[str], p_values: Sequence[float]) -> list[Corrected]:
    """Corrected p values in the order given; NaN stands for a test that was not made."""
    found: dict[int, Corrected] = {}
    for family in dict.fromkeys(families):
        places = [place for place, name in enumerate(families) if name == family]
        p = [p_values[place] for place in places]
        tested = int(np.isfinite(p).sum())
        for place, *values in zip(
            places, holm(p), benjamini_hochberg(p), bonferroni(p), strict=True
        ):
            found[place] = Corrected(tested, *map(float, values))
    return [found[place] for place in range(len(families))]
