"""What `empathylab evaluate --against` prints."""

from __future__ import annotations

import typer

from empathylab.api.evaluation.result import AgainstStudy
from empathylab.cli.evaluate.output_options import OutputOptions
from empathylab.cli.model_runs import conclude
from empathylab.cli.tables import print_notes, print_rows, show


def show_against(comparison: AgainstStudy, output: OutputOptions) -> None:
    """The estimates and differences of every model by every judge, and where the page is."""
    show(comparison, _print, as_json=output.as_json)
    if output.open_report:
        typer.launch(comparison.report.resolve().as_uri())
    conclude(comparison.sessions)


def _print(comparison: AgainstStudy) -> None:
    from empathylab.analysis.benchmark.prose import difference_rows, estimate_rows

    for result in comparison.results:
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
    for sample in comparison.human_samples:
        typer.echo(
            f"For people to rate: replies to {len(sample.situations):,} situations, stored as "
            f"{sample.selection} (`empathylab data show {sample.selection}`)."
        )
        typer.echo(f"  {sample.command}")
        typer.echo(f"  {sample.advice}\n")
    print_notes(comparison.notes)
    typer.echo(f"Report: {comparison.report}")
