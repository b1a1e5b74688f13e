"""Openings and closings that recur."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style.openings import near_pairs, recurrences, star_clusters


def responses(*texts: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "respondent": ["a"] * len(texts),
            "situation": [f"s{n}" for n in range(len(texts))],
            "text": texts,
        },
        schema={"respondent": str, "situation": str, "text": str},
    )


def test_openings_are_compared_without_case_and_punctuation() -> None:
    texts = "I am so sorry, Ann.", "i am SO sorry. Really?", "Well, who would have thought."
    [found] = recurrences(responses(*texts), words=4)
    [opening] = found.commonest
    assert (opening.words, opening.count, opening.exact) == ("i am so sorry", 2, 2)
    assert opening.share == pytest.approx(2 / 3)
    assert (found.different, found.responses) == (2, 3)
    assert found.repeated == found.near_repeated == pytest.approx(2 / 3)


def test_near_duplicates_join_the_commonest_wording() -> None:
    # {i am so sorry to} and {i am very sorry to}: words i, am, sorry, to and pairs "i am",
    # "sorry to" in common, 6 of 12.
    texts = ["I am so sorry to hear it"] * 2 + ["I am very sorry to say it", "Good morning to all"]
    [found] = recurrences(responses(*texts))
    [opening] = found.commonest
    assert (opening.count, opening.exact) == (3, 2)
    assert opening.variants == ("i am very sorry to",)
    assert (found.repeated, found.near_repeated) == (0.5, 0.75)


def test_a_higher_similarity_parts_them() -> None:
    texts = ["I am so sorry to hear it"] * 2 + ["I am very sorry to say it"]
    [found] = recurrences(responses(*texts), similarity=0.6)
    assert found.commonest[0].count == 2


def test_closings_are_the_last_words() -> None:
    texts = "So it is. I am here for you.", "Call me. I am here for you!"
    [found] = recurrences(responses(*texts), where="closing")
    assert found.where == "closing"
    assert found.commonest[0].words == "i am here for you"


def test_the_same_opening_in_one_situation_does_not_recur() -> None:
    frame = responses("So it goes on", "So it goes on").with_columns(situation=pl.lit("s"))
    [found] = recurrences(frame)
    assert (found.commonest, found.repeated) == ((), 0)


def test_all_near_pairs_are_found_as_by_comparing_all() -> None:
    rng = np.random.default_rng(5)
    words = np.array(["so", "it", "goes", "rain", "we", "know", "no", "oh"])
    wordings = sorted({" ".join(rng.choice(words, rng.integers(1, 6))) for _ in range(150)})

    def parts(wording: str) -> set[object]:
        each = wording.split(" ")
        return {*each, *itertools.pairwise(each)}

    for similarity in (0.3, 0.5, 0.8, 1.0):
        expected = {
            (i, j)
            for i, j in itertools.combinations(range(len(wordings)), 2)
            if len(parts(wordings[i]) & parts(wordings[j]))
            >= similarity * len(parts(wordings[i]) | parts(wordings[j])) - 1e-9
        }
        first, second = near_pairs(wordings, similarity)
        assert set(zip(first.tolist(), second.tolist(), strict=True)) == expected


def test_clusters_are_stars_around_the_first() -> None:
    # The third is near to the second but not to the first, so it is not drawn in.
    leader = star_clusters(["a b c d", "b c d e", "c d e f"], 0.4)
    assert leader.tolist() == [0, 0, 2]


def test_responses_without_words_are_dropped_and_counted() -> None:
    [found] = recurrences(responses("🙂", "Oh no", "Oh no"))
    assert (found.responses, found.dropped) == (2, 1)


def test_a_respondent_without_words_has_no_share() -> None:
    [found] = recurrences(responses("🙂"))
    assert math.isnan(found.repeated)
    assert found.commonest == ()


def test_one_response_does_not_recur() -> None:
    [found] = recurrences(responses("So it goes."))
    assert found.repeated == 0


def test_no_responses_give_nothing() -> None:
    assert recurrences(responses()) == []


@pytest.mark.parametrize(
    ("option", "message"),
    [({"where": "middle"}, "opening or closing"), ({"similarity": 0}, "'similarity' must be")],
)
def test_wrong_options_are_refused(option: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        recurrences(responses("So"), **option)  # type: ignore[arg-type]


@pytest.mark.shared_data
def test_gpt_4_opens_alike_far_more_often_than_people(welivita_responses: pl.DataFrame) -> None:
    people, model = recurrences(welivita_responses)
    assert people.repeated < 0.1
    assert model.repeated > 0.7
    assert model.commonest[0].share > 0.25
