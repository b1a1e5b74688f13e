"""Whether the writer can be told from the text."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style.authorship.classifier import (
    ngram_counts,
    out_of_fold,
    situation_folds,
    weighted,
)
from empathylab.style.authorship.predictability import macro_f1, permutation_p, predictability
from empathylab.style.authorship.refitting import refitting_factor

TOPICS = ["dog", "job", "train", "exam", "garden", "letter", "cousin", "boat", "piano", "soup"]


def two_styles(situations: int = 30) -> pl.DataFrame:
    rows = []
    for number in range(situations):
        topic = TOPICS[number % 10]
        rows += [
            ("warm", f"s{number}", f"Oh no, the {topic}! I feel with you, number {number}!!"),
            ("cool", f"s{number}", f"The {topic} is a fact. One may regret {number} of them."),
        ]
    return pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")


def test_plainly_different_styles_are_always_told() -> None:
    found = predictability(two_styles(), with_ablations=False)
    assert found.full.accuracy == 1
    assert found.full.macro_f1 == 1
    assert found.full.confusion == ((30, 0), (0, 30))
    assert (found.full.chance, found.uniform_chance) == (0.5, 0.5)
    assert (found.folds, found.grouped_by, found.dropped) == (5, "situation", 0)


def test_an_accuracy_of_1_still_has_an_interval() -> None:
    # 30 situations count as 30 cases, n / (n + z²), over the square of the factor for alike texts.
    texts = two_styles()
    found = predictability(texts, with_ablations=False, seed=3)
    place, writer = (
        np.unique(texts[column].to_numpy(), return_inverse=True)[1]
        for column in ("situation", "respondent")
    )
    fold = situation_folds(texts["situation"].to_list(), 5, seed=3)
    features = weighted(ngram_counts(texts["text"]), np.ones(texts.height, dtype=bool))
    factor = refitting_factor(features, place, writer, fold, seed=3)
    assert 1 < factor < 1.6
    n = 30 / factor**2
    assert found.full.low == pytest.approx(n / (n + 1.959964**2), abs=1e-6)


def test_what_a_situation_is_about_does_not_help() -> None:
    # Each situation has a word of its own and one writer who answers it three times. Where
    # responses to one situation stood in training and test, the word would tell the writer.
    rng = np.random.default_rng(0)
    rows = [
        (str(rng.choice(["a", "b"])), f"s{number}", f"topic{number} " * 3) for number in range(60)
    ]
    frame = pl.DataFrame(rows * 3, schema=["respondent", "situation", "text"], orient="row")
    found = predictability(frame, with_ablations=False)
    assert found.full.accuracy < 0.75


def test_no_situation_is_in_two_folds() -> None:
    situations = [f"s{number % 23}" for number in range(200)]
    folds = situation_folds(situations, 5, seed=3)
    by_situation: dict[str, set[int]] = {}
    for situation, fold in zip(situations, folds.tolist(), strict=True):
        by_situation.setdefault(situation, set()).add(fold)
    assert all(len(each) == 1 for each in by_situation.values())
    assert set(folds.tolist()) == {0, 1, 2, 3, 4}


def test_folds_are_of_like_size() -> None:
    sizes = np.bincount(situation_folds([f"s{i}" for i in range(52)], 5))
    assert sizes.max() - sizes.min() <= 1


def test_folds_are_repeatable_and_depend_on_the_seed() -> None:
    situations = [f"s{i}" for i in range(40)]
    assert (situation_folds(situations, 5, seed=1) == situation_folds(situations, 5, seed=1)).all()
    assert (situation_folds(situations, 5, seed=1) != situation_folds(situations, 5, seed=2)).any()


def test_weights_are_those_scikit_learn_learns_from_the_training_texts() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = two_styles(6)["text"]
    training = np.arange(len(texts)) < 8
    ours = weighted(ngram_counts(texts), training)
    learnt = TfidfVectorizer(
        analyzer="char", ngram_range=(2, 4), lowercase=False, min_df=2, sublinear_tf=True
    ).fit(texts.to_list()[:8])
    theirs = learnt.transform(texts.to_list())
    names = ngram_counts(texts).names[0].tolist()
    columns = [names.index(name) for name in learnt.get_feature_names_out()]
    assert ours[:, columns].toarray() == pytest.approx(theirs.toarray(), abs=1e-6)
    rest = np.setdiff1d(np.arange(len(names)), columns)
    assert ours[:, rest].nnz == 0 or not ours[:, rest].toarray().any()


def test_macro_f1_by_hand() -> None:
    # Class 0: precision 3/4, recall 3/5, F1 2/3; class 1: precision 5/7, recall 5/6, F1 10/13.
    assert macro_f1(np.array([[3.0, 2], [1, 5]])) == pytest.approx((2 / 3 + 10 / 13) / 2)


def test_a_class_never_told_and_never_there_scores_0() -> None:
    assert macro_f1(np.array([[4.0, 0], [0, 0]])) == pytest.approx(0.5)


def test_a_writer_without_training_texts_is_never_named() -> None:
    marks = {0: "oh no oh no", 1: "well well", 2: "hm hm hm"}
    writers = np.array([0, 1, 2, 0, 2, 0, 2])
    fold = np.array([0, 0, 0, 1, 1, 2, 2])
    texts = pl.Series([marks[number] for number in writers])
    named = out_of_fold(ngram_counts(texts), writers, fold).authors
    assert named[[0, 2]].tolist() == [0, 2]
    assert named[1] != 1


def test_macro_f1_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import confusion_matrix, f1_score

    rng = np.random.default_rng(2)
    true, told = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    expected = f1_score(true, told, average="macro")
    assert macro_f1(confusion_matrix(true, told).astype(float)) == pytest.approx(expected)


def test_what_gives_the_writer_away_can_be_read() -> None:
    found = predictability(two_styles(), with_ablations=False, top=8)
    warm = {giveaway.term for giveaway in found.giveaways if giveaway.respondent == "warm"}
    assert {"Oh", "feel"} <= warm
    [best, *_] = [giveaway for giveaway in found.giveaways if giveaway.respondent == "cool"]
    assert (best.share, best.against_share) == (1, 0)
    assert any(
        "␣" in giveaway.term for giveaway in found.giveaways if giveaway.kind == "characters"
    )


def test_of_giveaways_that_hold_one_another_one_is_listed() -> None:
    found = predictability(two_styles(), with_ablations=False).giveaways
    for name, kind in {(item.respondent, item.kind) for item in found}:
        terms = [item.term for item in found if (item.respondent, item.kind) == (name, kind)]
        edge = " " if kind == "words" else ""
        assert not any(
            f"{edge}{term}{edge}" in f"{edge}{other}{edge}"
            for term in terms
            for other in terms
            if term != other
        )


def test_ablations_show_what_carries_the_style() -> None:
    # Two writers who differ in exclamation marks only, and are equally long.
    rows = []
    for number in range(40):
        words = f"That is hard about the {TOPICS[number % 10]}"
        rows += [("loud", number, words + "!"), ("quiet", number, words + ".")]
    frame = pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")
    found = predictability(frame)
    accuracy = {value.name: value.accuracy for value in (found.full, *found.ablations)}
    assert accuracy["punctuation alone"] == 1
    assert min(accuracy["full"], accuracy["without case"], accuracy["without emoji"]) > 0.9
    assert accuracy["without punctuation"] == pytest.approx(0.5, abs=0.2)
    assert accuracy["length alone"] == pytest.approx(0.5, abs=0.2)
    assert accuracy["words alone"] == pytest.approx(0.5, abs=0.2)


def test_taking_away_what_is_not_there_is_said() -> None:
    [emoji] = [
        ablation
        for ablation in predictability(two_styles()).ablations
        if ablation.name == "without emoji"
    ]
    assert emoji.note == "no text had any"
    assert emoji.accuracy == 1


def test_length_alone_tells_long_from_short() -> None:
    rows = [
        (name, number, "well " * (size + number % 3))
        for number in range(20)
        for name, size in (("short", 3), ("long", 20))
    ]
    frame = pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")
    accuracy = {ablation.name: ablation.accuracy for ablation in predictability(frame).ablations}
    assert accuracy["length alone"] == 1
    assert accuracy["without length"] == pytest.approx(0.5, abs=0.2)


def test_three_writers_have_a_matrix_of_three() -> None:
    third = two_styles().filter(pl.col("respondent") == "cool")
    third = third.with_columns(
        respondent=pl.lit("third"), text=pl.col("text").str.replace("fact", "pity 😔😔")
    )
    found = predictability(pl.concat([two_styles(), third]), with_ablations=False)
    assert found.respondents == ("warm", "cool", "third")
    assert np.array(found.full.confusion).shape == (3, 3)
    assert found.full.accuracy > 0.9
    assert {giveaway.respondent for giveaway in found.giveaways} == {"warm", "cool", "third"}


def test_a_respondent_with_one_response_is_left_out_and_said() -> None:
    one = pl.DataFrame({"respondent": ["rare"], "situation": ["s1"], "text": ["Hm."]})
    found = predictability(pl.concat([two_styles(), one]), with_ablations=False)
    assert (found.left_out, found.dropped) == (("rare",), 1)
    assert found.respondents == ("warm", "cool")


def test_only_so_many_responses_are_looked_at() -> None:
    found = predictability(two_styles(), with_ablations=False, most=24)
    assert found.full.responses == 24
    assert found.not_drawn == 36


def test_situations_larger_than_the_limit_are_drawn_all_the_same() -> None:
    found = predictability(two_styles(), with_ablations=False, most=3, folds=4)
    assert found.full.situations == 4


def test_too_few_situations_are_refused() -> None:
    with pytest.raises(InputError, match="with 5 situations or more each"):
        predictability(two_styles(4))


def test_texts_of_marks_only_can_be_classified() -> None:
    rows = [(name, n, mark) for n in range(10) for name, mark in (("a", "!?"), ("b", ".."))]
    frame = pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")
    found = predictability(frame)
    accuracy = {value.name: value.accuracy for value in (found.full, *found.ablations)}
    assert accuracy["full"] == 1
    assert "without length" not in accuracy


def test_texts_that_share_nothing_are_given_to_who_wrote_most() -> None:
    letters = [chr(ord("a") + number) for number in range(15)]
    rows = [
        ("b" if number < 5 else "a", number, 2 * letter) for number, letter in enumerate(letters)
    ]
    frame = pl.DataFrame(rows, schema=["respondent", "situation", "text"], orient="row")
    found = predictability(frame, with_ablations=False)
    assert [sum(row) for row in zip(*found.full.confusion, strict=True)] == [0, 15]
    assert found.giveaways == ()


@pytest.mark.slow
@pytest.mark.shared_data
def test_people_are_told_from_gpt_4(welivita_responses: pl.DataFrame) -> None:
    found = predictability(welivita_responses)
    accuracy = {value.name: value.accuracy for value in (found.full, *found.ablations)}
    assert accuracy["full"] >= 0.97
    assert found.full.chance == 0.5
    assert found.full.low > 0.97
    # The style is in the words: it survives without punctuation, case and length.
    assert accuracy["words alone"] > 0.95
    assert 0.75 < accuracy["punctuation alone"] < accuracy["length alone"] < 0.92


def test_a_permutation_p_by_hand() -> None:
    # Both writers of three situations named right: 1 of 2³ exchanges does as well.
    situations = np.repeat(np.arange(3), 2)
    writers = np.tile([0, 1], 3)
    p = permutation_p(situations, writers, writers, seed=1)
    assert p == pytest.approx(1 / 8, abs=0.03)


def test_writers_named_at_random_have_even_p_values() -> None:
    rng = np.random.default_rng(1)
    situations, writers = np.repeat(np.arange(25), 2), np.tile([0, 1], 25)
    p = [permutation_p(situations, writers, rng.integers(0, 2, 50), seed=n) for n in range(100)]
    assert np.mean(np.array(p) < 0.05) <= 0.11
    assert np.mean(p) == pytest.approx(0.55, abs=0.12)


def test_situations_with_one_writer_each_have_no_permutation_p() -> None:
    writers = np.tile([0, 1], 5)
    assert np.isnan(permutation_p(np.arange(10), writers, writers, seed=1))
