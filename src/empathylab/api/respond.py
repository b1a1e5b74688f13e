"""Replies to people who tell about a situation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from empathylab.api.run_options import RunKeywords, RunOptions, listed, require_at_least
from empathylab.api.workspace import Workspace
from empathylab.errors import InputError, UnknownName

if TYPE_CHECKING:
    from empathylab.api.run_results import RunResult
    from empathylab.models import Model
    from empathylab.protocols import ReplyTemplate
    from empathylab.runs import Plan
    from empathylab.situations import Situation, SituationSet
    from empathylab.store import Lab

MOST_UNASKED = 200
"""The default number of situations from a set."""


def respond(
    workspace: Workspace,
    *models: str | Model,
    situation_set: str = "dialogues",
    language: str | None = None,
    situations: int | None = None,
    emotion: str | Sequence[str] = (),
    samples: int = 1,
    template: str | None = None,
    words: int | str | None = None,
    least_words: int | None = None,
    most_words: int | None = None,
    retries: int = 1,
    report: bool = False,
    **options: Unpack[RunKeywords],
) -> RunResult:
    """Lets models reply to people who describe a situation.

    `situations` is their number for each emotion; by default, all of a small set. `words` is the
        length to ask for; `"human"` uses that of people's replies in the lab.
    """
    require_at_least(0, situations=situations, retries=retries)
    require_at_least(1, samples=samples, least_words=least_words, most_words=most_words)
    run = RunOptions.of(options)

    def plans(lab: Lab, model: str) -> list[Plan]:
        from empathylab.protocols import (
            Responding,
            plan_responding,
            reply_template,
            usual_template,
        )
        from empathylab.protocols.reply_templates import in_language
        from empathylab.protocols.translations import set_in_language
        from empathylab.store.selections import resolve_situations

        named = None if template is None else reply_template(template)
        chosen, drawn = resolve_situations(lab, set_in_language(lab, situation_set, language))
        used = in_language(named or usual_template(chosen), chosen.language)
        responding = Responding(
            situation_set=chosen,
            situations=_situations(
                chosen, _of_emotions(chosen, drawn, listed(emotion)), situations
            ),
            samples=samples,
            temperature=0.7 if run.temperature is None else run.temperature,
            seed=run.seed,
            template=_with_lengths(used, lab, chosen, words, (least_words, most_words)),
            retries=retries,
        )
        return [plan_responding(lab, model, responding)]

    return workspace.ask(models, plans, run, report=report)


def _of_emotions(
    chosen: SituationSet, drawn: tuple[Situation, ...], emotions: Sequence[str]
) -> tuple[Situation, ...]:
    """Those of the situations that tell of the emotions, or of a post's topics."""
    if not emotions:
        return drawn
    known = {name for entry in drawn for name in (entry.emotion, entry.topic) if name}
    for emotion in emotions:
        if emotion not in known:
            raise UnknownName("emotion", emotion, known, where=f"--emotion in --set {chosen.id}")
    return tuple(entry for entry in drawn if {entry.emotion, entry.topic} & set(emotions))


def _situations(
    chosen: SituationSet, drawn: tuple[Situation, ...], count: int | None
) -> tuple[Situation, ...]:
    """All that were drawn, or so many of each emotion; a large set must be asked for."""
    if count:
        return dataclasses.replace(chosen, situations=drawn).first_per_group(count)
    if count is None and len(drawn) == len(chosen) > MOST_UNASKED:
        raise InputError(
            f"the set has {len(chosen):,} situations",
            where=f"--set {chosen.id}",
            remedy="Say how many of each emotion with --situations (0 for all), or sample some: "
            f"empathylab data sample {chosen.id} --count 200 --name NAME",
        )
    return drawn


def _with_lengths(
    template: ReplyTemplate,
    lab: Lab,
    situation_set: SituationSet,
    words: int | str | None,
    limits: tuple[int | None, int | None],
) -> ReplyTemplate:
    """The template with the lengths of the options, people's where those are asked for."""
    from empathylab.protocols import human_lengths

    about: int | None = None
    least, most = limits
    if words == "human":
        about, longest = human_lengths(lab, situation_set)
        most = longest if most is None else most
        least = min(template.least_words, about) if least is None else least
    elif words is not None:
        if not str(words).isdecimal() or int(words) < 1:
            raise InputError(
                "this must be a number of words, or human",
                where="--words",
                got=words,
                remedy="Give --words 30, for example.",
            )
        about = int(words)
    return template.with_lengths(words=about, least_words=least, most_words=most)
