"""Files to take along: each written to the audit log before it is sent."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.responses import Response

from empathylab.errors import InputError
from empathylab.store.studies.archive import page_rows
from empathylab.store.studies.monitoring import listed_comments, pages_by_slot, rated_rows
from empathylab.store.studies.participants import submitters
from empathylab.store.studies.records import audit_rows
from empathylab.store.studies.slots import all_slots
from empathylab.study.admin.embargo import unlisted_blocks, whole_minute, whole_minutes
from empathylab.study.admin.quality import quality_of
from empathylab.study.blocks.steps import block_of
from empathylab.study.design.definition import Study
from empathylab.study.exports.folders import export_study
from empathylab.study.session.visits import shown_status
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.results import peek_reason
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit
from empathylab.tables import csv_text

_EVERYTHING = 1_000_000_000
PACKAGE = "package.zip"
"""All tables with the protocol and a data dictionary."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A study whose rows are downloaded."""

    connection: Connection
    row: int
    study: Study
    closed: bool
    """Whether arms and exact times may be shown."""

    def shown(self, value: Any) -> Any:
        """The value; a moment to the minute while the study is not closed."""
        return value if self.closed or not isinstance(value, datetime) else whole_minute(value)


@dataclass(frozen=True, slots=True)
class File:
    """A table that can be downloaded."""

    name: str
    about: str
    rows: Callable[[_Source], Iterator[Sequence[Any]]]
    """The header and the rows of a study."""
    closed_only: bool = False


def show_downloads(visit: Visit) -> Response:
    """What can be downloaded."""
    closed = visit.console.status() == "closed"
    return page(visit, "downloads", text("Downloads"), files=FILES, package=PACKAGE, closed=closed)


def download(visit: Visit) -> Response:
    """One table, or all of them; what tells results only once the study is closed."""
    closed = visit.console.status() == "closed"
    if visit.form.get("file") == PACKAGE and closed:
        return _send_package(visit)
    chosen = None if visit.form.get("file") == PACKAGE else _chosen(visit)
    if chosen is None or (chosen.closed_only and not closed):
        raise InputError(
            text("ratings can be downloaded once the study is closed"),
            remedy=text("Close the study first, or give a reason below."),
        )
    visit.console.note(visit.who, "download", file=chosen.name)
    return _send(visit, chosen, closed=closed)


def peek_download(visit: Visit) -> Response:
    """The ratings of a study that is not closed, once the reason is on record."""
    reason = peek_reason(visit)
    if visit.form.get("file") == PACKAGE:
        return _send_package(visit, peek=reason)
    chosen = _chosen(visit)
    visit.console.note(visit.who, "peek", reason=reason, file=chosen.name)
    return _send(visit, chosen, closed=True)


def download_identities(visit: Visit) -> Response:
    """Participant IDs: a file of its own, by explicit choice."""
    reason = " ".join(visit.form.get("reason", "").split())[:500]
    if visit.form.get("sure") != "yes" or not reason:
        raise InputError(
            text("participant IDs need your confirmation and a reason"),
            remedy=text("Tick the box and give the reason."),
        )
    visit.console.note(visit.who, "download", file="identities.csv", reason=reason)
    return _send(visit, _IDENTITIES, closed=True)


def _chosen(visit: Visit) -> File:
    name = visit.form.get("file", "")
    chosen = next((item for item in FILES if item.name == name), None)
    if chosen is None:
        raise HTTPException(404)
    return chosen


def _send(visit: Visit, file: File, *, closed: bool) -> Response:
    console = visit.console
    with console.lab.reading() as connection:
        source = _Source(connection, console.launched.row, console.launched.study, closed)
        content = csv_text(file.rows(source))
    return _attachment(visit, content.encode(), "text/csv; charset=utf-8", file.name)


def _send_package(visit: Visit, peek: str | None = None) -> Response:
    """The whole export as one archive; the export itself is written to the audit log."""
    console = visit.console
    study = console.launched.study
    written = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / study.name
        export_study(
            console.lab,
            f"{study.name}@{study.version}",
            package,
            peek=peek,
            now=console.clock(),
            who=visit.who,
        )
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(path for path in package.rglob("*") if path.is_file()):
                archive.write(file, file.relative_to(folder))
    return _attachment(visit, written.getvalue(), "application/zip", PACKAGE)


def _attachment(visit: Visit, content: bytes, media_type: str, name: str) -> Response:
    disposition = f'attachment; filename="{visit.console.launched.study.name}-{name}"'
    return Response(content, media_type=media_type, headers={"Content-Disposition": disposition})


def _participants(source: _Source) -> Iterator[Sequence[Any]]:
    columns = ["person", "status", "outcome", "language", "arrived_at", "seen_at", "answered"]
    columns += ["review", "review_reason", *(["arm"] if source.closed else [])]
    measured = ("seconds", "checks", "failed", "away", "losses", "instant")
    yield (*columns, *measured, "signals")
    rows = [row for row in all_slots(source.connection, source.row) if row.world == "person"]
    checks = [block.id for block in source.study.blocks if block.checks_attention]
    pages = pages_by_slot(source.connection, [row.id for row in rows], checks)
    for row in rows:
        own = pages.get(row.id, [])
        last = max((page.answered_at for page in own), default=None)
        quality = quality_of(
            source.study, own, arrived=row.arrived_at, last=last, closed=source.closed
        )
        cells = [source.shown(getattr(row, name)) for name in columns]
        cells[columns.index("status")] = shown_status(row, closed=source.closed)
        cells[columns.index("answered")] = quality.pages
        signs = None if quality.signals is None else "; ".join(quality.signals.signs)
        yield (*cells, *(getattr(quality, name) for name in measured), signs)


def _page_times(source: _Source) -> Iterator[Sequence[Any]]:
    timing_names = ("seconds", "reported", "away", "losses")
    yield ("person", "page", "shown_at", "answered_at", *timing_names, "corrections")
    unlisted = () if source.closed else unlisted_blocks(source.study)
    for row in page_rows(source.connection, source.row, answers=False):
        if block_of(row.step) in unlisted:
            continue
        at = [source.shown(row.shown_at), source.shown(row.answered_at)]
        times = [row.timing.get(name) for name in timing_names]
        if not source.closed:
            times = [*map(whole_minutes, times[:3]), times[3]]
        yield (row.person, row.step, *at, *times, row.corrections)


def _comments(source: _Source) -> Iterator[Sequence[Any]]:
    steps = [block.id for block in source.study.blocks if block.holds_comments]
    yield ("person", "answered_at", "comment")
    _, rows = listed_comments(source.connection, source.row, steps, limit=_EVERYTHING, offset=0)
    for row in rows:
        yield (row.person, source.shown(row.answered_at), row.text)


def _audit(source: _Source) -> Iterator[Sequence[Any]]:
    yield ("at", "who", "action", "details")
    for row in audit_rows(source.connection, source.row):
        details = "; ".join(f"{name}: {value}" for name, value in row.details.items())
        yield (source.shown(row.at), row.who, row.action, details)


def _ratings(source: _Source) -> Iterator[Sequence[Any]]:
    columns = ("person", "arm", "situation", "dimension", "value", "label", "seconds", "rated_at")
    yield columns
    for row in rated_rows(source.connection, source.row):
        yield [getattr(row, name) for name in columns]


def _identities(source: _Source) -> Iterator[Sequence[Any]]:
    names = ("person", "study", "session")
    yield ("person", "platform", *(f"platform_{name}" for name in names), "state")
    for row in submitters(source.connection, source.row):
        yield (row.person, row.platform, *(row.ids.get(name) for name in names), row.state)


FILES: tuple[File, ...] = (
    File(
        "participants.csv",
        text("All participants: status, time, attention checks, quality signals, reviews."),
        _participants,
    ),
    File("page-times.csv", text("Every page: time, time away, focus losses."), _page_times),
    File("comments.csv", text("Participants' comments."), _comments),
    File("audit.csv", text("What researchers did."), _audit),
    File("ratings.csv", text("Every rating with its arm."), _ratings, closed_only=True),
)
_IDENTITIES = File("identities.csv", "Platform ids by key.", _identities)
