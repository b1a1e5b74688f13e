"""The built-in situations: balance, lengths, repetitions, reading level, versions and tags.

Each rule is a function over sets, so that the last test can show that version 1 breaks it.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from empathylab.situations import (
    APPRAISAL_EMOTIONS,
    DIALOGUE_EMOTIONS,
    Situation,
    SituationSet,
    builtin_set,
    builtin_sets,
    builtin_versions,
)
from empathylab.situations.content_notes import content_tags
from empathylab.situations.near_duplicates import jaccard, plain_words, word_pairs

NEW = {name: one for name, one in builtin_sets().items() if one.language == "en"}
OLD = {name: builtin_set(f"{name}@1") for name in NEW}
Sets = dict[str, SituationSet]

# Pairs that a reader found to tell the same story. Word overlap does not find them.
SAME_STORY = (
    ("lonely-1", "depression-isolation-3"),
    ("apprehensive-4", "anxiety-external-1"),
    ("embarrassed-1", "embarrassment-stranger-3"),
    ("jealous-3", "jealousy-romantic-same-1"),
    ("apprehensive-3", "anxiety-growth-1"),
    ("parenting-5", "guilt-betrayal-2"),
)
# Too weak to evoke what they say, or frightening for another reason than their factor.
WEAK = (
    *("fear-agoraphobia-2", "fear-agoraphobia-3", "embarrassment-sticky-3", "fear-social-3"),
    *("fear-injury-3", "anger-bullying-3", "anger-thoughtless-3", "embarrassment-attention-3"),
    *("embarrassment-stranger-2", "frustration-rejection-3", "jealousy-romantic-same-3"),
    "embarrassed-4",
)


def texts(one: Situation) -> str:
    return " ".join(filter(None, (one.title, one.text, one.utterance)))


def length(one: Situation) -> int:
    return len(one.text.split())


def unbalanced(sets: Sets) -> list[str]:
    per_factor = Counter((item.emotion, item.factor) for item in sets["appraisal"])
    per_emotion = Counter(dialogue.emotion for dialogue in sets["dialogues"])
    found = [f"{key}: {count}" for key, count in per_factor.items() if count < 5]
    return found + [f"{key}: {count}" for key, count in per_emotion.items() if count < 6]


def uniform(sets: Sets) -> list[str]:
    """Sets whose situations are all about as long: the middle half within 20 words."""
    found = []
    for name, low, high in (("appraisal", 12, 90), ("dialogues", 12, 90)):
        lengths = sorted(map(length, sets[name]))
        first, _, third = statistics.quantiles(lengths, n=4)
        spread = statistics.pstdev(lengths) / statistics.mean(lengths)
        if lengths[0] < low or lengths[-1] > high or spread < 0.4:
            found.append(f"{name}: {lengths[0]} to {lengths[-1]}, {first:g} to {third:g}")
    return found


def lacking_valences(sets: Sets) -> list[str]:
    wanted = {"dialogues": {"positive", "negative", "mixed"}, "posts": {"positive", "negative"}}
    return [
        f"{name}: {one}"
        for name, valences in wanted.items()
        for one in valences - {situation.valence for situation in sets[name]}
    ]


def same_stories(sets: Sets) -> list[str]:
    ids = {one.id for chosen in sets.values() for one in chosen}
    return [f"{one} / {other}" for one, other in SAME_STORY if {one, other} <= ids]


def weak(sets: Sets) -> list[str]:
    return [one.id for chosen in sets.values() for one in chosen if one.id in WEAK]


def same_names(sets: Sets) -> list[str]:
    """Surnames that two situations share."""
    owners: dict[str, set[str]] = {}
    for chosen in sets.values():
        for item in chosen:
            for name in re.findall(r"\b(?:Mr|Mrs|Ms|Dr|Professor)\.? ([A-Z]\w+)", texts(item)):
                owners.setdefault(name, set()).add(item.id)
    return [name for name, ids in owners.items() if len(ids) > 1]


def untagged(sets: Sets) -> list[str]:
    """Situations that speak of death, dying or an attack and carry no tag."""
    telling = re.compile(
        r"\b(?:died|funeral|miscarriages?|no heartbeat|lockdown|biopsy|stroke|seizures?|"
        r"sober|drunk|threatened|put down)\b",
        re.IGNORECASE,
    )
    return [
        one.id
        for chosen in sets.values()
        for one in chosen
        if telling.search(texts(one)) and not one.tags
    ]


def misfiled(sets: Sets) -> list[str]:
    """Romantic jealousy under the wrong factor, by who the rival is to the partner."""
    rivals = {
        "Best husband in the village": "Romantic (Same Gender)",
        "a heart from a woman at his climbing gym": "Romantic (Opposite Gender)",
        "Kofi, who teaches your wife's pottery class": "Romantic (Opposite Gender)",
    }
    return [
        item.id
        for item in sets["appraisal"]
        for words, factor in rivals.items()
        if words in item.text and item.factor != factor
    ]


def grade(text: str) -> float:
    """The Flesch-Kincaid grade (Kincaid et al. 1975): 8 is the level of a 14-year-old."""
    sentences = max(1, len(re.findall(r"[.!?]+(?=\s|$|\")", text)))
    words = re.findall(r"[A-Za-z']+", text)
    return 0.39 * len(words) / sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def syllables(word: str) -> int:
    word = re.sub(r"[^a-z]", "", word.lower())
    groups = len(re.findall(r"[aeiouy]+", word))
    if word.endswith("e") and not word.endswith(("le", "ee")) and groups > 1:
        groups -= 1
    if re.search(r"[^td]ed$", word) and groups > 1:
        groups -= 1
    return max(groups, 1)


def hard_to_read(sets: Sets) -> list[str]:
    """Scenes above the ninth grade, that is above the level of a 14-year-old."""
    scenes = (*sets["appraisal"], *sets["dialogues"])
    return [scene.id for scene in scenes if grade(texts(scene)) > 9]


RULES: tuple[Callable[[Sets], list[str]], ...] = (
    *(unbalanced, uniform, lacking_valences, same_stories, weak, same_names, untagged, misfiled),
    hard_to_read,
)


@pytest.mark.parametrize("rule", RULES)
def test_the_newest_sets_keep_the_rule(rule: Callable[[Sets], list[str]]) -> None:
    assert rule(NEW) == []


@pytest.mark.parametrize("rule", RULES)
def test_version_1_breaks_the_rule(rule: Callable[[Sets], list[str]]) -> None:
    assert rule(OLD) != []


def test_no_two_situations_of_any_set_share_most_of_their_words() -> None:
    pairs = {
        one.id: word_pairs(plain_words(texts(one))) for chosen in NEW.values() for one in chosen
    }
    ids = list(pairs)
    near = [
        (one, other)
        for place, one in enumerate(ids)
        for other in ids[place + 1 :]
        if jaccard(pairs[one], pairs[other]) > 0.12
    ]
    assert near == []


def test_the_grade_is_that_of_a_text_counted_by_hand() -> None:
    # 2 sentences, 11 words, 13 syllables: 0.39 * 5.5 + 11.8 * 13 / 11 - 15.59 = 0.50
    text = "The old man saw a red apple. He gave it away."
    assert sum(map(syllables, re.findall(r"[A-Za-z]+", text))) == 13
    assert grade(text) == pytest.approx(0.39 * 5.5 + 11.8 * 13 / 11 - 15.59)


def test_endings_differ_in_kind() -> None:
    """Not every scene closes on a line of speech or a two-word sentence."""
    for name in ("appraisal", "dialogues"):
        last = [re.split(r"(?<=[.!?])\s+", item.text)[-1] for item in NEW[name]]
        short = sum(len(sentence.split()) <= 4 for sentence in last)
        quoted = sum(sentence.rstrip().endswith('"') for sentence in last)
        assert short < 0.1 * len(last)
        assert quoted < 0.15 * len(last)


# -- versions -----------------------------------------------------------------------------------


def test_version_1_is_what_0_1_shipped() -> None:
    assert {name: one.fingerprint[:16] for name, one in OLD.items()} == {
        "appraisal": "38325a947c08c5d3",
        "dialogues": "20830b3fbcdf2bba",
        "posts": "75107b4c7b5f6cbb",
    }


def test_an_id_never_stands_for_another_text() -> None:
    for name, newest in NEW.items():
        before = {item.id: (item.text, item.utterance, item.counterpart) for item in OLD[name]}
        for item in newest:
            if item.id in before:
                assert (item.text, item.utterance, item.counterpart) == before[item.id], item.id


def test_a_version_can_be_named() -> None:
    assert builtin_set("appraisal").version == 2
    assert builtin_set("appraisal@1").version == 1
    english = {f"{name}@{one}" for name in NEW for one in (1, 2)}
    assert set(builtin_versions()) == english | {
        f"{name}-{language}@1" for name in ("appraisal", "dialogues") for language in ("de", "zh")
    }


def test_both_versions_name_the_factors_and_emotions_in_the_same_order() -> None:
    assert NEW["appraisal"].factors == OLD["appraisal"].factors
    assert NEW["appraisal"].emotions == APPRAISAL_EMOTIONS
    assert NEW["dialogues"].emotions == DIALOGUE_EMOTIONS


# -- tags ---------------------------------------------------------------------------------------


def used_tags(sets: Iterable[SituationSet]) -> set[str]:
    return {tag for chosen in sets for one in chosen for tag in one.tags}


def test_tags_come_from_the_vocabulary_and_each_says_itself_in_two_languages() -> None:
    assert used_tags(NEW.values()) <= set(content_tags())
    assert all(set(words) == {"en", "de"} for words in content_tags().values())


@pytest.mark.parametrize(
    ("situation", "tag"),
    [
        ("devastated-1", "death of a child"),
        ("terrified-1", "violence at a school"),
        ("terrified-6", "suicide"),
        ("sad-1", "death of a pet"),
        ("ashamed-2", "addiction"),
    ],
)
def test_what_a_reader_should_be_warned_of_is_tagged(situation: str, tag: str) -> None:
    [found] = [dialogue for dialogue in NEW["dialogues"] if dialogue.id == situation]
    assert tag in found.tags
