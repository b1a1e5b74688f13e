"""Features against texts written for these tests and counted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from empathylab.errors import InputError
from empathylab.style import FEATURES, features, sentence_lists, text_series, word_list, word_lists
from empathylab.style.measures.table import BATCH_ROWS, PART_ROWS


def of(text: str | None, **options: object) -> dict[str, float | None]:
    frame = pl.DataFrame({"respondent": ["a"], "situation": ["s"], "text": text_series([text])})
    row: dict[str, float | None] = features(frame, sentiment=False, **options).row(0, named=True)  # type: ignore[arg-type]
    return row


HAND_COUNTED: list[tuple[str, Mapping[str, float]]] = [
    (
        "I'm so sorry! Are you okay? Why?! ???",
        {
            "words": 7,
            "sentences": 3,
            "characters": 37,
            "exclamation_marks": 2,
            "question_marks": 5,
            "exclamations": 2,
            "questions": 2,
            "questions_to_person": 1,
            "apostrophes": 1,
            "punctuation": 8,
            "words_per_sentence": 7 / 3,
            "question_rate": 2 / 3,
            "exclamation_rate": 2 / 3,
            "first_person_singular": 1,
            "second_person": 1,
            "apologies": 1,
        },
    ),
    # Ellipses: three dots, a sign, many dots; a full stop is none of them.
    (
        "Well... I see… So....... Fine.",
        {"ellipses": 3, "full_stops": 1, "words": 5, "sentences": 4},
    ),
    ("…… and ..", {"ellipses": 1, "full_stops": 2}),
    # Dashes: hyphen in a word, spaced hyphen, en, em, double; a bullet is no dash.
    (
        "- well-being - that is 5–6 days—or more -- fine",
        {
            "hyphens": 5,
            "en_dashes": 1,
            "em_dashes": 1,
            "double_hyphens": 1,
            "spaced_hyphens": 2,
            "bullets": 1,
            "words": 9,
        },
    ),
    # Quotations: nested curly, nested straight, guillemets, low, corner; apostrophes are none.
    (
        'She said “I heard ‘no’ twice” and "fine"',
        {"quotations": 3, "nested_quotations": 1, "curly_quotes": 2, "straight_quotes": 2},
    ),
    ("He said \"I told him 'no' already\".", {"quotations": 2, "nested_quotations": 1}),
    ("«oui» and „ja“", {"quotations": 2, "nested_quotations": 0, "curly_quotes": 4}),
    ("「あ『い』う」", {"quotations": 2, "nested_quotations": 1}),
    ("'cause I don't know the dogs' names", {"quotations": 0, "apostrophes": 1}),
    # Capitals.
    (
        "I am SO happy, OMG! NASA's A-1 I'M",
        {"words_in_capitals": 3, "capital_share": 13 / 21, "words": 8},
    ),
    # Markdown.
    (
        (
            "# A title\n- one\n* two\n  • three\n1. first\n2) second\n**two words** and `x`\n"
            "[here](https://a.example/b) and www.b.example\n```\ncode\n```\n---\n> said\n"
        ),
        {
            "headings": 1,
            "bullets": 3,
            "numbered_items": 2,
            "bold": 1,
            "code": 1,
            "links": 1,
            "addresses": 2,
            "code_blocks": 1,
            "quoted_lines": 1,
            "lines": 13,
            "spaced_hyphens": 0,
        },
    ),
    ("5 - 3 * 2 # no heading", {"bullets": 0, "headings": 0, "spaced_hyphens": 1}),
    ("-\n1.\n#", {"bullets": 0, "numbered_items": 0, "headings": 0, "lines": 3}),
    # Emoji: a tone, a family, a flag, a keycap, a heart; and emoticons.
    (
        "👍🏽 👨‍👩‍👧 🇩🇪🇫🇷 1️⃣ ❤️ ❤ ❤︎ © ™️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🤷‍♀️",
        {"emoji": 10, "words": 0, "sentences": 0, "emoticons": 0},
    ),
    ("#️⃣ and *️⃣ are keys", {"emoji": 2, "hashes": 0, "asterisks": 0, "words": 3}),
    ("Thanks:) <3 :-( ;D ^_^ xD -_- :'(", {"emoticons": 8, "emoji": 0}),
    ("https://a.example at 10:30 (see 8) or a:b --- I.D. 3<4", {"emoticons": 0}),
    # Other scripts: Chinese counts by character, Arabic by word; no readability of either.
    (
        "我很难过。你好吗？",
        {"words": 7, "sentences": 2, "questions": 1, "full_stops": 1, "question_marks": 1},
    ),
    (
        "أنا آسف، هل أنت بخير؟ نعم.",
        {"words": 6, "sentences": 2, "questions": 1, "commas": 1, "full_stops": 1},
    ),
    # Word lists.
    (
        "Maybe you should talk to him. I've been there, and we are all grateful. Thank you!",
        {
            "hedges": 1,
            "advice": 2,
            "self_disclosure": 1,
            "thanks": 2,
            "first_person_singular": 1,
            "first_person_plural": 1,
            "second_person": 2,
            "third_person": 1,
            "validation": 0,
        },
    ),
    ("That makes sense, and it must be hard.", {"validation": 2, "third_person": 1}),
    (
        "Marks: a, b; c (d) [e] f/g & h * # @ % _ ~",
        {
            "commas": 1,
            "semicolons": 1,
            "colons": 1,
            "parentheses": 1,
            "brackets": 1,
            "slashes": 1,
            "ampersands": 1,
            "asterisks": 1,
            "hashes": 1,
            "at_signs": 1,
            "percent_signs": 1,
            "underscores": 1,
            "tildes": 1,
        },
    ),
    # The cat: 6 words of one syllable; five times makes 30 words, enough for readability.
    (
        "The cat sat on the mat. " * 5,
        {"syllables": 30, "flesch_reading_ease": 116.145, "flesch_kincaid_grade": -1.45},
    ),
    ("Sorry", {"words": 1, "sentences": 1, "characters": 5, "letters_per_word": 5, "apologies": 1}),
    ("a\x00b \x07 c\u200bd", {"words": 4, "sentences": 1, "characters": 9}),
]


@pytest.mark.parametrize(("text", "expected"), HAND_COUNTED, ids=[t for t, _ in HAND_COUNTED])
def test_a_text_has_what_was_counted_by_hand(text: str, expected: Mapping[str, float]) -> None:
    found = of(text)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("text", ["Unbelievable.", "The cat sat on the mat. " * 4, ""])
def test_short_texts_have_no_readability_and_no_mtld(text: str) -> None:
    short = ("flesch_reading_ease", "flesch_kincaid_grade", "mtld")
    assert all(of(text)[name] is None for name in short)


def test_every_feature_was_counted_by_hand_or_has_its_own_tests() -> None:
    counted = {name for _, expected in HAND_COUNTED for name in expected}
    assert set(FEATURES) - counted == {"dashes", "mattr", "mtld", "sentiment"}


def test_dashes_are_the_sum_of_their_kinds() -> None:
    assert of("a - b – c — d -- e f-g")["dashes"] == 5


def test_the_columns_are_those_of_the_catalogue() -> None:
    assert [name for name in of("Hi.") if name not in ("respondent", "situation")] == [
        name for name in FEATURES if name != "sentiment"
    ]


def test_an_empty_text_has_counts_of_zero_and_no_measures() -> None:
    found = of("")
    for name, feature in FEATURES.items():
        if name != "sentiment":
            assert found[name] == (0 if feature.kind == "count" else None), name


def test_a_missing_text_has_nothing() -> None:
    found = of(None)
    assert all(found[name] is None for name in FEATURES if name != "sentiment")


def test_other_scripts_have_no_readability() -> None:
    assert of("我很难过。")["flesch_reading_ease"] is None
    assert of("شكرا")["flesch_kincaid_grade"] is None


def test_an_empty_frame_has_the_columns_and_no_rows() -> None:
    frame = pl.DataFrame(
        {"respondent": [], "situation": [], "text": []}, schema_overrides={"text": pl.String}
    )
    assert features(frame, sentiment=False).shape == (0, len(FEATURES) + 1)


def test_rows_keep_their_order_and_their_sample() -> None:
    frame = pl.DataFrame(
        {
            "respondent": ["b", "a"],
            "situation": [2, 1],
            "sample": [7, 8],
            "text": ["one two", "one"],
            "else": [0, 0],
        }
    )
    found = features(frame, sentiment=False)
    assert found.columns[:4] == ["respondent", "situation", "sample", "words"]
    assert found.select("respondent", "situation", "sample", "words").rows() == [
        ("b", 2, 7, 2),
        ("a", 1, 8, 1),
    ]


def test_columns_are_given_by_role() -> None:
    frame = pl.DataFrame({"who": ["a"], "what": ["s"], "said": ["one two"]})
    found = features(frame, respondent="who", situation="what", text="said", sentiment=False)
    assert found.select("respondent", "situation", "words").row(0) == ("a", "s", 2)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="no column 'text'"):
        features(pl.DataFrame({"respondent": ["a"], "situation": ["s"]}))


def test_many_texts_have_what_each_has_alone() -> None:
    texts = [text for text, _ in HAND_COUNTED]
    many = texts * (1 + PART_ROWS // len(texts))
    frame = pl.DataFrame({"respondent": "a", "situation": range(len(many)), "text": many})
    together = features(frame, sentiment=False).drop("situation")
    alone = pl.concat([features(frame[i : i + 1], sentiment=False) for i in range(len(texts))])
    assert together[-len(texts) :].equals(alone.drop("situation"))


def test_batches_are_put_together_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame(
        {"respondent": "a", "situation": range(50), "text": ["a " * n for n in range(50)]}
    )
    monkeypatch.setitem(features.__globals__, "BATCH_ROWS", 7)
    monkeypatch.setitem(features.__globals__, "PART_ROWS", 3)
    assert features(frame, sentiment=False)["words"].to_list() == list(range(50))
    assert BATCH_ROWS > PART_ROWS


def test_a_text_of_a_megabyte_is_counted() -> None:
    found = of("Sorry, so sorry! 😀 " * 50_000)
    assert found["words"] == 150_000
    assert found["sentences"] == 50_000
    assert found["emoji"] == 50_000
    assert found["apologies"] == 100_000


@pytest.mark.parametrize("mark", ["a", ".", "\u200d", "👩\u200d", "“", "a'", "1.", "**", ":", "<"])
def test_a_megabyte_without_a_space_is_counted(mark: str) -> None:
    text = mark * (1_000_000 // len(mark))
    assert of(text)["characters"] == len(text)


def test_lone_surrogates_become_one_character_each() -> None:
    assert of("so\ud800 sorry")["characters"] == 9
    assert of("so\ud800 sorry")["words"] == 2


def test_a_list_of_the_same_name_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "apologies.txt").write_text("oops\n", encoding="utf-8")
    (tmp_path / "weather.txt").write_text("rain*\n", encoding="utf-8")
    found = of("Oops, sorry, it rained.", lists=tmp_path)
    assert (found["apologies"], found["weather"], found["third_person"]) == (1, 1, 1)


def test_a_list_cannot_take_the_name_of_another_feature() -> None:
    with pytest.raises(InputError, match="same name; got 'words'"):
        of("x", lexicons=[word_list("words", ["x"])])


def test_questions_to_the_person_go_by_the_users_list(tmp_path: Path) -> None:
    (tmp_path / "second_person.txt").write_text("du\n", encoding="utf-8")
    assert of("Bist du da? Are you?", lists=tmp_path)["questions_to_person"] == 1


def test_diversity_can_be_left_out() -> None:
    assert "mtld" not in of("x", diversity=False)


def independent_words(text: str) -> int:
    """Words counted character by character, for text without addresses, keycaps and East Asian
    script: letters and digits in a row, with single apostrophes or hyphens between them, and
    points, commas or colons between digits."""
    count, inside = 0, False
    for place, character in enumerate(text):
        before = text[place - 1] if place else " "
        after = text[place + 1] if place + 1 < len(text) else " "
        joins = (character in "'’-" and before.isalnum() and after.isalnum()) or (
            character in ".,:" and before.isdigit() and after.isdigit()
        )
        if character.isalnum():
            count += not inside
            inside = True
        elif not (inside and joins):
            inside = False
    return count


@pytest.mark.shared_data
@pytest.mark.parametrize("respondent", ["human", "chatgpt_empathy"])
def test_words_of_the_published_responses_equal_an_independent_count(
    shared_data: Path, respondent: str
) -> None:
    table = pl.read_csv(shared_data / "welivita" / "dataset_and_ratings.csv")
    texts = table[f"response_{respondent}"]
    frame = pl.DataFrame({"respondent": respondent, "situation": range(len(texts)), "text": texts})
    found = features(frame, sentiment=False)
    assert found["words"].to_list() == [independent_words(text) for text in texts]
    assert found["words"].to_list() == word_lists(texts).list.len().to_list()
    assert found["sentences"].to_list() == sentence_lists(texts).list.len().to_list()
