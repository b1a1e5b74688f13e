"""Labels of pictures are cut between signs, never in one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from empathylab.report.estimate_charts import estimates_chart
from empathylab.report.picture_labels import cut_short, whole_signs
from empathylab.report.pictures import png, printed, svg

FAMILY = "👩\u200d👩\u200d👧"


def chart(names: list[str], *, legend: bool = False) -> dict[str, Any]:
    """Bars, their names beside them or in a legend."""
    encoding: dict[str, Any] = {
        "x": {"field": "value", "type": "quantitative"},
        "y": {"field": "name", "type": "nominal", "sort": names},
    }
    if legend:
        encoding["color"] = {"field": "name", "type": "nominal", "scale": {"domain": names}}
        encoding["y"]["axis"] = None
    return {
        "data": {"values": [{"name": one, "value": place} for place, one in enumerate(names)]},
        "mark": "bar",
        "encoding": encoding,
        "width": "container",
        "height": 100,
    }


@pytest.mark.parametrize("legend", [False, True])
@pytest.mark.parametrize("shift", [0, 1])
def test_a_long_name_full_of_emoji_is_drawn_in_every_way(shift: int, *, legend: bool) -> None:
    # One sign more puts the cut into the other half of the emoji.
    spec = chart(["x" * shift + "🙂" * 120, "short"], legend=legend)
    for style in ("svg", "png", "pdf"):
        assert printed(spec, style=style, width_mm=84)
    assert png(spec)
    assert "🙂…" in svg(spec)


def test_names_that_begin_alike_stay_different() -> None:
    names = [f"model 🙂 {'a' * 80} {end}" for end in ("one", "two")]
    drawn = svg(chart(names))
    shown = set(re.findall(r">(model 🙂 a+… ?\d?)<", drawn))
    assert len(shown) == 2
    assert drawn.count('aria-roledescription="bar"') == 2


def test_without_such_signs_nothing_is_changed() -> None:
    spec = chart(["é" * 300, "我很难过" * 80])
    assert whole_signs(spec, height=13) is spec
    assert printed(spec, style="svg", width_mm=84)


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("model", 5, "model"),
        ("models", 5, "mode…"),
        ("a 🙂🙂🙂", 6, "a 🙂…"),
        ("🙂" * 9, 6, "🙂🙂…"),
        (FAMILY * 3, 5, f"{FAMILY * 2}…"),
        ("🇫🇷🇩🇪🇮🇹", 5, "🇫🇷🇩🇪…"),
        ("e\u0301" * 5, 3, "e\u0301" * 2 + "…"),
        ("我很难过了", 6, "我很…"),
        ("", 3, ""),
    ],
)
def test_a_text_is_cut_between_signs(text: str, most: int, short: str) -> None:
    assert cut_short(text, most) == short


def test_long_names_full_of_emoji_above_groups_are_drawn() -> None:
    rows: list[dict[str, Any]] = [
        {"respondent": name, "panel": panel, "estimate": 1.0, "low": 0.5, "high": 1.5, "n": 3}
        for name in ("x" + "🙂" * 120, "short")
        for panel in ("warmth", "help")
    ]
    spec = estimates_chart(rows, title="", panels="panel", compact=True)
    assert png(spec, width=200).startswith(b"\x89PNG")
    assert b"PDF" in printed(spec, style="pdf", width_mm=60.0)[:8]
