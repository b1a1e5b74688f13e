"""`empathylab appraise`: a scale at baseline and after situations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from empathylab.api import appraise as call
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ModeOption,
    ReportOption,
    argument,
    command_lab,
    file_option,
    option,
    with_options_of,
)

EXAMPLE = examples(
    (
        "empathylab appraise openai/gpt-4o-mini --scale panas",
        "administers a scale at baseline and after situations.",
    ),
    (
        "empathylab appraise local/smollm2 --per-factor 3 --orders 2 --mode logprob",
        "asks in two item orders about three situations per factor, and reads probabilities.",
    ),
)


class Options:
    """What the keywords of the call mean on the command line."""

    scale: Annotated[str, option("The scale's id; any scale for any emotion.")]
    situation_set: Annotated[str, option("The set of situations.", "--set")]
    language: LanguageOption
    emotion: Annotated[str | None, option("Only this emotion.")]
    factor: Annotated[str | None, option("Only this factor.")]
    situations: Annotated[int, option("Situations per emotion.", min=1)]
    per_factor: Annotated[
        int | None, option("Situations per factor, instead of per emotion.", min=1)
    ]
    mode: ModeOption
    default_orders: Annotated[
        int, option("Baseline administrations, each in a different item order.", min=1)
    ]
    orders: Annotated[int, option("Item orders after each situation.", min=1)]
    repeats: Annotated[int, option("Repeats of each administration.", min=1)]
    counterparts: Annotated[
        bool,
        option("Also give a version of each situation in which things go well.", "--counterparts"),
    ]
    stable: Annotated[bool, option("Tell the model to stay calm.", "--stable")]
    template: Annotated[Path | None, file_option("Your own template (TOML) for the prompts.")]
    report: ReportOption


@with_options_of(call.appraise, Options)
def appraise(
    model: Annotated[list[str], argument("provider/name, one or more.")],
    json: JsonOption = False,
    *,
    lab: Path,
    options: dict[str, Any],
) -> None:
    """Gives models a scale at baseline and after they imagine situations."""
    from empathylab.cli.model_runs import show

    with command_lab(lab) as opened:
        result = opened.appraise(*model, **options)
    show(result, as_json=json)
