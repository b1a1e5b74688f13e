"""The built-in personas, and files of one's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from empathylab.errors import UserError
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
    english = [persona for persona in personas if persona.language == "en"]
    assert Counter(persona.language for persona in personas) == {"en": 48, "zh": 16, "de": 16}
    assert set(Counter(item.emotion for item in english).values()) == {6}
    assert len({item.emotion for item in english}) == 8
    assert len({persona.id for persona in personas}) == 48


def test_built_in_personas_are_complete_and_marked_as_not_validated() -> None:
    for persona in builtin_personas():
        assert not persona.validated
        assert persona.need in ("be heard", "advice", "perspective", "celebrate")
        assert persona.age is not None
        assert min(map(len, (persona.reveals, persona.helps, persona.hurts))) >= 2, persona.id
        assert all((persona.culture, persona.temperament, persona.about)), persona.id


def test_no_opening_looks_like_a_fault() -> None:
    for persona in builtin_personas():
        assert person_fault(persona.opening, persona.language) is None, persona.key
        assert not says_goodbye(persona.opening), persona.key


def test_needs_and_crises_are_spread() -> None:
    english = [persona for persona in builtin_personas() if persona.language == "en"]
    assert min(Counter(item.need for item in english).values()) >= 8
    assert sum(item.crisis for item in english) >= 4
    assert sum(item.claim is not None for item in english) >= 10


def test_the_profile_is_in_the_language_of_the_persona() -> None:
    by_key = {persona.key: profile(persona) for persona in builtin_personas()}
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
        ("    need: be heard\n", "", "line 8.*the key .need. is missing"),
        ("name: Ann", "name: Ann\n    nmae: Bob", "no key .nmae.. Did you mean .name."),
        ("exchanges: 4", "exchanges: 0", "line 6"),
        ("opening: My cat left.", "opening: ''", "opening"),
        ("personas:", "personas: [", "not valid YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in FILE
    with pytest.raises(UserError, match=problem):
        read(tmp_path, FILE.replace(old, new))
