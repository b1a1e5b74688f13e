"""Labs with something in them, made by real runs of scripted models."""

from __future__ import annotations

import json

from empathylab.models import Message, Parameters, ScriptedModel
from empathylab.protocols import Appraisal, Responding, plan_appraisal, plan_responding
from empathylab.runs import Job, run
from empathylab.scales import builtin_scale
from empathylab.situations import builtin_set
from empathylab.store import Lab

NEGATIVE = set(
    "Distressed Upset Guilty Scared Hostile Irritable Ashamed Nervous Jittery Afraid".split()  # noqa: SIM905
)


def person_like(messages: tuple[Message, ...], _parameters: Parameters) -> str:
    """At rest mostly content; after a situation distressed; some scatter by the item's word."""
    text = messages[-1].content
    if not any(line.startswith("1. ") for line in text.splitlines()):
        return "That sounds really hard. How are you holding up?"
    upset = text.startswith("Imagine")
    answers = {}
    for line in text.splitlines():
        shown, _, word = line.partition(". ")
        if shown.isdigit():
            high = (word in NEGATIVE) == upset
            answers[shown] = min(5, (4 if high else 1) + (len(text) + len(word)) % 2)
    return json.dumps(answers)


def filled(lab: Lab, name: str = "scripted/person", situations: int = 2) -> None:
    """Fills the lab with both protocols of one respondent."""
    appraisal_set, dialogues = builtin_set("appraisal"), builtin_set("dialogues")
    plans = [
        plan_appraisal(
            lab,
            name,
            Appraisal(
                builtin_scale("panas"),
                appraisal_set,
                appraisal_set.first_per_group(situations),
            ),
        ),
        plan_responding(lab, name, Responding(dialogues, dialogues.first_per_group(1))),
    ]
    run(lab, [Job(ScriptedModel(person_like, name=name), plans)])
