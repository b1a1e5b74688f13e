"""Pausing a study that can no longer get replies: its money is spent, or the provider is down.

All who wait for a reply are interrupted then, in every arm. If only those of a
model's arm were, the arms would lose different people, and the outcome would identify the arm.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from empathylab.store.studies.live import end_waiting_conversations
from empathylab.store.studies.records import add_audit, last_audit, pause_if_open

ENGINE = "live replies"
"""As audit logs name the server that pauses a study by itself."""
_CHANGES = ("launch", "pause", "resume", "close")


def pause_study(connection: Connection, study: int, reason: str, at: datetime) -> None:
    """Pauses an open study; the audit log keeps why. Ends what still waits for a reply."""
    if pause_if_open(connection, study):
        add_audit(connection, study, at, ENGINE, "pause", reason=reason)
    end_waiting_conversations(connection, study, reason, at)


def pause_reason(connection: Connection, study: int) -> str | None:
    """Why a paused study paused by itself; None where a researcher paused it."""
    last = last_audit(connection, study, _CHANGES)
    return str(last.details["reason"]) if last is not None and last.who == ENGINE else None
