"""MkDocs hooks: the site's search index, written as a script that also works from a file.

A page that is opened from a disk may not fetch anything, so the index comes as a script of its own.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

_HEADING = re.compile(r'<h([1-4]) id="([^"]*)"[^>]*>(.*?)</h\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_index: list[dict[str, str]] = []


def on_pre_build(config: Any) -> None:
    """Begins an empty index."""
    _index.clear()


def on_page_content(content: str, page: Any, config: Any, files: Any) -> None:
    """Adds each section of the page."""
    _index.extend(sections(content, page.url, page.title or ""))


def on_post_build(config: Any) -> None:
    """Writes the index beside the pages."""
    text = json.dumps(_index, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c")
    target = Path(config["site_dir"]) / "search-index.js"
    target.write_text(f"window.sections={text};\n", encoding="utf-8")


def sections(content: str, url: str, page: str) -> list[dict[str, str]]:
    """The page cut at its headings: address, page, heading and plain text of each part."""
    found = list(_HEADING.finditer(content))
    starts = [0, *(one.end() for one in found)]
    ends = [*(one.start() for one in found), len(content)]
    names = [("", page), *((one[2], _plain(one[3])) for one in found)]
    return [
        {
            "url": f"{url}#{anchor}" if anchor else url,
            "page": page,
            "heading": heading,
            "text": _plain(content[start:end]),
        }
        for (anchor, heading), start, end in zip(names, starts, ends, strict=True)
        if anchor or content[start:end].strip()
    ]


def _plain(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())
