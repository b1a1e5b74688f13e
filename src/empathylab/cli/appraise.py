"""`empathylab appraise`: a scale at baseline and after situations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empathylab.api.run_options import RunKeywords
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ModeOption,
    ReportOption,
    command_lab,
    with_run_options,
)

EXAMPLE = examples(
    (
        "empathylab appraise openai/gpt-4o-mini --scale panas",
        "administers a scale at baseline and after situations.",
    ),
    (
        "empathylab appraise local/smollm2 --per-factor 3 --orders 2 --mode logprob",
        "takes three situations of each factor, two item orders, and answers' probabilities.",
    ),
)


@with_run_options
def appraise(
    model: Annotated[list[str], typer.Argument(help="provider/name, one or several.")],
    scale: Annotated[str, typer.Option(help="The scale's id; any scale for any emotion.")] = (
        "panas"
    ),
    situation_set: Annotated[str, typer.Option("--set", help="The set of situations.")] = (
        "appraisal"
    ),
    language: LanguageOption = None,
    emotion: Annotated[str | None, typer.Option(help="Only this emotion.")] = None,
    factor: Annotated[str | None, typer.Option(help="Only this factor.")] = None,
    situations: Annotated[int, typer.Option(help="Situations per emotion.", min=1)] = 3,
    per_factor: Annotated[
        int | None, typer.Option(help="Situations per factor, instead of per emotion.", min=1)
    ] = None,
    mode: ModeOption = "structured",
    default_orders: Annotated[
        int, typer.Option(help="Baseline administrations, each in another item order.", min=1)
    ] = 4,
    orders: Annotated[int, typer.Option(help="Item orders after each situation.", min=1)] = 1,
    repeats: Annotated[int, typer.Option(help="Repeats of each administration.", min=1)] = 1,
    counterparts: Annotated[
        bool, typer.Option("--counterparts", help="Also give each situation as had it gone well.")
    ] = False,
    stable: Annotated[
        bool, typer.Option("--stable", help="Tell the model to keep an even temper.")
    ] = False,
    template: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A template of your own (TOML) for the prompts."),
    ] = None,
    json: JsonOption = False,
    report: ReportOption = False,
    *,
    lab: Path,
    run: RunKeywords,
) -> None:
    """Gives models a scale at baseline and after they imagine situations."""
    from empathylab.cli.model_runs import show

    with command_lab(lab) as opened:
        found = opened.appraise(
            *model,
            scale=scale,
            situation_set=situation_set,
            language=language,
            emotion=emotion,
            factor=factor,
            situations=situations,
            per_factor=per_factor,
            mode=mode,
            default_orders=default_orders,
            orders=orders,
            repeats=repeats,
            counterparts=counterparts,
            stable=stable,
            template=template,
            report=report,
            **run,
        )
    show(found, as_json=json)
