"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def test_the_command_reference_is_up_to_date() -> None:
    path = ROOT / "scripts" / "write_reference.py"
    spec = importlib.util.spec_from_file_location("write_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert written == module.reference(), "run: python scripts/write_reference.py"


def test_every_setting_is_documented() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "src").rglob("*.py"))
    internal = {"EMPATHYLAB_LLAMA_KEY"}  # between the lab and its own child process
    for name in set(re.findall(r'"(EMPATHYLAB_[A-Z_]+)"', source)) - internal:
        assert f"`{name}`" in GUIDE, f"{name} is not in docs/guide.md"


def test_every_provider_and_its_key_are_documented() -> None:
    from empathylab.models import PROVIDERS

    for provider in PROVIDERS.values():
        assert f"`{provider.name}`" in GUIDE
        for variable in (provider.key_env, provider.base_url_env):
            assert variable is None or variable in GUIDE


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.embedded
def test_the_guides_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    # One situation is enough to see that it runs.
    code = code.replace("dialogues.first_per_group(1)", "dialogues.situations[:1]")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "guide.md", "exec"), {})  # noqa: S102 - our own example
    assert (tmp_path / "lab" / "lab.sqlite").is_file()
