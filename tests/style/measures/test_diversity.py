"""MATTR and MTLD.

Outside figures: the packages lexicalrichness 0.5.1 and lexical-diversity 0.1.1, see
tests/reference/style_diversity.py.
"""

from __future__ import annotations

import math
import random

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style import diversity, features
from empathylab.style.measures.diversity import Repeats, find_repeats, mattr, mtld
from empathylab.style.text.segments import offsets

SEQUENCE = [f"w{chr(97 + (i * i * 7 + 3 * i + i // 9) % 23)}" for i in range(240)]


def repeats(*texts: list[str]) -> Repeats:
    number = {word: place for place, word in enumerate(sorted({w for t in texts for w in t}))}
    codes = np.array([number[word] for text in texts for word in text], dtype=np.int32)
    return find_repeats(codes, offsets(np.array([len(text) for text in texts])))


def test_mattr_by_hand() -> None:
    # Windows of 3 in a b a c: (a b a) 2/3, (b a c) 3/3.
    assert mattr(repeats(["a", "b", "a", "c"]), 3)[0] == pytest.approx(5 / 6)


def test_mtld_by_hand() -> None:
    # a b a: 2/3 falls below .72, one factor; then c d: no word twice, no part of a factor.
    # Backwards d c a b a: 4/5 at the end, (1 - .8)/.28 of a factor.
    expected = (5 / 1 + 5 / (0.2 / 0.28)) / 2
    assert mtld(repeats(["a", "b", "a", "c", "d"]))[0] == pytest.approx(expected)


def test_mattr_is_what_two_other_packages_say() -> None:
    found = repeats(SEQUENCE)
    assert mattr(found, 20)[0] == pytest.approx(0.6599547511312218, abs=1e-12)
    assert mattr(found, 50)[0] == pytest.approx(0.41026178010471226, abs=1e-12)


def test_mtld_is_what_another_package_says() -> None:
    assert mtld(repeats(SEQUENCE))[0] == pytest.approx(13.684255001772733, abs=1e-12)


def plain_mattr(text: list[str], window: int) -> float:
    starts = range(len(text) - window + 1)
    ratios = [len(set(text[start : start + window])) / window for start in starts]
    return sum(ratios) / len(ratios) if ratios else math.nan


def plain_factors(text: list[str]) -> float:
    factors, types, tokens = 0.0, set[str](), 0
    for word in text:
        tokens += 1
        types.add(word)
        if len(types) / tokens < 0.72:
            factors, types, tokens = factors + 1, set(), 0
    return factors + (1 - len(types) / tokens) / 0.28 if tokens else factors


def plain_mtld(text: list[str]) -> float:
    both = plain_factors(text), plain_factors(text[::-1])
    return sum(len(text) / item for item in both) / 2 if all(both) else math.nan


def test_many_texts_together_have_what_plain_loops_give() -> None:
    source = random.Random(2)
    lengths = [0, 1, 2, 5, 19, 20, 21, 60, 300, 2_500, *range(3, 40)]
    texts = [[f"w{int(source.paretovariate(0.7))}" for _ in range(length)] for length in lengths]
    found = repeats(*texts)
    expected = [plain_mattr(text, 20) for text in texts]
    assert mattr(found, 20).tolist() == pytest.approx(expected, nan_ok=True)
    assert mtld(found).tolist() == pytest.approx([plain_mtld(t) for t in texts], nan_ok=True)


def test_a_text_shorter_than_the_window_has_no_mattr() -> None:
    assert math.isnan(mattr(repeats(["a"] * 19), 20)[0])


def test_a_text_without_repetition_has_no_mtld() -> None:
    assert math.isnan(mtld(repeats(["a", "b", "c"]))[0])


def test_one_word_all_along_is_the_least_diverse() -> None:
    found = repeats(["a"] * 100)
    assert mattr(found, 20)[0] == pytest.approx(1 / 20)
    assert mtld(found)[0] == pytest.approx(2)


def test_a_window_of_no_words_is_refused() -> None:
    with pytest.raises(InputError, match="at least one word; got 0"):
        mattr(repeats(["a"]), 0)


def test_responses_have_their_own_diversity() -> None:
    frame = pl.DataFrame({"respondent": "a", "situation": 1, "text": [" ".join(SEQUENCE)]})
    row = features(frame, sentiment=False, window=50).row(0, named=True)
    assert row["mattr"] == pytest.approx(0.41026178010471226, abs=1e-12)
    assert row["mtld"] == pytest.approx(13.684255001772733, abs=1e-12)


def test_a_respondents_responses_are_read_as_one_text_by_situation() -> None:
    halves = [" ".join(SEQUENCE[120:]), " ".join(SEQUENCE[:120])]
    frame = pl.DataFrame(
        {
            "respondent": ["a", "a", "a", "b"],
            "situation": [2, 1, 3, 1],
            "text": [*halves, None, "once"],
        }
    )
    a, b = diversity(frame)
    assert (a.respondent, a.words, a.responses, a.dropped) == ("a", 240, 2, 1)
    assert a.mattr == pytest.approx(0.41026178010471226, abs=1e-12)
    assert a.mtld == pytest.approx(13.684255001772733, abs=1e-12)
    assert (b.words, b.responses, b.dropped) == (1, 1, 0)
    assert math.isnan(b.mattr)
    assert math.isnan(b.mtld)
