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
    from empathylab.protocols import Appraisal, Responding, plan_appraisal, plan_responding
    from empathylab.scales import builtin_scale
    from empathylab.situations import builtin_set

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        imagined, told = builtin_set("appraisal"), builtin_set("dialogues")
        appraisal = Appraisal(
            builtin_scale("panas"),
            imagined,
            imagined.first_per_group(situations),
            mode=mode,
            temperature=0.0 if run.temperature is None else run.temperature,
            seed=run.seed,
        )
        responding = Responding(
            told,
            told.first_per_group(1),
            temperature=0.7 if run.temperature is None else run.temperature,
            seed=run.seed,
        )
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
