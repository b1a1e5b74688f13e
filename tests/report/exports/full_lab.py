"""A lab with something in every table of an export."""

from __future__ import annotations

import json
from pathlib import Path

from empathylab.judging.instruments import study_instrument
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.single import Judging, plan_judging
from empathylab.models import ScriptedModel
from empathylab.runs import Job, run
from empathylab.store import Lab
from empathylab.store.judged_responses import judged_study, set_responses, study_responses
from empathylab.store.recipients import store_recipients
from empathylab.study import parse_study
from tests.helpers.labs import filled
from tests.study.archived import finished, rate_all, released
from tests.study.service_examples import opened, someone, walk
from tests.study.test_service_results import WRITE


def fill(lab: Lab, folder: Path) -> None:
    """Fills every table: scales, replies, three studies, judges of two kinds, recipients."""
    service, _ = finished(lab, close=False)
    service.actions.exclude(service.actions.participants()[0].person, "asked to be")
    service.actions.close()
    writers, _ = opened(lab, parse_study(WRITE))
    walk(writers, someone(writers, "ann"))
    writers.actions.close()
    released(lab, folder)
    filled(lab)
    _judge(lab)
    _help(lab)


def _help(lab: Lab) -> None:
    """People who got replies by a model or a person, under either label; some felt better."""
    rows = [
        {
            "participant": f"p{number}",
            "response": ("ai", "human")[number % 2],
            "label": ("ai", "human")[number // 2 % 2],
            "replier": f"writer {number % 7}",
            "reply": f"reply {number}",
            "calm before": float(number % 5),
            "calm": float((number * 7) % 5 + 1),
        }
        for number in range(40)
    ]
    store_recipients(
        lab,
        "helped",
        rows,
        title="People who were helped",
        source="helped.csv",
        licence="CC0-1.0",
        outcomes=["calm"],
    )


def _judge(lab: Lab) -> None:
    study = judged_study(lab, "welivita-2024")
    replies, instrument = study_responses(lab, study.row), study_instrument(study)
    source = f"study {study.name}"
    rated = plan_judging(Judging(instrument, replies, source, study.row))
    compared = plan_comparing(
        Comparing(instrument=instrument, replies=replies, source=source, study=study.row)
    )
    good = ScriptedModel([json.dumps({"empathy": "Good"})], name="the/judge")
    first = ScriptedModel([json.dumps({"empathy": "first"})], name="the/other")
    run(lab, [Job(good, [rated]), Job(first, [compared])])


def judge_study_and_set(lab: Lab, name: str, chosen: str) -> None:
    """Lets a judge rate and compare the study's responses, and all replies to the set."""
    study = judged_study(lab, name)
    instrument = study_instrument(study)
    good = ScriptedModel([json.dumps({"empathy": "Good"})], name="the/judge")
    first = ScriptedModel([json.dumps({"empathy": "first"})], name="the/other")
    for replies, source, number in (
        (study_responses(lab, study.row), f"study {name}", study.row),
        (set_responses(lab, chosen), f"set {chosen}", None),
    ):
        rated = plan_judging(Judging(instrument, replies, source, number))
        pairs = Comparing(instrument=instrument, replies=replies, source=source, study=number)
        run(lab, [Job(good, [rated]), Job(first, [plan_comparing(pairs)])])


def open_study(lab: Lab, people: int = 2) -> list[str]:
    """A study that still takes people; the pseudonyms of those who have finished it."""
    service, _ = opened(lab)
    found = [someone(service, f"person {number}") for number in range(people)]
    for person in found:
        rate_all(service, person, "2")
    return found
