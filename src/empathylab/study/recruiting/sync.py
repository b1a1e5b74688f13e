"""What a platform says of its submissions, brought into the lab: states kept, places freed.

A state has an effect when it is heard for the first time. So the same news twice changes nothing,
and anyone who came back after they had returned their submission keeps the slot they took again.
The words for states are those of Prolific's documentation (docs.prolific.com, "Submission object",
read 2026). Its website, API and export spell them with spaces, hyphens or underscores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from empathylab.errors import InputError
from empathylab.store.studies.participants import set_states, set_visit_ids, submitters
from empathylab.store.studies.records import add_audit, lock_study
from empathylab.store.studies.slots import find_slot
from empathylab.study.admin.actions import exclude_row, release_row
from empathylab.study.assignment.allocation import Freed
from empathylab.study.blocks.forms import clean_text
from empathylab.study.recruiting.prolific import Prolific, Submission
from empathylab.study.session.running import RunningStudy

RETURNED = "RETURNED"
KNOWN = (
    "RESERVED",
    "ACTIVE",
    "AWAITING REVIEW",
    "APPROVED",
    "PARTIALLY APPROVED",
    "SCREENED OUT",
    RETURNED,
    "TIMED-OUT",
    "REJECTED",
)
FREES: dict[str, Freed] = {
    RETURNED: "returned",
    "TIMED-OUT": "timed-out",
    # Prolific gives a rejected person's place to someone else, and so do we unless they have
    # finished here: whether finished work counts is for the researcher to say, by excluding it.
    "REJECTED": "abandoned",
}
"""By state, how a place ends that its holder has not finished."""

_GAPS = re.compile(r"[\s_-]+")
_LONGEST = 60
_MOST_STUDIES = 10
_REASON = "returned their submission on Prolific after they had finished"
_BY_LETTERS = {_GAPS.sub("", item): item for item in KNOWN}


def status_named(written: str) -> str:
    """The state as we keep it; one that nobody knows stays as it was written."""
    plain = _GAPS.sub(" ", written).strip().upper()
    return _BY_LETTERS.get(plain.replace(" ", ""), plain[:_LONGEST])


@dataclass(frozen=True, slots=True)
class Synced:
    """What was heard, and what came of it."""

    submissions: int
    people: int
    """Who are known here."""
    unknown: int
    """Participants with a submission but no visit here: they never came, or were deleted."""
    unlisted: int
    """Visitors without a submission: the export is older, or the id was typed by hand."""
    statuses: Mapping[str, int] = field(hash=False)
    """By state, the people known here."""
    changed: int
    """People whose state is another than before."""
    freed: tuple[str, ...] = ()
    """Keys of those whose places are free now."""
    excluded: tuple[str, ...] = ()
    """Keys of those who returned finished work: it no longer counts, and the slot is free."""
    kept: int = 0
    """People who lost their submission otherwise, but had finished here: their work stays."""
    other_codes: tuple[tuple[str, str], ...] = ()
    """Keys of those who submitted another code than the one for how their part ended, with it."""
    odd: tuple[str, ...] = ()
    """States that Prolific's documentation does not name; they have no effect."""


def apply_submissions(
    service: RunningStudy,
    submissions: Sequence[Submission],
    *,
    source: str,
    who: str = "sync",
) -> Synced:
    """What the submissions change; all of it, or nothing, and written down in the audit."""
    _require_prolific(service)
    study = service.launched.row
    with service.lab.reading() as connection:
        rows = submitters(connection, study)
    heard = _matched(rows, submissions)
    states = {row.id: status_named(submission.status) for row, submission in heard}
    news = [row for row, _ in heard if states[row.id] != row.state]
    visits = _latest_visits(heard, submissions)
    acts = _Acts()
    if news or visits:
        with service.lab.writing() as connection:
            lock_study(connection, study)
            for person, ids in visits.items():
                set_visit_ids(connection, study, person, ids)
            # Another process may have heard the same meanwhile.
            before = {row.id: row.state for row in submitters(connection, study)}
            news = [row for row in news if row.id in before and before[row.id] != states[row.id]]
            for row in news:
                _act(service, connection, row.person, states[row.id], who, acts)
            set_states(connection, {row.id: states[row.id] for row in news}, service.now())
            if news:
                details = {"source": source, "changed": len(news), "freed": len(acts.freed)}
                details["excluded"] = len(acts.excluded)
                add_audit(connection, study, service.now(), who, "sync", **details)
    named = {
        clean_text(submission.participant) for submission in submissions if submission.participant
    }
    known = {clean_text(row.ids.get("person", "")) for row in rows}
    return Synced(
        submissions=len(submissions),
        people=len(named & known),
        unknown=len(named - known),
        unlisted=len(known - named - {""}),
        statuses=dict(sorted(Counter(states.values()).items())),
        changed=len(news),
        freed=tuple(acts.freed),
        excluded=tuple(acts.excluded),
        kept=acts.kept,
        other_codes=tuple(_other_codes(service, heard)),
        odd=tuple(sorted({state for state in states.values() if state not in KNOWN})),
    )


async def pull(
    service: RunningStudy, client: Prolific, *, studies: Sequence[str] = (), who: str = "sync"
) -> Synced:
    """What Prolific's API says now, brought into the lab.

    `studies` are Prolific's ids of the study; without any, those that people's links named.
    """
    _require_prolific(service)
    asked = list(dict.fromkeys(studies)) or platform_studies(service)
    if not asked:
        return apply_submissions(service, (), source="API", who=who)
    submissions: list[Submission] = []
    missing = []
    for study in asked:
        listed = await client.submissions(study)
        if listed is None:
            missing.append(study)
        submissions += listed or ()
    # Anybody can write a link with a study's id that is none; but not all can be.
    if len(missing) == len(asked) or set(missing) & set(studies):
        raise InputError(
            "Prolific has no such study for this token",
            where=f"study {service.name}",
            got=", ".join(missing),
            remedy="Give the id in the study's address on Prolific with --prolific-study.",
        )
    return apply_submissions(service, submissions, source="API", who=who)


def platform_studies(service: RunningStudy) -> list[str]:
    """Prolific's ids of the study that people's links named, the most frequent first."""
    with service.lab.reading() as connection:
        rows = submitters(connection, service.launched.row)
    named = Counter(row.ids["study"] for row in rows if row.ids.get("study"))
    return [study for study, _ in named.most_common(_MOST_STUDIES)]


@dataclass
class _Acts:
    freed: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    kept: int = 0


def _act(
    service: RunningStudy, connection: Any, person: str, state: str, who: str, acts: _Acts
) -> None:
    if state not in FREES:
        return
    row = find_slot(connection, service.launched.row, person, lock=True)
    if row is None:
        return
    if row.status == "finished":
        if state == RETURNED:
            exclude_row(service, connection, row, _REASON, who=who)
            acts.excluded.append(person)
        else:
            acts.kept += 1
    elif row.status == "live":
        release_row(service, connection, row, FREES[state], who=who)
        acts.freed.append(person)


def _matched(
    rows: Sequence[Any], submissions: Sequence[Submission]
) -> list[tuple[Any, Submission]]:
    """Each known person with their latest submission.

    Anyone who may take part several times has several rows: a submission belongs to the row of its
    own visit, else to the person's latest.
    """
    sessions = {
        (clean_text(row.ids.get("person", "")), row.ids.get("session")): row for row in rows
    }
    latest = {clean_text(row.ids.get("person", "")): row for row in rows}
    matches: dict[int, tuple[Any, Submission]] = {}
    for submission in submissions:
        if not (person := clean_text(submission.participant)):
            continue
        row = sessions.get((person, submission.id)) if submission.id else None
        row = row if row is not None else latest.get(person)
        if row is None:
            continue
        before = matches.get(row.id)
        if before is None or _weight(submission) >= _weight(before[1]):
            matches[row.id] = row, submission
    return list(matches.values())


def _latest_visits(
    heard: Sequence[tuple[Any, Submission]], submissions: Sequence[Submission]
) -> dict[str, dict[str, str]]:
    """The ids to keep of people whose own link named a visit that Prolific does not list.

    They are paid for the submission that it does list.
    """
    listed = {clean_text(submission.id) for submission in submissions}
    return {
        row.person: {**row.ids, "session": clean_text(submission.id)}
        for row, submission in heard
        if submission.id and row.ids.get("session") not in listed
    }


def _other_codes(
    service: RunningStudy, heard: Sequence[tuple[Any, Submission]]
) -> Iterator[tuple[str, str]]:
    codes = service.study.recruitment.codes
    for row, submission in heard:
        ours = codes.get(row.outcome)
        known = {code.lower() for code in codes.values()} if ours is None else {ours.lower()}
        is_ours = submission.code.lower() in known
        # Without a code of their own, people who give one of ours have it from someone else.
        if submission.code and is_ours == (ours is None):
            yield row.person, submission.code


def _weight(submission: Submission) -> tuple[str, bool]:
    """What decides between two submissions of one person: the later, else the one still going."""
    return submission.started_at, status_named(submission.status) not in FREES


def _require_prolific(service: RunningStudy) -> None:
    platform = service.study.recruitment.platform
    if platform != "prolific":
        raise InputError(
            "only studies that recruit on Prolific can be synced",
            where=f"study {service.name}",
            got=f"recruitment: {{platform: {platform}}}",
            remedy="See `empathylab study status` for its participants.",
        )
