"""SAGE's result files, the published ones and broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from empathylab.errors import InputError
from empathylab.protocols.converse.persona_files import chosen_personas
from empathylab.store import Lab
from empathylab.store.conversations import (
    conversations_frame,
    store_conversations,
    turns_frame,
)
from empathylab.store.imports.sage import read_sage, sage_files


def line(number: int = 1, **given: Any) -> str:
    """A conversation of two exchanges, with a line separator in a text."""
    history = [
        {"role": "user", "content": "我\u2028很难过。", "emotion-point": 40},
        {"role": "assistant", "content": "怎么了？"},
        {"role": "user", "content": "猫走了。", "emotion-point": 55, "thinking": "…"},
        {"role": "assistant", "content": "真遗憾。"},
    ]
    data = {"id": f"id-{number}", "emo_point": 60, "history": history}
    profile = {"player": "* 姓名：小明\n* 年龄：20岁", "scene": "猫跑了。", "task": "倾听"}
    return json.dumps(data | profile | given, ensure_ascii=False)


def written(folder: Path, *lines: str) -> Path:
    path = folder / "one-simulator" / "some-model_result.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_names_come_from_file_and_folder(tmp_path: Path) -> None:
    found = read_sage(written(tmp_path, line()))
    assert (found.respondent, found.simulator) == ("some-model", "one-simulator")


def test_a_line_separator_in_a_text_does_not_end_the_line(lab: Lab, tmp_path: Path) -> None:
    found = read_sage(written(tmp_path, line(1), line(2)))
    store_conversations(lab, "sage", found.source, found.conversations)
    assert conversations_frame(lab)["final"].to_list() == [60, 60]
    turns = turns_frame(lab)
    assert turns["text"][0] == "我\u2028很难过。"
    assert turns["feeling"].to_list() == [40, None, 55, None] * 2


def test_the_same_file_again_changes_nothing_and_another_replaces_it(
    lab: Lab, tmp_path: Path
) -> None:
    changes = []
    for content in (line(), line(), line(emo_point=100)):
        found = read_sage(written(tmp_path, content))
        changes.append(store_conversations(lab, "sage", found.source, found.conversations))
    assert changes == ["added", "unchanged", "replaced"]
    assert conversations_frame(lab)["final"].to_list() == [100]
    assert turns_frame(lab).height == 4


def test_profiles_become_personas_that_can_be_played(sqlite_lab: Lab, tmp_path: Path) -> None:
    found = read_sage(written(tmp_path, line()))
    store_conversations(sqlite_lab, "sage", found.source, found.conversations)
    [persona] = chosen_personas(sqlite_lab, "sage")
    assert (persona.name, persona.language, persona.need) == ("小明", "zh", "倾听")
    assert persona.opening == "我\u2028很难过。"
    assert persona.start == {"feeling": 40}


BROKEN = {
    "not JSON": '{"id": 1',
    "must be one JSON object": "[1, 2]",
    "'history' is missing": '{"id": "x", "emo_point": 4}',
    "'history' must be a list": line(history=[]),
    "role must be user or assistant": line(history=[{"role": "system", "content": "x"}]),
    "'emo_point' must be a number": line(emo_point="high"),
    "needs 'role' and 'content'": line(history=[{"role": "user"}]),
    "the id occurs twice": line(1),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_line_is_named_or_left_out(tmp_path: Path, problem: str) -> None:
    path = written(tmp_path, line(1), BROKEN[problem])
    with pytest.raises(InputError, match="line 2") as error:
        read_sage(path)
    assert problem in str(error.value)
    found = read_sage(path, skip_invalid=True)
    assert (len(found.conversations), list(found.skipped)) == (1, [2])


def test_an_empty_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no conversation"):
        read_sage(written(tmp_path, ""))
    with pytest.raises(InputError, match="_result.jsonl"):
        sage_files(tmp_path / "nothing")


def test_a_conversation_of_one_turn_is_kept_and_not_scored(lab: Lab, tmp_path: Path) -> None:
    found = read_sage(written(tmp_path, line(history=[{"role": "user", "content": "喂？"}])))
    store_conversations(lab, "sage", found.source, found.conversations)
    [row] = conversations_frame(lab).to_dicts()
    assert (row["outcome"], row["exchanges"]) == ("no_reply", 0)
