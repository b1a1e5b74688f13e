"""The documentation says what the program does."""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from empathylab.cli import app
from tests.test_docs_commands import parts

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDE = (DOCS / "how-to" / "choose-a-model.md").read_text(encoding="utf-8")
SETTINGS = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
PAGES = sorted(path for path in DOCS.rglob("*.md"))


@pytest.fixture(scope="module")
def written() -> Iterator[Any]:
    """The script that writes the reference; what it imports of its own goes when it is done."""
    before = set(sys.modules)
    path = ROOT / "scripts" / "write_reference.py"
    spec = importlib.util.spec_from_file_location("write_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(path.parent))
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "reference":
            del sys.modules[name]


def test_the_reference_is_up_to_date(written: Any) -> None:
    """This also fails where a setting, key, file or block of the code has no words."""
    for name, text in written.pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, (
            f"{name} is out of date; run: python scripts/write_reference.py"
        )


def test_a_variable_without_a_meaning_is_an_error(
    written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = sys.modules["reference.settings"]
    monkeypatch.delitem(settings.MEANINGS, "EMPATHYLAB_CACHE")  # type: ignore[attr-defined]
    with pytest.raises(settings.Undocumented, match="EMPATHYLAB_CACHE"):  # type: ignore[attr-defined]
        settings.page()  # type: ignore[attr-defined]


def test_a_key_of_a_study_without_a_meaning_is_an_error(
    written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page: Any = sys.modules["reference.study_file"]
    settings: Any = sys.modules["reference.settings"]
    monkeypatch.delitem(page.BLOCKS["attention"][1], "after")
    with pytest.raises(settings.Undocumented, match="after"):
        page.page()


def test_an_option_that_takes_a_file_of_unknown_format_is_an_error(
    written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page: Any = sys.modules["reference.formats"]
    settings: Any = sys.modules["reference.settings"]
    monkeypatch.delitem(page.USES, ("scales import", "path"))
    with pytest.raises(settings.Undocumented, match="scales import"):
        page.page()


def test_every_scale_and_set_is_in_the_reference() -> None:
    from empathylab.scales import builtin_scales
    from empathylab.situations import builtin_sets

    scales, sets = (
        (DOCS / "reference" / name).read_text() for name in ("scales.md", "situations.md")
    )
    assert all(f"\n## {name}\n" in scales for name in builtin_scales())
    assert all(f"\n## {name}\n" in sets for name in builtin_sets())


def test_every_setting_is_documented() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "src").rglob("*.py"))
    internal = {"EMPATHYLAB_LLAMA_KEY"}  # between the lab and its own child process
    for name in set(re.findall(r'"(EMPATHYLAB_[A-Z_]+)"', source)) - internal:
        assert f"`{name}`" in SETTINGS, f"{name} is not in docs/reference/settings.md"


def test_every_provider_and_its_key_are_documented() -> None:
    from empathylab.models import PROVIDERS

    for provider in PROVIDERS.values():
        assert f"`{provider.name}`" in GUIDE
        for variable in (provider.key_env, provider.base_url_env):
            assert variable is None or variable in GUIDE


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_files_of_the_repository_that_pages_name_exist() -> None:
    named = re.compile(r"(?<![\w/])((?:bench|docs|examples|scripts|src|tests)/[\w./-]*\w)")
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]:
        for path in named.findall(page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name} names {path}"
    text = (DOCS / "explanation" / "threat-model.md").read_text(encoding="utf-8")
    for path in re.findall(r"`([\w/]*test_\w+\.py)`", text):
        folder = ROOT if path.startswith("tests/") else ROOT / "tests" / "study"
        assert (folder / path).exists(), path


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every command in the page's blocks and tables."""
    for part in parts(page):
        yield from (words[1:] for words in part.commands)


@functools.cache
def program() -> Any:
    return typer.main.get_command(app)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *PAGES], ids=lambda path: str(path.relative_to(ROOT))
)
def test_every_command_of_a_page_is_one_that_the_program_takes(page: Path) -> None:
    for words in commands(page):
        command = program()
        rest = list(words)
        while rest and rest[0] in getattr(command, "commands", {}):
            command = command.commands[rest.pop(0)]
        assert not getattr(command, "commands", {}) or command.invoke_without_command, words
        command.make_context(" ".join(words), rest)


def test_the_tutorials_and_the_readme_hold_commands() -> None:
    assert len(list(commands(ROOT / "README.md"))) >= 12
    for name in ("appraisal", "ratings", "style", "prolific", "changes"):
        assert len(list(commands(DOCS / "tutorials" / f"{name}.md"))) >= 3
