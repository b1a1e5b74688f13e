"""Files to take along: each written to the audit log before it is sent."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from empathylab.study.admin.embargo import whole_minute, whole_minutes
from empathylab.study.admin.quality import quality_of
from empathylab.study.design.definition import Study
from empathylab.study.exports.folders import export_study
from empathylab.study.session.visits import shown_status
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.results import peek_reason
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit
from empathylab.tables import harmless_cell

_EVERYTHING = 1_000_000_000
PACKAGE = "package.zip"
"""All tables with the protocol and a data dictionary."""


@dataclass(frozen=True, slots=True)
class File:
    """A table that can be downloaded."""

    name: str
    about: str
    rows: Callable[[Connection, int, Study, bool], Iterator[Sequence[Any]]]
    """The header and the rows of a study; the last argument says whether arms may be shown."""
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
        rows = file.rows(connection, console.launched.row, console.launched.study, closed)
        content = _csv(rows)
    name = f"{console.launched.study.name}-{file.name}"
    return Response(
        content,
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


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
    return Response(
        written.getvalue(),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{study.name}-{PACKAGE}"'},
    )


def _csv(rows: Iterable[Sequence[Any]]) -> bytes:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([_cell(item) for item in row] for row in rows)
    return written.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return harmless_cell(str(value))


def _shown(value: Any, *, closed: bool) -> Any:
    """The value; a moment to the minute while the study is not closed."""
    return value if closed or not isinstance(value, datetime) else whole_minute(value)


def _participants(
    connection: Connection, study: int, definition: Study, closed: bool
) -> Iterator[Sequence[Any]]:
    columns = ["person", "status", "outcome", "language", "arrived_at", "seen_at", "answered"]
    columns += ["review", "review_reason", *(["arm"] if closed else [])]
    measured = ("seconds", "checks", "failed", "away", "losses", "instant")
    yield (*columns, *measured, "signals")
    rows = [row for row in all_slots(connection, study) if row.world == "person"]
    checks = [block.id for block in definition.blocks if block.checks_attention]
    pages = pages_by_slot(connection, [row.id for row in rows], checks)
    for row in rows:
        own = pages.get(row.id, [])
        last = max((page.answered_at for page in own), default=None)
        found = quality_of(definition, own, arrived=row.arrived_at, last=last, closed=closed)
        cells = [_shown(getattr(row, name), closed=closed) for name in columns]
        cells[columns.index("status")] = shown_status(row)
        signs = None if found.signals is None else "; ".join(found.signals.found)
        yield (*cells, *(getattr(found, name) for name in measured), signs)


def _page_times(
    connection: Connection, study: int, definition: Study, closed: bool
) -> Iterator[Sequence[Any]]:
    timing_names = ("seconds", "reported", "away", "losses")
    yield ("person", "page", "shown_at", "answered_at", *timing_names, "corrections")
    for row in page_rows(connection, study, answers=False):
        at = [_shown(item, closed=closed) for item in (row.shown_at, row.answered_at)]
        times = [row.timing.get(name) for name in timing_names]
        if not closed:
            times = [*map(whole_minutes, times[:3]), times[3]]
        yield (row.person, row.step, *at, *times, row.corrections)


def _comments(
    connection: Connection, study: int, definition: Study, closed: bool
) -> Iterator[Sequence[Any]]:
    steps = [block.id for block in definition.blocks if block.holds_comments]
    yield ("person", "answered_at", "comment")
    _, rows = listed_comments(connection, study, steps, most=_EVERYTHING, skipped=0)
    for row in rows:
        yield (row.person, _shown(row.answered_at, closed=closed), row.text)


def _audit(
    connection: Connection, study: int, definition: Study, closed: bool
) -> Iterator[Sequence[Any]]:
    yield ("at", "who", "action", "details")
    for row in audit_rows(connection, study):
        details = "; ".join(f"{name}: {value}" for name, value in row.details.items())
        yield (_shown(row.at, closed=closed), row.who, row.action, details)


def _ratings(
    connection: Connection, study: int, definition: Study, closed: bool
) -> Iterator[Sequence[Any]]:
    columns = ("person", "arm", "situation", "dimension", "value", "label", "seconds", "rated_at")
    yield columns
    for row in rated_rows(connection, study):
        yield [getattr(row, name) for name in columns]


def _identities(
    connection: Connection, study: int, definition: Study, closed: bool
) -> Iterator[Sequence[Any]]:
    names = ("person", "study", "session")
    yield ("person", "platform", *(f"platform_{name}" for name in names), "state")
    for row in submitters(connection, study):
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
