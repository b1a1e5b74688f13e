"""`empathylab appraise`: a scale at rest and after situations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.options import JsonOption, ModeOption, RunOptions, with_run_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.protocols import Appraisal
    from empathylab.runs import Plan
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab appraise local/smollm2 --situations 5 --orders 2`"


@with_run_options
def appraise(
    model: Annotated[list[str], typer.Argument(help="provider/name, one or several.")],
    scale: Annotated[str, typer.Option(help="The scale's id.")] = "panas",
    situation_set: Annotated[str, typer.Option("--set", help="The set of situations.")] = (
        "appraisal"
    ),
    situations: Annotated[int, typer.Option(help="Situations per emotion.", min=1)] = 3,
    mode: ModeOption = "structured",
    default_orders: Annotated[
        int, typer.Option(help="Administrations at rest, each in another item order.", min=1)
    ] = 4,
    orders: Annotated[int, typer.Option(help="Item orders after each situation.", min=1)] = 1,
    repeats: Annotated[int, typer.Option(help="Repeats of each administration.", min=1)] = 1,
    json: JsonOption = False,
    *,
    run: RunOptions,
) -> None:
    """Gives models a scale at rest and after they imagine situations."""
    from empathylab.cli.asking import ask, conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.protocols import plan_appraisal

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        appraisal = appraisal_of(
            scale, situation_set, situations, mode, run, default_orders, orders, repeats
        )
        return [plan_appraisal(lab, asked.name, appraisal)]

    tallies, data, path = ask(model, plans, run)
    (print_json if json else print_summary)(data, tallies, path)
    conclude(tallies, run)


def appraisal_of(
    scale: str,
    situation_set: str,
    situations: int,
    mode: Literal["structured", "free"],
    run: RunOptions,
    default_orders: int = 4,
    orders: int = 1,
    repeats: int = 1,
) -> Appraisal:
    """The appraisal that the options describe."""
    from empathylab.protocols import Appraisal
    from empathylab.scales import builtin_scale
    from empathylab.situations import builtin_set

    chosen = builtin_set(situation_set)
    return Appraisal(
        scale=builtin_scale(scale),
        situation_set=chosen,
        situations=chosen.first_per_emotion(situations),
        mode=mode,
        default_orders=default_orders,
        orders=orders,
        repeats=repeats,
        temperature=0.0 if run.temperature is None else run.temperature,
        seed=run.seed,
    )
