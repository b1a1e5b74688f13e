"""The pages about exports say what the program writes."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import get_args

from empathylab.export.folders import Format
from empathylab.export.tables import TABLES

ROOT = Path(__file__).parents[1]


def test_the_columns_page_is_up_to_date() -> None:
    path = ROOT / "scripts" / "write_export_columns.py"
    spec = importlib.util.spec_from_file_location("write_export_columns", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "reference" / "export-columns.md").read_text(encoding="utf-8")
    assert written == module.page(), "run: python scripts/write_export_columns.py"
    assert re.findall(r"^## (\w+)$", written, re.MULTILINE) == list(TABLES)


def test_every_format_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "export.md").read_text(encoding="utf-8")
    for name in get_args(Format):
        assert f"| `{name}` |" in page
