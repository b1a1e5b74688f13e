"""A study whose participants only compare two replies, and people who walk through it."""

from __future__ import annotations

from empathylab.store import Lab
from empathylab.study import parse_study
from empathylab.study.session.service import Page, StudyService
from tests.study.service_examples import careful, opened, someone

PAIRS = """\
name: pairs
version: 1
title: Which reply is better
languages: [en]
design: within
seed: 11
arms: {one: first/model, two: second/model}
situations: {set: dialogues, count: 2}
batch_size: 4
ratings_per_response: 3
dimensions: [{name: empathy, question: Which one, labels: [Bad, Good]}]
recruitment: {platform: open}
blocks:
  - {block: consent, text: Take part}
  - {block: compare, question: Which is more empathetic}
  - {block: debrief, text: Thanks}
"""
WITHOUT_DIMENSIONS = "".join(
    line for line in PAIRS.splitlines(keepends=True) if not line.startswith("dimensions")
)


def compared(lab: Lab, text: str = PAIRS, people: int = 3) -> StudyService:
    """An open study of two situations; everyone prefers one arm, then the other, but the first
    person prefers the first arm twice."""
    service, _ = opened(lab, parse_study(text))
    for number in range(people):
        person, left = someone(service, f"p{number}"), [1, 2 if number else 1]
        while isinstance(page := service.view(person), Page):
            given = careful(service.study, page)
            if page.content.page == "compare":
                given["preference"] = _side(page, left.pop(0))
            service.submit(person, page.step, given)
    return service


def _side(page: Page, respondent: int) -> str:
    """Which of the two replies that respondent wrote."""
    [first, _] = [part.reply.text for part in page.content.parts if part.reply is not None]
    return "first" if first.startswith(f"Reply {respondent} ") else "second"
