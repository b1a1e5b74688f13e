"""The built-in posts."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from empathylab.situations import DIALOGUE_EMOTIONS, Situation, builtin_set, valence_of

DOMAINS = ("parenting", "relationships", "workplace", "anger", "anxiety", "health worries")
POSTS = tuple(builtin_set("posts"))


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text, in bare lower-case words, without those of one or two words."""
    parts = (" ".join(words(part)) for part in re.split(r"[.!?]+\s|\n+", text))
    return [part for part in parts if part.count(" ") >= 2]


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    """Every run of that many words in the text."""
    found = words(text)
    return {tuple(found[start : start + length]) for start in range(len(found) - length + 1)}


def test_every_domain_has_eight_posts_in_order() -> None:
    assert Counter(post.topic for post in POSTS) == dict.fromkeys(DOMAINS, 8)
    assert tuple(dict.fromkeys(post.topic for post in POSTS)) == DOMAINS


def test_an_id_is_the_domain_and_a_number() -> None:
    assert all(
        re.fullmatch(rf"{(post.topic or '').replace(' ', '-')}-\d+", post.id) for post in POSTS
    )


def test_two_of_the_first_six_posts_in_every_domain_are_about_good_things() -> None:
    chosen = builtin_set("posts").first_per_group(6)
    pleasant = Counter(item.topic for item in chosen if item.valence == "positive")
    assert pleasant == dict.fromkeys(DOMAINS, 2)


@pytest.mark.parametrize("post", POSTS, ids=lambda post: post.id)
def test_a_post_has_80_to_200_words(post: Situation) -> None:
    assert 80 <= len(post.text.split()) <= 200


def test_lengths_spread_over_the_allowed_range() -> None:
    lengths = [len(post.text.split()) for post in POSTS]
    assert min(lengths) <= 95
    assert max(lengths) >= 185
    bands = Counter((length - 80) // 30 for length in lengths)
    assert all(bands[band] >= 4 for band in range(4))


def test_the_post_itself_is_what_is_said() -> None:
    assert all(post.utterance is None for post in POSTS)


def test_every_post_has_a_title_of_its_own() -> None:
    titles = Counter(" ".join(words(post.title or "")) for post in POSTS)
    assert titles[""] == 0
    assert set(titles.values()) == {1}


def test_no_two_posts_open_with_the_same_four_words() -> None:
    openings = Counter(tuple(words(post.text)[:4]) for post in POSTS)
    assert set(openings.values()) == {1}


def test_no_sentence_comes_twice() -> None:
    found = Counter(sentence for post in POSTS for sentence in sentences(post.text))
    assert [sentence for sentence, count in found.items() if count > 1] == []


def test_no_run_of_six_words_is_in_two_posts() -> None:
    posts_with: Counter[tuple[str, ...]] = Counter()
    for post in POSTS:
        posts_with.update(runs(post.text, 6))
    assert [run for run, count in posts_with.items() if count > 1] == []


def test_nothing_is_shared_with_the_dialogues() -> None:
    said = {
        run
        for item in builtin_set("dialogues")
        for text in (item.text, item.utterance or "")
        for run in runs(text, 6)
    }
    assert said.isdisjoint(run for post in POSTS for run in runs(post.text, 6))


def test_an_emotion_is_one_of_the_32_and_agrees_with_the_valence() -> None:
    labelled = [post for post in POSTS if post.emotion]
    assert len(labelled) > len(POSTS) / 2
    assert {item.emotion for item in labelled} <= set(DIALOGUE_EMOTIONS)
    assert all(item.valence in ("mixed", valence_of(item.emotion or "")) for item in labelled)


@pytest.mark.parametrize("post", POSTS, ids=lambda post: post.id)
def test_a_text_is_clean(post: Situation) -> None:
    for text in (post.title or "", post.text):
        assert text == text.strip()
        assert "  " not in text
        assert all(char.isprintable() or char == "\n" for char in text)
