"""Shares of tactics corrected for tagging errors."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.stats.misclassification import corrected_proportion
from empathylab.style.tactics.accuracy import TacticAccuracy
from empathylab.style.tactics.correction import (
    corrected_uses,
    label_accuracy,
    response_rates,
    tactic_labels,
    writer_kind,
)
from empathylab.style.tactics.rules import tactic_rules
from empathylab.style.tactics.tagging import tactic_table, tactic_uses

ADVISED, PLAIN = "You should call her.", "The bus leaves at noon."


def responses(count: int = 40, advised: int = 20) -> pl.DataFrame:
    texts = [f"{ADVISED if n < advised else PLAIN} {n}." for n in range(count)]
    return pl.DataFrame(
        {"respondent": "human", "situation": [f"s{n}" for n in range(count)], "text": texts}
    )


def labels(frame: pl.DataFrame, names: list[list[str]]) -> pl.DataFrame:
    return frame.select("respondent", "text").with_columns(
        tactics=pl.Series(names, dtype=pl.List(pl.String))
    )


def test_rates_of_responses_by_hand() -> None:
    # Recall 8 / 10 and specificity 90 / 100 of sentences; responses of one and of two sentences.
    sentences = TacticAccuracy("advice", "people", 8, 10, 2, 90)
    sensitivity, specificity = response_rates(sentences, np.array([1.0, 2.0]))
    assert sensitivity.estimate == pytest.approx(((1 - 0.2) + (1 - 0.2 * 0.9)) / 2)
    assert specificity.estimate == pytest.approx((0.9 + 0.81) / 2)


def test_labels_correct_the_share_of_their_respondent() -> None:
    # Tagged 20 of 40; by the labels 25 have it, of which 20 are tagged: sensitivity .8, no others.
    frame = responses()
    table = tactic_table(frame)
    given = labels(frame, [["advice"] if n < 25 else [] for n in range(40)])
    rows = label_accuracy(table, frame, given, ["advice"])
    assert rows == [TacticAccuracy("advice", "human", 20, 0, 5, 15)]
    [use] = [
        use
        for use in corrected_uses(table, tactic_uses(table), labelled=rows)
        if use.tactic == "advice"
    ]
    assert (use.basis, use.sensitivity, use.specificity) == ("labels", 0.8, 1)
    assert use.share == pytest.approx(25 / 40)
    assert use.low < 25 / 40 < use.high
    assert use.comparable


def test_few_labels_leave_the_test_set_and_other_taggers_nothing() -> None:
    frame = responses()
    table = tactic_table(frame)
    few = label_accuracy(table, frame, labels(frame.head(9), [["advice"]] * 9), ["advice"])
    uses = tactic_uses(table)
    for rows in (few, [TacticAccuracy("advice", "human", 31, 0, 0, 9)]):
        assert {use.basis for use in corrected_uses(table, uses, labelled=rows)} == {"test set"}
    other = corrected_uses(table, uses, built_in=False)
    assert all(use.basis == "" and math.isnan(use.share) and not use.comparable for use in other)


def test_the_corrected_interval_counts_situations_not_responses() -> None:
    frame = responses()
    halved = frame.with_columns(situation=pl.Series([f"s{n // 2}" for n in range(40)]))
    one, two = (
        next(use for use in corrected_uses(table, tactic_uses(table)) if use.tactic == "advice")
        for table in map(tactic_table, (frame, halved))
    )
    assert one.share == two.share
    assert two.high - two.low > 1.2 * (one.high - one.low)


def test_people_and_models_are_judged_by_their_own_kind_of_sentence() -> None:
    assert [writer_kind(name) for name in ("human", "People", "gpt-4")] == [
        *("people", "people", "models")
    ]


def test_labels_of_unknown_responses_and_tactics_are_refused() -> None:
    frame = responses()
    strange = labels(frame.with_columns(text=pl.lit("Other.")), [[]] * 40)
    with pytest.raises(InputError, match="no labelled response is among"):
        label_accuracy(tactic_table(frame), frame, strange, ["advice"])
    names = tactic_rules().names
    wrong = pl.DataFrame({"respondent": "human", "text": "Hi.", "tactics": "advise, validation"})
    with pytest.raises(UnknownName, match="Did you mean 'advice'"):
        tactic_labels(wrong, names, where="labels.csv")
    with pytest.raises(InputError, match="no column 'text'"):
        tactic_labels(wrong.drop("text"), names, where="labels.csv")


def test_labels_are_read_as_lists() -> None:
    table = pl.DataFrame(
        {"respondent": "human", "text": ["One.", "Two."], "tactics": ["advice , validation", None]}
    )
    read = tactic_labels(table, tactic_rules().names, where="labels.csv")
    assert read["tactics"].to_list() == [["advice", "validation"], []]


@pytest.mark.parametrize("truth", [0.1, 0.4])
def test_the_corrected_interval_covers_the_true_share_of_responses(truth: float) -> None:
    """Sentences are labelled and tagged with errors; responses have one to four of them."""
    source = np.random.default_rng(5)
    recall, specificity, rounds, size = 0.8, 0.97, 400, 200
    covered = naive = 0
    for _ in range(rounds):
        both = int(source.binomial(30, recall))
        neither = int(source.binomial(250, specificity))
        test_set = TacticAccuracy("advice", "people", both, 250 - neither, 30 - both, neither)
        lengths = source.integers(1, 5, size)
        has = source.random(size) < truth
        false_tags = source.binomial(lengths - has, 1 - specificity) > 0
        share = float(np.mean((has & (source.random(size) < recall)) | false_tags))
        rates = response_rates(test_set, lengths.astype(float))
        found = corrected_proportion(share, size, *rates)
        covered += found.low <= truth <= found.high
        naive += abs(share - truth) < 1.96 * math.sqrt(share * (1 - share) / size)
    assert 0.93 <= covered / rounds <= 1
    assert naive < covered
