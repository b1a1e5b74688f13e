"""How replies are asked for: built-in templates, and files of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import UserError
from empathylab.protocols import (
    EMPATHIC_LISTENER,
    PEER_SUPPORTER,
    PLAIN_LISTENER,
    REPLY_TEMPLATES,
    read_reply_template,
    reply_template,
)


def file_with(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", REPLY_TEMPLATES)
def test_a_built_in_template_is_found_by_its_id(name: str) -> None:
    assert reply_template(name).id == name


def test_only_the_empathic_listener_is_told_what_empathy_is() -> None:
    assert "affective" in EMPATHIC_LISTENER.system
    assert "empath" not in PLAIN_LISTENER.system.lower()
    assert "empath" not in PEER_SUPPORTER.system.lower()


def test_a_peer_supporter_writes_100_to_150_words() -> None:
    assert (PEER_SUPPORTER.least_words, PEER_SUPPORTER.most_words) == (100, 150)


def test_what_a_file_leaves_out_is_as_the_empathic_listener(tmp_path: Path) -> None:
    file = file_with(tmp_path, 'id = "mine"\nuser = "{title}: {situation}"\nmost_words = 60')
    template = reply_template(str(file))
    assert (template.id, template.user, template.most_words) == ("mine", "{title}: {situation}", 60)
    assert template.system == reply_template("empathic-listener@1").system


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id = ", "this is not TOML"),
        ('user = "{utterance}"', "'id' is missing"),
        ('id = "x"\nusr = "{utterance}"', "Did you mean 'user'"),
        ('id = "x"\nuser = "Well?"', "'user' must contain {situation} or {utterance}"),
        ('id = "x"\nuser = "{uterance}"', "Did you mean 'utterance'"),
        ('id = "x"\nsystem = "{emotion}"', "there is no placeholder 'emotion'"),
        ('id = "x"\nuser = "{utterance"', "a brace that is not closed"),
        ('id = "x"\nwords = "many"', "'words' must be a whole number; got 'many'"),
        ('id = "x"\nwords = 200', "least_words ≤ words ≤ most_words"),
        ('id = "x"\nleast_words = 0', "least_words ≤ words ≤ most_words"),
        ('id = "plain-listener"', "a built-in template has this id"),
    ],
)
def test_a_wrong_template_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        read_reply_template(file_with(tmp_path, text))
    assert sentence in str(caught.value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'plain-listener'"):
        reply_template("plain-listner")


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        reply_template(str(tmp_path / "none.toml"))


def test_lengths_can_be_changed() -> None:
    changed = EMPATHIC_LISTENER.with_lengths(words=40, most_words=80)
    assert (changed.words, changed.most_words, changed.least_words) == (40, 80, 2)
    assert EMPATHIC_LISTENER.with_lengths() == EMPATHIC_LISTENER


def test_lengths_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(UserError, match="least_words ≤ words ≤ most_words"):
        PEER_SUPPORTER.with_lengths(words=60)
