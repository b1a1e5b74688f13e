"""How much a respondent repeats itself."""

from __future__ import annotations

import math
import zlib

import polars as pl
import pytest

from empathylab.style.repetition import repetition


def responses(**texts: list[str]) -> pl.DataFrame:
    rows = [
        {"respondent": name, "situation": f"s{number}", "text": text}
        for name, each in texts.items()
        for number, text in enumerate(each)
    ]
    return pl.DataFrame(rows, schema={"respondent": str, "situation": str, "text": str})


def test_the_share_of_repeated_phrases_by_hand() -> None:
    # Runs of two words: "so it", "it goes" twice each, "we know" and "who asks" once: 4 of 6.
    texts = ["So it goes.", "So it goes.", "We know.", "Who asks?"]
    [found] = repetition(responses(a=texts), size=2, min_responses=1, draws=3)
    assert found.phrase_repetition == pytest.approx(4 / 6)
    assert (found.phrase_low, found.phrase_high) == pytest.approx((4 / 6, 4 / 6))
    assert (found.words, found.responses, found.size) == (10, 4, 2)


def test_a_phrase_repeated_within_one_response_is_not_repetition_across() -> None:
    [found] = repetition(responses(a=["no no no", "yes we do"]), size=2, min_responses=1)
    assert found.phrase_repetition == 0


def test_samples_of_one_situation_are_not_repetition_across() -> None:
    frame = responses(a=["So it goes.", "So it goes."]).with_columns(situation=pl.lit("s"))
    [found] = repetition(frame, size=2, min_responses=1)
    assert found.phrase_repetition == 0
    assert found.repeated == ()


def test_the_compression_is_zlibs() -> None:
    texts = ["the same again"] * 12
    [found] = repetition(responses(a=texts))
    raw = b"the same again\n" * 12
    assert found.compression == pytest.approx(len(raw) / len(zlib.compress(raw, 9)))
    assert found.bytes == len(raw)


def test_who_repeats_itself_compresses_more_and_repeats_more() -> None:
    stock = [f"I am so sorry to hear about the matter {n}." for n in range(40)]
    plain = [f"{chr(97 + n % 26)}{n} went {n * 7} ways past {n * n} barns." for n in range(40)]
    high, low = repetition(responses(stock=stock, plain=plain))
    assert high.phrase_repetition > low.phrase_repetition
    assert high.compression > low.compression


def test_the_same_amount_is_drawn_from_everybody() -> None:
    # Twice as many responses of the same kind do not count as more repetition.
    kinds = [f"the {n % 30} th remark of mine on this" for n in range(120)]
    many, few = repetition(responses(many=kinds, few=kinds[:60]), draws=40)
    assert many.words == few.words == 60 * 8
    assert many.compression == pytest.approx(few.compression, rel=0.1)


def test_the_most_repeated_phrases_come_first() -> None:
    texts = ["thank you for asking", "thank you for coming", "thank you for asking again"]
    [found] = repetition(responses(a=texts), size=3, min_responses=1)
    assert [(item.phrase, item.responses) for item in found.repeated] == [
        ("thank you for", 3),
        ("you for asking", 2),
    ]


def test_a_respondent_with_one_response_has_no_measure_and_sets_no_amount() -> None:
    rare, often = repetition(responses(rare=["Hm."], often=["so it goes on"] * 12))
    assert math.isnan(rare.phrase_repetition)
    assert math.isnan(rare.compression)
    assert often.words == 48


def test_texts_shorter_than_a_phrase_have_no_share() -> None:
    [found] = repetition(responses(a=["Oh no"] * 12))
    assert math.isnan(found.phrase_repetition)
    assert found.compression > 1


def test_the_seed_makes_it_repeatable() -> None:
    frame = responses(
        a=[f"number {n} of many more" for n in range(40)], b=["a short one this time"] * 15
    )
    assert repetition(frame, seed=4) == repetition(frame, seed=4)


def test_no_responses_give_nothing() -> None:
    assert repetition(responses()) == []


@pytest.mark.shared_data
def test_gpt_4_repeats_itself_more_than_people(welivita_responses: pl.DataFrame) -> None:
    people, model = repetition(welivita_responses)
    assert model.phrase_low > 4 * people.phrase_high
    assert model.compression_low > people.compression_high
