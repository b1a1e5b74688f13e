"""A small study with live replies, and models that answer in tests."""

from __future__ import annotations

from empathylab.study import Study, parse_study

RECIPIENT = """\
name: heard
version: 1
title: Feeling heard
languages: [en]
seed: 7
recruitment: {platform: open, codes: {completed: DONE, interrupted: SORRY, safety: CARE}}
help: Call 123.
live:
  authors:
    model:
      model: scripted/listener.json
      prompt: You are a kind listener who answers in two sentences and asks nothing at all of them.
    fixed: {text: Thank you for telling me., written_by: person}
  labels:
    ai: {text: This reply was written by an AI., claims: model}
    human: {text: This reply was written by a person., claims: person}
  people_per_condition: 5
  delay: {minimum: 5, maximum: 9}
  fallback: Thank you for sharing this.
blocks:
  - {block: consent, text: "Take part?"}
  - {block: tell, text: Tell us., minimum_words: 3, maximum_words: 50}
  - {block: reply}
  - block: questions
    fields: [{name: heard, label: Heard, kind: choice, options: ["1", "2", "3"]}]
  - {block: debrief, text: Thank you., reveals: "The label may have been false."}
"""


def recipient(text: str = RECIPIENT) -> Study:
    return parse_study(text)
