from __future__ import annotations

import csv
import io
import math

import pytest

from empathylab.errors import UnknownName
from empathylab.report.table_formats import csv_table, latex_table, markdown_table, table

ROWS = [
    {"arm": "human", "n": 2000, "p": "< .001"},
    {"arm": "gpt_4 | mini", "n": 12.5, "p": None},
]


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_markdown_puts_numbers_to_the_right_and_escapes_bars() -> None:
    assert markdown_table(ROWS) == (
        "| arm | n | p |\n"
        "| :--- | ---: | ---: |\n"
        "| human | 2000 | &lt; .001 |\n"
        "| gpt\\_4 \\| mini | 12.5 | – |\n"
    )


def test_markdown_lets_no_markup_through() -> None:
    text = markdown_table([{"arm": "<script>\n[x](y)"}])
    assert "&lt;script&gt; \\[x\\](y)" in text


def test_latex_uses_booktabs_and_escapes() -> None:
    text = latex_table([{"arm": "a_b & 5% {x}", "χ²": 96.77}], caption="Tests, 95%", label="t")
    assert r"a\_b \& 5\% \{x\} & 96.77 \\" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"arm & $\chi$$^2$ \\" in text
    assert r"\caption{Tests, 95\%}" in text
    assert r"\label{t}" in text
    assert r"\toprule" in text


def test_latex_writes_a_backslash_as_text() -> None:
    assert r"\textbackslash{}input" in latex_table([{"arm": r"\input"}])


def test_csv_keeps_numbers_whole_and_leaves_missing_ones_empty() -> None:
    rows = [{"x": 1 / 3, "y": None, "z": math.nan, "n": 3, "ok": True}]
    assert cells(csv_table(rows)) == [
        ["x", "y", "z", "n", "ok"],
        ["0.3333333333333333", "", "", "3", "true"],
    ]


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\n=1", "＝1+1"]
)
def test_csv_neutralises_formulas(text: str) -> None:
    assert cells(csv_table([{"rater": text}]))[1] == [f"'{text}"]


def test_a_lone_carriage_return_starts_no_row_in_csv() -> None:
    assert cells(csv_table([{"rater": "fine\r=1+1"}, {"rater": "\r=1"}])) == [
        ["rater"],
        ["fine\n=1+1"],
        ["'\n=1"],
    ]


@pytest.mark.parametrize("text", ["-0.5", "+31.3%", "−4", "fine", "a=b", "+16.67 [−0.55, +32.57]"])
def test_csv_leaves_numbers_and_plain_text_alone(text: str) -> None:
    assert cells(csv_table([{"x": text}]))[1] == [text]


def test_csv_neutralises_the_header_too() -> None:
    assert cells(csv_table([{"=evil()": 1}]))[0] == ["'=evil()"]


def test_negative_numbers_stay_numbers() -> None:
    assert cells(csv_table([{"x": -0.5}]))[1] == ["-0.5"]


def test_columns_of_any_row_appear() -> None:
    assert cells(csv_table([{"a": 1}, {"b": 2}])) == [["a", "b"], ["1", ""], ["", "2"]]


def test_no_rows_make_no_table() -> None:
    assert (markdown_table([]), latex_table([]), csv_table([])) == ("", "", "")


def test_a_format_is_chosen_by_name() -> None:
    assert table(ROWS, "csv") == csv_table(ROWS)
    assert table(ROWS, "markdown", caption="Arms").startswith("Arms\n\n| arm")


def test_an_unknown_format_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'markdown'"):
        table(ROWS, "markdwn")


@pytest.mark.parametrize("text", ["-1+1", "+16.67 [=cmd(), 2]", "+a", "-", "@x"])
def test_csv_neutralises_what_only_begins_like_a_number(text: str) -> None:
    assert cells(csv_table([{"x": text}]))[1] == [f"'{text}"]
