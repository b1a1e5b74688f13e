"""What `empathylab evaluate --against` prints."""

from __future__ import annotations

import typer

from empathylab.api.evaluation.result import AgainstStudy
from empathylab.cli.evaluate.shown import Shown
from empathylab.cli.model_runs import conclude
from empathylab.cli.tables import print_notes, print_rows, show


def show_against(found: AgainstStudy, shown: Shown) -> None:
    """The estimates and differences of every model by every judge, and where the page is."""
    show(found, _print, as_json=shown.as_json)
    if shown.open_report:
        typer.launch(found.report.resolve().as_uri())
    conclude(found.sessions)


def _print(found: AgainstStudy) -> None:
    from empathylab.analysis.benchmark.prose import difference_rows, estimate_rows

    for result in found.results:
        measured = result.measurement
        typer.echo(
            f"{measured.respondent} compared with {measured.study}, {measured.dimension}; judge "
            f"{measured.judge}; {measured.situations:,} situations\n"
        )
        print_rows(estimate_rows(measured))
        typer.echo("")
        print_rows(difference_rows(measured))
        typer.echo("")
        for sentence in result.caveats:
            typer.echo(f"– {sentence}")
        typer.echo("")
    for sample in found.human_samples:
        typer.echo(
            f"For people to rate: replies to {len(sample.situations):,} situations, stored as "
            f"{sample.selection} (`empathylab data show {sample.selection}`)."
        )
        typer.echo(f"  {sample.command}")
        typer.echo(f"  {sample.advice}\n")
    print_notes(found.notes)
    typer.echo(f"Report: {found.report}")
