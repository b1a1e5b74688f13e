"""The rules that tell tactics by their wording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.style.tactics.rules import TacticRules, parse_tactic_rules, tactic_rules

TEN = [
    *("validation", "paraphrasing", "emotional expression", "empowerment", "information"),
    *("reappraisal", "self-disclosure", "advice", "assistance", "questioning"),
]
# Sentences that are not in the file; some have two tactics.
SENTENCES = [
    ("It is perfectly normal to be nervous before a first day.", {"validation"}),
    ("I totally understand why you left early.", {"validation"}),
    ("Nobody heard the bell.", set()),
    ("It seems like nobody asked what you wanted.", {"paraphrasing"}),
    ("You sound worn out.", {"paraphrasing"}),
    ("That must hurt.", {"paraphrasing"}),
    ("I'm terribly sorry about your dog.", {"emotional expression"}),
    ("Wow, that is wonderful!", {"emotional expression"}),
    ("I am so glad it held.", {"emotional expression"}),
    ("You handled that meeting with great skill.", {"empowerment"}),
    ("You can get through this term.", {"empowerment"}),
    ("I have faith in you.", {"empowerment"}),
    ("Keep going!", {"empowerment"}),
    ("Research suggests that naming a feeling calms it.", {"information"}),
    ("Children often hide it when they are afraid.", {"information"}),
    ("Maybe you could see it as practice for the next time.", {"reappraisal"}),
    ("Remember, it's okay to be late.", {"validation"}),
    ("I'm sorry you're going through this.", {"emotional expression"}),
    ("Enjoy your party!", {"emotional expression"}),
    ("What about yours?", {"questioning"}),
    ("There were at least ten of them.", set()),
    ("In the long run nobody will ask for that mark.", {"reappraisal"}),
    ("I've been in that waiting room, too.", {"self-disclosure"}),
    ("My brother stopped calling for a year.", {"self-disclosure"}),
    ("Perhaps you should write to the landlord.", {"advice"}),
    ("Give yourself a quiet evening.", {"advice"}),
    ("Have you considered telling her?", {"advice", "questioning"}),
    ("I'm always here if you want to talk.", {"assistance"}),
    ("Can I help you with the boxes?", {"assistance", "questioning"}),
    ("Where did you find him?", {"questioning"}),
    ("Is it over?", {"questioning"}),
    ("The bus leaves at noon.", set()),
    ("Tea, bread and two lemons.", set()),
    ("", set()),
]
ONE = """
language = "en"
[[tactic]]
name = "greeting"
meaning = "Says hello."
patterns = ['\\bhello\\b']
unless = ['\\bhello kitty\\b']
examples = ["Hello there."]
counterexamples = ["Hello Kitty bags."]
"""


@pytest.fixture(scope="module")
def rules() -> TacticRules:
    return tactic_rules()


def found(rules: TacticRules, sentence: str) -> set[str]:
    [tactics] = found_in(rules, [sentence])
    return tactics


def found_in(rules: TacticRules, sentences: Sequence[str]) -> list[set[str]]:
    rows = rules.positions(pl.Series(sentences)).to_dicts()
    return [{name for name, place in row.items() if place is not None} for row in rows]


def test_the_ten_tactics_come_with_the_package(rules: TacticRules) -> None:
    assert rules.names == TEN
    assert rules.language == "en"


def test_every_tactic_has_examples_and_counterexamples(rules: TacticRules) -> None:
    for tactic in rules.tactics:
        assert len(tactic.examples) >= 3
        assert len(tactic.counterexamples) >= 4
        assert tactic.meaning.endswith(".")


@pytest.mark.parametrize("name", TEN)
def test_each_rule_finds_its_examples_and_not_its_counterexamples(
    rules: TacticRules, name: str
) -> None:
    [tactic] = [tactic for tactic in rules.tactics if tactic.name == name]
    assert all(name in tactics for tactics in found_in(rules, tactic.examples))
    assert not any(name in tactics for tactics in found_in(rules, tactic.counterexamples))


@pytest.mark.parametrize(("sentence", "tactics"), SENTENCES)
def test_new_sentences_have_the_tactics_a_reader_sees(
    rules: TacticRules, sentence: str, tactics: set[str]
) -> None:
    assert found(rules, sentence) == tactics


def test_curly_apostrophes_capitals_and_odd_spaces_do_not_matter(rules: TacticRules) -> None:
    assert found(rules, "I’M  HERE\tFOR YOU") == {"assistance"}


def test_every_pattern_is_needed_by_no_more_than_its_own_tactic(rules: TacticRules) -> None:
    patterns = [pattern for tactic in rules.tactics for pattern in tactic.patterns]
    assert len(patterns) == len(set(patterns))


def test_a_users_file_replaces_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(ONE, encoding="utf-8")
    mine = tactic_rules(path)
    assert mine.names == ["greeting"]
    assert found(mine, "Well, hello!") == {"greeting"}
    assert found(mine, "A Hello Kitty mug") == set()


def test_a_name_in_a_pattern_stands_for_its_words() -> None:
    text = '[words]\nhi = "hello|hey"\n' + ONE.replace("bhello", "b<hi>").replace(
        'language = "en"', ""
    )
    assert found(parse_tactic_rules(text, where="mine.toml"), "Hey!") == {"greeting"}
    with pytest.raises(UnknownName, match="Did you mean 'hi'"):
        parse_tactic_rules(text.replace("b<hi>", "b<hii>"), where="mine.toml")


def test_rules_of_another_language_keep_its_letters_and_words() -> None:
    text = """language = "de"
[[tactic]]
name = "Ort"
meaning = "Sagt, wo etwas ist."
patterns = ['\\bim h\\w+chen\\b']
"""
    german = parse_tactic_rules(text, where="mine.toml")
    assert found(german, "Im Häuschen ist es still.") == {"Ort"}


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        tactic_rules(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\bhello\\b", "hello(", "is not a regular expression"),
        ("\\bhello\\b", "hello(?= there)", "without look-ahead"),
        ("Hello there.", "Good day.", "misses its example; got 'Good day.'"),
        ("Hello Kitty bags.", "Hello, bags.", "finds its counterexample"),
        ("patterns = ['\\bhello\\b']", "patterns = []", "'patterns' is empty"),
        ("patterns = ['\\bhello\\b']", "patterns = 'hello'", "must be a list of texts"),
        ('meaning = "Says hello."', "", "'meaning' must be text"),
        ("[[tactic]]", "[tactic]", "contains no tactics"),
        ("language", "langauge =", "this is not TOML"),
    ],
)
def test_a_wrong_file_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_tactic_rules(ONE.replace(old, new), where="mine.toml")


@pytest.mark.parametrize(("old", "near"), [("meaning", "meanign"), ("language", "langauge")])
def test_an_unknown_key_is_named_with_its_nearest(old: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"Did you mean '{old}'"):
        parse_tactic_rules(ONE.replace(f"{old} =", f"{near} ="), where="mine.toml")


def test_two_tactics_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="the same name; got 'greeting'"):
        parse_tactic_rules(ONE + ONE.replace('language = "en"', ""), where="mine.toml")
