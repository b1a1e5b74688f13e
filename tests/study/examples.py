"""Small studies for the tests."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from pydantic import BaseModel

from empathylab.scales import Scale, builtin_scale
from empathylab.scales.wording import with_words
from empathylab.study import PRESETS, Study, parse_study, preset_text
from empathylab.study.blocks.norming import norm_scales

SITUATION_PRESETS = tuple(name for name in PRESETS if "\nsituations:" in preset_text(name))
"""The presets in which people rate or imagine; in the others they tell of themselves."""
KEY = b"a key for the tests, 32 bytes it"

BETWEEN = """\
name: small
version: 1
title: A small study
languages: [en]
design: between
seed: 7
arms:
  one: first/model
  two: second/model
situations: {set: dialogues, count: 6}
batch_size: 2
ratings_per_response: 2
dimensions:
  - name: empathy
    question: How empathetic?
    labels: [Bad, Okay, Good]
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: demographics
    fields:
      - {name: age, label: Your age, kind: number, minimum: 18, maximum: 99}
      - {name: sex, label: Your sex, kind: choice, options: [female, male, other]}
      - {name: town, label: Your town, kind: text, required: false}
  - block: tutorial
    pages: [First page, Second page]
    examples:
      - {situation: It rained, reply: Oh, explanation: Too short, rating: Bad}
    check:
      questions:
        - {question: Is it clear, options: ["Yes", "No"], answer: "Yes", explanation: It is.}
        - {question: Sure, options: ["Yes", "No"], answer: "No"}
  - block: scale
    scale: teq
    per_page: 8
  - block: rate
    shows: [emotion, situation, utterance]
  - block: attention
    question: Choose the second
    options: [A, B]
    answer: B
    inside: rate
    after: 1
  - block: comment
    text: Anything else?
  - block: debrief
    text: Thank you
"""

APPRAISAL = """\
name: feelings
version: 1
title: Feelings
languages: [en]
seed: 3
situations: {set: appraisal, count: 4}
people_per_situation: 3
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: scale
    id: before
    scale: panas
    order: shuffled
  - block: imagine
    text: Imagine it
    seconds: 5
  - block: scale
    id: after
    scale: panas
    phase: evoked
    order: shuffled
  - block: debrief
    text: Thank you
"""


@functools.cache
def _parsed(text: str) -> Study:
    return parse_study(text, file="study.yaml")


Model = TypeVar("Model", bound=BaseModel)


def altered(model: Model, **changes: Any) -> Model:
    """The same with some of its fields changed, unchecked."""
    return model.model_copy(update=changes)


def between(**changes: Any) -> Study:
    """A study between subjects, with some of its fields changed."""
    return _parsed(BETWEEN).model_copy(update=changes)


def within(number: int = 3, **changes: Any) -> Study:
    """The same study within subjects, with so many arms."""
    letters = "abcdefghij"[:number]
    named = "".join(f"  {letter}: model/{letter}\n" for letter in letters)
    text = BETWEEN.replace("design: between", "design: within")
    text = text.replace("  one: first/model\n  two: second/model\n", named)
    return _parsed(text).model_copy(update=changes)


def appraisal(**changes: Any) -> Study:
    """A study in which situations are imagined."""
    return _parsed(APPRAISAL).model_copy(update=changes)


def scales() -> dict[str, Scale]:
    """PANAS and the norms as they ship, and a TEQ with words of no meaning."""
    teq = builtin_scale("teq")
    words = [f"Statement {number}" for number in range(1, teq.items + 1)]
    norms = {scale.id: scale for scale in norm_scales()}
    return {"teq": with_words(teq, words), "panas": builtin_scale("panas"), **norms}


def ids(count: int) -> list[str]:
    """The ids of so many situations."""
    return [f"situation-{number}" for number in range(count)]
