"""`empathylab respond`: replies to people who tell about a situation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.examples import examples
from empathylab.cli.options import (
    JsonOption,
    LanguageOption,
    ReportOption,
    RunOptions,
    with_run_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.protocols import ReplyTemplate
    from empathylab.runs import Plan
    from empathylab.situations import Situation, SituationSet
    from empathylab.store import Lab

MOST_UNASKED = 200
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
            f"or of a set of up to {MOST_UNASKED}, if left out.",
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
    run: RunOptions,
) -> None:
    """Lets models reply to people who tell about a situation."""
    from empathylab.cli.model_runs import ask, conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.protocols import Responding, plan_responding, reply_template, usual_template
    from empathylab.protocols.reply_templates import in_language
    from empathylab.protocols.translations import set_in_language
    from empathylab.store.selections import resolve_situations

    named = None if template is None else reply_template(template)

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        chosen, drawn = resolve_situations(lab, set_in_language(lab, situation_set, language))
        drawn = _of_emotions(chosen, drawn, emotion)
        used = usual_template(chosen) if named is None else named
        used = in_language(used, chosen.language)
        responding = Responding(
            situation_set=chosen,
            situations=_wanted(chosen, drawn, situations),
            samples=samples,
            temperature=0.7 if run.temperature is None else run.temperature,
            seed=run.seed,
            template=_with_lengths(used, lab, chosen, words, least_words, most_words),
            retries=retries,
        )
        return [plan_responding(lab, asked.name, responding)]

    tallies, data, path = ask(model, plans, run, report=report)
    (print_json if json else print_summary)(data, tallies, path)
    conclude(tallies, run)


def _of_emotions(
    chosen: SituationSet, drawn: tuple[Situation, ...], emotions: list[str] | None
) -> tuple[Situation, ...]:
    """Those of the situations that tell of the emotions, or of a post's topics."""
    from empathylab.errors import UnknownName

    if not emotions:
        return drawn
    known = {name for entry in drawn for name in (entry.emotion, entry.topic) if name}
    for emotion in emotions:
        if emotion not in known:
            raise UnknownName("emotion", emotion, known, where=f"--emotion in --set {chosen.id}")
    return tuple(entry for entry in drawn if {entry.emotion, entry.topic} & set(emotions))


def _wanted(
    chosen: SituationSet, drawn: tuple[Situation, ...], count: int | None
) -> tuple[Situation, ...]:
    """All that were drawn, or so many of each emotion; a large set must be asked for."""
    from empathylab.errors import InputError

    if count:
        return dataclasses.replace(chosen, situations=drawn).first_per_group(count)
    if count is None and len(drawn) == len(chosen) > MOST_UNASKED:
        raise InputError(
            f"the set has {len(chosen):,} situations",
            where=f"--set {chosen.id}",
            remedy="Say how many of each emotion with --situations (0 for all), or draw some: "
            f"empathylab data sample {chosen.id} --count 200 --name NAME",
        )
    return drawn


def _with_lengths(
    template: ReplyTemplate,
    lab: Lab,
    situation_set: SituationSet,
    words: str | None,
    least: int | None,
    most: int | None,
) -> ReplyTemplate:
    """The template with the lengths of the options, people's where those are asked for."""
    from empathylab.errors import InputError
    from empathylab.protocols import human_lengths

    about: int | None = None
    if words == "human":
        about, longest = human_lengths(lab, situation_set)
        most = longest if most is None else most
        least = min(template.least_words, about) if least is None else least
    elif words is not None:
        if not words.isdecimal() or int(words) < 1:
            raise InputError(
                "this must be a number of words, or human",
                where="--words",
                got=words,
                remedy="Give --words 30, for example.",
            )
        about = int(words)
    return template.with_lengths(words=about, least_words=least, most_words=most)
