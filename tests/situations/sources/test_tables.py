"""Users' own situations from CSV."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import UserError
from empathylab.situations import SituationSet
from empathylab.situations.sources.tables import situations_from
from empathylab.tables import parse_csv

GOOD = "id,text,emotion,factor\na,It rains.,anger,Weather\nb,It snows.,joyful,\n"


def parse(content: str | bytes, set_id: str = "mine") -> SituationSet:
    raw = content.encode() if isinstance(content, str) else content
    table = parse_csv(raw, where="mine.csv")
    return situations_from(table, where="mine.csv", set_id=set_id, title="Mine", licence="CC0")


def test_rows_become_situations() -> None:
    first, second = parse(GOOD)
    assert (first.id, first.text, first.emotion, first.factor) == (
        "a",
        "It rains.",
        "anger",
        "Weather",
    )
    assert second.factor is None


def test_the_valence_of_a_known_emotion_is_filled_in() -> None:
    assert [item.valence for item in parse(GOOD)] == ["negative", "positive"]


def test_an_emotion_outside_the_known_ones_is_kept_and_can_be_mapped() -> None:
    (kept,) = parse("id,text,emotion\na,It is late.,Boredom\n")
    assert (kept.emotion, kept.valence) == ("boredom", None)
    table = parse_csv(b"id,text,emotion\na,It is late.,boredom\n", where="x")
    (mapped,) = situations_from(
        table, where="x", set_id="x", title="", licence="", emotions={"boredom": "lonely"}
    )
    assert (mapped.emotion, mapped.valence) == ("lonely", "negative")


def test_a_post_has_a_topic_and_a_title_and_needs_no_emotion() -> None:
    (post,) = parse("id,text,topic,title\na,He will not sleep.,parenting,Nights\n")
    assert (post.topic, post.title, post.emotion) == ("parenting", "Nights", None)


def test_an_emotion_of_ones_own_takes_a_valence() -> None:
    (found,) = parse("id,text,emotion,valence\na,It is late.,boredom,negative\n")
    assert (found.emotion, found.valence) == ("boredom", "negative")


def test_a_byte_order_mark_and_blank_rows_do_not_matter() -> None:
    assert len(parse(b"\xef\xbb\xbf" + GOOD.replace("\nb", "\n,,,\nb").encode())) == 2


def test_ids_may_be_numbers_from_0_on() -> None:
    table = pl.DataFrame({"id": [0, 1], "text": ["x", "y"], "emotion": ["fear", "fear"]})
    found = situations_from(table, where="x.parquet", set_id="x", title="", licence="")
    assert [item.id for item in found] == ["0", "1"]


@pytest.mark.parametrize("column", ["id", "text", "emotion"])
def test_a_cell_of_spaces_is_empty(column: str) -> None:
    table = pl.DataFrame({"id": ["a"], "text": ["x"], "emotion": ["fear"]} | {column: [" "]})
    with pytest.raises(UserError, match=f"x.parquet row 2: '{column}' is empty"):
        situations_from(table, where="x.parquet", set_id="x", title="", licence="")


def test_the_set_is_not_validated() -> None:
    assert not parse(GOOD).validated


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "the file is empty"),
        ("id,emotion\na,b\n", "the column 'text' is missing; got 'id, emotion'"),
        ("id,text\na,b\n", "the column 'emotion' is missing; got 'id, text'"),
        ("id,text,emotoin\n", "no column 'emotoin'. Did you mean 'emotion'"),
        ("id,text,emotion,text\n", "a column appears twice; got 'text'"),
        ("id,text,emotion\n", "the file contains no situations"),
        ("id,text,emotion\na,,anger\n", "mine.csv row 2: 'text' is empty"),
        ("id,text,emotion,topic\na,x,,\n", "row 2: 'emotion' is empty. Fill it in, or 'topic'"),
        ("id,text,emotion\na,x, y,anger\n", "row 2: the row has a different number of cells"),
        ("id,text,emotion\na,x\n", "row 2: the row has a different number of cells"),
        ("id,text,emotion\na,x,fear\na,y,fear\n", "row 3: the id is the same as in row 2"),
        ("id,text,emotion\na,x,fear\nb,x,fear\n", "row 3: the text is the same as in row 2"),
        ('id,text,emotion\na,"x,fear\n', "not a CSV table"),
        (
            "id,text,emotion,valence\na,x,fear,bad\n",
            "row 2: 'valence' must be positive, negative or mixed; got 'bad'",
        ),
    ],
)
def test_a_fault_is_one_sentence_with_its_row(content: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(content)
    assert sentence in str(caught.value)


def test_bad_encoding_is_one_sentence_with_its_row() -> None:
    with pytest.raises(UserError, match="mine.csv row 3: the text is not UTF-8.*Save the file"):
        parse(b"id,text,emotion\na,x,fear\nb,caf\xe9,fear\n")


def test_a_strange_name_is_refused() -> None:
    with pytest.raises(UserError, match="lower-case letters.*--name"):
        parse(GOOD, set_id="My set")
