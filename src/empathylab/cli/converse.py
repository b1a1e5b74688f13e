"""`empathylab converse`: conversations with people whom another model simulates."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.examples import examples
from empathylab.cli.options import JsonOption, ReportOption, RunOptions, with_run_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.protocols.converse.persona import Persona
    from empathylab.protocols.converse.plan import Conversing
    from empathylab.runs import Job, Tally
    from empathylab.store import Lab

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
_CHECKED_PERSONAS = 8


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
            f"{_CHECKED_PERSONAS} personas each: it must tell them apart.",
        ),
    ] = True,
    json: JsonOption = False,
    report: ReportOption = False,
    *,
    run: RunOptions,
) -> None:
    """Lets models talk with simulated people and follows how those feel.

    The simulator keeps a hidden state, updates it after each reply and then writes its next
    message. Neither side sees the other's prompt. Run the same command again to resume.
    """
    from empathylab.cli.model_runs import conclude
    from empathylab.cli.progress import progress
    from empathylab.errors import InputError
    from empathylab.files import read_text
    from empathylab.protocols.converse.persona_files import chosen_personas
    from empathylab.protocols.converse.plan import Conversing
    from empathylab.runs import run as run_jobs
    from empathylab.store import Lab

    if not simulator:
        raise InputError(
            "name the model that plays the people",
            where="--simulator",
            remedy="For example --simulator openai/gpt-4o-mini; two simulators are better.",
        )
    names = list(dict.fromkeys([*model, *simulator]))
    models = dict(zip(names, run.open_models(names), strict=True))
    system = None if system_prompt is None else read_text(system_prompt).strip()
    with Lab.open(run.lab) as opened:
        known = chosen_personas(opened, personas)
        chosen = choose(known, persona, count, language)
        # The check needs its own number of personas, however few are asked for.
        checked = choose(known, None, None, chosen[0].language)[:_CHECKED_PERSONAS]
        jobs: list[Job] = []
        for name in dict.fromkeys(simulator):
            conversing = Conversing(
                personas=chosen,
                simulator=name,
                samples=samples,
                temperature=0.7 if run.temperature is None else run.temperature,
                simulator_temperature=simulator_temperature,
                seed=run.seed,
                exchanges=exchanges,
                system=system or None,
                retries=retries,
            )
            evaluated = [models[one] for one in dict.fromkeys(model)]
            jobs += _jobs(opened, evaluated, models[name], conversing, run)
            if check:
                few = dataclasses.replace(conversing, personas=checked, samples=1)
                jobs += _checks(opened, models[name], few, run)
        with progress() as observe:
            tallies = run_jobs(opened, jobs, prices=run.price_table(), observe=observe)
        _print(opened, tallies, as_json=json, report=report)
    conclude(tallies, run)


def choose(
    personas: Sequence[Persona],
    ids: list[str] | None,
    count: int | None,
    language: str | None,
) -> tuple[Persona, ...]:
    """The personas asked for, each in one language, the emotions in turn."""
    from empathylab.errors import InputError, UnknownName
    from empathylab.protocols.converse.persona import in_language

    languages = list(dict.fromkeys(persona.language for persona in personas))
    wanted = language or ("en" if "en" in languages else languages[0])
    if wanted not in languages:
        raise UnknownName("language of these personas", wanted, languages)
    found = in_language(personas, wanted)
    for name in ids or ():
        if name not in {persona.id for persona in found}:
            raise UnknownName("persona", name, [persona.id for persona in found])
    if ids:
        found = [persona for persona in found if persona.id in ids]
    groups: dict[str, list[Persona]] = {}
    for persona in found:
        groups.setdefault(persona.emotion, []).append(persona)
    spread = [one for row in itertools.zip_longest(*groups.values()) for one in row if one]
    if count is not None and count > len(spread):
        raise InputError(
            f"there are {len(spread)} personas in this language",
            where="--count",
            got=count,
            remedy="Ask for fewer, or use --samples for repeated conversations.",
        )
    return tuple(spread[:count])


def _jobs(
    lab: Lab, evaluated: list[Model], simulator: Model, conversing: Conversing, run: RunOptions
) -> list[Job]:
    from empathylab.protocols.converse.plan import SIMULATOR, plan_conversing
    from empathylab.runs import Job

    return [
        Job(
            one,
            [plan_conversing(lab, one.name, conversing)],
            limits=run.limits(),
            fresh=run.fresh,
            partners={SIMULATOR: simulator},
        )
        for one in evaluated
    ]


def _checks(lab: Lab, simulator: Model, conversing: Conversing, run: RunOptions) -> list[Job]:
    """The control listeners' conversations with the simulator."""
    from empathylab.protocols.converse.controls import control_listeners

    listeners: list[Model] = list(control_listeners(conversing.personas[0].language))
    return _jobs(lab, listeners, simulator, conversing, run)


def _print(lab: Lab, tallies: list[Tally], *, as_json: bool, report: bool) -> None:
    """The analysis of all conversations in the lab, and where the report is if it was wanted."""
    from empathylab.analysis import overview
    from empathylab.analysis.conversations import from_lab
    from empathylab.cli.analyze.conversations import print_conversations
    from empathylab.report import write_report

    path = write_report(overview.from_lab(lab), lab.reports) if report else None
    result = from_lab(lab)
    if not as_json:
        print_conversations(result)
        if path is not None:
            typer.echo(f"Report: {path}")
        return
    import json as encoder

    from empathylab.cli.summary import tally_row

    sessions = [tally_row(tally) for tally in tallies]
    document = {"report": path and str(path), "sessions": sessions, **result.to_dict()}
    typer.echo(encoder.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
