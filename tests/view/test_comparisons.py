"""Raters who compared two replies, in the viewer."""

from __future__ import annotations

import re

from empathylab.store import Lab
from empathylab.store.listings import studies as listings
from tests.study.paired import compared
from tests.study.question_examples import EVERY_QUESTION
from tests.view.viewing import add_replies, add_study, viewing


def heads(page: str) -> list[str]:
    """The headings of the table."""
    return re.findall(r'role="columnheader"[^>]*>([^<]+)<', page)


def test_raters_who_only_compared_have_comparisons_and_no_ratings(sqlite_lab: Lab) -> None:
    compared(sqlite_lab).actions.close()
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/studies/1").text
        lines = visitor.get("/studies/1?view=comparisons&csv=comparisons").text.splitlines()
        rater = visitor.get("/raters/1").text
    assert heads(page) == ["Rater", "Kind", "Comparisons", "Time"]
    assert page.count('data-label="Comparisons" class="n">2<') == 3
    assert "view=ratings" not in page
    assert "view=comparisons" in page
    assert lines[0] == "rater,situation,first,second,chosen"
    assert len(lines) == 7
    _, _, first, second, chosen = lines[1].split(",")
    assert ({first, second}, chosen) == ({"one", "two"}, "one")
    assert heads(rater) == ["Situation", "Shown first", "Shown second", "Chosen"]


def test_raters_who_rated_and_compared_have_both(sqlite_lab: Lab) -> None:
    compared(sqlite_lab, EVERY_QUESTION, people=2).actions.close()
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/studies/1").text
    assert heads(page)[3:6] == ["Ratings", "Mean rating", "Comparisons"]
    assert "view=ratings" in page


def test_a_study_without_comparisons_has_no_column_for_them(sqlite_lab: Lab) -> None:
    add_replies(sqlite_lab, {"one": ["I am sorry"]})
    add_study(sqlite_lab, "closed")
    with viewing(sqlite_lab) as visitor:
        page = visitor.get("/studies/1").text
    assert heads(page) == ["Rater", "Kind", "Arm", "Ratings", "Mean rating"]
    assert "omparisons" not in page


def test_comparisons_of_an_open_study_are_hidden(sqlite_lab: Lab) -> None:
    service = compared(sqlite_lab)

    def found() -> int:
        with sqlite_lab.reading() as connection:
            return listings.list_comparisons(connection, 1).total

    assert found() == 0
    with viewing(sqlite_lab) as visitor:
        assert "omparisons" not in visitor.get("/studies/1?view=comparisons").text
    service.actions.close()
    assert found() == 6
