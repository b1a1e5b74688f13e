"""`empathylab converse`: conversations with people whom another model simulates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.api.run_options import RunKeywords
from empathylab.cli.examples import examples
from empathylab.cli.options import JsonOption, ReportOption, command_lab, with_run_options

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
        "lets two simulators play them, so that scores do not hang on one.",
    ),
)


@with_run_options
def converse(
    model: Annotated[list[str], typer.Argument(help="The evaluated models, provider/name.")],
    simulator: Annotated[
        list[str] | None,
        typer.Option(help="The model that plays the people; give two or more to compare them."),
    ] = None,
    personas: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.yaml",
            help="built-in, a file of your own, or an imported collection such as sage.",
        ),
    ] = "built-in",
    persona: Annotated[
        list[str] | None, typer.Option(help="Only the persona of this id; repeatable.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="So many personas, spread over the emotions.", min=1)
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="The language of the personas; en, if they have it, else their own."),
    ] = None,
    samples: Annotated[int, typer.Option(help="Conversations with each persona.", min=1)] = 1,
    exchanges: Annotated[
        int | None,
        typer.Option(help="The most replies, in place of the personas' own limit.", min=1, max=100),
    ] = None,
    simulator_temperature: Annotated[
        float, typer.Option(help="At 0 an unreadable answer is not asked for again.", min=0.0)
    ] = 0.7,
    system_prompt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A text file with the evaluated models' system prompt."),
    ] = None,
    retries: Annotated[
        int, typer.Option(help="How often an unusable answer is asked for again.", min=0)
    ] = 1,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Also let each simulator talk with an attentive and a cold scripted listener, "
            "8 personas each: it must tell them apart.",
        ),
    ] = True,
    json: JsonOption = False,
    report: ReportOption = False,
    *,
    lab: Path,
    run: RunKeywords,
) -> None:
    """Lets models talk with simulated people and follows how those feel.

    The simulator keeps a hidden state, updates it after each reply and then writes its next
    message. Neither side sees the other's prompt. Run the same command again to resume.
    """
    with command_lab(lab) as opened:
        found = opened.converse(
            *model,
            simulator=simulator or (),
            personas=personas,
            persona=persona or (),
            count=count,
            language=language,
            samples=samples,
            exchanges=exchanges,
            simulator_temperature=simulator_temperature,
            system_prompt=system_prompt,
            retries=retries,
            check=check,
            report=report,
            **run,
        )
    _show(found, as_json=json)


def _show(found: ConversationsResult, *, as_json: bool) -> None:
    """The analysis of all conversations in the lab, and where the report is if it was wanted."""
    from empathylab.cli.analyze.conversations import print_conversations
    from empathylab.cli.model_runs import conclude, write_json

    if as_json:
        write_json(found.to_dict())
    else:
        print_conversations(found.analysis)
        if found.report is not None:
            typer.echo(f"Report: {found.report}")
    conclude(found.sessions)
