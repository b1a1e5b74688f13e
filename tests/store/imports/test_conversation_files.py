"""Conversations from tables and text files."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.store.imports.conversation_files import ConversationSource, read_conversations

SOURCE = ConversationSource("supporters", language="en")


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_long_table_is_read_in_the_order_of_its_turns(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "talks.csv",
        "conversation,turn,speaker,text,emotion,persona\n"
        "a,2,supporter,Why?,,p1\na,1,Seeker,I am sad.,20,p1\na,3,seeker,My cat left.,35,p1\n"
        "b,1,user,Hello,,p2\n",
    )
    first, second = read_conversations(path, SOURCE)
    assert [turn.text for turn in first.turns] == ["I am sad.", "Why?", "My cat left."]
    assert (first.start, first.final, first.exchanges) == (20, 35, 1)
    assert first.persona == {"id": "p1", "collection": "imported", "language": "en"}
    assert (second.exchanges, second.final) == (0, None)


def test_transcripts_in_a_column_are_cut_at_their_speakers(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "talks.csv",
        'conversation_id,full_conversation\n1,"Seeker: I am sad.\nReally.\nSupporter: Why?\n\n'
        'Seeker: My cat left."\n',
    )
    [talk] = read_conversations(path, SOURCE)
    assert [(turn.role, turn.text) for turn in talk.turns] == [
        ("person", "I am sad.\nReally."),
        ("respondent", "Why?"),
        ("person", "My cat left."),
    ]


def test_a_text_file_holds_several_conversations(tmp_path: Path) -> None:
    path = file(tmp_path, "talks.txt", "Seeker: a\nSupporter: b\n---\nSeeker: c\nSupporter: d\n")
    assert [talk.key for talk in read_conversations(path, SOURCE)] == ["talks-1", "talks-2"]


def test_other_speakers_can_be_mapped(tmp_path: Path) -> None:
    path = file(tmp_path, "talks.csv", "conversation,turn,speaker,text\na,1,therapist,Hm\n")
    with pytest.raises(InputError, match="row 2.*therapist"):
        read_conversations(path, SOURCE)
    source = ConversationSource("x", speakers={"therapist": "supporter"})
    [talk] = read_conversations(path, source)
    assert talk.turns[0].role == "respondent"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "", "empty"),
        ("a.txt", "  \n", "empty"),
        ("a.txt", "Hello\nSeeker: x", "does not begin with a speaker"),
        ("a.csv", "conversation,turn,speaker,text\n", "no conversation"),
        ("a.csv", "conversation,turn,speaker,text\na,x,seeker,t\n", "'turn' must be a number"),
        ("a.csv", "conversation,turn,speaker,text\na,1,seeker,\n", "'text' is empty"),
        ("a.csv", "conversation,turn,speaker,text\na,1,seeker,t\na,1,user,u\n", "twice"),
        ("a.csv", "conversation,said\na,hello\n", "neither the columns"),
        ("a.csv", "turn,speaker,text\n1,seeker,hello\n", "'conversation' is missing"),
    ],
)
def test_bad_files_are_refused_with_a_reason(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read_conversations(file(tmp_path, name, text), SOURCE)
