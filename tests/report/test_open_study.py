"""What the report hides of a study until it is closed."""

from __future__ import annotations

from empathylab.analysis import overview
from empathylab.report import render
from empathylab.store import Lab
from tests.study.archived import finished
from tests.view.test_embargo import SAID, judge


def test_an_open_study_shows_its_progress_and_no_result(sqlite_lab: Lab) -> None:
    service, _ = finished(sqlite_lab, close=False)
    judge(sqlite_lab, "small")
    data = overview.from_lab(sqlite_lab)
    assert (data.ratings, data.judges, data.leaderboards) == ((), (), ())
    assert data.style is not None
    assert data.style.estimates.rated == ()
    [said] = data.unrated
    assert "is still open: 4 of " in said
    assert SAID not in render(data)
    service.actions.close()
    data = overview.from_lab(sqlite_lab)
    assert [result.study.name for result in data.ratings] == ["small"]
    assert [result.study for result in data.judges] == ["small"]
    assert data.style is not None
    assert data.style.estimates.rated
