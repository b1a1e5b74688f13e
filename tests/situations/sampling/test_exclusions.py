"""Which situations are left out of a draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.situations import Situation
from empathylab.situations.sampling.exclusions import Rules, broken_rules
from empathylab.situations.sources.openings import is_opening
from empathylab.situations.word_lists import (
    WordList,
    parse_word_list,
    read_word_list,
    unsafe_text,
    unsafe_words,
)

LENIENT = Rules(min_words=0, opening=False, unsafe=WordList(()), duplicates="keep")
FINE = "My neighbour gave me a basket of pears."


def told(
    utterance: str,
    key: str = "a",
    text: str = "A story of its own",
    *,
    title: str | None = None,
    context: tuple[str, ...] = (),
) -> Situation:
    return Situation(key, text, "sad", utterance=utterance, title=title, context=context)


def reason(situation: Situation, rules: Rules | None = None) -> str | None:
    return broken_rules([situation], rules or Rules()).get(situation.id)


def test_an_ordinary_opening_is_kept() -> None:
    assert reason(told(FINE)) is None


def test_lenient_rules_keep_everything() -> None:
    assert reason(told("(no)"), LENIENT) is None


def test_what_is_too_short_or_too_long_is_left_out() -> None:
    assert reason(told("It is very late.")) == "too short"
    assert reason(told("It is very late now.")) is None
    assert reason(told(FINE), Rules(max_words=7)) == "too long"
    assert reason(told(FINE), Rules(max_words=8)) is None


def test_length_is_that_of_the_text_where_nothing_is_said() -> None:
    assert reason(Situation("a", "Too short", "sad")) == "too short"


@pytest.mark.parametrize(
    "answer",
    [
        "(Sorry, the shop is the one by the bridge) I lost my ring.",
        "Yes, it was a long way to go for me.",
        "No! I never saw the man before that.",
        "Thank you for asking, it went well in the end.",
        "I'm so sorry to hear about the cat.",
        "Im sorry that you had to wait there.",
        "That sounds like a hard week for anybody.",
        "That’s how I lost it in the end.",
        "Congratulations on the new flat you found!",
        "Me too, I never liked that place much.",
        "I moved there for the reason you mentioned.",
        "Like you said, it never rains here in May.",
        "Really? I thought it was closed by now.",
    ],
)
def test_what_answers_someone_is_no_opening(answer: str) -> None:
    assert not is_opening(answer)
    assert reason(told(answer)) == "not an opening"


@pytest.mark.parametrize(
    "opening",
    [
        "Yesterday I found my old violin in the attic.",
        "No one came to my birthday this year.",
        "Thank God the test came back clean.",
        "I am sorry I ever moved to this town.",
        "Thanksgiving is the one day we all sit together.",
        "Have you ever lost your way in a city you know?",
        "That day in May I lost my keys twice.",
        "Hi there! My son learned to swim.",
        "Sure enough, the roof leaked again.",
    ],
)
def test_what_begins_a_conversation_is_an_opening(opening: str) -> None:
    assert is_opening(opening)


def test_a_situation_with_earlier_turns_is_no_opening() -> None:
    later = told(FINE, context=("I went next door.", "And then?"))
    assert reason(later) == "not an opening"
    assert reason(later, Rules(opening=False)) is None


def test_unsafe_content_in_any_text_is_found() -> None:
    assert reason(told("He was Murdered in the book I read.")) == "unsafe"
    assert reason(told(FINE, text="It was about a suicide in the family")) == "unsafe"
    assert reason(told(FINE, title="On self-harm")) == "unsafe"
    assert reason(told(FINE, text="About a suicide"), Rules(unsafe=WordList(()))) is None


def test_a_word_list_knows_words_phrases_and_beginnings() -> None:
    words = parse_word_list("cat\nbig dog\nhorse*\nred bird*  # a comment\n\n# more\n", where="x")
    assert words.entries == ("big dog", "cat", "horse*", "red bird*")
    assert words.found_in("The CAT sat") == "cat"
    assert words.found_in("A category") is None
    assert words.found_in("one big, dog") == "big dog"
    assert words.found_in("one big, bad dog") is None
    assert words.found_in("horsemen ride") == "horsemen"
    assert words.found_in("two red birds") == "red birds"
    assert words.found_in("birds, red") is None
    assert words.found_in("") is None


@pytest.mark.parametrize("line", ["*", "a*b", "!!!", "two *"])
def test_a_wrong_entry_is_named_by_its_line(line: str) -> None:
    with pytest.raises(InputError, match="mine.txt line 2"):
        parse_word_list(f"fine\n{line}\n", where="mine.txt")


def test_a_users_list_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("pears\n")
    assert reason(told(FINE), Rules(unsafe=read_word_list(tmp_path / "mine.txt"))) == "unsafe"
    with pytest.raises(InputError, match="cannot be read"):
        read_word_list(tmp_path / "other.txt")


def test_the_built_in_list_is_not_empty_and_can_be_copied() -> None:
    assert len(unsafe_words().entries) > 80
    assert parse_word_list(unsafe_text(), where="copy").entries == unsafe_words().entries


@pytest.mark.parametrize(
    "harmless", ["The heroine wins.", "We have methods.", "A grape, please.", "This heat kills me"]
)
def test_words_that_only_look_alike_are_not_on_the_built_in_list(harmless: str) -> None:
    assert unsafe_words().found_in(harmless) is None


def test_of_duplicates_the_first_stays() -> None:
    pair = [told(FINE, "a", "One"), told(FINE.upper(), "b", "Two")]
    assert broken_rules(pair, Rules()) == {"b": "duplicate"}
    assert broken_rules(pair[::-1], Rules()) == {"a": "duplicate"}
    assert broken_rules(pair, Rules(duplicates="keep")) == {}


def test_near_duplicates_are_left_out_unless_only_exact_ones_are_asked_for() -> None:
    pair = [told(FINE, "a", "One"), told(f"{FINE} Today!", "b", "Two")]
    assert broken_rules(pair, Rules()) == {"b": "duplicate"}
    assert broken_rules(pair, Rules(duplicates="exact")) == {}


def test_the_same_greeting_makes_no_two_situations_one() -> None:
    pair = [told("Hello!", "a", "I won a prize at school"), told("hello", "b", "My train is late")]
    assert broken_rules(pair, Rules(min_words=0)) == {}
    same = [told("Hello!", "a", "Rain"), told("hello", "b", "Rain")]
    assert broken_rules(same, Rules(min_words=0)) == {"b": "duplicate"}


def test_a_duplicate_of_what_another_rule_left_out_is_kept() -> None:
    first = told(FINE, "a", "It was about murder that day")
    assert broken_rules([first, told(FINE, "b")], Rules()) == {"a": "unsafe"}


def test_what_has_no_human_reply_is_left_out_if_asked() -> None:
    pair = [told(FINE, "a"), told("My sister moved to the coast.", "b", "Another tale")]
    assert broken_rules(pair, Rules(replied=True), replied={"b"}) == {"a": "no reply"}
    with pytest.raises(InputError, match="not say which situations have a human reply"):
        broken_rules(pair, Rules(replied=True))


def test_a_situation_is_counted_under_the_first_rule_it_breaks() -> None:
    short = told("Yes, murder.")
    assert reason(short) == "too short"
    assert broken_rules([short], Rules(), unlabelled=["a"]) == {"a": "no label"}


@pytest.mark.parametrize(
    "wrong", [{"min_words": -1}, {"min_words": 9, "max_words": 8}, {"similarity": 0}]
)
def test_impossible_rules_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Rules(**wrong)  # type: ignore[arg-type]
