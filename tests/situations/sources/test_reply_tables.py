"""Anybody's replies and posts from a long table."""

from __future__ import annotations

import polars as pl
import pytest

from empathylab.errors import UserError
from empathylab.situations import builtin_set
from empathylab.situations.sources.released import Release
from empathylab.situations.sources.reply_tables import posts_from, replies_from
from empathylab.tables import parse_csv

OWN = (
    "situation,respondent,text,situation_text,emotion\n"
    "a,human,I am sorry.,It rains.,sad\n"
    "a,gpt,Oh.,It rains.,sad\n"
)


def read(content: str, **options: object) -> Release:
    table = parse_csv(content.encode(), where="r.csv")
    given = {"set_id": "mine", "title": "Mine"} | options
    return replies_from(table, where="r.csv", **given)  # type: ignore[arg-type]


def test_a_table_may_tell_its_situations() -> None:
    found = read(OWN)
    (situation,) = found.situation_set
    assert (situation.text, situation.emotion, situation.valence) == (
        "It rains.",
        "sad",
        "negative",
    )
    assert [(reply.respondent, reply.text) for reply in found.replies] == [
        ("human", "I am sorry."),
        ("gpt", "Oh."),
    ]
    assert dict(found.respondents) == {"human": "human", "gpt": "model"}


def test_likely_mistakes_are_noted_and_kept() -> None:
    assert read(OWN).notes == ()
    found = read(OWN + "b,GPT ,,It snows.,sad\nb,human,,It snows.,sad\nc,human,,It hails.,sad\n")
    assert len(found.replies) == 5
    gpt, human, names = found.notes
    assert gpt.startswith("GPT: 1 reply is empty.")
    assert human.startswith("human: 2 replies are empty.")
    assert "'gpt' and 'GPT' differ only in capitals or spaces" in names
    chosen = builtin_set("dialogues")
    content = f"situation,text\n{chosen.situations[0].id},\n"
    (note,) = read(content, situation_set=chosen, respondent="human").notes
    assert note.startswith("human: 1 reply is empty.")


def test_replies_to_a_known_set_need_only_ids() -> None:
    chosen = builtin_set("dialogues")
    key = chosen.situations[0].id
    found = read(f"situation,text\n{key},I am here.\n", situation_set=chosen, respondent="human")
    assert found.situation_set == chosen
    assert found.replies[0].respondent == "human"


def test_several_replies_to_a_situation_are_numbered() -> None:
    found = read(
        "situation,respondent,text,situation_text,topic,sample\na,x,One.,T,work,0\na,x,Two.,T,work,1\n"
    )
    assert [reply.sample for reply in found.replies] == [0, 1]


def test_markup_is_kept_as_text_and_control_characters_are_not() -> None:
    found = read(OWN.replace("Oh.", "<b>Oh\x07</b>"))
    assert found.replies[1].text == "<b>Oh\ufffd</b>"


def test_a_reply_of_a_megabyte_is_kept() -> None:
    assert len(read(OWN.replace("Oh.", "x" * 1_000_000)).replies[1].text) == 1_000_000


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("situation,reply\na,b\n", {}, "the columns 'text', 'respondent' are missing"),
        ("situation,respondent,text,situation_text\n", {}, "the file contains no replies"),
        (
            "situation,respondent,text\na,b,c\n",
            {},
            "the file does not say which situations these are",
        ),
        (
            "situation,respondent,text\nnosuch,b,c\n",
            {"situation_set": builtin_set("dialogues")},
            "r.csv row 2: the set dialogues has no such situation; got 'nosuch'",
        ),
        (
            OWN + "a,gpt,Another.,It rains.,sad\n",
            {},
            "r.csv row 4: gpt has a different text for the same situation in row 3",
        ),
        (
            OWN + "a,x,Hm.,It snows.,sad\n",
            {},
            "row 4: the situation differs from row 2",
        ),
        (OWN.replace("gpt", ""), {}, "row 3: 'respondent' is empty"),
        (OWN, {"set_id": "My Set"}, "a set's ID must be lower-case letters"),
        (
            "situation,respondent,text,situation_text,kind\na,b,c,d,robot\n",
            {},
            "'kind' must be model or human; got 'robot'",
        ),
        (
            "situation,respondent,text,situation_text,sample\na,b,c,d,first\n",
            {},
            "'sample' must be 0, 1, 2",
        ),
    ],
)
def test_a_fault_is_one_sentence(content: str, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        read(content, **options)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Human", "human"),
        ("human-1", "human"),
        ("People", "human"),
        ("person_2", "human"),
        ("personal-gpt", "model"),
        ("superhuman", "model"),
    ],
)
def test_people_are_known_by_their_name(name: str, kind: str) -> None:
    assert read(OWN.replace("gpt", name)).respondents[name] == kind


def posts(content: str) -> Release:
    table = parse_csv(content.encode(), where="p.csv")
    return posts_from(table, where="p.csv", set_id="forum", title="Forum", licence="CC0")


def test_posts_have_a_domain_a_title_and_a_persons_reply() -> None:
    found = posts(
        "domain,title,post,human_reply\n"
        "parenting,Nights,He wakes.,Poor you.\nwork,Boss,He shouts.,\n"
    )
    first, second = found.situation_set
    assert (first.id, first.topic, first.title, first.text) == (
        "parenting-1",
        "parenting",
        "Nights",
        "He wakes.",
    )
    assert second.id == "work-1"
    assert [(reply.situation, reply.respondent, reply.text) for reply in found.replies] == [
        ("parenting-1", "human", "Poor you.")
    ]


def test_ids_of_posts_may_be_numbers_from_0_on() -> None:
    table = pl.DataFrame({"id": [0, 1], "domain": ["work", "work"], "post": ["One.", "Two."]})
    found = posts_from(table, where="p.parquet", set_id="forum", title="Forum", licence="CC0")
    assert [item.id for item in found.situation_set] == ["0", "1"]


def test_posts_without_ids_get_different_ones() -> None:
    found = posts("domain,post\nWork!,One.\nwork,Two.\n仕事,Three.\n工作,Four.\n")
    assert [item.id for item in found.situation_set] == ["work-1", "work-2", "post-1", "post-2"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("title,post\na,b\n", "the column 'domain' is missing"),
        ("domain,title\na,b\n", "the column 'post' is missing"),
        ("domain,post\na,\n", "p.csv row 2: 'post' is empty"),
        ("domain,post,id\na,b,1\na,c,1\n", "row 3: the id is the same as in row 2"),
    ],
)
def test_a_fault_in_posts_is_one_sentence(content: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        posts(content)
    assert sentence in str(caught.value)
