"""Words and phrases that mark a respondent off."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.style.distinctive import DistinctiveTerms, distinctive_terms, log_odds

Y_I = np.array([30.0, 5, 0, 12, 100])
Y_J = np.array([10.0, 9, 4, 12, 80])


def responses(**texts: list[str]) -> pl.DataFrame:
    rows = [
        {"respondent": name, "situation": f"s{number}", "text": text}
        for name, each in texts.items()
        for number, text in enumerate(each)
    ]
    return pl.DataFrame(rows, schema={"respondent": str, "situation": str, "text": str})


def names(found: DistinctiveTerms) -> list[str]:
    return [term.term for term in found.terms]


def test_log_odds_by_hand() -> None:
    # Counts 2, 2 against 1, 3 with one pseudo-count each: 3/3 against 2/4.
    estimate, se = log_odds(np.array([2.0, 2]), np.array([1.0, 3]), np.array([1.0, 1]))
    assert estimate == pytest.approx([math.log(2), -math.log(2)])
    assert se == pytest.approx([math.sqrt(1 / 3 + 1 / 3 + 1 / 2 + 1 / 4)] * 2)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (Y_I + Y_J, [1.4966774179, -0.9036886873, -1.2751452459, -0.3626660073, -0.1527937338]),
        (
            np.arange(1.0, 6),
            [2.5194758289, -1.4365403528, -1.5761875779, -0.6597639377, -0.1014992613],
        ),
    ],
)
def test_z_is_that_of_scattertext(prior: np.ndarray, expected: list[float]) -> None:
    # tests/reference/style_log_odds.py: scattertext 0.2.2.
    estimate, se = log_odds(Y_I, Y_J, prior)
    assert estimate / se == pytest.approx(expected, abs=1e-9)


def test_equal_corpora_have_no_log_odds() -> None:
    estimate, _ = log_odds(Y_I, Y_I, Y_J)
    assert estimate == pytest.approx(np.zeros(5))


def test_a_corpus_of_one_term_has_no_odds() -> None:
    estimate, se = log_odds(np.array([4.0]), np.array([2.0]), np.array([6.0]))
    assert np.isnan(estimate).all()
    assert np.isnan(se).all()


def test_what_only_one_side_says_comes_first() -> None:
    frame = responses(
        warm=["Dear friend, it rains"] * 6,
        dry=["Well, it rains"] * 6,
    )
    warm, dry = distinctive_terms(frame)
    assert (warm.respondent, dry.respondent) == ("warm", "dry")
    assert names(warm)[0] == "dear friend it"
    assert names(dry)[0] == "well it rains"
    [first, *_] = warm.terms
    assert (first.count, first.against_count, first.situations) == (6, 0, 6)


def test_frequencies_are_per_thousand_words() -> None:
    frame = responses(a=["yes yes no it is"] * 2, b=["no it is not so"] * 2)
    a, _ = distinctive_terms(frame, longest=1, min_count=1)
    [yes] = [term for term in a.terms if term.term == "yes"]
    assert yes.per_thousand == pytest.approx(400)
    assert yes.against_per_thousand == 0
    assert yes.low < yes.log_odds < yes.high


def test_the_prior_comes_from_all_respondents() -> None:
    # Two words each. The pooled counts are a: 1 + 3 + 8 = 12, b: 3 + 1 + 0 = 4.
    frame = responses(one=["a b b b"], two=["a a a b"], three=["a a a a a a a a"])
    [one, _] = distinctive_terms(frame, against="two", longest=1, min_count=1, min_situations=1)
    [b] = one.terms
    estimate, _ = log_odds(np.array([1.0, 3]), np.array([3.0, 1]), np.array([12.0, 4]))
    assert (b.term, b.log_odds) == ("b", pytest.approx(estimate[1]))


def test_pairing_leaves_out_situations_that_only_one_side_answered() -> None:
    frame = responses(a=["rain again"] * 4 + ["harvest"] * 9, b=["rain at last"] * 4)
    paired, _ = distinctive_terms(frame, min_count=1)
    unpaired, _ = distinctive_terms(frame, min_count=1, paired=False)
    assert "harvest" not in names(paired)
    assert "harvest" in names(unpaired)
    assert (paired.situations, paired.responses, paired.against_responses) == (4, 4, 4)
    assert (paired.dropped, unpaired.dropped) == (9, 0)


def test_what_is_left_out_of_pairs_is_left_out_of_the_prior() -> None:
    shared = responses(a=["rain again"] * 4, b=["rain at last"] * 4)
    more = responses(a=["rain again"] * 4 + ["again"] * 9, b=["rain at last"] * 4)
    first, _ = distinctive_terms(shared, min_count=1, longest=1)
    second, _ = distinctive_terms(more, min_count=1, longest=1)
    assert names(first) == ["again", "rain"]
    assert first.terms == second.terms


def test_a_term_from_one_situation_only_is_left_out() -> None:
    frame = responses(a=["echo echo echo echo echo echo", "rain"], b=["rain", "rain"])
    a, _ = distinctive_terms(frame, longest=1)
    assert "echo" not in names(a)
    a, _ = distinctive_terms(frame, longest=1, min_situations=1)
    assert names(a) == ["echo"]


def test_a_word_inside_a_longer_phrase_is_listed_once() -> None:
    frame = responses(a=["thank you kindly sir"] * 6, b=["no sir not now"] * 6)
    a, _ = distinctive_terms(frame)
    assert "kindly" not in names(a)
    assert "thank you kindly" in names(a)
    a, _ = distinctive_terms(frame, nested=True)
    assert {"kindly", "thank you", "thank you kindly"} <= set(names(a))


def test_examples_are_sentences_of_the_respondent_from_different_situations() -> None:
    frame = responses(
        a=["Oh dear. I see.", "Dear dear me!", "My dear."], b=["Right you are, dear."] * 3
    )
    a, _ = distinctive_terms(frame, min_count=1, longest=1, top=5)
    [dear] = [term for term in a.terms if term.term == "dear"]
    assert dear.examples == ("Oh dear.", "Dear dear me!")


def test_only_terms_used_more_than_elsewhere_are_listed() -> None:
    for found in distinctive_terms(responses(a=["yes no no"] * 5, b=["yes yes no"] * 5)):
        assert all(term.z > 0 for term in found.terms)


def test_blank_responses_are_dropped_and_counted() -> None:
    frame = responses(a=["one two", " "], b=["two three", "three"])
    a, _ = distinctive_terms(frame, min_count=1)
    # The blank one and its partner, whose situation nobody else answered any more.
    assert (a.responses, a.dropped) == (1, 2)


def test_a_respondent_with_one_response_has_terms() -> None:
    frame = responses(a=["well well well well well"], b=["so so"])
    a, _ = distinctive_terms(frame, min_situations=1, longest=1)
    assert names(a) == ["well"]


def test_sides_that_share_no_situation_have_no_terms() -> None:
    frame = responses(a=["one two"] * 3).vstack(
        responses(b=["two"] * 3).with_columns(situation=pl.lit("elsewhere"))
    )
    a, _ = distinctive_terms(frame, min_count=1)
    assert (a.terms, a.situations, a.dropped) == ((), 0, 6)


def test_one_respondent_alone_is_refused() -> None:
    with pytest.raises(InputError, match="needs two respondents or more; got 'a'"):
        distinctive_terms(responses(a=["hello"]))


def test_an_unknown_respondent_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'human'"):
        distinctive_terms(responses(human=["a"], model=["b"]), against="humen")


def test_words_in_other_scripts_are_terms_too() -> None:
    frame = responses(a=["شكرا جزيلا لك"] * 5, b=["سلام لك يا صديقي"] * 5)
    a, _ = distinctive_terms(frame)
    assert names(a)[0] == "شكرا جزيلا لك"


def test_chinese_phrases_are_written_without_spaces() -> None:
    frame = responses(a=["很难过 dear 朋友"] * 5, b=["没关系 朋友吧 dear"] * 5)
    a, _ = distinctive_terms(frame, nested=True)
    assert "很难过" in names(a)
    assert "难过 dear" in names(a)


@pytest.mark.shared_data
def test_the_words_of_people_and_gpt_4_make_sense(welivita_responses: pl.DataFrame) -> None:
    human, model = distinctive_terms(welivita_responses, against=None, top=30)
    assert (human.situations, human.dropped) == (2000, 0)
    # People speak of themselves and do not contract; the model regrets, reads feelings, reminds.
    assert {"i", "my", "that is", "i am"} <= set(names(human))
    assert {"i'm really sorry", "sorry to hear", "remember", "you're feeling"} <= set(names(model))
