"""Looks at a study that is still running."""

from __future__ import annotations

from typing import Any

import pytest

from empathylab.analysis import ratings
from empathylab.analysis.ratings.looks import current_look
from empathylab.errors import UserError
from tests.analysis.ratings.test_conclusions import likert, table

LOOKS: dict[str, Any] = {"ratings": 800, "at": [0.2, 0.4, 0.6, 0.8, 1.0]}


@pytest.mark.parametrize(
    ("rated", "z"), [(160, 4.8769), (320, 3.3569), (480, 2.6803), (640, 2.2898), (800, 2.0310)]
)
def test_a_look_has_the_published_critical_value(rated: int, z: float) -> None:
    """Lan & DeMets (1983), O'Brien-Fleming type, five equal looks."""
    found = current_look(LOOKS, rated, running=True)
    assert found is not None
    assert found.z == pytest.approx(z, abs=2e-4)


def test_a_look_that_comes_late_is_tested_at_the_ratings_that_are_there() -> None:
    """Lan & DeMets (1983), O'Brien-Fleming type: the first of four equal looks, at a quarter."""
    late = current_look(LOOKS, 200, running=True)
    assert late is not None
    assert (late.number, late.fraction) == (1, 0.25)
    assert late.z == pytest.approx(4.3326, abs=2e-4)


def test_a_closed_study_is_at_its_last_look() -> None:
    found = current_look(LOOKS, 500, running=False)
    assert found is not None
    assert (found.number, found.fraction) == (5, 1.0)


def test_before_the_first_look_there_is_no_level() -> None:
    with pytest.raises(UserError, match="the first look declared comes at 160 rated replies"):
        current_look(LOOKS, 159, running=True)
    assert current_look(None, 159, running=True) is None


def test_an_early_look_needs_more_evidence_than_the_end() -> None:
    frame = table(shift=0.35, points=5, raters=24, each=8)
    study = likert(looks={"ratings": 800, "at": [0.4, 1.0]})
    early, late = (
        ratings.from_table(frame, study=study, running=running).conclusions[0]
        for running in (True, False)
    )
    assert early.p == late.p
    assert early.p is not None
    assert 0.001 < early.p < 0.04
    assert (early.kind, late.kind) == ("inconclusive", "better")
    assert "look 1 of 2" in early.sentence
    assert early.low is not None
    assert late.low is not None
    assert early.low < 0 < late.low
