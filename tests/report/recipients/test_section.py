"""Recipients from a released file to the report's page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from empathylab.analysis import overview
from empathylab.analysis.overview.first_screen import first_screen
from empathylab.report import render
from empathylab.report.recipients.section import recipients_section
from empathylab.store import Lab
from tests.helpers.command_line import as_json, empathylab, printed


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A file with two outcomes, one of them asked before, too; the model does better."""
    random = np.random.default_rng(1)
    lines = ["id,writer,shown,age,calm_before,calm_after,heard"]
    for number in range(120):
        ai = number % 2 == 0
        label = ("ai", "human")[number // 2 % 2]
        calm = random.normal(3, 1)
        after, heard = calm + 0.5 + random.normal(0, 0.5), random.normal(5 + ai, 1)
        author = "ai" if ai else "human"
        lines.append(f"p{number},{author},{label},{20 + number % 40},{calm},{after},{heard}")
    path = tmp_path / "released.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_released_file_is_imported_analysed_and_reported(released: Path) -> None:
    lab = ("--lab", released.parent / "lab")
    given = (
        released,
        "--map",
        "writer=response",
        "--map",
        "shown=label",
        "--title",
        "Helped",
        "--licence",
        "CC0-1.0",
    )
    [row] = as_json("data", "import", "recipients", *given, *lab)["recipients"]
    assert (row["participants"], row["outcomes"], row["change"]) == (120, "calm, heard", "added")
    assert row["columns_not_used"] == "age"
    [row] = as_json("data", "import", "recipients", *given, *lab)["recipients"]
    assert row["change"] == "unchanged"

    options = ("--response", "writer", "--label", "shown")
    from_file = as_json("analyze", "recipients", released, *options)
    from_lab = as_json("analyze", "recipients", *lab)
    for part in ("cells", "tests", "effects", "changes"):
        assert from_lab[part] == from_file[part]
    kinds = {
        (conclusion["subset"], conclusion["dimension"]): conclusion["kind"]
        for conclusion in from_lab["conclusions"]
    }
    assert (kinds["response", "heard"], kinds["change", "calm"]) == ("better", "different")
    assert "| heard | author | II |" in printed(
        "analyze", "recipients", *lab, "--table", "markdown"
    )

    with Lab.open(released.parent / "lab") as opened:
        data = overview.from_lab(opened)
    first = first_screen(data)
    assert first.question == "How do people feel about the replies that they get?"
    assert {headline.section for headline in first.shown} == {"recipients"}
    assert str(first.shown[0]).endswith("; on heard they rated them higher.")
    assert first.chart is not None
    assert {row.panel for row in first.chart.rows} == {"Replies by AI", "Replies by people"}
    section = recipients_section(data.recipients, ())
    assert [figure.name for figure in section.figures()] == ["cells", "changes"]
    assert len(section.tables()) == 4
    assert [(source.kind, source.count) for source in data.sources] == [
        ("recipients", "120 participants, 120 replies"),
        ("file", f"1 file, imported on {data.made_at:%Y-%m-%d}"),
    ]
    assert [source.licence for source in data.sources] == ["", "CC0-1.0"]
    page = render(data)
    assert str(first.headlines[0]) in page
    assert re.search(r"Recipients: Helped.*y ~ before \+ response \* label", page, re.DOTALL)


def test_a_changed_file_takes_the_place_of_the_first_and_no_other_study(released: Path) -> None:
    lab = ("--lab", released.parent / "lab", "--name", "helped")
    roles = ("--map", "writer=response")
    as_json("data", "import", "recipients", released, *roles, *lab)
    released.write_text(
        "\n".join(released.read_text(encoding="utf-8").splitlines()[:-20]), encoding="utf-8"
    )
    [row] = as_json("data", "import", "recipients", released, *roles, *lab)["recipients"]
    assert (row["participants"], row["change"]) == (100, "replaced")
    found = as_json("analyze", "recipients", *lab[:2], "--study", "helped")
    assert (found["design"]["participants"], found["design"]["labels"]) == (100, [])

    refused = empathylab("analyze", "recipients", released, "--study", "helped")
    assert (refused.exit_code, "not both" in refused.stderr) == (2, True)
    strange = empathylab("analyze", "recipients", released, "--outcome", "hearrd")
    assert (strange.exit_code, "heard" in strange.stderr) == (2, True)
