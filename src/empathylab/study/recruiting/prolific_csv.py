"""Prolific's export of a study ("Download summary" or demographic data), as submissions.

Columns are found whatever their order, case and spaces; "Participant id" and "Status" must be
there, "Submission id", "Started at" and "Completion code" are used, all others can be kept about
the person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from empathylab.errors import InputError, UnknownName
from empathylab.store.studies.participants import (
    rater_details,
    set_platform_details,
    set_rater_details,
    submitters,
)
from empathylab.store.studies.records import add_audit, lock_study
from empathylab.study.assignment.quotas import LAB_NAMES
from empathylab.study.blocks.forms import clean_text
from empathylab.study.recruiting.prolific import Submission
from empathylab.study.recruiting.sync import Synced, apply_submissions
from empathylab.study.session.running import RunningStudy

_PARTICIPANT = ("participantid", "prolificid", "prolificpid")
_SUBMISSION = ("submissionid", "sessionid")
_STATUS = ("status", "submissionstatus")
_STARTED = ("startedat", "starteddatetime")
_CODE = ("completioncode", "enteredcode", "studycode")
_OWN = frozenset({*_PARTICIPANT, *_SUBMISSION, *_STATUS, *_STARTED, *_CODE})
# What Prolific writes where someone has withdrawn a trait, or it has become too old to be shown.
_WITHDRAWN = frozenset({"CONSENT_REVOKED", "DATA_EXPIRED"})
_MAX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Export:
    """What the file says."""

    submissions: tuple[Submission, ...]
    traits: Mapping[str, Mapping[str, str | None]] = field(hash=False)
    """By participant, the columns to keep; None where there is nothing, or no longer."""
    skipped: int
    """Rows without a participant or a status."""


def import_export(
    service: RunningStudy, path: Path, *, keep: Sequence[str] = (), who: str = "sync"
) -> tuple[Synced, int, int]:
    """What the file changed, how many people's traits changed, and how many rows were skipped.

    `keep` are columns such as `Sex` or `Sex=gender` to keep about each person, for quotas and for
    analyses. The file has the same effect on places as asking the API.
    """
    export = read_export(path, _names(service, keep))
    synced = apply_submissions(service, export.submissions, source=path.name, who=who)
    changed = _update_traits(service, export.traits, who) if keep else 0
    return synced, changed, export.skipped


def read_export(path: Path, keep: Mapping[str, str] | None = None) -> Export:
    """The file's submissions; `keep` gives by column the name under which it is kept."""
    from empathylab.tables import read_table

    frame = read_table(path)
    by_letters: dict[str, str] = {}
    for column in frame.columns:
        by_letters.setdefault(_letters(column), column)
    participant = _column(by_letters, _PARTICIPANT, "Participant id", path)
    status = _column(by_letters, _STATUS, "Status", path)
    submission, started, code = (
        next((by_letters[name] for name in names if name in by_letters), None)
        for names in (_SUBMISSION, _STARTED, _CODE)
    )
    wanted = {_kept_column(by_letters, wish, path): name for wish, name in (keep or {}).items()}
    submissions, traits, skipped = [], {}, 0
    for row in frame.iter_rows(named=True):
        who, state = _text(row[participant]), _text(row[status])
        if not who or not state:
            skipped += 1
            continue
        number, start, given = (
            _text(row[column]) if column else "" for column in (submission, started, code)
        )
        submissions.append(Submission(who, state, number, start, given))
        traits[clean_text(who)] = {name: _trait(row[column]) for column, name in wanted.items()}
    return Export(tuple(submissions), traits, skipped)


def _update_traits(
    service: RunningStudy, traits: Mapping[str, Mapping[str, str | None]], who: str
) -> int:
    """How many people's traits differ from before."""
    study, changed = service.launched.row, 0
    with service.lab.writing() as connection:
        lock_study(connection, study)
        for row in submitters(connection, study):
            news = traits.get(row.ids.get("person", ""), {})
            after = _merged(row.told, news)
            if after == row.told:
                continue
            changed += 1
            set_platform_details(connection, row.id, after)
            details = rater_details(connection, study, row.person)
            if details is not None:
                # What the person said themselves stays.
                set_rater_details(connection, study, row.person, _merged(details, news))
        if changed:
            names = sorted({name for item in traits.values() for name in item})
            details = {"people": changed, "names": names}
            add_audit(connection, study, service.now(), who, "update platform details", **details)
    return changed


def _merged(before: Mapping[str, Any], news: Mapping[str, str | None]) -> dict[str, Any]:
    kept = {name: value for name, value in before.items() if name not in news}
    return kept | {name: value for name, value in news.items() if value is not None}


def _names(service: RunningStudy, keep: Sequence[str]) -> dict[str, str]:
    """By column, the name under which it is kept; one that the study asks for itself is refused."""
    names: dict[str, str] = {}
    for item in keep:
        column, given, name = item.partition("=")
        plain = name.strip() if given else re.sub(r"\W+", "_", column.strip().lower()).strip("_")
        reserved = plain in service.study.demographic_fields or plain in LAB_NAMES
        if reserved or not plain or plain in names.values():
            raise InputError(
                "a column needs a name that the study does not use and that is given only once",
                where="--keep",
                got=item,
                remedy=f"Give it another name: --keep '{column.strip()}=platform_{plain}'.",
            )
        names[column.strip()] = plain
    return names


def _column(by_letters: Mapping[str, str], names: Sequence[str], usual: str, path: Path) -> str:
    for name in names:
        if name in by_letters:
            return by_letters[name]
    raise InputError(
        f"there is no column {usual!r}",
        where=path.name,
        got=", ".join(list(by_letters.values())[:12]),
        remedy="Give the file that you download from the study's page on Prolific, unchanged.",
    )


def _kept_column(by_letters: Mapping[str, str], given: str, path: Path) -> str:
    letters = _letters(given)
    if letters in by_letters and letters not in _OWN:
        return by_letters[letters]
    others = [column for letters, column in by_letters.items() if letters not in _OWN]
    raise UnknownName("column to keep", given, others, where=path.name)


def _letters(column: str) -> str:
    return re.sub(r"[\W_]+", "", column.lower())


def _text(cell: object) -> str:
    return "" if cell is None else clean_text(str(cell))


def _trait(cell: object) -> str | None:
    text = _text(cell)
    return None if not text or text.upper() in _WITHDRAWN else text[:_MAX_LENGTH]
