"""`empathylab converse`: conversations with people whom another model simulates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.api import converse as call
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    ReportOption,
    argument,
    command_lab,
    file_option,
    option,
    with_options_of,
)
from empathylab.cli.tables import print_json

if TYPE_CHECKING:
    from empathylab.api.run_results import ConversationsResult

EXAMPLE = examples(
    (
        "empathylab converse openai/gpt-4o-mini --simulator anthropic/claude-haiku-4-5 --count 16",
        "talks with 16 simulated people.",
    ),
    (
        (
            "empathylab converse openai/gpt-4o-mini --simulator openai/gpt-4o "
            "--simulator mistral/mistral-large-latest"
        ),
        "lets two simulators play them, so that scores do not depend on one.",
    ),
)


class Options:
    """What the keywords of the call mean on the command line."""

    simulator: Annotated[
        list[str] | None,
        option("The model that plays the people; give two or more to compare them."),
    ]
    personas: Annotated[
        str,
        option(
            "built-in, your own file, or an imported collection such as sage.",
            metavar="NAME|FILE.yaml",
        ),
    ]
    persona: Annotated[list[str] | None, option("Only the persona of this id; repeatable.")]
    count: Annotated[int | None, option("Use this many personas, spread over the emotions.", min=1)]
    language: Annotated[
        str | None,
        option("The language of the personas. Default: en if they have it, otherwise their own."),
    ]
    samples: Annotated[int, option("Conversations with each persona.", min=1)]
    exchanges: Annotated[
        int | None,
        option("Maximum number of replies. Default: each persona's own limit.", min=1, max=100),
    ]
    simulator_temperature: Annotated[
        float, option("At 0, an unreadable answer is not retried.", min=0.0)
    ]
    simulator_base_url: Annotated[
        str | None,
        option(
            "The simulators' endpoint. Default: their provider's endpoint, or --base-url if "
            "the evaluated models have the same provider.",
            metavar="URL",
        ),
    ]
    simulator_api_key_env: Annotated[
        str | None,
        option(
            "The environment variable with the simulators' key. Default: their provider's "
            "variable, or --api-key-env if they share the models' endpoint.",
            metavar="NAME",
        ),
    ]
    system_prompt: Annotated[
        Path | None, file_option("A text file with the evaluated models' system prompt.")
    ]
    retries: Annotated[int, option("How many times an unusable answer is requested again.", min=0)]
    check: Annotated[
        bool,
        option(
            "Also let each simulator talk with an attentive and a cold scripted listener, 8 "
            "personas each: it must react differently to the two.",
            "--check/--no-check",
        ),
    ]
    report: ReportOption


@with_options_of(call.converse, Options)
def converse(
    model: Annotated[list[str], argument("The evaluated models, provider/name.")],
    json: JsonOption = False,
    *,
    lab: Path,
    options: dict[str, Any],
) -> None:
    """Lets models talk with simulated people and tracks how the people feel.

    The simulator keeps a hidden state, updates it after each reply and then writes its next
    message. Neither side sees the other's prompt. Run the same command again to resume.
    """
    with command_lab(lab) as opened:
        result = opened.converse(*model, **options)
    _show(result, as_json=json)


def _show(result: ConversationsResult, *, as_json: bool) -> None:
    """The analysis of all conversations in the lab, and where the report is if it was wanted."""
    from empathylab.cli.analyze.conversations import print_conversations
    from empathylab.cli.model_runs import conclude

    if as_json:
        print_json(result)
    else:
        print_conversations(result.analysis)
        if result.report is not None:
            typer.echo(f"Report: {result.report}")
    conclude(result.sessions)
