"""Counting runs of characters and words."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import polars as pl
import pytest

from empathylab.style.text import ngrams
from empathylab.style.text.ngrams import characters, words
from empathylab.style.text.tokens import word_lists

TEXTS = pl.Series(
    [
        "So sorry.  That hurts!",
        "so sorry\n\n\tto hear that 😀😀",
        "",
        "x",
        "Ça fait mal, 我很难过, 我很难过.",
        "That hurts! That hurts!",
    ]
)


def table(found: tuple[Any, Any] | None) -> dict[str, list[float]]:
    assert found is not None
    counts, names = found
    return dict(zip(names, counts.toarray().T.tolist(), strict=True))


def test_runs_of_characters_by_hand() -> None:
    found = table(ngrams.ngrams(characters(pl.Series(["aab", "ab"])), (1, 2), fewest=1))
    assert found == {"a": [2, 1], "aa": [1, 0], "ab": [1, 1], "b": [1, 1]}


def test_runs_of_words_by_hand() -> None:
    lists = pl.Series([["no", "no", "no"], [], ["oh", "no"]], dtype=pl.List(pl.String))
    found = table(ngrams.ngrams(words(lists), (1, 2), fewest=1))
    assert found == {"no": [3, 0, 1], "no no": [2, 0, 0], "oh": [0, 0, 1], "oh no": [0, 0, 1]}


def test_a_run_does_not_go_on_into_the_next_text() -> None:
    found = table(ngrams.ngrams(characters(pl.Series(["ab", "cd"])), (2, 4), fewest=1))
    assert list(found) == ["ab", "cd"]


def test_what_stands_in_fewer_texts_is_left_out_though_it_stands_there_often() -> None:
    found = table(ngrams.ngrams(characters(pl.Series(["xyxyxy", "xy", "z"])), (2, 3), fewest=2))
    assert found == {"xy": [3, 1, 0]}


def test_texts_without_a_run_have_nothing_to_count() -> None:
    assert ngrams.ngrams(characters(pl.Series(["a", ""])), (2, 4), fewest=1) is None
    nothing = pl.Series([[], []], dtype=pl.List(pl.String))
    assert ngrams.ngrams(words(nothing), (1, 2), fewest=1) is None


def test_runs_that_no_two_texts_share_leave_no_column() -> None:
    found = ngrams.ngrams(characters(pl.Series(["ab", "cd"])), (2, 4), fewest=2)
    assert found is not None
    assert found[0].shape == (2, 0)


@pytest.mark.parametrize("together", [1, 7, 4_000_000])
@pytest.mark.parametrize("most_ticked", [0, 20_000_000])
@pytest.mark.parametrize("fewest", [1, 2])
def test_characters_are_counted_as_scikit_learn_does(
    fewest: int, most_ticked: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    monkeypatch.setattr(ngrams, "_MOST_TICKED", most_ticked)
    monkeypatch.setattr(ngrams, "_TOGETHER", together)
    theirs = CountVectorizer(analyzer="char", ngram_range=(2, 4), lowercase=False, min_df=fewest)
    expected = theirs.fit_transform(TEXTS.to_list()).toarray()
    found = ngrams.ngrams(characters(TEXTS), (2, 4), fewest=fewest)
    assert found is not None
    assert found[1].tolist() == theirs.get_feature_names_out().tolist()
    assert np.array_equal(found[0].toarray(), expected)


def test_words_are_counted_as_scikit_learn_does() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    lists = word_lists(TEXTS, fold=False)
    theirs = CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), lowercase=False)
    expected = theirs.fit_transform(lists.list.join(" ").to_list()).toarray()
    found = ngrams.ngrams(words(lists), (1, 2), fewest=1)
    assert found is not None
    assert found[1].tolist() == theirs.get_feature_names_out().tolist()
    assert np.array_equal(found[0].toarray(), expected)


def test_the_room_that_is_needed_does_not_grow_with_what_is_made_on_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(1)
    kinds = ["".join(chance.choice(list("etaoinshr"), size)) for size in range(2, 9)] * 40
    texts = pl.Series([" ".join(chance.choice(kinds, 4_000))[:20_000] for _ in range(25)])
    monkeypatch.setattr(ngrams, "_TOGETHER", 50_000)
    tracemalloc.start()
    try:
        ngrams.ngrams(characters(texts), (2, 4), fewest=2)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most / texts.str.len_chars().sum() < 45
