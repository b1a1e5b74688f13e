"""Writes the golden files: `python -m tests.golden.write FOLDER_OF_PUBLISHED_FILES`.

The stored files are the results of version 0.1. Write one again only for a new case, never to make
a failing test pass: a corrected number belongs into `CORRECTIONS` in `test_golden.py`, with its
reason. The exceptions are the files of `analyze style`, where a correction touches whole tables:
written again for version 2 of the tactics and its larger classifier, and because readability and
MTLD are given from 30 words on, so that corrected p values of all features change.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.golden import cases
from tests.golden.comparison import stored_form

FOLDER = Path(__file__).parent / "results"


def write(name: str, content: Any, folder: Path = FOLDER) -> None:
    """Stores one result, a top-level key per line."""
    stored = stored_form(content)
    lines = [
        f"{json.dumps(key)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for key, value in stored.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def main(published: Path) -> None:
    """Runs all cases and stores their results."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        groups = [
            cases.invented_cases(folder),
            cases.welivita_cases(folder, published),
            cases.emotionbench_cases(folder, published),
            cases.kumar_cases(folder, published),
        ]
        for group in groups:
            for name, compute in group.items():
                write(name, compute())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
