"""Parts that charts share."""

from __future__ import annotations

import altair as alt
import pytest
from playwright.sync_api import Browser

from empathylab.report.chart_parts import names_above, spec_of
from empathylab.report.pictures import svg

# The corners of each name above the columns: in the picture, and with all names turned level.
LABELS = """(names) => {
  const picture = document.querySelector("svg");
  const frame = picture.getBoundingClientRect();
  const texts = [...picture.querySelectorAll("text")];
  const first = names.map((name) => texts.find((text) => text.textContent === name));
  const level = first[0].getScreenCTM().inverse();
  return first.map((text) => {
    const box = text.getBBox();
    const corners = [[box.x, box.y], [box.x + box.width, box.y + box.height],
                     [box.x + box.width, box.y], [box.x, box.y + box.height]]
      .map(([x, y]) => new DOMPoint(x, y).matrixTransform(text.getScreenCTM()));
    const levelled = corners.map((corner) => corner.matrixTransform(level));
    const ends = (points, axis) => [Math.min(...points.map((point) => point[axis])),
                                    Math.max(...points.map((point) => point[axis]))];
    const [left, right] = ends(corners, "x"), [top, bottom] = ends(corners, "y");
    return {
      inside: left >= frame.left && right <= frame.right
        && top >= frame.top && bottom <= frame.bottom,
      x: ends(levelled, "x"), y: ends(levelled, "y"),
    };
  });
}"""


@pytest.mark.parametrize(
    ("names", "width", "upright"),
    [
        ([f"a model with a name {letter}" for letter in "abcdefgh"], 300, False),
        (["people", "models"], 220, True),
    ],
    ids=["leaning", "upright"],
)
def test_names_above_columns_are_whole_and_apart(
    browser: Browser, names: list[str], width: int, *, upright: bool
) -> None:
    chart = (
        alt.Chart({"values": [{"row": f"written by {name}", "column": name} for name in names]})
        .mark_rect()
        .encode(
            alt.X("column:N", sort=names, axis=names_above(upright=upright)),
            alt.Y("row:N", axis=alt.Axis(labelLimit=200)),
        )
    )
    page = browser.new_page()
    page.set_content(svg(spec_of(chart, 200), width=width))
    labels = page.evaluate(LABELS, names)
    page.close()
    assert all(label["inside"] for label in labels)
    for place, label in enumerate(labels):
        for other in labels[place + 1 :]:
            apart = [
                label[axis][1] <= other[axis][0] or other[axis][1] <= label[axis][0]
                for axis in "xy"
            ]
            assert any(apart)
