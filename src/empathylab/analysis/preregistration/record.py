"""The plan of a preregistered study, as it is kept in its audit log."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from empathylab.store.studies.records import add_audit, audit_rows

ACTION = "preregister"


@dataclass(frozen=True, slots=True)
class Plan:
    """What was planned, as far as an analysis can deviate from it."""

    study: str
    version: int
    protocol_hash: str
    """Of the file alone, without the texts of situations and scales that it names."""
    raters: Mapping[str, int] = field(hash=False)
    """By arm, how many are to finish."""
    reference: str | None
    """The arm that others are compared with; None where no replies are rated."""
    exclusions: Sequence[Mapping[str, Any]] = field(hash=False)
    margins: Mapping[str, float] = field(hash=False)
    looks: Mapping[str, Any] | None = field(hash=False)


@dataclass(frozen=True, slots=True)
class Preregistered:
    """A preregistration: when it was written, its hash, and what was done differently."""

    written_at: str
    hash: str
    deviations: tuple[str, ...] = ()


def content_hash(content: Mapping[str, Any]) -> str:
    """The hash of a preregistration's content."""
    written = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


def record(
    connection: Connection, study: int, at: datetime, who: str, document: Mapping[str, Any]
) -> bool:
    """Whether the preregistration was written into the study's audit log; once is enough."""
    known = {row.details["hash"] for row in audit_rows(connection, study) if row.action == ACTION}
    if document["hash"] in known:
        return False
    kept = {name: document[name] for name in ("hash", "written_at", "plan")}
    add_audit(connection, study, at, who, ACTION, **kept)
    return True


def recorded(connection: Connection, study: int) -> tuple[Preregistered, Plan] | None:
    """The study's first preregistration, with its plan; None where there is none."""
    for row in audit_rows(connection, study):
        if row.action == ACTION:
            known = {field.name for field in dataclasses.fields(Plan)}
            plan = {name: value for name, value in row.details["plan"].items() if name in known}
            return Preregistered(row.details["written_at"], row.details["hash"]), Plan(**plan)
    return None
