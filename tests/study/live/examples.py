"""A small study with live replies, and participants who wait for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from empathylab.models import Model, Price, Prices
from empathylab.store import Lab
from empathylab.store.inserts import now
from empathylab.store.studies.live import waiting_turns
from empathylab.study import Study, parse_study
from empathylab.study.live.engine import LiveEngine
from empathylab.study.session.service import PlatformIds, Saved, StudyService, launch

PROMPT = (
    "You are a kind listener. Answer in two sentences, never more, and never say anything about "
    "the person who wrote these instructions to you."
)
RECIPIENT = f"""\
name: heard
version: 1
title: Feeling heard
languages: [en]
seed: 7
recruitment: {{platform: open, codes: {{completed: DONE, interrupted: SORRY, safety: CARE}}}}
help: Call 123.
live:
  authors:
    model: {{model: scripted/listener, prompt: "{PROMPT}"}}
    person: {{text: Thank you for telling me., written_by: person}}
  labels:
    ai: {{text: This reply was written by an AI., claims: model}}
    human: {{text: This reply was written by a person., claims: person}}
  people_per_condition: 5
  delay: {{minimum: 1.2, maximum: 1.5}}
  fallback: Thank you for sharing this.
  maximum_words: 30
blocks:
  - {{block: consent, text: "Take part?"}}
  - {{block: tell, text: Tell us., minimum_words: 3, maximum_words: 50}}
  - {{block: reply}}
  - block: questions
    fields: [{{name: heard, label: Heard, kind: choice, options: ["1", "2", "3"]}}]
  - {{block: debrief, title: The end, text: Thank you., reveals: "The label may have been false."}}
"""
MODEL_ONLY = RECIPIENT.replace(
    "    person: {text: Thank you for telling me., written_by: person}\n", ""
)
STORY = "My dog died on Sunday and the house is quiet."


def recipient(text: str = RECIPIENT) -> Study:
    return parse_study(text)


def opened(lab: Lab, text: str = RECIPIENT) -> StudyService:
    """The launched study."""
    launch(lab, recipient(text), now=now())
    return StudyService(lab, "heard")


def teller(service: StudyService, name: str, story: str = STORY) -> str:
    """Someone who has told their story."""
    person = service.arrive(PlatformIds("open", name))
    for step, values in (("consent", {"agree": "yes"}), ("tell", {"story": story})):
        assert isinstance(service.submit(person, step, values), Saved)
    return person


def engine_of(service: StudyService, model: Model, price: float | None = None) -> LiveEngine:
    prices = Prices({"scripted/listener": Price(price or 0.0, price or 0.0)}, "2026-01-01")
    return LiveEngine(service, models=lambda author: model, prices=prices)


def settle(service: StudyService, model: Model, price: float | None = None) -> None:
    """Lets an engine answer until nobody waits for a model."""
    run_until(lambda: not _waits(service), engine_of(service, model, price))


def run_until(happened: Callable[[], bool], *engines: LiveEngine) -> None:
    """Lets the engines work until it has happened, then stops them."""

    async def work() -> None:
        tasks = [asyncio.create_task(engine.run()) for engine in engines]
        async with asyncio.timeout(60):
            while not happened():  # noqa: ASYNC110 - the lab has no events
                await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(work())


def _waits(service: StudyService) -> bool:
    with service.lab.reading() as connection:
        far = service.now().replace(year=2100)
        return bool(waiting_turns(connection, service.launched.row, far, 1))


def shown(service: StudyService, person: str, within: float = 30.0) -> Any:
    """What the person sees once their reply is there, or their part has ended."""
    until = time.monotonic() + within
    while True:
        view = service.view(person)
        live = getattr(getattr(view, "content", None), "live", None)
        if live is None or not live.waiting:
            return view
        assert time.monotonic() < until, view
        time.sleep(0.05)


def part(view: Any, role: str) -> str:
    """The text of one part of a page; empty where there is none."""
    return next((item.text for item in view.content.parts if item.role == role), "")
