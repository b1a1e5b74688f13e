"""Numbers as people read them."""

from __future__ import annotations

from empathylab.analysis.text.numbers import number, percent, signed, with_ends
from empathylab.report.page import number_columns


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert (number(-0.004, 2), number(-0.4, 0), signed(-0.04)) == ("0.00", "0", "0.0")
    assert (number(-0.005001, 2), number(-1234.5, 1)) == ("−0.01", "−1,234.5")


def test_what_is_no_number_is_a_dash() -> None:
    assert (number(None), number(float("nan")), percent(None)) == ("–", "–", "–")


def test_a_number_without_an_interval_stands_alone() -> None:
    assert with_ends(0.52, 0.4, 0.634, digits=2) == "0.52 [0.40, 0.63]"
    assert with_ends(-1.5, -4.0, 1.0, written=signed) == "−1.5 [−4.0, +1.0]"
    assert with_ends(0.5, float("nan"), float("nan")) == with_ends(0.5, None, None) == "0.5"
    assert with_ends(0.5, float("-inf"), float("inf")) == "0.5"


def test_columns_of_figures_are_told_from_columns_of_words() -> None:
    rows = [
        {
            "arm": "gpt4",
            "n": "2,000",
            "p": "< .001",
            "difference": "+1.5 [−0.2, +3.1]",
            "gain": "–",
        },
        {"arm": "4o-mini", "n": "5", "p": ".034", "difference": "–", "gain": "+31.3%"},
    ]
    assert number_columns(rows) == {"n", "p", "difference", "gain"}
    assert number_columns([]) == set()


def test_phrases_that_begin_with_a_number_are_text() -> None:
    rows = [
        {"contents": "4,000 ratings of 4,000 replies by 400 raters", "sd": "0.0 (at the boundary)"}
    ]
    assert number_columns(rows) == {"sd"}
