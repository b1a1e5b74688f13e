"""The built-in personas, and files of one's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.protocols.converse.outcomes import person_fault, says_goodbye
from empathylab.protocols.converse.persona_files import builtin_personas, read_personas
from empathylab.protocols.converse.simulator import profile, state_schema

FILE = """
collection: mine
version: 1
licence: CC0
start: {feeling: 40}
end: {success_at: 90, failure_below: 10, exchanges: 4}
personas:
  - id: a
    name: Ann
    emotion: sadness
    need: be heard
    texts:
      en: {story: The cat left., opening: My cat left.}
"""


def read(folder: Path, text: str) -> object:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return read_personas(path)


def test_there_are_48_personas_over_8_emotions_in_three_languages() -> None:
    personas = builtin_personas()
    english = [one for one in personas if one.language == "en"]
    assert Counter(one.language for one in personas) == {"en": 48, "zh": 16, "de": 16}
    assert set(Counter(one.emotion for one in english).values()) == {6}
    assert len({one.emotion for one in english}) == 8
    assert len({one.id for one in personas}) == 48


def test_built_in_personas_are_complete_and_marked_as_not_validated() -> None:
    for one in builtin_personas():
        assert not one.validated
        assert one.need in ("be heard", "advice", "perspective", "celebrate")
        assert one.age is not None
        assert min(map(len, (one.reveals, one.helps, one.hurts))) >= 2, one.id
        assert all((one.culture, one.temperament, one.about)), one.id


def test_no_opening_looks_like_a_fault() -> None:
    for one in builtin_personas():
        assert person_fault(one.opening, one.language) is None, one.key
        assert not says_goodbye(one.opening), one.key


def test_needs_and_crises_are_spread() -> None:
    english = [one for one in builtin_personas() if one.language == "en"]
    assert min(Counter(one.need for one in english).values()) >= 8
    assert sum(one.crisis for one in english) >= 4
    assert sum(one.claim is not None for one in english) >= 10


def test_the_profile_is_in_the_language_of_the_persona() -> None:
    by_key = {one.key: profile(one) for one in builtin_personas()}
    assert "Was dir guttut" in by_key["guilt-nursing-home/de"]
    assert "会让你好受一些的" in by_key["guilt-nursing-home/zh"]
    assert "never say outright" in by_key["guilt-nursing-home/en"]


def test_own_dimensions_become_part_of_the_state(tmp_path: Path) -> None:
    [one] = read(tmp_path, FILE.replace("{feeling: 40}", "{feeling: 40, shame: 70}"))  # type: ignore[misc]
    assert list(state_schema(one)["properties"]) == ["noticed", "feeling", "shame", "need_met"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("end: {success_at: 90, failure_below: 10, exchanges: 4}\n", "", "'a' has no 'end'"),
        ("start: {feeling: 40}\n", "", "'a' has no 'start'"),
        ("{feeling: 40}", "{calm: 40}", "needs the dimension 'feeling'"),
        ("{feeling: 40}", "{feeling: 140}", "from 0 to 100"),
        ("    need: be heard\n", "", "line 8.*need: this key is missing"),
        ("name: Ann", "name: Ann\n    nmae: Bob", "not known"),
        ("exchanges: 4", "exchanges: 0", "line 6"),
        ("opening: My cat left.", "opening: ''", "opening"),
        ("personas:", "personas: [", "not YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in FILE
    with pytest.raises(InputError, match=problem):
        read(tmp_path, FILE.replace(old, new))
