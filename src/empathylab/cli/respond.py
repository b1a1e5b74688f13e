"""`empathylab respond`: replies to people who tell about a situation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import JsonOption, RunOptions, with_run_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab respond local/smollm2 --situations 4`"


@with_run_options
def respond(
    model: Annotated[list[str], typer.Argument(help="provider/name, one or several.")],
    situation_set: Annotated[str, typer.Option("--set", help="The set of situations.")] = (
        "dialogues"
    ),
    situations: Annotated[int, typer.Option(help="Situations per emotion.", min=1)] = 4,
    samples: Annotated[int, typer.Option(help="Replies to each situation.", min=1)] = 1,
    json: JsonOption = False,
    *,
    run: RunOptions,
) -> None:
    """Lets models reply to people who tell about a situation."""
    from empathylab.cli.asking import ask, conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.protocols import Responding, plan_responding
    from empathylab.store import lab_situation_set

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        chosen = lab_situation_set(lab, situation_set)
        responding = Responding(
            situation_set=chosen,
            situations=chosen.first_per_emotion(situations),
            samples=samples,
            temperature=0.7 if run.temperature is None else run.temperature,
            seed=run.seed,
        )
        return [plan_responding(lab, asked.name, responding)]

    tallies, data, path = ask(model, plans, run)
    (print_json if json else print_summary)(data, tallies, path)
    conclude(tallies, run)
