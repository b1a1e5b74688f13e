"""Where a log holds what EmpathyLab needs to read it back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from empathylab.store.transfer import Records

NAMESPACE = "empathylab"
"""The key in the metadata of a log, of a sample and of a score."""
FORMAT = 1
DEFINITIONS = ("situation_sets", "situations", "scales", "personas")
"""The rows that all samples of a log share."""
_NUMBERED = re.compile(r"(.+)/(?:sample|repeat)-(\d+)")


def sample_of(key: str) -> tuple[str, int]:
    """The sample's id and epoch that a request belongs to, from the request's key."""
    first = re.sub(r"/retry-\d+$", "", key).partition("#")[0]
    match = _NUMBERED.fullmatch(first)
    return (match[1], int(match[2]) + 1) if match else (first, 1)


def carried(records: Records, source: str, **more: Any) -> dict[str, Any]:
    """Metadata with rows; `source` says which rows are numbered together."""
    rows = {name: rows for name, rows in records.items() if rows}
    return {NAMESPACE: {"format": FORMAT, "source": source, "records": rows, **more}}


def carried_in(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What EmpathyLab put there; None where it put nothing."""
    carried = (metadata or {}).get(NAMESPACE)
    return carried if isinstance(carried, dict) and "records" in carried else None
