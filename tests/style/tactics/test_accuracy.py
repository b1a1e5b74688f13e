"""How often the built-in tagger is right, on labelled sentences."""

from __future__ import annotations

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

TEST_SETS = [
    Path(__file__).parent / f"{name}.tsv"
    for name in ("test_set", "second_test_set", "third_test_set")
]
DEVELOPMENT = Path(accuracies.__file__).parent / "sentences.tsv"


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], TacticAccuracy]:
    rows = sentence_accuracy(pl.concat(labelled_sentences(path) for path in TEST_SETS))
    return {(row.tactic, row.writer): row for row in rows}


def test_the_accuracy_that_ships_is_that_on_the_test_sets(
    found: dict[tuple[str, str], TacticAccuracy],
) -> None:
    assert tuple(found.values()) == built_in_accuracy()


def test_the_page_shows_these_figures() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "tactics.md").read_text(
        encoding="utf-8"
    )
    for row in built_in_accuracy():
        [line] = [
            line for line in page.splitlines() if re.match(rf"\| {row.tactic} \| \d+% \[", line)
        ]
        assert f"{row.precision:.0%} [" in line
        assert f"{row.recall:.0%} [" in line


def test_every_tactic_reaches_the_aim_for_people_and_models(
    found: dict[tuple[str, str], TacticAccuracy],
) -> None:
    # Over all test sets; docs/explanation/tactics.md says which miss it on one of them.
    assert len(found) == 20
    assert all(row.reliable for row in found.values())


def test_the_test_sets_are_large_and_share_no_sentence_with_the_development_set() -> None:
    tables = tuple(map(labelled_sentences, (*TEST_SETS, DEVELOPMENT)))
    first, _, third, development = tables
    assert first.height >= 400
    assert third.height >= 300
    assert development.height >= 600
    plain = [
        {re.sub(r"\W+", " ", sentence.lower()).strip() for sentence in table["sentence"]}
        for table in tables
    ]
    assert sum(map(len, plain)) == len(set.union(*plain))
    known = set(tactic_rules().names)
    counted = [
        table.explode("tactics").filter(pl.col("tactics") != "").group_by("writer", "tactics").len()
        for table in tables
    ]
    assert all(set(counts["tactics"]) == known for counts in counted)
    assert min(counts["len"].min() for counts in (counted[0], counted[3])) >= 24
    assert counted[2]["len"].min() >= 12
    revised = counted[1].filter(pl.col("tactics").is_in(["information", "reappraisal", "advice"]))
    assert revised["len"].min() >= 40


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
