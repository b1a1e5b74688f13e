"""`empathylab report`: the lab's results as one HTML file."""

from __future__ import annotations

from typing import Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

EXAMPLE = "Example: `empathylab report --lab lab --open`"


def report(
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
    open_report: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.")
    ] = False,
) -> None:
    """Writes the report of all that is in the lab."""
    from empathylab.report import write_report
    from empathylab.store import Lab

    with Lab.open(lab, create=False) as opened:
        path = write_report(opened)
    if json:
        import json as encoder

        typer.echo(encoder.dumps({"report": str(path)}))
    else:
        typer.echo(path)
    if open_report:
        typer.launch(path.resolve().as_uri())
