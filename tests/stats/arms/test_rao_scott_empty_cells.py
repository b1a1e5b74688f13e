"""Tables in which whole combinations do not occur: no number is made up, and nothing breaks."""

from __future__ import annotations

import math

from empathylab.stats.arms.clustered import rao_scott
from empathylab.stats.notes import note


def test_a_table_with_too_many_empty_cells_has_no_statistic_but_a_note() -> None:
    arms = ["a", "a", "a", "a", "b", "c"]
    raters = ["r1", "r1", "r1", "r1", "r2", "r3"]
    found = rao_scott(arms, [0, 0, 0, 1, 2, 2], raters)
    assert math.isnan(found.p)
    assert found.note == note("empty_cells")
