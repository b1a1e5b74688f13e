"""`empathylab study invite | sync | approvals`: invitations, submissions and payments."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, file_option, option
from empathylab.cli.study.actions import NameArgument, running
from empathylab.cli.tables import print_json, print_rows, show_rows
from empathylab.errors import InputError
from empathylab.tables import csv_text

if TYPE_CHECKING:
    from empathylab.study.recruiting.invitations import Invitation
    from empathylab.study.recruiting.sync import Synced

INVITE_EXAMPLE = (
    "Example: `empathylab study invite my-study --n 50 --expires 14 --csv links.csv "
    "--url https://study.example.org/` · `empathylab study invite my-study --n 10 "
    "--tell country=CH` · `empathylab study invite my-study --list`"
)
SYNC_EXAMPLE = (
    "Example: `empathylab study sync my-study` · "
    "`empathylab study sync my-study --csv prolific_export.csv --keep Sex --keep Age`"
)
APPROVALS_EXAMPLE = "Example: `empathylab study approvals my-study approvals.csv`"
QUEUE_EXAMPLE = (
    "Example: `empathylab study queue my-study --for ann --url https://study.example.org/`"
)
DEFAULT_ADDRESS = "http://127.0.0.1:8000/"
"""Where `study serve` listens by default."""


def invite(
    name: NameArgument,
    count: Annotated[
        int | None, option("How many links to create.", "--n", min=1, max=10000)
    ] = None,
    label: Annotated[
        list[str] | None,
        option(
            "A label for the links: one for all, or repeated for each. You do not need people's "
            "names."
        ),
    ] = None,
    expires: Annotated[
        float | None, option("Days after which the links expire.", metavar="DAYS")
    ] = None,
    tell: Annotated[
        list[str] | None,
        option(
            "A property of the participants that a quota uses; the links contain it. Repeatable.",
            metavar="NAME=KIND",
        ),
    ] = None,
    csv: Annotated[Path | None, file_option("Write the links into a new CSV file.")] = None,
    url: Annotated[
        str, option("The public address of the study.", metavar="URL")
    ] = DEFAULT_ADDRESS,
    listing: Annotated[bool, option("List all invitations and their status.", "--list")] = False,
    revoke: Annotated[
        str | None, option("Revoke an unused invitation.", metavar="LINK|KEY")
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Creates links for one participant each. They are shown only once.

    Participants can come back with their link; two browsers with one link share one slot.
    """

    if [count is not None, listing, revoke is not None].count(True) != 1:
        raise InputError(
            "you can create, list or revoke invitations, one at a time",
            where="study invite",
            remedy="Give one of --n, --list and --revoke.",
        )
    if listing:
        _list(lab, name, as_json=json)
    elif revoke is not None:
        _revoke(lab, name, revoke)
    else:
        terms = {"labels": label or (), "days": expires, "traits": _traits(tell or ())}
        _invite(lab, name, count or 0, terms, csv, checked_address(url), as_json=json)


def sync(
    name: NameArgument,
    csv: Annotated[
        Path | None, file_option("Prolific's export of the study, instead of its API.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        option(
            "A column of the export to keep about each rater; repeatable.", metavar="COLUMN[=NAME]"
        ),
    ] = None,
    prolific_study: Annotated[
        list[str] | None,
        option(
            "The study's ID on Prolific. Default: the IDs in participants' links.", metavar="ID"
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Checks on Prolific who returned the study or timed out, and frees their slots.

    Uses the API with the token in PROLIFIC_API_TOKEN, or reads the export. Finished work is kept
    unless its rater returned it: then it no longer counts.
    """
    import asyncio

    if csv is None and keep:
        raise InputError(
            "only the export has columns about people",
            where="--keep",
            remedy="Pass --csv FILE too.",
        )
    counts: dict[str, int] = {}
    with running(lab, name) as service:
        if csv is None:
            from empathylab.study.recruiting.prolific import Prolific
            from empathylab.study.recruiting.sync import pull

            client = Prolific.from_environment()
            synced = asyncio.run(
                pull(service, client, studies=prolific_study or (), who=operator())
            )
        else:
            from empathylab.study.recruiting.prolific_csv import import_export

            synced, people, skipped = import_export(service, csv, keep=keep or (), who=operator())
            counts = {"told_of": people, "skipped_rows": skipped}
    if json:
        print_json({**dataclasses.asdict(synced), **counts})
    else:
        _print_synced(synced, counts)


def approvals(
    name: NameArgument,
    file: Annotated[Path, argument("A new CSV file, which will contain platform IDs.")],
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Writes a list of participants to pay, by platform ID. The audit log records it.

    For MTurk, the file has the format of its review page. Everyone who completed the study is paid,
    except participants whose work a researcher rejected.
    """
    from empathylab.study.recruiting.approvals import approval_table
    from empathylab.study.recruiting.approvals import approvals as approved

    with running(lab, name) as service, _new_file(file) as out:
        decisions = approved(service, who=operator())
        out.write(approval_table(service, decisions))
    rejected = sum(1 for item in decisions if item.reason)
    typer.echo(f"{file}: {len(decisions) - rejected} to approve, {rejected} to reject", err=True)
    typer.echo("It contains platform IDs: keep it separate from the data.", err=True)


def queue(
    name: NameArgument,
    confederate: Annotated[
        str, option("The confederate who will use the link.", "--for", metavar="NAME")
    ],
    url: Annotated[
        str, option("The public address of the study.", metavar="URL")
    ] = DEFAULT_ADDRESS,
    json: JsonOption = False,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Prints the link for a trained confederate who replies to participants."""
    from urllib.parse import urlencode

    from empathylab.study.live.confederates import new_queue_token

    with running(lab, name) as service:
        token = new_queue_token(service, confederate)
    link = f"{checked_address(url).rstrip('/')}/queue?{urlencode({'link': token})}"
    if json:
        print_json({"confederate": confederate, "link": link})
    else:
        typer.echo(link)
        typer.echo(
            "Anyone with this link can read participants' messages and reply to them.", err=True
        )


def _invite(
    lab: Path,
    name: str,
    count: int,
    terms: dict[str, Any],
    csv: Path | None,
    address: str,
    *,
    as_json: bool,
) -> None:
    from empathylab.study.recruiting.invitations import invite as make

    with running(lab, name) as service, contextlib.ExitStack() as files:
        # A file that cannot be written must be known before links are made that nobody saw.
        out = files.enter_context(_new_file(csv)) if csv is not None else None
        invitations = make(service, count, **terms, who=operator())
        rows = [_shown(item, address) for item in invitations]
        if out is not None:
            out.write(csv_text((rows[0], *(row.values() for row in rows))))
    if as_json:
        print_json({"invitations": rows})
    elif csv is None:
        for row in rows:
            typer.echo(row["link"])
    if csv is not None:
        typer.echo(f"{csv}: {len(rows)} links", err=True)
    if address == DEFAULT_ADDRESS:
        typer.echo(
            "These links work on this machine only. Give the public address with --url.", err=True
        )


def _traits(given: Sequence[str]) -> dict[str, str]:
    """The properties of participants that the links contain, by name."""

    traits: dict[str, str] = {}
    for item in given:
        name, _, kind = (part.strip() for part in item.partition("="))
        if not name or not kind or name in traits:
            raise InputError(
                "each name needs exactly one value",
                where="--tell",
                got=item,
                remedy="Give each name once, as NAME=VALUE.",
            )
        traits[name] = kind
    return traits


def _shown(invitation: Invitation, address: str) -> dict[str, Any]:
    return {
        "person": invitation.person,
        "label": invitation.label,
        "link": invitation.link(address),
        "expires_at": None if invitation.expires_at is None else invitation.expires_at.isoformat(),
    }


def _list(lab: Path, name: str, *, as_json: bool) -> None:
    from empathylab.study.recruiting.invitations import list_invitations

    with running(lab, name) as service:
        invitations = list_invitations(service)
    rows = [
        {
            "person": item.person,
            "label": item.label,
            "state": item.state,
            "made": item.added_at.isoformat(timespec="seconds"),
            "expires": item.expires_at and item.expires_at.isoformat(timespec="seconds"),
        }
        for item in invitations
    ]
    show_rows(rows, "invitations", as_json=as_json)


def _revoke(lab: Path, name: str, given: str) -> None:
    from empathylab.study.recruiting.invitations import revoke

    with running(lab, name) as service:
        if not revoke(service, given, who=operator()):
            raise InputError(
                "the invitation is already revoked or used",
                where="--revoke",
                remedy="See `study invite --list`. Exclude or delete a participant who started.",
            )
    typer.echo("The invitation is revoked.", err=True)


def _print_synced(synced: Synced, counts: dict[str, int]) -> None:
    rows = [{"status": status, "people": count} for status, count in synced.statuses.items()]
    print_rows(rows)
    typer.echo(
        f"{synced.submissions} submissions, {synced.people} people known here, "
        f"{synced.changed} changed, slots freed: {len(synced.freed)}"
    )
    for count, singular, plural in (
        (
            len(synced.excluded),
            "participant returned finished work, which no longer counts",
            "participants returned finished work, which no longer counts",
        ),
        (
            synced.kept,
            "participant timed out or was rejected after finishing; the work stays",
            "participants timed out or were rejected after finishing; their work stays",
        ),
        (
            synced.unknown,
            "submission has no visit here: the participant never came, or was deleted",
            "submissions have no visit here: the participants never came, or were deleted",
        ),
        (
            synced.unlisted,
            "visit has no submission on Prolific (older export, or an ID typed by hand)",
            "visits have no submission on Prolific (older export, or an ID typed by hand)",
        ),
        (
            counts.get("told_of", 0),
            "participant got new details from the export",
            "participants got new details from the export",
        ),
        (
            counts.get("skipped_rows", 0),
            "row without a participant or a status was skipped",
            "rows without a participant or a status were skipped",
        ),
    ):
        if count:
            typer.echo(f"{count} {singular if count == 1 else plural}")
    if synced.unknown or synced.unlisted:
        typer.echo("To compare the IDs, download Participant IDs in the console, under Downloads.")
    for person, code in synced.other_codes:
        typer.echo(
            f"{person} entered the code {code} on Prolific, which is not the code for how "
            "their participation ended. Check this before you pay.",
            err=True,
        )
    if synced.odd:
        typer.echo(f"Unknown statuses, without effect: {', '.join(synced.odd)}", err=True)


def checked_address(url: str) -> str:
    """The address of a page, complete enough to make links from it."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InputError(
            "this is not the address of a page",
            where="--url",
            got=url,
            remedy="Give it as https://HOST/ or https://HOST/PATH/.",
        )
    return url if parts.path else f"{url}/"


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """A new file, deleted again if writing to it fails."""

    try:
        # Links let people in, and platform ids name them: both are for their owner's eyes.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(
            "the file cannot be created",
            where=str(path),
            got=error.strerror,
            remedy="Name another one; files are never overwritten.",
        ) from None
    try:
        with os.fdopen(file, "w", encoding="utf-8", newline="") as out:
            yield out
    except BaseException:
        path.unlink(missing_ok=True)
        raise
