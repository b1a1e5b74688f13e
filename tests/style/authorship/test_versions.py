"""The texts with something taken away, classified one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.style.authorship import logistic
from empathylab.style.authorship.versions import Version, classified, together, versions

ENDS = {"warm": "I feel with you! 🙂", "cool": "One may regret that.", "dry": "So it goes;"}


def responses() -> pl.DataFrame:
    """Three respondents, of whom two answer a tenth of the situations only."""
    random = np.random.default_rng(4)
    words = ["dog", "Job", "train", "exam", "garden", "letter", "cousin", "boat", "piano", "soup"]
    rows = [
        (name, f"s{number:02}", f"{' '.join(random.choice(words, random.integers(2, 9)))}. {end}")
        for number in range(40)
        for name, end in ENDS.items()
        if name == "warm" or number < 36
    ]
    return pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")


@pytest.fixture
def groups() -> list[tuple[Version, ...]]:
    return together(versions(responses(), list(ENDS), folds=5, seed=1, top=3))


def test_versions_of_a_group_have_the_same_rows_and_folds(
    groups: list[tuple[Version, ...]],
) -> None:
    assert [[version.name for version in group] for group in groups] == [
        ["full"],
        ["without punctuation", "without emoji", "without case"],
        ["without length", "words alone"],
        ["length alone", "punctuation alone"],
    ]
    assert [len(group[0].texts) for group in groups] == [112, 112, 108, 112]
    for first, *others in groups:
        for other in others:
            for rows in ("places", "writers", "fold"):
                assert np.array_equal(getattr(first, rows), getattr(other, rows))


def test_a_version_is_classified_the_same_alone_and_after_another(
    groups: list[tuple[Version, ...]],
) -> None:
    for group in groups:
        after = [outcome.predicted for outcome in classified(group)]
        alone = [classified([version])[0].predicted for version in group]
        for one, other in zip(after, alone, strict=True):
            assert one is not None
            assert other is not None
            assert np.mean(one == other) > 0.98


def test_a_version_after_another_takes_fewer_steps(
    groups: list[tuple[Version, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    solved, taken = logistic._solved, 0

    def counted(*args: Any) -> Any:
        nonlocal taken
        taken += 1
        return solved(*args)

    monkeypatch.setattr(logistic, "_solved", counted)

    def steps(group: tuple[Version, ...]) -> int:
        before = taken
        classified(group)
        return taken - before

    assert steps(groups[1]) < 0.7 * sum(steps((version,)) for version in groups[1])
