"""`empathylab analyze preferences`: whose replies people prefer side by side."""

from __future__ import annotations

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, PeekOption, StudyOption
from empathylab.cli.tables import print_json, print_titled

EXAMPLE = "Example: `empathylab analyze preferences --study my-study`"


def preferences(
    study: StudyOption = None,
    peek: PeekOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Fits a Bradley–Terry model to a study's paired comparisons (block `compare`)."""
    from empathylab.analysis.preferences import from_lab, strength_rows
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        result = from_lab(opened, study, peek=peek, who=operator())
    if json:
        print_json(result)
        return
    typer.echo(result.summary())
    print_titled("", strength_rows(result))
