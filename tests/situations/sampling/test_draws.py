"""Balanced draws."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathylab.errors import InputError, UnknownName
from empathylab.situations import Situation, SituationSet, builtin_set
from empathylab.situations.sampling.draws import Draw, Shortfall, draw
from empathylab.situations.sampling.exclusions import Rules
from empathylab.situations.sampling.methods import methods_paragraph
from empathylab.situations.sampling.strata import BALANCES, Bands, length_bands
from empathylab.situations.sources.welivita import read_release
from empathylab.situations.word_lists import WordList
from empathylab.tables import read_table

NONE = Rules(min_words=0, opening=False, unsafe=WordList(()), duplicates="keep")


def made(*situations: Situation) -> SituationSet:
    return SituationSet("made", 3, "Made up", "en", "CC0", False, "For tests.", tuple(situations))


def many(**supply: int) -> SituationSet:
    """So many situations of each emotion, each with words of its own."""
    return made(
        *(
            Situation(f"{emotion}-{n}", f"{emotion} number {n}: " + "word " * (n % 17), emotion)
            for emotion, count in supply.items()
            for n in range(count)
        )
    )


def emotions(found: Draw) -> Counter[str]:
    return Counter(key.partition("-")[0] for key in found.situations)


def test_each_emotion_gives_the_same_and_scarce_ones_all_they_have() -> None:
    found = draw(many(sad=30, proud=30, afraid=2), 22, rules=NONE)
    assert emotions(found) == {"sad": 10, "proud": 10, "afraid": 2}
    assert found.counts["emotion"] == {"afraid": 2, "proud": 10, "sad": 10}
    assert found.supply["emotion"] == {"afraid": 2, "proud": 30, "sad": 30}
    assert found.shortfalls == (Shortfall("emotion", "afraid", 2, 7),)


def test_a_draw_is_this_one_on_every_machine() -> None:
    # By `printf '7\\x1fsad-1' | sha256sum` and so on: proud 8732 before sad c06f; proud-0 46f7,
    # proud-1 b213, proud-2 f5ca; sad-1 187a, sad-2 2967, sad-0 dc05.
    found = draw(many(sad=3, proud=3), 4, seed=7, rules=NONE)
    assert found.situations == ("proud-0", "sad-1", "proud-1", "sad-2")


def test_the_order_of_rows_does_not_matter() -> None:
    chosen = many(sad=20, proud=20)
    rows = list(chosen)
    random.Random(3).shuffle(rows)
    assert draw(made(*rows), 9, rules=NONE).situations == draw(chosen, 9, rules=NONE).situations


def test_another_process_with_another_hash_seed_draws_the_same() -> None:
    code = (
        "from empathylab.situations import builtin_set\n"
        "from empathylab.situations.sampling.draws import draw\n"
        "print(*draw(builtin_set('dialogues'), 40, balance=('emotion', 'length')).situations)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    here = draw(builtin_set("dialogues"), 40, balance=("emotion", "length"))
    assert tuple(printed) == here.situations


def test_another_seed_is_another_draw() -> None:
    chosen = many(sad=50)
    assert draw(chosen, 9, seed=1, rules=NONE) != draw(chosen, 9, seed=2, rules=NONE)


def test_every_beginning_of_a_draw_is_balanced() -> None:
    found = draw(many(sad=30, proud=30, afraid=30), 30, rules=NONE)
    for length in range(3, 31):
        counts = Counter(key.partition("-")[0] for key in found.situations[:length])
        assert max(counts.values()) - min(counts.values()) <= 1


def test_a_larger_draw_holds_the_smaller() -> None:
    chosen = many(sad=30, proud=30, afraid=4)
    small, large = (draw(chosen, count, rules=NONE).situations for count in (11, 40))
    assert set(small) <= set(large)


def test_a_plain_draw_has_no_strata() -> None:
    found = draw(many(sad=30, proud=3), 8, balance=(), rules=NONE)
    assert (len(found.situations), found.counts, found.shortfalls) == (8, {}, ())


def test_lengths_are_cut_into_bands_of_like_size() -> None:
    situations = [Situation(str(n), "w " * n, "sad") for n in range(1, 10)]
    bands = length_bands(situations, 3)
    assert bands.bounds == (3, 6)
    names = [bands.of(n) for n in (1, 3, 4, 7)]
    assert names == ["0–3 words", "0–3 words", "4–6 words", "7 words or more"]


def test_situations_of_one_length_are_not_parted() -> None:
    same = [Situation(str(n), "one two three", "sad") for n in range(9)]
    assert length_bands(same, 3) == Bands(())


def test_given_bounds_are_taken() -> None:
    assert length_bands([], (10, 20)).bounds == (10, 20)
    assert length_bands([], 3).bounds == ()


@pytest.mark.parametrize("bands", [0, (), (5, 5), (9, 3), (0, 4)])
def test_impossible_bands_are_refused(bands: int | tuple[int, ...]) -> None:
    with pytest.raises(InputError):
        length_bands([], bands)


def test_emotions_and_lengths_are_balanced_together() -> None:
    found = draw(many(sad=200, proud=200), 60, balance=("emotion", "length"), rules=NONE)
    assert found.counts["emotion"] == {"proud": 30, "sad": 30}
    assert sorted(found.counts["length"].values()) == [20, 20, 20]


def test_what_lacks_a_label_is_left_out_and_counted() -> None:
    chosen = made(*many(sad=5), Situation("bare", "No emotion is told here", topic="work"))
    found = draw(chosen, 5, rules=NONE)
    assert (found.excluded, found.eligible) == ({"no label": 1}, 5)


def test_exclusions_are_counted_by_rule() -> None:
    chosen = made(
        Situation("short", "Too short", "sad"),
        Situation("answer", "Yes, I would like to say so", "sad"),
        Situation("unsafe", "We read about a murder at school", "sad"),
        Situation("first", "My neighbour gave me a basket of pears", "sad"),
        Situation("again", "My neighbour gave me a basket of pears!", "sad"),
    )
    found = draw(chosen, 1)
    assert found.excluded == {"duplicate": 1, "not an opening": 1, "too short": 1, "unsafe": 1}
    assert found.eligible == 1
    assert found.situations[0] in ("first", "again")


def test_more_than_is_left_is_refused() -> None:
    with pytest.raises(InputError, match="but only 3 are left after the exclusions"):
        draw(many(sad=3), 4, rules=NONE)


def test_an_unknown_balance_gets_the_nearest_suggestion() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'emotion'"):
        draw(many(sad=3), 1, balance=("emotoin",))


def test_a_balance_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="same variable twice"):
        draw(many(sad=3), 1, balance=("emotion", "emotion"))


def test_a_set_without_any_such_label_is_refused() -> None:
    with pytest.raises(InputError, match="no situation of the set has a label for topic"):
        draw(many(sad=3), 1, balance=("topic",), rules=NONE)


def test_at_least_one_is_drawn() -> None:
    with pytest.raises(InputError, match="at least one"):
        draw(many(sad=3), 0, rules=NONE)


def test_the_recipe_can_be_written_as_json() -> None:
    found = draw(builtin_set("dialogues"), 32, balance=("emotion", "length"))
    assert json.loads(json.dumps(dataclasses.asdict(found)))["recipe"] == found.recipe


def test_the_paragraph_says_source_exclusions_balance_seed_and_software() -> None:
    chosen = made(
        *many(sad=9, proud=9, afraid=1),
        Situation("short", "Too short", "sad"),
    )
    rules = Rules(min_words=3, max_words=40, duplicates="exact", unsafe=WordList(("x",)))
    found = dataclasses.replace(draw(chosen, 9, seed=5, rules=rules), software="9.9")
    assert methods_paragraph(found) == (
        "From the 20 situations of “Made up” (set made, version 3, licence CC0), we drew 9. "
        "Beforehand we excluded 1 of fewer than 3 words; 0 of more than 40 words; 0 in which the "
        "second speaker was already involved (by word patterns); 0 with unsafe content (by a list "
        "of 1 words and phrases); and 0 that repeated another word for word, each counted under "
        "the first rule in this order that it broke; 19 were left. The draw was balanced over 3 "
        "emotions, 1 to 4 each. Fewer than an even share were available of afraid (1 of 3); all of "
        "them were taken. The draw was made with EmpathyLab 9.9 and seed 5; the order of "
        "situations is that of the SHA-256 hash of seed and identifier, so that the draw can be "
        f"repeated on any machine (fingerprint of the set: {chosen.fingerprint[:12]})."
    )


def test_the_paragraph_of_a_plain_draw_without_rules() -> None:
    paragraph = methods_paragraph(draw(many(sad=3), 2, balance=(), rules=NONE))
    assert "None was excluded beforehand. The draw was not stratified." in paragraph


def test_the_paragraph_names_length_bands_and_their_rank() -> None:
    found = draw(many(sad=60, proud=60), 12, balance=("emotion", "length"), rules=NONE)
    paragraph = methods_paragraph(found)
    assert "2 emotions, 6 each and 3 length bands (" in paragraph
    assert "4 each, in this order of importance." in paragraph


situations = st.builds(
    Situation,
    id=st.uuids().map(str),
    text=st.text("ab c", min_size=1, max_size=30),
    emotion=st.sampled_from(["sad", "proud", "afraid"]),
    valence=st.sampled_from(["positive", "negative"]),
    topic=st.sampled_from(["work", "home"]),
    factor=st.just("weather"),
)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(situations, min_size=1, max_size=40, unique_by=lambda item: item.id),
    st.lists(st.sampled_from(BALANCES), unique=True, max_size=3),
    st.integers(),
    st.booleans(),
    st.data(),
)
def test_draws_keep_their_promises(
    rows: list[Situation],
    balance: list[str],
    seed: int,
    strict: bool,
    data: st.DataObject,
) -> None:
    rules = Rules(min_words=2) if strict else NONE
    available = most(rows, balance, seed, rules)
    if not available:
        return
    count = data.draw(st.integers(1, available))
    found = draw(made(*rows), count, seed=seed, balance=balance, rules=rules)
    again = draw(
        made(*data.draw(st.permutations(rows))), count, seed=seed, balance=balance, rules=rules
    )
    assert found.situations == again.situations
    assert len(set(found.situations)) == count
    assert sum(found.excluded.values()) == len(rows) - found.eligible
    if balance:
        counts, supply = found.counts[balance[0]], found.supply[balance[0]]
        level = max(counts.values())
        assert all(
            number >= level - 1 or number == supply[value] for value, number in counts.items()
        )


def most(rows: list[Situation], balance: list[str], seed: int, rules: Rules) -> int:
    """How many can be drawn."""
    try:
        return draw(made(*rows), 1, seed=seed, balance=balance, rules=rules).eligible
    except InputError:
        return 0


@pytest.mark.shared_data
def test_the_published_situations_give_ten_of_each_emotion(shared_data: Path) -> None:
    file = shared_data / "welivita" / "dataset_and_ratings.csv"
    chosen = read_release(read_table(file), where=file.name).situation_set
    found = draw(chosen, 320, balance=("emotion", "length"))
    assert set(found.counts["emotion"].values()) == {10}
    assert sorted(found.counts["length"].values()) == [106, 107, 107]
    assert found.excluded["not an opening"] == 2
