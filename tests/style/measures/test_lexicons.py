"""Word lists, and how they match texts."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style import (
    Entry,
    Lexicon,
    builtin_lexicons,
    features,
    read_lexicons,
    read_word_list,
    word_list,
    words,
    write_builtin_lists,
)

LISTS = {
    "advice",
    "apologies",
    "first_person_plural",
    "first_person_singular",
    "hedges",
    "second_person",
    "self_disclosure",
    "thanks",
    "third_person",
    "validation",
}


def count(text: str, *lexicons: Lexicon) -> list[int]:
    frame = pl.DataFrame({"respondent": ["a"], "situation": ["s"], "text": [text]})
    row = features(frame, lexicons=lexicons, sentiment=False, diversity=False).row(0, named=True)
    return [row[column] for lexicon in lexicons for column in lexicon.columns]


def dictionary(**entries: str) -> Lexicon:
    names = tuple(entries)
    pairs = [(name, entry) for name in names for entry in entries[name].split(",")]
    return Lexicon(
        "d", names, tuple(Entry(tuple(e.split()), (names.index(name),)) for name, e in pairs)
    )


def test_the_lists_that_ship_are_read_without_remarks() -> None:
    assert {lexicon.name for lexicon in builtin_lexicons()} == LISTS
    assert not any(lexicon.notes for lexicon in builtin_lexicons())


def test_no_list_that_ships_has_a_line_twice() -> None:
    for lexicon in builtin_lexicons():
        assert len(set(lexicon.entries)) == len(lexicon.entries)


def test_the_lists_that_ship_can_be_written_edited_and_read(tmp_path: Path) -> None:
    (tmp_path / "thanks.txt").write_text("ta\n", encoding="utf-8")
    written = write_builtin_lists(tmp_path)
    assert {path.stem for path in written} == (LISTS - {"thanks"}) | {"tactics"}
    found = {lexicon.name: lexicon for lexicon in read_lexicons(tmp_path)}
    assert found["thanks"].entries == (Entry(("ta",), (0,)),)
    assert found["hedges"].entries == {x.name: x for x in builtin_lexicons()}["hedges"].entries


def test_a_word_list_has_comments_stems_and_phrases(tmp_path: Path) -> None:
    path = tmp_path / "sad.txt"
    path.write_text("\ufeff# ours\nsad*\n\nfeel* DOWN  # a phrase\nDon’t\n", encoding="utf-8")
    found = read_word_list(path)
    assert (found.name, found.columns) == ("sad", ("sad",))
    assert [entry.words for entry in found.entries] == [("sad*",), ("feel*", "down"), ("don't",)]


def test_a_line_without_a_word_is_said(tmp_path: Path) -> None:
    path = tmp_path / "sad.txt"
    path.write_text("sad\n:(\n", encoding="utf-8")
    assert read_word_list(path).notes == (
        "sad.txt: 1 of 2 lines contain no word and match nothing",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# nothing\n", "contains no words"),
        (b"s*d\n", "sad.txt line 1: a star is allowed only at the end of a word; got 's\\*d'"),
        (b"caf\xe9\n", "not UTF-8"),
    ],
)
def test_a_broken_list_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "sad.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_word_list(path)


def test_a_folder_without_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no word list"):
        read_lexicons(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am so sorry.", 1),
        ("Sorry, so sorry! I apologise.", 3),
        ("so. Sorry", 1),
        ("so, sorry", 1),
        ("SORRY sorry's sorrysorry", 1),
        ("so so sorry sorry", 2),
        ("apology apologies Apologetic apo", 3),
        ("", 0),
    ],
)
def test_a_match_inside_a_longer_one_is_not_counted_again(text: str, expected: int) -> None:
    assert count(text, word_list("regret", ["sorry", "so sorry", "i am so sorry", "apolog*"])) == [
        expected
    ]


def test_matches_that_only_overlap_both_count() -> None:
    assert count("a b c", word_list("x", ["a b", "b c"])) == [2]


def test_a_phrase_may_hold_stems_in_any_place() -> None:
    assert count("feeling down, felt down, feels downtown", word_list("x", ["feel* down*"])) == [2]


def test_a_phrase_does_not_reach_into_the_next_text() -> None:
    frame = pl.DataFrame({"respondent": "a", "situation": [1, 2], "text": ["thank", "you thank"]})
    found = features(frame, lexicons=[word_list("x", ["thank you"])], sentiment=False)
    assert found["x"].to_list() == [0, 0]


def test_the_most_specific_entry_of_a_dictionary_decides() -> None:
    lexicon = dictionary(amount="number", feeling="numb*", count="numbers*")
    assert count("number numb numbness numbers", lexicon) == [1, 2, 1]


def test_entries_of_different_lists_do_not_hide_each_other() -> None:
    assert count("number", word_list("one", ["number"]), word_list("two", ["numb*"])) == [1, 1]


def test_a_word_counts_in_each_of_its_categories() -> None:
    lexicon = Lexicon("d", ("a", "b"), (Entry(("x",), (0, 1)), Entry(("y", "z"), (1,))))
    assert count("x y z", lexicon) == [1, 2]


def test_dictionaries_match_other_scripts() -> None:
    assert count("我很难过 أنا آسف", word_list("x", ["难过", "آس*"])) == [2]


def test_counts_equal_a_plain_search_on_random_texts() -> None:
    source = random.Random(5)
    letters = ["a", "b", "ab", "abc", "ba", "c"]
    phrases = ["a b", "ab*", "b", "c a b", "ba c", "a* c"]
    texts = [" ".join(source.choices(letters, k=source.randint(0, 12))) for _ in range(300)]
    frame = pl.DataFrame({"respondent": "a", "situation": range(len(texts)), "text": texts})
    found = features(frame, lexicons=[word_list("x", phrases)], sentiment=False)
    assert found["x"].to_list() == [plain_search(words(text), phrases) for text in texts]


def plain_search(tokens: list[str], phrases: list[str]) -> int:
    spans = set()
    for phrase in (p.split() for p in phrases):
        for start in range(len(tokens) - len(phrase) + 1):
            pairs = zip(tokens[start:], phrase, strict=False)
            if all(t.startswith(p[:-1]) if p.endswith("*") else t == p for t, p in pairs):
                spans.add((start, start + len(phrase)))
    inside = {s for s in spans for o in spans if o != s and o[0] <= s[0] and s[1] <= o[1]}
    return len(spans - inside)
