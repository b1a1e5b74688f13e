"""Blocks that the report is made of."""

from __future__ import annotations

from empathylab.report.blocks import Table


def test_a_column_in_which_no_row_has_anything_is_not_shown() -> None:
    table = Table(
        title="Means",
        rows=[
            {"arm": "people", "mean": "3.1", "difference": "–", "p": ""},
            {"arm": "gpt", "mean": "–", "difference": "–", "p": None},
        ],
    )
    assert table.filled == [{"arm": "people", "mean": "3.1"}, {"arm": "gpt", "mean": "–"}]


def test_the_first_column_is_shown_even_if_it_is_empty() -> None:
    assert Table(title="", rows=[{"name": "", "n": "2"}]).filled == [{"name": "", "n": "2"}]
    assert Table(title="", rows=[{"name": "", "n": ""}]).filled == [{"name": ""}]


def test_a_row_without_a_column_has_a_dash_there() -> None:
    rows = [{"feature": "words", "people": "3"}, {"feature": "emoji", "gpt": "1"}]
    assert Table(title="", rows=rows).filled == [
        {"feature": "words", "people": "3", "gpt": "–"},
        {"feature": "emoji", "people": "–", "gpt": "1"},
    ]
