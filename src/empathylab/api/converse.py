"""Conversations with simulated people."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from empathylab.api.run_options import (
    PartnerOptions,
    RunKeywords,
    RunOptions,
    listed,
    require_at_least,
)
from empathylab.api.workspace import Workspace
from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.api.run_results import ConversationsResult
    from empathylab.models import Model
    from empathylab.protocols.converse.persona import Persona
    from empathylab.protocols.converse.plan import Conversing
    from empathylab.runs import Job
    from empathylab.store import Lab

CHECKED_PERSONAS = 8
"""With how many personas a simulator's control listeners talk."""


def converse(
    workspace: Workspace,
    *models: str,
    simulator: str | Sequence[str],
    personas: str = "built-in",
    persona: str | Sequence[str] = (),
    count: int | None = None,
    language: str | None = None,
    samples: int = 1,
    exchanges: int | None = None,
    simulator_temperature: float = 0.7,
    simulator_base_url: str | None = None,
    simulator_api_key_env: str | None = None,
    system_prompt: str | Path | None = None,
    retries: int = 1,
    check: bool = True,
    report: bool = False,
    **options: Unpack[RunKeywords],
) -> ConversationsResult:
    """Lets models talk with people played by another model, the simulator; tracks how they feel.

    `count` personas are spread over the emotions. With `check`, each simulator also talks with
    an attentive and a cold scripted listener, and must react differently to the two.
    """
    from empathylab.analysis.conversations import from_lab
    from empathylab.api.run_results import ConversationsResult
    from empathylab.files import read_text
    from empathylab.protocols.converse.persona_files import chosen_personas
    from empathylab.protocols.converse.plan import Conversing

    simulators, run = list(dict.fromkeys(listed(simulator))), RunOptions.of(options)
    if not simulators:
        raise InputError(
            "name the model that plays the people",
            where="--simulator",
            remedy="For example --simulator openai/gpt-4o-mini; two simulators are better.",
        )
    require_at_least(1, count=count, samples=samples, exchanges=exchanges)
    require_at_least(0, retries=retries)
    names = list(dict.fromkeys(models))
    opened = dict(zip(names, run.open_models(names, partners=simulators), strict=True))
    own = PartnerOptions(simulator_base_url, simulator_api_key_env, as_models=True)
    shared = own.base_url is None and own.api_key_env is None
    people = {
        name: opened[name] if shared and name in opened else run.open_partner(name, own, names)
        for name in simulators
    }
    lab = workspace.store(create=True)
    system = None if system_prompt is None else read_text(Path(system_prompt)).strip()
    known = chosen_personas(lab, personas)
    chosen = choose(known, listed(persona), count, language)
    # The check needs its own number of personas, however few are asked for.
    checked = choose(known, (), None, chosen[0].language)[:CHECKED_PERSONAS]
    jobs: list[Job] = []
    for name in simulators:
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
        asked = [opened[model] for model in dict.fromkeys(models)]
        jobs += _jobs(lab, asked, people[name], conversing, run)
        if check:
            few = dataclasses.replace(conversing, personas=checked, samples=1)
            jobs += _checks(lab, people[name], few, run)
    sessions = workspace.run(jobs, run)
    path = workspace.report() if report else None
    return ConversationsResult(sessions, from_lab(lab), path)


def choose(
    personas: Sequence[Persona], ids: Sequence[str], count: int | None, language: str | None
) -> tuple[Persona, ...]:
    """The personas asked for, each in one language, the emotions in turn."""
    from empathylab.protocols.converse.persona import in_language

    languages = list(dict.fromkeys(persona.language for persona in personas))
    wanted = language or ("en" if "en" in languages else languages[0])
    if wanted not in languages:
        raise UnknownName("language of these personas", wanted, languages)
    chosen = in_language(personas, wanted)
    for name in ids:
        if name not in {persona.id for persona in chosen}:
            raise UnknownName("persona", name, [persona.id for persona in chosen])
    if ids:
        chosen = [persona for persona in chosen if persona.id in ids]
    groups: dict[str, list[Persona]] = {}
    for persona in chosen:
        groups.setdefault(persona.emotion, []).append(persona)
    rows = itertools.zip_longest(*groups.values())
    spread = [persona for row in rows for persona in row if persona]
    if count is not None and count > len(spread):
        raise InputError(
            f"there are {len(spread)} personas in this language",
            where="--count",
            got=count,
            remedy="Ask for fewer, or use --samples for repeated conversations.",
        )
    return tuple(spread[:count])


def _jobs(
    lab: Lab,
    evaluated: Sequence[Model],
    simulator: Model,
    conversing: Conversing,
    options: RunOptions,
) -> list[Job]:
    from empathylab.protocols.converse.plan import SIMULATOR, plan_conversing

    return [
        options.job(model, [plan_conversing(lab, model.name, conversing)], {SIMULATOR: simulator})
        for model in evaluated
    ]


def _checks(lab: Lab, simulator: Model, conversing: Conversing, options: RunOptions) -> list[Job]:
    """The control listeners' conversations with the simulator."""
    from empathylab.protocols.converse.controls import control_listeners

    listeners: list[Model] = list(control_listeners(conversing.personas[0].language))
    return _jobs(lab, listeners, simulator, conversing, options)
