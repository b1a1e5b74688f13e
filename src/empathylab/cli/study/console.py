"""`empathylab study console-link`: a way into the console for a researcher who lost access."""

from __future__ import annotations

from typing import Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, option
from empathylab.cli.study.actions import NameArgument, running
from empathylab.cli.study.recruiting import DEFAULT_ADDRESS, checked_address
from empathylab.cli.tables import print_json

EXAMPLE = (
    "Example: `empathylab study console-link my-study` · "
    "`empathylab study console-link my-study --url https://lab.example.org/study`"
)


def console_link(
    name: NameArgument,
    url: Annotated[
        str, option("The public address of the study.", metavar="URL")
    ] = DEFAULT_ADDRESS,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Prints a link that creates one more owner account for the console.

    It works once, within a day. Use it if you lost your password: an owner can then delete the old
    account.
    """
    from empathylab.study.web.console.sign_in.accounts import owner_link

    base = checked_address(url)
    with running(lab, name) as service:
        link = owner_link(service.lab, service.launched.row, base, who=operator())
    if json:
        print_json({"study": name, "console_link": link})
    else:
        typer.echo(link)
    typer.echo("It works once, within a day. Do not share it.", err=True)
    if url == DEFAULT_ADDRESS:
        typer.echo(
            "It is for this machine and port 8000. Give another address with --url.", err=True
        )
