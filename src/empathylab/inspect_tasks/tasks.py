"""The tasks `empathylab/appraise`, `empathylab/respond` and `empathylab/converse`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.model import model_roles
from inspect_ai.scorer import Scorer

from empathylab import __version__
from empathylab.api.converse import choose
from empathylab.export.inspect_logs.layout import carried
from empathylab.inspect_tasks.measuring import Measuring, Planner, protocol, samples
from empathylab.inspect_tasks.scorers import conversation, judge, reply_checks, scale_scores
from empathylab.protocols import (
    Appraisal,
    Responding,
    plan_appraisal,
    plan_responding,
    reply_template,
    usual_template,
)
from empathylab.protocols.appraise import planned_administrations
from empathylab.protocols.converse.persona_files import chosen_personas
from empathylab.protocols.converse.plan import SIMULATOR, Conversing, plan_conversing
from empathylab.protocols.respond import planned_replies
from empathylab.runs import Plan
from empathylab.scales import scale_to_dict
from empathylab.situations import Situation
from empathylab.store import Lab, lab_scale, lab_situation_set

NOT_STATED = "not stated"


@task
def appraise(
    scale: str = "panas",
    situation_set: str = "appraisal",
    situations: int = 3,
    mode: Literal["free", "structured", "logprob"] = "structured",
    default_orders: int = 4,
    orders: int = 1,
    repeats: int = 1,
    temperature: float = 0.0,
    seed: int = 1,
) -> Task:
    """A scale at baseline and after the model imagines situations: does its state change?"""
    measuring = Measuring()
    chosen = lab_situation_set(measuring.lab, situation_set)
    appraisal = Appraisal(
        scale=lab_scale(measuring.lab, scale),
        situation_set=chosen,
        situations=chosen.first_per_group(situations),
        mode=mode,
        default_orders=default_orders,
        orders=orders,
        temperature=temperature,
        seed=seed,
    )

    def planner(lab: Lab, respondent: str, count: int, _: Mapping[str, str]) -> Plan:
        return plan_appraisal(lab, respondent, dataclasses.replace(appraisal, repeats=count))

    planned = {entry.key: entry for entry in planned_administrations(appraisal)}

    def described(key: str) -> dict[str, Any]:
        entry = planned[key]
        return {
            "scale": appraisal.scale.id,
            "phase": "evoked" if entry.situation else "default",
            "counterpart": entry.counterpart,
            "order_index": entry.order_index,
            "item_order": list(entry.order),
            **_about(entry.situation),
        }

    scorer = scale_scores(scale_to_dict(appraisal.scale), structured=mode != "free")
    return _task(measuring, planner, repeats, described, [scorer])


@task
def respond(
    situation_set: str = "dialogues",
    situations: int | None = None,
    samples: int = 1,
    template: str | None = None,
    judge_model: str | None = None,
    dimensions: str = "empathy",
    temperature: float = 0.7,
    seed: int = 1,
    retries: int = 1,
) -> Task:
    """Replies to people who tell about a situation, checked and, where a judge is named, rated.

    The judge is an Inspect model: `-T judge_model=openai/gpt-4o`, or `--model-role judge=…`.
    """
    measuring = Measuring()
    chosen = lab_situation_set(measuring.lab, situation_set)
    used = usual_template(chosen) if template is None else reply_template(template)
    responding = Responding(
        situation_set=chosen,
        situations=chosen.first_per_group(situations) if situations else chosen.situations,
        temperature=temperature,
        seed=seed,
        template=used,
        retries=retries,
    )

    def planner(lab: Lab, respondent: str, count: int, _: Mapping[str, str]) -> Plan:
        return plan_responding(lab, respondent, dataclasses.replace(responding, samples=count))

    planned = planned_replies(responding)

    def described(key: str) -> dict[str, Any]:
        return {
            "set": chosen.id,
            "language": chosen.language,
            "least_words": used.least_words,
            "most_words": used.most_words,
            **_about(planned[key][0]),
        }

    scorers = [reply_checks()]
    if judge_model is not None or "judge" in model_roles():
        scorers.append(judge(judge_model, dimensions.split(",")))
    return _task(measuring, planner, samples, described, scorers)


@task
def converse(
    simulator: str | None = None,
    personas: str = "built-in",
    count: int | None = None,
    language: str | None = None,
    exchanges: int | None = None,
    samples: int = 1,
    temperature: float = 0.7,
    simulator_temperature: float = 0.7,
    seed: int = 1,
    retries: int = 1,
) -> Task:
    """Conversations with simulated people: how do they feel at the end?

    The simulator is an Inspect model: `-T simulator=openai/gpt-4o-mini`, or `--model-role
    simulator=openai/gpt-4o-mini`.
    """
    measuring = Measuring()
    chosen = choose(chosen_personas(measuring.lab, personas), (), count, language)
    conversing = Conversing(
        personas=chosen,
        simulator="",
        temperature=temperature,
        simulator_temperature=simulator_temperature,
        seed=seed,
        exchanges=exchanges,
        retries=retries,
    )

    def planner(lab: Lab, respondent: str, count: int, names: Mapping[str, str]) -> Plan:
        asked = dataclasses.replace(conversing, samples=count, simulator=names.get(SIMULATOR, ""))
        return plan_conversing(lab, respondent, asked)

    known = conversing.persona_rules()

    def described(key: str) -> dict[str, Any]:
        name = key.partition("/sample-")[0]
        persona = known[name]
        return {"persona": name, "emotion": persona.emotion, "language": persona.language}

    partners = {SIMULATOR: simulator}
    return _task(measuring, planner, samples, described, [conversation()], partners)


def _about(situation: Situation | None) -> dict[str, Any]:
    """What scores are grouped by; Inspect wants a value in each sample."""
    if situation is None:
        return {"situation": "baseline", "emotion": "baseline", "factor": "baseline"}
    return {
        "situation": situation.id,
        "emotion": situation.emotion or situation.topic or NOT_STATED,
        "factor": situation.factor or NOT_STATED,
    }


def _task(
    measuring: Measuring,
    planner: Planner,
    count: int,
    described: Callable[[str], dict[str, Any]],
    scorers: list[Scorer],
    partners: dict[str, str | None] | None = None,
) -> Task:
    plan = planner(measuring.lab, "", 1, {})
    return Task(
        dataset=samples(plan, described),
        solver=protocol(measuring, planner, count, partners),
        scorer=scorers,
        epochs=count,
        version=__version__,
        metadata=carried(
            measuring.definitions(),
            measuring.source,
            protocol=plan.protocol,
        ),
    )
