"""Builds the documentation site into site/VERSION, beside the versions that are there already.

Usage: python scripts/build_docs.py [FOLDER]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(site: Path) -> str:
    """The version that was built; a warning of MkDocs is an error."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = str(project["version"])
    # Not --quiet: it would hide warnings from --strict, too.
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", site / version],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    if done.returncode:
        sys.exit(done.stderr)
    list_versions(site)
    return version


def list_versions(site: Path) -> None:
    """Writes versions.json, from which pages offer the other versions, and leads to the newest."""
    folders = [path.name for path in site.iterdir() if (path / "index.html").is_file()]
    newest_first = sorted(folders, key=_numbers, reverse=True)
    versions = [{"version": name, "title": name, "aliases": []} for name in newest_first]
    (site / "versions.json").write_text(json.dumps(versions), encoding="utf-8")
    (site / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>EmpathyLab</title>'
        f'<meta http-equiv="refresh" content="0; url={newest_first[0]}/index.html">'
        f'<a href="{newest_first[0]}/index.html">Documentation</a>\n',
        encoding="utf-8",
    )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    sys.stdout.write(f"{target}/{build(target)}/index.html\n")
