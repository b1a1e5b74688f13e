"""`empathylab appraise`: a scale at baseline and after situations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ModeOption,
    ReportOption,
    RunOptions,
    with_run_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab

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
    run: RunOptions,
) -> None:
    """Gives models a scale at baseline and after they imagine situations."""
    from empathylab.cli.model_runs import ask, conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.protocols import Appraisal, plan_appraisal, read_appraisal_template
    from empathylab.protocols.translations import (
        questionnaire_in_language,
        scale_in_language,
        set_in_language,
    )
    from empathylab.store import lab_situation_set

    words = (
        questionnaire_in_language(language)
        if template is None
        else read_appraisal_template(template)
    )

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        whole = lab_situation_set(lab, set_in_language(lab, situation_set, language))
        fitting = whole.only(emotion=emotion, factor=factor)
        appraisal = Appraisal(
            scale=scale_in_language(lab, scale, language),
            situation_set=whole,
            situations=(
                fitting.first_per_group(situations)
                if per_factor is None
                else fitting.first_per_factor(per_factor)
            ),
            mode=mode,
            default_orders=default_orders,
            orders=orders,
            repeats=repeats,
            temperature=0.0 if run.temperature is None else run.temperature,
            seed=run.seed,
            counterparts=counterparts,
            stable=stable,
            template=words,
        )
        return [plan_appraisal(lab, asked.name, appraisal)]

    tallies, data, path = ask(model, plans, run, report=report)
    (print_json if json else print_summary)(data, tallies, path)
    conclude(tallies, run)
