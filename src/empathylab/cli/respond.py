"""`empathylab respond`: replies to people who tell about a situation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empathylab.api.run_options import RunKeywords
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ReportOption,
    command_lab,
    with_run_options,
)

EXAMPLE = examples(
    (
        "empathylab respond openai/gpt-4o-mini mistral/mistral-small",
        "lets two models reply to the built-in situations.",
    ),
    (
        "empathylab respond local/smollm2 --situations 4 --template plain-listener",
        "asks for replies without naming empathy.",
    ),
    (
        "empathylab respond openai/gpt-4o-mini --set posts --words human",
        "replies to posts, as long as people do.",
    ),
)

_REPLIES = "The replies"


@with_run_options
def respond(
    model: Annotated[list[str], typer.Argument(help="provider/name, one or several.")],
    situation_set: Annotated[
        str, typer.Option("--set", help="The set of situations, or a draw from one.")
    ] = ("dialogues"),
    language: LanguageOption = None,
    situations: Annotated[
        int | None,
        typer.Option(
            help="Situations per emotion (per topic in a set of posts), 0 for all; all of a draw "
            "or of a set of up to 200, if left out.",
            min=0,
        ),
    ] = None,
    emotion: Annotated[
        list[str] | None,
        typer.Option(help="Only this emotion (or topic); may be repeated."),
    ] = None,
    samples: Annotated[int, typer.Option(help="Replies to each situation.", min=1)] = 1,
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.toml",
            help="empathic-listener, empathic-listener-brief, plain-listener, peer-supporter "
            "(taken for posts if left out), or a file of your own.",
            rich_help_panel=_REPLIES,
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="N|human",
            help="About how many words to ask for; human: people's mean and maximum in this lab.",
            rich_help_panel=_REPLIES,
        ),
    ] = None,
    least_words: Annotated[
        int | None, typer.Option(help="The fewest to ask for.", min=1, rich_help_panel=_REPLIES)
    ] = None,
    most_words: Annotated[
        int | None, typer.Option(help="The most to ask for.", min=1, rich_help_panel=_REPLIES)
    ] = None,
    retries: Annotated[
        int,
        typer.Option(
            help="How often a reply that fails a check is asked for again.",
            min=0,
            rich_help_panel=_REPLIES,
        ),
    ] = 1,
    json: JsonOption = False,
    report: ReportOption = False,
    *,
    lab: Path,
    run: RunKeywords,
) -> None:
    """Lets models reply to people who tell about a situation."""
    from empathylab.cli.model_runs import show

    with command_lab(lab) as opened:
        found = opened.respond(
            *model,
            situation_set=situation_set,
            language=language,
            situations=situations,
            emotion=emotion or (),
            samples=samples,
            template=template,
            words=words,
            least_words=least_words,
            most_words=most_words,
            retries=retries,
            report=report,
            **run,
        )
    show(found, as_json=json)
