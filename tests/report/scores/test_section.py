"""Scores by the rubric and the matrix of runs on the report's page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from empathylab.analysis import overview
from empathylab.report import render
from empathylab.report.blocks import Heading, Table, Text
from empathylab.report.scores.section import runs_fold, scores_section
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
    section = scores_section(data.scores, ())
    heads = [block for block in section.blocks if isinstance(block, Heading)]
    assert [(head.title.partition(":")[2], head.tag) for head in heads] == [
        ("strict", ("usable", "fit")),
        ("flat", ("meaningless", "not fit")),
    ]
    rows, planted, _, planted_unfit = (table.rows for table in section.tables())
    assert len(rows) == 2 * 8
    assert [row["mean"] for row in rows if row["dimension"] == "empathy"][1] == "1.00"
    assert {row["seen"] for row in planted} == {"yes"}
    assert {row["seen"] for row in planted_unfit} == {"no"}
    said = [one for block in section.walk() if isinstance(block, Text) for one in block.sentences]
    assert any("Do not use its scores" in sentence for sentence in said)
    assert len(section.figures()) == 2

    table, text = runs_fold(data.matrix).blocks[1:]
    assert isinstance(table, Table)
    assert isinstance(text, Text)
    assert len(table.rows) == len(data.matrix)
    hidden = [row for row in table.rows if row["shown"] == "no"]
    assert [(row["situations"], row["mode"]) for row in hidden] == [("8", "structured")]
    assert list(text.sentences) == [
        f"Run {hidden[0]['run']} is not shown: run 1 has answers to 16 situations, not 8."
    ]
    page = render(data).replace("\N{NO-BREAK SPACE}", " ")
    assert text.sentences[0] in page
    assert str(data.scores[0].conclusions[0]) in page


def test_a_lab_without_runs_has_no_such_section() -> None:
    assert not scores_section((), ()).blocks
    assert not runs_fold(()).blocks
