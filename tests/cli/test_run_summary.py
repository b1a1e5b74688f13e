from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from empathylab.api.run_summary import print_parts, summary_parts


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    """What the summary of one respondent's replies prints."""

    def of(name: str) -> str:
        length = SimpleNamespace(respondent=name, median_words=40.0, replies=3, asked=4)
        data: Any = SimpleNamespace(
            appraisal=SimpleNamespace(changes=[], self_reports=[]),
            lengths=[length],
            runs=[],
            cautions=lambda _: [f"{name} was asked little"],
        )
        print_parts(summary_parts(data, [name], Path("lab/[bold]/report.html")))
        return capsys.readouterr().out

    return of


@pytest.mark.parametrize("name", ["scripted/mods:a", "me[/red]", "x:smile:", "[link=y]z[/link]"])
def test_names_are_printed_as_they_are(printed: Any, name: str) -> None:
    out = printed(name)
    assert f"{name}: 3 usable replies of 4, median 40 words" in out
    assert f"• {name} was asked little" in out
    assert "Report: lab/[bold]/report.html" in out
