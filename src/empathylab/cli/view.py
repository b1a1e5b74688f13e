"""`empathylab view`: everything in a lab, in the browser."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, PortOption, option
from empathylab.cli.tables import open_in_browser, print_json
from empathylab.errors import MissingExtra

EXAMPLE = "Example: `empathylab view --lab lab` · `empathylab view --port 8100 --no-open`"


def view(
    lab: LabOption = DEFAULT_LAB,
    port: PortOption = 0,
    open_page: Annotated[
        bool, option("Open the viewer in the browser.", "--open/--no-open")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Shows the lab in the browser: runs, answers, replies, conversations, scales and ratings.

    It listens on this machine only and updates nothing except the search index. Stop it with
    Ctrl-C. Each start prints a link with a new key.
    """

    try:
        import uvicorn  # noqa: F401 - asked for only once people wait, otherwise

        from empathylab.view.serving import open_viewer, serve
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "study", "The viewer") from error
    from empathylab.store.listings.search_index import count_waiting
    from empathylab.view.viewed_lab import ViewedLab

    with contextlib.closing(ViewedLab(lab)) as viewed:
        viewer = open_viewer(viewed, port)
        if json:
            print_json({"link": viewer.link, "lab": str(lab)}, indent=None)
        else:
            typer.echo(viewer.link)
            typer.echo("Stop with Ctrl-C.", err=True)
        sys.stdout.flush()
        with viewed.reading() as (_, connection):
            if count_waiting(connection):
                viewed.index_replies()
        if open_page:
            open_in_browser(viewer.link)
        with contextlib.suppress(KeyboardInterrupt):
            serve(viewer)
