"""`empathylab study forget` and `retention`: deleting people, and what is too old."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.study.actions import NameArgument, YesOption, agreed
from empathylab.cli.tables import print_json
from empathylab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.store import Lab
    from empathylab.study.admin.deletion import EarlierExport

FORGET_EXAMPLE = "Example: `empathylab study forget my-study --platform-id 5f2a…`"
RETENTION_EXAMPLE = "Example: `empathylab study retention`, once a day by cron"


def forget(
    name: NameArgument,
    person: Annotated[str | None, option("The rater's key in the lab.", metavar="KEY")] = None,
    platform_id: Annotated[
        str | None, option("The rater's ID on the platform.", metavar="ID")
    ] = None,
    yes: YesOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Deletes all data about a person, in all versions of the study. Counts remain."""
    from empathylab.store import Lab
    from empathylab.study.admin.deletion import earlier_exports

    if (person is None) == (platform_id is None):
        raise InputError(
            "a person is identified by their key or by their platform ID",
            remedy="Give one of --person and --platform-id.",
        )
    with Lab.open(lab, create=False) as opened:
        before = earlier_exports(opened, name)
        agreed(
            f"Delete all answers of this person in {name}? This cannot be undone.",
            "nothing was deleted",
            yes=yes,
        )
        places = _forgotten(opened, name, person, platform_id)
    if not places:
        raise InputError(
            "no participant has this ID",
            where=f"study {name}",
            remedy="Check the key or the ID. The person may already have been deleted.",
        )
    if json:
        left = [
            {"at": item.at.isoformat(), "who": item.who, "what": item.action} for item in before
        ]
        print_json({"study": name, "places": places, "earlier_exports": left})
    else:
        typer.echo(f"Deleted: {places} {'slot' if places == 1 else 'slots'} emptied.")
    _warn(before)


def _forgotten(lab: Lab, name: str, person: str | None, platform_id: str | None) -> int:
    """How many places, or raters of an imported study, were deleted."""
    from empathylab.store.inserts import now
    from empathylab.store.studies.archive import any_study
    from empathylab.study.admin.deletion import forget_imported
    from empathylab.study.session.service import StudyService

    with lab.reading() as connection:
        launched = any_study(connection, name).launched_at is not None
    if launched:
        actions = StudyService(lab, name).actions
        return actions.forget(person, platform_id=platform_id, who=operator())
    if person is None:
        raise InputError(
            "the study was imported without platform IDs",
            where=f"study {name}",
            remedy="Give the rater's key with --person.",
        )
    return forget_imported(lab, name, person, who=operator(), at=now())


def _warn(exports: Sequence[EarlierExport]) -> None:
    if not exports:
        return
    typer.echo(
        "Earlier exports may still contain this person. Delete them, or export again:", err=True
    )
    for export in exports:
        typer.echo(f"  {export.at:%Y-%m-%d %H:%M} UTC: {export.action}, by {export.who}", err=True)


def retention(
    name: Annotated[str | None, argument("Only this study, in all its versions.")] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Deletes platform IDs and comments after their retention period, in all studies of the lab.

    `study serve` does this at its start and once a day. If no study is served, run it daily with
    cron.
    """
    from empathylab.store import Lab
    from empathylab.store.inserts import now
    from empathylab.study.admin.retention import apply_everywhere

    with Lab.open(lab, create=False) as opened:
        done = apply_everywhere(opened, now(), name=name, who=operator())
    if json:
        print_json(done)
        return
    for item in done:
        typer.echo(
            f"{item.study}, version {item.version}: deleted {item.platform_ids} platform ids and "
            f"{item.comments} comments"
        )
    if not done:
        typer.echo("No study was launched in this lab.", err=True)
