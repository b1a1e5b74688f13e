"""When arms were rated is told; where it was not at the same time, the raters come first."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from empathylab.analysis import ratings as rated_replies
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.ratings.collection_periods import (
    CollectionPeriod,
    collection_sentences,
    collection_table,
    in_different_periods,
)
from empathylab.report import collect, write_report
from empathylab.store import Lab
from tests.study.archived import released


def arm(name: str, first: int | None, last: int | None = None) -> CollectionPeriod:
    days = [None if day is None else date(2026, 3, day) for day in (first, last or first)]
    return CollectionPeriod(name, 10, 100, days[0], days[1])


@pytest.mark.parametrize(
    ("arms", "apart"),
    [
        ([arm("a", 1, 5), arm("b", 5, 9)], False),
        ([arm("a", 1, 5), arm("b", 6, 9)], True),
        ([arm("a", 1, 9), arm("b", 2, 3), arm("c", 4, 5)], True),
        ([arm("a", None), arm("b", None)], False),
        ([arm("a", None), arm("b", 1)], True),
        ([arm("a", 1)], False),
        ([], False),
    ],
)
def test_arms_are_apart_where_they_share_no_day_or_one_is_not_known(
    arms: list[CollectionPeriod], apart: bool
) -> None:
    assert in_different_periods(arms) is apart


def test_the_sentence_names_every_arms_days() -> None:
    [said] = collection_sentences([arm("a", 1, 2), arm("b", 9), arm("c", None)], comparable=True)
    assert "a from 2026-03-01 to 2026-03-02, b on 2026-03-09 and c on unknown days" in said
    assert "so compare the raters first" in said


def test_raters_of_whom_nothing_is_known_are_no_reason_to_believe_in_the_arms() -> None:
    [said] = collection_sentences([arm("a", 1), arm("b", 9)], comparable=False)
    assert "may be a difference between their raters" in said


def test_arms_rated_together_get_one_plain_sentence() -> None:
    assert collection_sentences([arm("a", 1, 5), arm("b", 2, 9)], comparable=True) == [
        "The ratings were given from 2026-03-01 to 2026-03-09."
    ]


def test_nothing_is_said_where_no_day_is_known() -> None:
    assert collection_sentences([arm("a", None)], comparable=True) == []
    assert collection_table([arm("a", None)]) == []


@pytest.fixture
def analysis(sqlite_lab: Lab, tmp_path: Path) -> RatingsResult:
    """Of a study whose arms were rated on two different days."""
    released(sqlite_lab, tmp_path)
    return rated_replies.from_lab(sqlite_lab)


def test_the_days_are_in_the_document_and_the_raters_before_the_results(
    analysis: RatingsResult,
) -> None:
    found = analysis.to_dict()
    assert found["collected"] == {
        "together": False,
        "arms": [
            {
                "arm": name,
                "raters": 6,
                "ratings": 24,
                "first": f"2023-11-{day}",
                "last": f"2023-11-{day}",
            }
            for name, day in (("human", 20), ("gpt", 21))
        ],
    }
    assert "were not rated together" in found["notes"][-1]
    said = analysis.paragraphs()
    assert "were not rated together" in said[0]
    assert said[1].startswith("The raters of the arms were compared")
    assert sum(item.startswith("The raters of the arms were compared") for item in said) == 1


def test_without_days_the_document_says_that_they_are_not_known(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path, dated=False)
    found = rated_replies.from_lab(sqlite_lab).to_dict()
    assert found["collected"]["together"] is None
    assert not found["paragraphs"][0].startswith("The ratings were given")


def test_the_report_shows_when_arms_were_rated_before_any_chart(
    sqlite_lab: Lab, tmp_path: Path
) -> None:
    released(sqlite_lab, tmp_path)
    page = write_report(collect(sqlite_lab), sqlite_lab.reports).read_text(encoding="utf-8")
    section = page[page.index('id="ratings-1"') :]
    order = [
        section.index(mark)
        for mark in (
            "were not rated together",
            "When the arms were rated",
            'class="chart"',
        )
    ]
    assert order == sorted(order)
    assert section.count("Are the arms&#39; raters similar?") == 1
