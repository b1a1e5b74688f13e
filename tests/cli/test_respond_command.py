"""`empathylab respond`: templates, lengths and retries, from command to JSON."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from empathylab.models import Message, Parameters
from tests.helpers.command_line import as_json, empathylab

HERE = "scripted/tests.cli.test_respond_command"


def friend(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
    return "That sounds really hard. How are you now?"


def shy(messages: tuple[Message, ...], parameters: Parameters) -> str:
    answers = parameters.seed is not None and parameters.seed > 10_000
    return friend(messages, parameters) if answers else "As an AI, I see."


def machine(_messages: tuple[Message, ...], _parameters: Parameters) -> str:
    return "As an AI, I see."


def german(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    asked_in_german = "Schreibe nur die Antwort" in messages[0].content
    return "Das klingt wirklich schwer. Wie geht es dir jetzt damit?" if asked_in_german else "Hm."


@pytest.fixture
def respond(tmp_path: Path) -> Any:
    """Runs the command on a scripted model in a lab of its own; gives what is printed as JSON."""

    def command(model: str, *options: str | Path) -> Any:
        lab = ("--lab", tmp_path / "lab")
        return as_json("respond", f"{HERE}:{model}", "--situations", "1", *lab, *options)

    return command


def stored(tmp_path: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(tmp_path / "lab" / "lab.sqlite")
    try:
        return [row[0] for row in connection.execute(query)]
    finally:
        connection.close()


def test_replies_that_fail_are_asked_for_once_more_by_default(tmp_path: Path, respond: Any) -> None:
    [session] = respond("shy")["sessions"]
    assert (session["planned"], session["asked_again"], session["missing"]) == (64, 32, 0)
    assert session["outcomes"] == {"meta_talk": 32, "valid": 32}
    assert stored(tmp_path, "SELECT DISTINCT outcome FROM responses") == ["valid"]


def test_retries_can_be_left_out_and_added_later(respond: Any) -> None:
    [first] = respond("machine", "--retries", "0")["sessions"]
    assert (first["asked"], first["outcomes"]) == (32, {"meta_talk": 32})
    [then] = respond("machine", "--retries", "2")["sessions"]
    assert (then["already"], then["asked"], then["missing"]) == (32, 64, 0)


def test_a_set_of_posts_is_answered_by_a_peer(tmp_path: Path, respond: Any) -> None:
    [session] = respond("friend", "--set", "posts", "--retries", "0")["sessions"]
    assert session["outcomes"] == {"too_short": session["planned"]}
    assert stored(tmp_path, "SELECT DISTINCT prompt FROM responses") == ["peer-supporter@2"]


def test_a_template_and_lengths_of_ones_own_are_used(tmp_path: Path, respond: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('id = "mine"\nsystem = "About {words} words, at most {most_words}."\n')
    respond("friend", "--template", file, "--words", "9", "--most-words", "12")
    assert stored(tmp_path, "SELECT DISTINCT prompt FROM responses") == ["mine@1"]
    [system] = stored(
        tmp_path, "SELECT DISTINCT json_extract(messages, '$[0].content') FROM answers"
    )
    assert system == "About 9 words, at most 12."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--template", "plain-listner"], "Did you mean 'plain-listener'"),
        (["--template", "none.toml"], "the file cannot be read"),
        (["--words", "few"], "this must be a number of words, or human"),
        (["--words", "human"], "the lab has no replies by people to this set"),
        (["--words", "200"], "least_words ≤ words ≤ most_words"),
    ],
)
def test_what_the_user_can_fix_is_one_sentence(
    tmp_path: Path, options: list[str], sentence: str
) -> None:
    (tmp_path / "answers.txt").write_text("I see what you mean.")
    done = empathylab("respond", "scripted/answers.txt", *options, cwd=tmp_path)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_draw_is_answered_whole_and_a_large_set_must_be_asked_for(
    tmp_path: Path, respond: Any
) -> None:
    lab = ("--lab", tmp_path / "lab")
    drawn = empathylab("data", "sample", "dialogues", "--count", "5", "--name", "five", *lab)
    assert drawn.exit_code == 0, drawn.stderr
    [session] = respond("friend", "--set", "five", "--situations", "0")["sessions"]
    assert session["planned"] == 5
    rows = "".join(f"s{n},Something happened {n} times to me.,sad\n" for n in range(201))
    (tmp_path / "large.csv").write_text("id,text,emotion\n" + rows)
    empathylab("data", "import", "situations", tmp_path / "large.csv", *lab)
    done = empathylab("respond", f"{HERE}:friend", "--set", "large", *lab)
    assert done.exit_code == 2
    assert "the set has 201 situations" in done.stderr
    assert "--situations (0 for all)" in done.stderr
    assert "empathylab data sample large --count 200" in done.stderr


def test_language_takes_the_translation_the_prompt_and_the_checks(
    respond: Any, tmp_path: Path
) -> None:
    respond("german", "--language", "de", "--emotion", "sad")
    query = "SELECT prompt || ' ' || outcome FROM responses"
    assert stored(tmp_path, query) == ["empathic-listener-de@2 valid"]


def test_a_language_without_a_translation_is_refused(tmp_path: Path) -> None:
    done = empathylab(
        *("respond", "local/smollm2", "--set", "posts", "--language", "fr"),
        *("--lab", tmp_path / "lab"),
    )
    assert done.exit_code == 2
    assert "the situations of posts are not available in French" in done.stderr
