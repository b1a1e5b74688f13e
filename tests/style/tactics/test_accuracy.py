"""How often the built-in tagger is right, on labelled sentences."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import polars as pl
import pytest

from empathylab.style.tactics import accuracy as accuracies
from empathylab.style.tactics.accuracy import (
    TacticAccuracy,
    built_in_accuracy,
    labelled_sentences,
    sentence_accuracy,
)
from empathylab.style.tactics.rules import tactic_rules

TEST_SET = Path(__file__).parent / "test_set.tsv"
DEVELOPMENT = Path(accuracies.__file__).parent / "sentences.tsv"
DOCS = Path(__file__).parents[3] / "docs"
MISSED: set[tuple[str, str]] = set()
"""Where the test set is below 85% precision or 70% recall, as the page says."""


def test_the_accuracy_that_ships_is_that_on_the_test_set() -> None:
    found = sentence_accuracy(labelled_sentences(TEST_SET))
    assert tuple(found) == built_in_accuracy()
    assert {(row.tactic, row.writer) for row in found if not row.reliable} == MISSED


def test_the_page_shows_these_figures() -> None:
    page = (DOCS / "explanation" / "tactics.md").read_text(encoding="utf-8")
    for row in built_in_accuracy():
        [line] = [
            line for line in page.splitlines() if re.match(rf"\| {row.tactic} \| \d+% \[", line)
        ]
        assert f"{row.precision:.0%} [" in line
        assert f"{row.recall:.0%} [" in line


def test_the_test_set_is_as_it_was_frozen() -> None:
    checksum = hashlib.sha256(TEST_SET.read_bytes()).hexdigest()
    [decision] = (DOCS / "decisions").glob("0027-*.md")
    assert checksum in decision.read_text(encoding="utf-8")


def test_the_test_set_is_large_and_shares_no_sentence_with_the_development_set() -> None:
    tables = tuple(map(labelled_sentences, (TEST_SET, DEVELOPMENT)))
    plain = [
        {re.sub(r"\W+", " ", sentence.lower()).strip() for sentence in table["sentence"]}
        for table in tables
    ]
    assert sum(map(len, plain)) == len(set.union(*plain)) == sum(table.height for table in tables)
    counted = [
        table.explode("tactics").filter(pl.col("tactics") != "").group_by("writer", "tactics").len()
        for table in tables
    ]
    known = set(tactic_rules().names)
    for counts, fewest in zip(counted, (60, 400), strict=True):
        assert set(counts["tactics"]) == known
        assert counts["len"].min() >= fewest


def test_precision_and_recall_by_hand() -> None:
    row = TacticAccuracy("advice", "people", both=6, only_tagged=2, only_labelled=3, neither=89)
    assert (row.precision, row.recall) == (0.75, pytest.approx(2 / 3))
    assert row.specificity == pytest.approx(89 / 91)
    reliable = [
        TacticAccuracy("advice", "people", 85, wrong, missed, 500).reliable
        for wrong, missed in ((15, 36), (16, 36), (15, 37))
    ]
    assert reliable == [True, False, False]


def test_precision_without_tags_is_nan_and_not_reliable() -> None:
    row = TacticAccuracy("advice", "people", both=0, only_tagged=0, only_labelled=3, neither=9)
    assert row.precision != row.precision
    assert not row.reliable
