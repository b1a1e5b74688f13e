"""`empathylab respond`: replies to people who tell about a situation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from empathylab.api import respond as call
from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ReportOption,
    argument,
    command_lab,
    option,
    panel,
    with_options_of,
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

_replies_option = panel("The replies")


class Options:
    """What the keywords of the call mean on the command line."""

    situation_set: Annotated[str, option("The set of situations, or a sample.", "--set")]
    language: LanguageOption
    situations: Annotated[
        int | None,
        option(
            "Situations per emotion (per topic in a set of posts); 0 for all. Default: all of a "
            "sample, or of a set of up to 200.",
            min=0,
        ),
    ]
    emotion: Annotated[list[str] | None, option("Only this emotion (or topic); repeatable.")]
    samples: Annotated[int, option("Replies to each situation.", min=1)]
    template: Annotated[
        str | None,
        _replies_option(
            "empathic-listener, empathic-listener-brief, plain-listener, peer-supporter (the "
            "default for posts), or your own file.",
            metavar="NAME|FILE.toml",
        ),
    ]
    words: Annotated[
        str | None,
        _replies_option(
            "How many words to ask for, roughly. With human: the mean and maximum of "
            "people's replies in this lab.",
            metavar="N|human",
        ),
    ]
    least_words: Annotated[
        int | None, _replies_option("Minimum number of words to ask for.", min=1)
    ]
    most_words: Annotated[int | None, _replies_option("Maximum number of words to ask for.", min=1)]
    retries: Annotated[
        int, _replies_option("How many times a reply that fails a check is requested again.", min=0)
    ]
    report: ReportOption


@with_options_of(call.respond, Options)
def respond(
    model: Annotated[list[str], argument("provider/name, one or more.")],
    json: JsonOption = False,
    *,
    lab: Path,
    options: dict[str, Any],
) -> None:
    """Lets models reply to people who describe a situation."""
    from empathylab.cli.model_runs import show

    with command_lab(lab) as opened:
        result = opened.respond(*model, **options)
    show(result, as_json=json)
