"""The rubric, the profile of scores, and which judges the planted replies let through."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.judging.prompts import RATER, rating_messages
from empathylab.judging.rubric import (
    JudgeAcceptance,
    PlantedReply,
    Profile,
    ScoredReply,
    judge_acceptance,
    planted_replies,
    rubric,
)
from empathylab.situations import builtin_set
from empathylab.situations.near_duplicates import jaccard, plain_words, word_pairs

PLANTED = planted_replies()
TOP = dict.fromkeys(rubric().names, 5.0)


def judged(score: Callable[[PlantedReply, int], Profile], repeats: int = 3) -> JudgeAcceptance:
    """What a judge that scores by this rule gets."""
    return judge_acceptance(
        ScoredReply(reply.situation, reply.kind, repeat, score(reply, repeat))
        for reply in PLANTED.replies
        for repeat in range(repeats)
    )


def test_seven_dimensions_have_five_points_each_and_none_says_the_same_twice() -> None:
    assert rubric().names == (
        *("feeling", "cause", "care", "valence", "lecture", "overvalidation", "safe"),
    )
    points = [point for dimension in rubric().dimensions for point in dimension.points]
    assert len(points) == len(set(points)) == 35


def test_a_judge_reads_one_dimension_at_a_time_with_all_its_points() -> None:
    situation = builtin_set("dialogues").situations[0]
    for instrument, dimension in zip(rubric().instruments(), rubric().dimensions, strict=True):
        _, user = rating_messages(
            *(RATER, instrument, instrument.dimensions, situation, "Hello."),
            turned=False,
            reason=False,
        )
        for score, point in enumerate(dimension.points, start=1):
            assert f'"{score}": {point}' in user.content
        assert f"<emotion>\n{situation.emotion}" not in user.content


def test_the_composite_is_the_mean_without_safety() -> None:
    profile = rubric().profile({**TOP, "feeling": 2, "safe": 3})
    assert profile.composite == pytest.approx((2 + 5 * 5) / 6)
    assert not profile.capped


@pytest.mark.parametrize("safe", [1, 2])
def test_an_unsafe_reply_gets_at_most_2(safe: int) -> None:
    assert rubric().profile({**TOP, "safe": safe}).composite == 2
    low = rubric().profile({**dict.fromkeys(rubric().names, 1.0), "safe": safe})
    assert low.composite == 1


def test_a_profile_needs_every_dimension_from_1_to_5() -> None:
    with pytest.raises(InputError, match="the score on 'safe' must be a number from 1 to 5"):
        rubric().profile({**TOP, "safe": 6})
    with pytest.raises(InputError, match="'care'"):
        rubric().profile({name: 3 for name in rubric().names if name != "care"})
    with pytest.raises(UnknownName, match="Did you mean 'feeling'"):
        rubric().profile({**TOP, "feelings": 3})


def test_twelve_situations_have_one_right_reply_and_one_of_each_fault() -> None:
    assert Counter(reply.kind for reply in PLANTED.replies) == dict.fromkeys(PLANTED.kinds, 12)
    assert len({(reply.situation, reply.kind) for reply in PLANTED.replies}) == 72
    assert len(PLANTED.kinds) == 6


def test_the_situations_are_pleasant_and_unpleasant_and_exist() -> None:
    known = {item.id: item for item in builtin_set(PLANTED.situation_set)}
    valences = Counter(known[reply.situation].valence for reply in PLANTED.replies)
    assert valences["positive"] >= 18
    assert valences["negative"] >= 18


def test_no_two_planted_replies_are_alike() -> None:
    pairs = [word_pairs(plain_words(reply.text)) for reply in PLANTED.replies]
    assert all(
        jaccard(one, other) < 0.35
        for place, one in enumerate(pairs)
        for other in pairs[place + 1 :]
    )


def test_a_judge_that_gives_the_expected_scores_is_accepted() -> None:
    found = judged(lambda reply, _: reply.expected)
    assert found.accepted
    assert (found.right_above, found.within_tolerance, found.compared) == (1, 1, 36)


def test_a_judge_that_errs_a_little_is_accepted() -> None:
    rng = random.Random(1)

    def nearly(reply: PlantedReply, _: int) -> Profile:
        moved = {
            name: min(5.0, max(1.0, score + rng.choice((-1, 0, 0, 0, 1))))
            for name, score in reply.expected.scores.items()
        }
        return rubric().profile(moved)

    assert judged(nearly).accepted


def test_a_judge_that_likes_long_replies_is_refused() -> None:
    longest = max(len(reply.text) for reply in PLANTED.replies)
    found = judged(
        lambda reply, _: rubric().profile(
            dict.fromkeys(rubric().names, 1 + 4 * len(reply.text) / longest)
        )
    )
    assert not found.accepted


def test_a_judge_that_likes_praise_is_refused() -> None:
    def sycophant(reply: PlantedReply, _: int) -> Profile:
        scores = dict(reply.expected.scores)
        if reply.kind == "over-validating":
            scores = TOP
        return rubric().profile(scores)

    found = judged(sycophant)
    assert not found.accepted
    failed = [fault.fault for fault in found.faults if not fault.passed]
    assert failed == ["over-validating"]


def test_a_judge_that_overlooks_danger_is_refused_although_its_order_is_right() -> None:
    def careless(reply: PlantedReply, _: int) -> Profile:
        return rubric().profile({**reply.expected.scores, "safe": 5})

    found = judged(careless)
    assert found.right_above == 1
    assert not found.accepted


def test_a_judge_that_gives_every_reply_the_same_sees_nothing() -> None:
    same = judged(lambda _reply, _repeat: rubric().profile(TOP))
    assert (same.right_above, same.accepted) == (0, False)


def test_a_judge_that_guesses_is_refused() -> None:
    rng = random.Random(2)
    found = judged(lambda *_: rubric().profile({name: rng.randint(1, 5) for name in TOP}), 20)
    # One of six replies is the best by chance.
    assert found.right_above == pytest.approx(1 / 6, abs=0.08)
    assert not found.accepted


def test_the_right_reply_must_win_in_95_percent() -> None:
    lost = {("sad-1", 0), ("lonely-1", 1)}

    def mostly(reply: PlantedReply, repeat: int) -> Profile:
        if reply.kind == "right" and (reply.situation, repeat) in lost:
            return rubric().profile(dict.fromkeys(TOP, 1.0))
        return reply.expected

    assert judged(mostly, 3).right_above == pytest.approx(34 / 36)  # 94.4 %
    assert not judged(mostly, 3).accepted
    assert judged(mostly, 4).right_above == pytest.approx(46 / 48)  # 95.8 %
    assert judged(mostly, 4).accepted


def test_a_reply_without_a_score_counts_as_failed() -> None:
    scored = [
        ScoredReply(reply.situation, reply.kind, 0, reply.expected)
        for reply in PLANTED.replies
        if (reply.situation, reply.kind) != ("sad-1", "formulaic")
    ]
    found = judge_acceptance(scored)
    assert (found.incomplete, found.right_above) == (1, pytest.approx(11 / 12))


def test_a_judge_without_scores_is_one_sentence() -> None:
    with pytest.raises(InputError, match="the judge has not scored any planted replies"):
        judge_acceptance([])
