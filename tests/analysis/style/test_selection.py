"""Whom the report describes of many respondents."""

from __future__ import annotations

import polars as pl

from empathylab.analysis.style.analysis import report_respondents


def frame(names: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"respondent": names})


def test_of_many_who_wrote_as_much_those_first_by_name_are_described_in_any_order() -> None:
    names = [f"model/{number:02d}" for number in range(40)]
    expected = ("human", *names[:9])
    for rows in (["human", *names], [*reversed(names), "human"], [*names[20:], "human", *names]):
        found = report_respondents(frame(rows).unique(maintain_order=True))
        assert (found.names, found.of, found.against) == (expected, 41, "human")


def test_who_wrote_most_comes_before_who_is_first_by_name() -> None:
    found = report_respondents(frame(["a", "c", "c", "b", "b"]))
    assert found.names == ("b", "c", "a")
