"""Which distinctive words a reader is shown."""

from __future__ import annotations

from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.style.distinctive import DistinctiveTerm


def term(words: str, z: float = 5.0) -> DistinctiveTerm:
    return DistinctiveTerm(words, z, 1.0, 0.5, 1.5, 10, 1, 2.0, 0.2, 8, ())


def shown(*words: str, top: int = 20) -> list[str]:
    return [item.term for item in shown_terms([term(each) for each in words], top)]


def test_words_that_only_hold_sentences_together_are_left_out() -> None:
    assert shown("the", "remember", "to", "is") == ["remember"]


def test_a_phrase_that_repeats_one_above_is_left_out() -> None:
    assert shown("sorry to hear", "to hear", "so sorry", "wonderful") == [
        "sorry to hear",
        "wonderful",
    ]


def test_a_phrase_that_adds_a_word_is_shown() -> None:
    assert shown("sorry", "sorry to hear") == ["sorry", "sorry to hear"]


def test_who_is_spoken_of_is_shown_alone_and_in_forms_of_its_own() -> None:
    assert shown("i", "my", "that is", "i am") == ["i", "my", "that is", "i am"]


def test_a_contraction_is_shown_once() -> None:
    assert shown("you're", "that you're") == ["you're"]


def test_weak_terms_are_not_shown() -> None:
    assert shown_terms([term("strong", 3.0), term("weak", 1.5)], 20) == (term("strong", 3.0),)


def test_no_more_than_asked_for() -> None:
    assert shown("one", "two", "three", top=2) == ["one", "two"]


def test_i_is_a_capital() -> None:
    assert spelled("i think i'm in it") == "I think I'm in it"
