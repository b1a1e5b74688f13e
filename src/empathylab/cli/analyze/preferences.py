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
    from empathylab.analysis.preferences import from_lab
    from empathylab.analysis.text.numbers import number, signed, with_ends
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        result = from_lab(opened, study, peek=peek, who=operator())
    if json:
        print_json(result)
        return
    rows = [
        {
            "arm": strength.respondent,
            "strength": with_ends(
                strength.estimate, strength.low, strength.high, digits=2, written=signed
            ),
            "preferred": number(strength.wins, 0),
            "not preferred": number(strength.losses, 0),
            "ties": number(strength.ties, 0),
        }
        for strength in result.fitted.strengths
    ]
    typer.echo(result.summary())
    print_titled("", rows)
