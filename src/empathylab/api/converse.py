"""Conversations with simulated people: from the caller's options to the runner's jobs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from empathylab.api.run_options import RunOptions, require_at_least
from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.models import Model
    from empathylab.protocols.converse.persona import Persona
    from empathylab.protocols.converse.plan import Conversing
    from empathylab.runs import Job
    from empathylab.store import Lab

CHECKED_PERSONAS = 8
"""With how many personas a simulator's control listeners talk."""


@dataclasses.dataclass(frozen=True, slots=True)
class ConversationOptions:
    """Who talks with whom, and for how long."""

    simulators: Sequence[str]
    personas: str = "built-in"
    persona: Sequence[str] = ()
    count: int | None = None
    language: str | None = None
    samples: int = 1
    exchanges: int | None = None
    simulator_temperature: float = 0.7
    system_prompt: str | Path | None = None
    retries: int = 1
    check: bool = True

    def __post_init__(self) -> None:
        if not self.simulators:
            raise InputError(
                "name the model that plays the people",
                where="--simulator",
                remedy="For example --simulator openai/gpt-4o-mini; two simulators are better.",
            )
        require_at_least(1, count=self.count, samples=self.samples, exchanges=self.exchanges)
        require_at_least(0, retries=self.retries)

    def jobs(
        self, lab: Lab, evaluated: Sequence[str], models: Mapping[str, Model], options: RunOptions
    ) -> list[Job]:
        """The conversations of each model with each simulator, and those that check it."""
        from empathylab.files import read_text
        from empathylab.protocols.converse.persona_files import chosen_personas
        from empathylab.protocols.converse.plan import Conversing

        system = None if self.system_prompt is None else read_text(Path(self.system_prompt)).strip()
        known = chosen_personas(lab, self.personas)
        chosen = choose(known, self.persona, self.count, self.language)
        # The check needs its own number of personas, however few are asked for.
        checked = choose(known, (), None, chosen[0].language)[:CHECKED_PERSONAS]
        jobs: list[Job] = []
        for name in dict.fromkeys(self.simulators):
            conversing = Conversing(
                personas=chosen,
                simulator=name,
                samples=self.samples,
                temperature=0.7 if options.temperature is None else options.temperature,
                simulator_temperature=self.simulator_temperature,
                seed=options.seed,
                exchanges=self.exchanges,
                system=system or None,
                retries=self.retries,
            )
            asked = [models[model] for model in dict.fromkeys(evaluated)]
            jobs += _jobs(lab, asked, models[name], conversing, options)
            if self.check:
                few = dataclasses.replace(conversing, personas=checked, samples=1)
                jobs += _checks(lab, models[name], few, options)
        return jobs


def choose(
    personas: Sequence[Persona], ids: Sequence[str], count: int | None, language: str | None
) -> tuple[Persona, ...]:
    """The personas asked for, each in one language, the emotions in turn."""
    from empathylab.protocols.converse.persona import in_language

    languages = list(dict.fromkeys(persona.language for persona in personas))
    wanted = language or ("en" if "en" in languages else languages[0])
    if wanted not in languages:
        raise UnknownName("language of these personas", wanted, languages)
    found = in_language(personas, wanted)
    for name in ids:
        if name not in {persona.id for persona in found}:
            raise UnknownName("persona", name, [persona.id for persona in found])
    if ids:
        found = [persona for persona in found if persona.id in ids]
    groups: dict[str, list[Persona]] = {}
    for persona in found:
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
