"""Runs the notebooks of the documentation, keeps their output, and writes them as pages.

Usage: python scripts/write_notebooks.py [NAME …]      run these, or all, and write their pages
       python scripts/write_notebooks.py --pages       only write the pages

Notebooks on published data need EMPATHYLAB_SHARED_DATA. Their output may hold numbers and charts,
but no text of others.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTE = (
    "<!-- Written from the notebook by scripts/write_notebooks.py; do not edit by hand. -->\n\n"
    "*This page is a notebook: [`{name}.ipynb`]({name}.ipynb).*"
)
# Progress bars are of the moment, and styles belong to the site.
_DROPPED = re.compile(r"<div>[^<]*<progress.*?</div>|<style.*?</style>", re.DOTALL)


_MARGIN = 24


def execute(path: Path, folder: Path) -> Any:
    """The notebook with the output of its cells, run in that folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return notebook


def pages(folder: Path = FOLDER) -> dict[str, str]:
    """Every notebook as Markdown, with its charts as files, by name."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        found |= _page(path.stem, notebook["cells"])
    return found


def _page(name: str, cells: list[dict[str, Any]]) -> dict[str, str]:
    parts: list[str] = []
    charts: dict[str, str] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            if len(parts) == 1:
                parts.append(NOTE.format(name=name))
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            parts += _output(output, name, charts)
    return {f"{name}.md": "\n\n".join(part for part in parts if part) + "\n"} | charts


def _output(output: dict[str, Any], name: str, charts: dict[str, str]) -> list[str]:
    if output["output_type"] == "stream":
        return [_printed("".join(output["text"]))] if output["name"] == "stdout" else []
    data = {kind: "".join(value) for kind, value in output.get("data", {}).items()}
    if "image/svg+xml" in data:
        file = f"{name}-{len(charts) + 1}.svg"
        charts[file] = _wider(data["image/svg+xml"])
        # The titles of panels come first, that of the whole chart last.
        titles = re.findall(r'aria-label="Title text \'([^\']*)\'', data["image/svg+xml"])
        return [f"![{titles[-1] if titles else 'Chart'}]({file})"]
    if "text/html" in data:
        # A line that is empty would end the HTML for Markdown.
        html = re.sub(r"\n\s*\n", "\n", _DROPPED.sub("", data["text/html"])).strip()
        return [html] if html else []
    return [_printed(data["text/plain"])] if "text/plain" in data else []


def _printed(text: str) -> str:
    """As HTML, which wraps long lines; an empty line would end it for Markdown."""
    lines = "\n".join(escape(line) or "&#8203;" for line in text.rstrip().split("\n"))
    return f'<pre class="output">{lines}</pre>'


def _keep_shown(data: dict[str, Any]) -> None:
    """Drops the plain form of what a notebook shows as HTML or as a picture."""
    if len(data) > 1:
        data.pop("text/plain", None)


def _wider(svg: str) -> str:
    """With a margin for the reader's font, which may be wider than the one that was measured."""
    found = re.search(r'width="(\d+)" height="(\d+)" viewBox="0 0 \d+ \d+"', svg)
    if found is None:
        return svg
    width, height = int(found[1]) + 2 * _MARGIN, found[2]
    size = f'width="{width}" height="{height}" viewBox="{-_MARGIN} 0 {width} {height}"'
    svg = svg.replace(found[0], size, 1)
    return svg.replace(f'<rect width="{found[1]}"', f'<rect x="{-_MARGIN}" width="{width}"', 1)


def main(names: list[str]) -> None:
    import nbformat

    for path in sorted(FOLDER.glob("*.ipynb")) if "--pages" not in names else ():
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = execute(path, Path(folder))
        for cell in done.cells:
            cell.metadata = {}
            for output in cell.get("outputs", ()):
                _keep_shown(output.get("data", {}))
        done.metadata.pop("language_info", None)
        nbformat.write(done, path)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
