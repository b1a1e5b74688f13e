"""`empathylab judge`: models rate responses as blinded raters, or choose between two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.api import judge as call
from empathylab.cli.examples import examples
from empathylab.cli.options import JsonOption, argument, command_lab, panel, with_options_of
from empathylab.cli.tables import print_rows, show

if TYPE_CHECKING:
    from empathylab.api.run_results import JudgingResult

EXAMPLE = examples(
    (
        "empathylab judge openai/gpt-4o-mini --study welivita-2024 --mode logprob",
        "rates a study's replies on its own scale.",
    ),
    (
        "empathylab judge local/smollm2 --set dialogues --sample 10",
        "rates the replies to ten situations by the lab's instructions.",
    ),
    (
        "empathylab judge openai/gpt-4o-mini --study welivita-2024 --pairs",
        "chooses the better of two replies, in both orders.",
    ),
)

_what_option = panel("What is judged")
_how_option = panel("How it is asked")


class Options:
    """What the keywords of the call mean on the command line."""

    study: Annotated[
        str | None, _what_option("The responses of this study, by its own instructions and scale.")
    ]
    situation_set: Annotated[
        str | None,
        _what_option("The replies to this set or sample, by the lab's instructions.", "--set"),
    ]
    respondent: Annotated[
        list[str] | None,
        _what_option("Only this respondent, even if it is not an arm of the study; repeatable."),
    ]
    dimension: Annotated[
        list[str] | None,
        _what_option(
            "Only this dimension of the study; for a set empathy, understanding, feeling, caring "
            "or helpfulness. Repeatable."
        ),
    ]
    sample: Annotated[
        int | None,
        _what_option(
            "Use this many situations, sampled with the seed, with all replies to each.", min=1
        ),
    ]
    pairs: Annotated[
        bool,
        _how_option(
            "Ask which of two replies to a situation is better, in both orders.", "--pairs"
        ),
    ]
    mode: Annotated[
        Literal["structured", "free", "logprob"],
        _how_option(
            "How judges answer: a JSON object that the endpoint enforces; JSON that only the "
            "prompt asks for; or a JSON object with the probabilities of its points, if the "
            "endpoint returns them."
        ),
    ]
    reason: Annotated[bool, _how_option("Ask for a reason before the rating.", "--reason")]
    repeats: Annotated[int, _how_option("How many times each question is asked.", min=1)]
    orders: Annotated[
        int,
        _how_option(
            "In how many orders of dimensions and scale points each reply is rated.", min=1
        ),
    ]
    retries: Annotated[
        int,
        _how_option(
            "How many times an unusable answer is requested again, above temperature 0.", min=0
        ),
    ]


@with_options_of(call.judge, Options)
def judge(
    model: Annotated[
        list[str], argument("provider/name, or a plugin's judge. Several form a panel.")
    ],
    json: JsonOption = False,
    *,
    lab: Path,
    options: dict[str, Any],
) -> None:
    """Lets models rate responses blindly, on the study's own scale.

    Judgements are stored separately from people's ratings. To see how well they agree with people,
    run `empathylab analyze judges`.
    """
    from empathylab.cli.model_runs import conclude

    with command_lab(lab) as opened:
        result = opened.judge(*model, **options)
    show(result, _print_summary, as_json=json)
    conclude(result.sessions)


def _print_summary(result: JudgingResult) -> None:
    from empathylab.api.run_results import HIDDEN

    typer.echo(f"{result.source}: {result.responses:,} responses\n")
    for rows in (result.judges, result.respondents):
        if rows:
            print_rows([_shown(row) for row in rows])
            typer.echo("")
    if result.hidden:
        typer.echo(HIDDEN, err=True)
    typer.echo("To see how well the judges agree with people: empathylab analyze judges", err=True)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its figures as text."""
    shown: dict[str, Any] = {}
    for name, value in row.items():
        if name == "shares":
            shown[name] = ", ".join(f"{label} {share:.0%}" for label, share in value.items())
        elif name == "invalid":
            reasons = (f"{count} {what.replace('_', ' ')}" for what, count in value.items())
            shown[name] = ", ".join(reasons) or "none"
        elif name == "steady":
            shown[name] = None if value is None else f"{value:.0%}"
        elif name == "entropy" and value is None:
            continue
        else:
            shown[name] = f"{value:.2f}" if isinstance(value, float) else value
    return shown
