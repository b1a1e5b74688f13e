"""Pausing a study that can no longer get replies: its money is spent, or the provider is down."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from empathylab.store.studies.records import add_audit, pause_if_open

ENGINE = "live replies"
"""As audit logs name the server that pauses a study by itself."""


def pause_study(connection: Connection, study: int, reason: str, at: datetime) -> bool:
    """Whether the study was open and is paused now; the audit log keeps why."""
    if not pause_if_open(connection, study):
        return False
    add_audit(connection, study, at, ENGINE, "pause", reason=reason)
    return True
