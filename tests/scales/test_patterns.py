"""Answers that follow the page."""

from __future__ import annotations

import pytest

from empathylab.scales import response_pattern


@pytest.mark.parametrize(
    ("shown", "pattern"),
    [
        ([3] * 20, "straight"),
        ([1, 2, 3, 4, 5] * 4, "counting"),
        ([5, 4, 3, 2, 1] * 4, "counting"),
        ([1, 2, 3, 4, 5, 5, 5, 5, 5, 5], "counting"),
        ([3, 4, 5, 1, 2, 3, 4, 5, 1, 2], "counting"),
        ([1, 2, 3, 4, 5, 5, 5, 5, 5, *[1] * 11], "long run"),
        ([4, 2, *[1] * 5, 2, 4, 2], "long run"),
        ([4, 1, 3, 1, 4, 1, 2, 1, 5, 1], None),
        ([2, 2, 2, 2], None),
        ([], None),
    ],
)
def test_patterns_are_named(shown: list[float], pattern: str | None) -> None:
    assert response_pattern(shown, 1, 5) == pattern


def test_a_range_from_zero_counts_too() -> None:
    assert response_pattern([0, 1, 2, 3, 0, 1, 2, 3], 0, 3) == "counting"
