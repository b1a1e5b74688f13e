"""Parts that charts share."""

from __future__ import annotations

import itertools
from typing import Any

import altair as alt
import pytest
from playwright.sync_api import Browser

from empathylab.report.chart_parts import names_above, spec_of
from empathylab.report.colours import Colours
from empathylab.report.estimate_charts import estimates_chart, grouped_chart
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


def estimates(respondents: int, panels: int) -> list[dict[str, Any]]:
    return [
        {
            "respondent": f"model-{who}",
            "panel": f"panel {panel}",
            "estimate": 10.0 * panel + who,
            "low": 10.0 * panel + who - 2,
            "high": 10.0 * panel + who + 2,
            "n": 9,
        }
        for panel in range(panels)
        for who in range(respondents)
    ]


def test_a_single_respondent_has_a_row_for_each_panel() -> None:
    spec = estimates_chart(estimates(1, 3), title="points", panels="panel")
    assert "facet" not in spec
    assert {layer["encoding"]["y"]["field"] for layer in spec["layer"]} == {"panel"}
    assert "facet" in estimates_chart(estimates(2, 3), title="points", panels="panel")


@pytest.mark.browser
def test_close_rows_of_a_panel_stand_below_each_other(browser: Browser) -> None:
    spec = estimates_chart(estimates(4, 2), title="", zero=True, panels="panel", compact=True)
    page = browser.new_page()
    page.set_content(svg(spec, width=400))
    heights = page.locator(".mark-symbol path").evaluate_all(
        "all => all.map((one) => Math.round(one.getBoundingClientRect().top))"
    )
    page.close()
    assert len(heights) == len(set(heights)) == 8


def test_numbers_have_a_halo_so_that_no_line_crosses_them() -> None:
    spec = estimates_chart(estimates(2, 1), title="points", zero=True)
    texts = [layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert [bool(mark.get("strokeWidth")) for mark in texts] == [True, False]


def test_bars_start_at_zero_only() -> None:
    def kinds(**given: Any) -> list[str]:
        spec = estimates_chart(estimates(2, 1), title="points", large=True, **given)
        return [layer["mark"]["type"] for layer in spec["layer"]]

    assert "bar" in kinds(ends=(0.0, 100.0))
    assert "bar" in kinds(zero=True)
    assert "bar" not in kinds(ends=(1.0, 5.0))


def test_lines_of_respondents_without_a_colour_of_their_own_differ() -> None:
    many = [f"model-{number}" for number in range(60)]
    colour = {"field": "respondent", "scale": {"domain": many[50:54]}}
    spec = {"encoding": {"color": colour, "y": {"field": "value"}}}
    drawn = Colours(many).applied(spec)["encoding"]["color"]["scale"]["range"]
    assert len(set(drawn)) == 4
    few = [Colours(many[:20]).of(name) for name in many[:20]]
    assert len(set(few)) == 20


@pytest.mark.parametrize(("series", "shown"), [(1, False), (3, True), (5, True), (6, False)])
def test_few_series_of_groups_are_named_in_the_chart_and_many_in_a_legend(
    series: int, *, shown: bool
) -> None:
    rows = estimates(series, 3)
    names = list(dict.fromkeys(row["respondent"] for row in rows))
    groups = list(dict.fromkeys(row["panel"] for row in rows))
    spec = grouped_chart(
        rows, group="panel", groups=groups, names=names, title="points", estimate="estimate"
    )
    texts = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert bool(texts) == shown
    legends = [
        layer["encoding"]["color"]["legend"]
        for layer in spec["layer"]
        if "field" in layer["encoding"]["color"]
    ]
    assert all((legend is None) == (shown or series == 1) for legend in legends)


@pytest.mark.browser
def test_names_above_groups_are_whole_and_apart(browser: Browser) -> None:
    rows = estimates(4, 3)
    names = list(dict.fromkeys(row["respondent"] for row in rows))
    spec = estimates_chart(rows, title="", panels="panel", compact=True)
    page = browser.new_page()
    page.set_content(svg(spec, width=330))
    boxes = page.locator("svg text").evaluate_all(
        "all => all.map((one) => [one.textContent, one.getBoundingClientRect().toJSON()])"
    )
    frame = page.locator("svg").bounding_box()
    page.close()
    assert frame is not None
    found = {text: box for text, box in boxes if text in names}
    assert sorted(found) == names
    assert all(box["right"] <= frame["x"] + frame["width"] for box in found.values())
    tops = sorted(box["top"] for box in found.values())
    assert all(after - before >= 12 for before, after in itertools.pairwise(tops))


@pytest.mark.parametrize(
    ("row", "align"),
    [
        ({"low": 1.4, "high": 4.9, "estimate": 3.0}, "center"),
        ({"low": 1.4, "high": 2.0, "estimate": 1.7}, "left"),
        ({"low": 4.2, "high": 4.9, "estimate": 4.5}, "right"),
    ],
)
def test_a_number_stands_where_its_line_leaves_room(row: dict[str, float], align: str) -> None:
    spec = estimates_chart([{"respondent": "m", "n": 3, **row}], title="", ends=(1.0, 5.0))
    assert spec["data"]["values"][0]["align"] == align


def test_the_number_of_a_bar_below_zero_stands_left_of_it() -> None:
    rows: list[dict[str, Any]] = [
        {"respondent": name, "estimate": value, "low": value - 1, "high": value + 1, "n": 3}
        for name, value in (("a", -30.0), ("b", 30.0))
    ]
    spec = estimates_chart(rows, title="", zero=True, large=True)
    assert [row["align"] for row in spec["data"]["values"]] == ["right", "left"]


@pytest.mark.parametrize("close", [False, True])
def test_an_interval_beyond_the_scale_ends_where_the_axis_does(*, close: bool) -> None:
    rows = [{"arm": "a", "group": "g", "estimate": 1.4, "low": 0.2, "high": 5.6, "n": 3}]
    ends = (1.0, 5.0)
    spec = (
        grouped_chart(
            rows,
            group="group",
            groups=["g"],
            series="arm",
            names=["a"],
            title="",
            estimate="estimate",
            ends=ends,
        )
        if close
        else estimates_chart(rows, who="arm", title="", ends=ends)
    )
    [row] = spec["data"]["values"]
    assert (row["from"], row["to"]) == ends
    assert (row["low"], row["high"]) == (0.2, 5.6)  # as the tooltip says them


def test_an_axis_names_every_point_of_a_short_rating_scale() -> None:
    def named(ends: tuple[float, float]) -> Any:
        row = {"respondent": "a", "estimate": 2.0, "low": 1.5, "high": 2.5, "n": 3}
        spec = estimates_chart([row], title="", ends=ends)
        return spec["layer"][0]["encoding"]["x"]["axis"].get("values")

    assert named((1.0, 7.0)) == [1, 2, 3, 4, 5, 6, 7]
    assert named((0.0, 100.0)) is None
    assert named((0.0, 1.0)) is None


def test_names_above_columns_of_a_picture_are_level_where_they_fit() -> None:
    def angles(names: list[str]) -> set[int]:
        rows = [{"column": name, "row": "r"} for name in names]
        axis = alt.X("column:N", sort=names, axis=names_above())
        chart = alt.Chart(alt.InlineData(values=rows)).mark_rect().encode(axis, alt.Y("row:N"))
        drawn = svg(spec_of(chart, 40))
        return {-1 if "rotate(40)" in drawn else 0}

    assert angles(["people", "a-model-with-a-name"]) == {0}
    assert angles([f"a model with a name {letter}" for letter in "abcdefgh"]) == {-1}


def test_three_panels_of_a_picture_leave_no_empty_axis() -> None:
    def titles(panels: int, width: int) -> int:
        rows: list[dict[str, Any]] = [
            {"who": name, "panel": f"panel {n}", "estimate": 1.0, "low": 0.5, "high": 1.5, "n": 3}
            for n in range(panels)
            for name in ("a", "b")
        ]
        spec = estimates_chart(rows, who="who", panels="panel", title="points")
        return svg(spec, width=width).count(">points<")

    assert titles(3, 640) == 1  # below each other
    assert titles(3, 900) == 3
    assert titles(2, 640) == 2
