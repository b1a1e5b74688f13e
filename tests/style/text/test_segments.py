"""Runs of numbers are put one after another, however many numbers each has."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.style.text.segments import Runs, offsets

LISTS = st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(LISTS, st.lists(st.integers(0, 5), max_size=12))
def test_runs_stand_in_the_order_of_their_codes(runs: list[list[int]], chosen: list[int]) -> None:
    codes = [item % len(runs) for item in chosen]
    first = offsets(np.array([len(run) for run in runs]))
    values = np.array([number for run in runs for number in run], dtype=np.int64)
    found = Runs(first, values).expanded(np.array(codes, dtype=np.int64))
    assert found.values.tolist() == [number for code in codes for number in runs[code]]
    begins = found.begins(np.arange(len(codes) + 1))
    assert begins.tolist() == offsets(np.array([len(runs[code]) for code in codes])).tolist()
