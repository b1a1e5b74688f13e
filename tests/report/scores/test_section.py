"""Scores by the rubric and the matrix of runs on the report's page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from empathylab.analysis import overview
from empathylab.report import render
from empathylab.report.scores.section import ScoresSection, scores_section
from empathylab.store import Lab
from tests.helpers.command_line import printed


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Two models, a fit judge and one that is not, and a trial with fewer situations."""
    model, better, strict, flat = (
        f"scripted/tests.judging.scoring_judges:{name}"
        for name in ("model", "better", "strict", "flat")
    )
    folder = ("--lab", tmp_path / "lab", "--situations")
    printed("evaluate", model, *folder, "2", "--judge", flat, "--planted", "2")
    printed("evaluate", model, better, *folder, "1", "--judge", strict, "--planted", "2")
    with Lab.open(tmp_path / "lab") as opened:
        yield opened


def test_scores_come_with_the_judge_and_runs_with_what_is_not_shown(lab: Lab) -> None:
    data = overview.from_lab(lab)
    section = scores_section(data.scores, data.matrix)
    assert [(judge.judge.partition(":")[2], judge.tag[1]) for judge in section.judges] == [
        ("strict", "fit"),
        ("flat", "not fit"),
    ]
    fit, unfit = section.judges
    assert len(fit.rows) == 2 * 8
    assert [row["mean"] for row in fit.rows if row["dimension"] == "empathy"][1] == "1.00"
    assert {row["seen"] for row in fit.planted} == {"yes"}
    assert {row["seen"] for row in unfit.planted} == {"no"}
    assert any("Do not use its scores" in caveat for caveat in unfit.caveats)
    assert len(section.specs) == len(section.figures) == 2

    by_run = {row["run"]: row for row in section.runs}
    assert len(by_run) == len(data.matrix)
    hidden = [row for row in section.runs if row["shown"] == "no"]
    assert [(row["situations"], row["mode"]) for row in hidden] == [("8", "structured")]
    assert section.reasons == (
        f"Run {hidden[0]['run']} is not shown: run 1 has answers to 16 situations, not 8.",
    )
    page = render(data)
    assert section.reasons[0] in page
    assert fit.sentences[0] in page


def test_a_lab_without_runs_has_no_such_section() -> None:
    section = scores_section((), ())
    assert section == ScoresSection((), (), (), (), ())
