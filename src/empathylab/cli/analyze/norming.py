"""`empathylab analyze norming`: which situations evoke what they were written for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, file_option, option
from empathylab.cli.tables import print_json, print_rows
from empathylab.files import write_text

EXAMPLE = "Example: `empathylab analyze norming --study norming --write normed.toml`"


def norming(
    study: Annotated[str, option("The norming study.")] = "norming",
    write: Annotated[
        Path | None, file_option("Write the set with the norms of each situation, as TOML.")
    ] = None,
    only_kept: Annotated[
        bool, option("Write only the situations that meet the criteria.", "--only-kept")
    ] = False,
    top: Annotated[
        float,
        option(
            "Proportion of raters for whom the intended emotion must be the strongest.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.5,
    lead: Annotated[
        float, option("How many points it must be ahead of every other emotion, on average.")
    ] = 1.0,
    realism: Annotated[float, option("Minimum mean realism, on a scale from 1 to 7.")] = 5.0,
    raters: Annotated[int, option("Minimum number of raters per situation.", min=1)] = 20,
    simulated: Annotated[
        bool, option("Also count simulated raters, to try it out.", "--simulated")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows which situations meet the criteria, and can write the norms into the set."""
    from empathylab.analysis.norming import Criteria, NormedSituation, from_lab
    from empathylab.situations.writing import set_to_toml
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        criteria = Criteria(top=top, lead=lead, realism=realism, raters=raters)
        result = from_lab(opened, study, criteria, simulated=simulated)

    if json:
        print_json(result.to_dict())
    else:
        shown = ("situation", "emotion", "raters", "top", "lead", "rival", "realism", "failed")
        table = [
            {
                name: f"{value:.2f}" if isinstance(value := row[name], float) else value
                for name in shown
            }
            for row in map(NormedSituation.row, result.situations)
        ]
        print_rows(table)
        typer.echo(f"\n{result.sentence}")
    if write is not None:
        write_text(write, set_to_toml(result.normed_set(only_kept=only_kept)))
        typer.echo(f"Written: {write}", err=True)
