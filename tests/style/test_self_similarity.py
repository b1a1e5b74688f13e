"""How alike a respondent's responses are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from empathylab.style.self_similarity import mean_cosine, self_similarity

Row = tuple[str, str, str]


def frame(*rows: Row) -> pl.DataFrame:
    schema = {"respondent": str, "situation": str, "text": str}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def test_the_same_response_to_everything_has_similarity_1() -> None:
    [found] = self_similarity(frame(*(("a", str(n), "So it goes.") for n in range(5))))
    assert found.estimate == pytest.approx(1)
    assert (found.low, found.high) == pytest.approx((1, 1))
    assert (found.n, found.situations, found.dropped) == (5, 5, 0)


def test_responses_without_a_word_in_common_have_similarity_0() -> None:
    [found] = self_similarity(frame(("a", "1", "so it goes"), ("a", "2", "who asks")))
    assert found.estimate == pytest.approx(0)


def test_two_responses_by_hand() -> None:
    # Words only. "rain" is in both (weight 1), "cold" and "warm" in one of two each (weight
    # 1 + ln(3/2)): the cosine is 1 / (1 + weight²).
    rows = ("a", "1", "cold rain"), ("a", "2", "warm rain")
    [found] = self_similarity(frame(*rows), longest=1)
    assert found.estimate == pytest.approx(1 / (1 + (1 + math.log(1.5)) ** 2))


def test_the_closed_form_is_the_mean_over_all_pairs() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.random((30, 12)) * (rng.random((30, 12)) < 0.4) + 1e-9
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    groups = rng.integers(0, 8, 30)
    pairs = [
        float(vectors[i] @ vectors[j])
        for i, j in itertools.combinations(range(30), 2)
        if groups[i] != groups[j]
    ]
    assert mean_cosine(csr_matrix(vectors), groups) == pytest.approx(np.mean(pairs))


def test_the_interval_is_the_jackknife_over_situations() -> None:
    texts = ["rain again", "rain at last", "no rain", "sun again", "at last some sun"]
    rows = [("a", str(n), text) for n, text in enumerate(texts)]
    [found] = self_similarity(frame(*rows), longest=1)
    # Leave one out by recomputing the mean with the weights of all five.
    from empathylab.style.self_similarity import _vectors

    vectors = _vectors(pl.Series(texts), 1)
    left = [mean_cosine(vectors[[i for i in range(5) if i != k]], np.arange(4)) for k in range(5)]
    se = math.sqrt(4 / 5 * sum((item - np.mean(left)) ** 2 for item in left))
    # The 97.5% point of t with 4 degrees of freedom is 2.776445.
    assert (found.high - found.estimate) / se == pytest.approx(2.776445, abs=1e-5)


def test_situations_that_only_others_answered_do_not_change_the_interval() -> None:
    texts = ["rain again", "rain at last", "no rain", "sun again", "at last some sun"]
    mine = [("a", str(number), text) for number, text in enumerate(texts)]

    def interval(others: list[str]) -> tuple[float, float]:
        theirs = [("b", situation, text) for situation, text in zip(others, texts, strict=True)]
        found = self_similarity(frame(*mine, *theirs))[0]
        return found.low, found.high

    assert interval(list("56789")) == pytest.approx(interval(list("01234")))


def test_samples_of_one_situation_are_not_compared() -> None:
    rows = ("a", "1", "so it goes"), ("a", "1", "so it goes"), ("a", "2", "who asks")
    [found] = self_similarity(frame(*rows))
    assert found.estimate == pytest.approx(0)


def test_the_mean_is_that_of_scikit_learns_cosines() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    texts = ["rain again today", "rain rain at last", "no rain again", "sun at last today"]
    vectors = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(texts)
    cosines = cosine_similarity(vectors)[np.triu_indices(4, 1)]
    [found] = self_similarity(frame(*(("a", str(n), text) for n, text in enumerate(texts))))
    assert found.estimate == pytest.approx(cosines.mean())


def test_similarity_to_others_is_the_mean_over_pairs_of_both() -> None:
    rows = [
        ("a", "1", "cold rain"),
        ("a", "2", "warm rain"),
        ("b", "1", "cold rain"),
        ("b", "2", "who asks"),
    ]
    a, b = self_similarity(frame(*rows), longest=1)
    # Different situations only: a1–b2 share nothing, a2–b1 share "rain".
    cold, rain = 1 + math.log(5 / 3), 1 + math.log(5 / 4)
    warm = 1 + math.log(5 / 2)
    cosine = rain**2 / math.sqrt((cold**2 + rain**2) * (warm**2 + rain**2))
    assert (a.to_others, b.to_others) == pytest.approx((cosine / 2, cosine / 2))


def test_one_respondent_has_no_others() -> None:
    [found] = self_similarity(frame(("a", "1", "so"), ("a", "2", "it")))
    assert math.isnan(found.to_others)


def test_one_response_has_no_similarity() -> None:
    [found] = self_similarity(frame(("a", "1", "so it goes")))
    assert math.isnan(found.estimate)
    assert math.isnan(found.low)


def test_responses_without_words_are_dropped_and_counted() -> None:
    [found] = self_similarity(frame(("a", "1", "so"), ("a", "2", "so"), ("a", "3", "🙂")))
    assert (found.n, found.dropped) == (2, 1)
    assert found.estimate == pytest.approx(1)


def test_no_responses_give_nothing() -> None:
    assert self_similarity(frame()) == []
