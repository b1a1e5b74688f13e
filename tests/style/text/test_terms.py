"""Words and phrases as numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from empathylab.style.text.terms import coded_words, phrases


def spelled(texts: list[str], size: int) -> list[str]:
    found = phrases(coded_words(pl.Series(texts, dtype=pl.String)), size)
    return found.spelled(found.terms)


def test_words_are_numbered_by_their_place_in_the_vocabulary() -> None:
    coded = coded_words(pl.Series(["Rain, rain.", "Go away rain"]))
    assert coded.vocabulary.to_list() == ["away", "go", "rain"]
    assert coded.codes.tolist() == [2, 2, 1, 0, 2]
    assert coded.text.tolist() == [0, 0, 1, 1, 1]


def test_phrases_do_not_cross_sentences_or_texts() -> None:
    texts = ["It rained. We stayed in.", "Go home"]
    assert spelled(texts, 2) == ["it rained", "we stayed", "stayed in", "go home"]
    assert spelled(texts, 3) == ["we stayed in"]


def test_the_same_phrase_has_the_same_number() -> None:
    found = phrases(coded_words(pl.Series(["so it goes", "and so it goes"])), 3)
    assert found.different == 2
    assert np.bincount(found.terms).tolist() in ([1, 2], [2, 1])


def test_texts_without_words_have_no_phrases() -> None:
    assert spelled(["", "...", "🙂"], 1) == []
    assert spelled([], 2) == []


def test_a_text_of_one_word_has_no_phrase_of_two() -> None:
    assert spelled(["Sorry."], 1) == ["sorry"]
    assert spelled(["Sorry."], 2) == []
