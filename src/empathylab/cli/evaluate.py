"""`empathylab evaluate`: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import JsonOption, ModeOption, RunOptions, with_run_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab evaluate openai/gpt-4o-mini --max-cost 1`"


@with_run_options
def evaluate(
    model: Annotated[
        list[str] | None,
        typer.Argument(help="provider/name, one or several; the embedded model if left out."),
    ] = None,
    situations: Annotated[
        int, typer.Option(help="Situations for each of the 8 emotions.", min=1)
    ] = 3,
    mode: ModeOption = "structured",
    json: JsonOption = False,
    open_report: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.")
    ] = False,
    *,
    run: RunOptions,
) -> None:
    """Measures a model: a scale before and after situations, replies to people, and a report."""
    from empathylab.cli.asking import ask, conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.models import DEFAULT_MODEL

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        from empathylab.cli.appraise import appraisal_of
        from empathylab.cli.respond import responding_of
        from empathylab.protocols import plan_appraisal, plan_responding

        appraisal = appraisal_of("panas", "appraisal", situations, mode, run)
        responding = responding_of("dialogues", 1, 1, run)
        return [
            plan_appraisal(lab, asked.name, appraisal),
            plan_responding(lab, asked.name, responding),
        ]

    tallies, data, path = ask(model or [DEFAULT_MODEL], plans, run)
    if json:
        print_json(data, tallies, path)
    else:
        print_summary(data, tallies, path)
    if open_report:
        typer.launch(path.resolve().as_uri())
    conclude(tallies, run)
