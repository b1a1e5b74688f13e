"""Finding texts that are the same, or almost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.situations.near_duplicates import jaccard, plain_words, repeated, word_pairs


def near(*texts: str, similarity: float = 0.7) -> dict[str, str]:
    named = {str(number): (text,) for number, text in enumerate(texts)}
    return repeated(named, similarity=similarity)


def test_pairs_of_words_include_the_edges() -> None:
    assert word_pairs(("a", "b")) == {" a", "a b", "b "}


def test_the_index_is_shared_over_all() -> None:
    assert jaccard(frozenset("abc"), frozenset("bcde")) == 2 / 5


def test_one_changed_word_of_twenty_gives_the_stated_index() -> None:
    words = [f"w{number}" for number in range(20)]
    changed = [*words[:10], "other", *words[11:]]
    # 21 pairs each, of which 19 are shared: 19 / (21 + 21 - 19).
    assert jaccard(word_pairs(words), word_pairs(changed)) == pytest.approx(19 / 23)


def test_case_punctuation_and_apostrophes_do_not_matter() -> None:
    assert plain_words("I’m OK -- really!") == ("im", "ok", "really")
    assert near("I'm fine, thank you.", "im FINE thank you") == {"1": "0"}


def test_a_text_with_a_word_changed_is_a_repetition() -> None:
    first = "We went to the lake by train and my brother lost both his shoes there"
    assert near(first, first.replace("train", "car")) == {"1": "0"}
    assert near(first, first.replace("train", "car"), similarity=0.9) == {}


def test_without_a_similarity_only_the_same_words_count() -> None:
    texts = {"a": ("It rained all day.",), "b": ("It rained, all day",), "c": ("It rained.",)}
    assert repeated(texts, similarity=None) == {"b": "a"}


def test_a_match_in_any_of_the_texts_counts() -> None:
    texts = {
        "a": ("My first day at sea", "I was so sick"),
        "b": ("I was so sick", "Never again will I sail"),
    }
    assert repeated(texts, similarity=0.7) == {"b": "a"}


def test_texts_without_words_repeat_nothing() -> None:
    assert near("", "!!!", "…") == {}


def test_a_repetition_of_a_repetition_counts_against_the_kept_one_only() -> None:
    # b shares 9 of 13 pairs with a and with c, but c only 7 of 15 with a: c stays, as b is gone.
    a = "one two three four five six seven eight nine ten"
    b = a.replace("one", "x")
    c = b.replace("ten", "y")
    assert near(a, b, c, similarity=0.65) == {"1": "0"}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=9).map(" ".join), max_size=25),
    st.sampled_from([0.2, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0]),
)
def test_the_search_finds_what_comparing_all_pairs_finds(
    texts: list[str], similarity: float
) -> None:
    kept: list[int] = []
    expected = set()
    for number, text in enumerate(texts):
        pairs = word_pairs(plain_words(text))
        same = (jaccard(pairs, word_pairs(plain_words(texts[other]))) for other in kept)
        if text.strip() and any(index >= similarity for index in same):
            expected.add(str(number))
        elif text.strip():
            kept.append(number)
    assert set(near(*texts, similarity=similarity)) == expected
