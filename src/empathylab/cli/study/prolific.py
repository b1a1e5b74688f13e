"""`empathylab study prolific-codes | prolific-group`: what Prolific is asked to set up."""

from __future__ import annotations

from typing import Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, option
from empathylab.cli.study.actions import NameArgument, running
from empathylab.cli.tables import print_json
from empathylab.errors import InputError

CODES_EXAMPLE = (
    "Example: `empathylab study prolific-codes my-study` · "
    "`empathylab study prolific-codes my-study --prolific-study ID --send`"
)
GROUP_EXAMPLE = (
    "Example: `empathylab study prolific-group my-study --group ID --send` · "
    "`empathylab study prolific-group my-study --create 'First wave' --workspace ID --send`"
)
SendOption = Annotated[
    bool, option("Send it to Prolific. Without this option, it is only shown.", "--send")
]


def prolific_codes(
    name: NameArgument,
    prolific_study: Annotated[
        str | None, option("The study's ID on Prolific, for --send.", metavar="ID")
    ] = None,
    send: SendOption = False,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Shows the study's completion codes in the format of Prolific's API; --send sets them there.

    They say what Prolific does for each code: review, ask for the submission back, pay people who
    are screened out, add people to a participant group. The study on Prolific must be unpublished.
    """
    import asyncio

    from empathylab.study.recruiting.prolific import Prolific
    from empathylab.study.recruiting.prolific_setup import completion_codes

    with running(lab, name) as service:
        codes = completion_codes(service.study)
    print_json({"completion_codes": codes})
    if not send:
        typer.echo("Nothing was sent. Add --prolific-study ID and --send to set them.", err=True)
        return
    if prolific_study is None:
        raise InputError(
            "the study's ID on Prolific is missing",
            where="--prolific-study",
            remedy="Copy it from the address of the study's page on Prolific.",
        )
    asyncio.run(Prolific.from_environment().set_completion_codes(prolific_study, codes))
    typer.echo(f"Prolific's study {prolific_study} has these codes now.", err=True)


def prolific_group(
    name: NameArgument,
    group: Annotated[
        str | None, option("The participant group's ID on Prolific.", metavar="ID")
    ] = None,
    create: Annotated[str | None, option("Create a new group instead.", metavar="TITLE")] = None,
    workspace: Annotated[
        str | None, option("The workspace's ID on Prolific, for --create.", metavar="ID")
    ] = None,
    send: SendOption = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Adds everyone who completed the study to a participant group, for a follow-up study.

    Participants whose work was rejected are left out. The audit log records it.
    """
    import asyncio

    from empathylab.study.recruiting.prolific import Prolific
    from empathylab.study.recruiting.prolific_setup import group_members, note_group

    if (group is None) == (create is None) or (create is None) != (workspace is None):
        raise InputError(
            "the group must be named by its ID, or created in a workspace",
            where="study prolific-group",
            remedy="Give --group ID, or --create TITLE with --workspace ID.",
        )
    with running(lab, name) as service:
        people = group_members(service)
        if send:
            client = Prolific.from_environment()
            if create is not None and workspace is not None:
                group = asyncio.run(client.create_group(create, workspace))
            asyncio.run(client.add_to_group(str(group), people))
            note_group(service, str(group), people, who=operator())
    if json:
        print_json({"study": name, "group": group, "people": len(people), "sent": send})
    else:
        typer.echo(f"{len(people)} people, group {group or create}")
    if not send:
        typer.echo("Nothing was sent. Add --send to add them.", err=True)
