"""A study with every type of question, on a page of its own and about every reply."""

from __future__ import annotations

EVERY_QUESTION = """\
name: every-question
version: 1
title: Every question
languages: [en]
design: within
seed: 11
arms:
  one: first/model
  two: second/model
situations: {set: dialogues, count: 4}
batch_size: 2
ratings_per_response: 2
dimensions:
  - name: empathy
    question: How empathetic is this reply?
    labels: [Not at all, "", "", "", "", "", Extremely]
  - name: warmth
    question: How warm is this reply?
    labels: [Cold, Warm]
    input: slider
    step: 5
  - {name: heard, question: "The person would feel heard.", labels: [Disagree, Neither, Agree]}
  - {name: helped, question: "The reply would help.", labels: [Disagree, Neither, Agree]}
recruitment: {platform: open}
blocks:
  - block: consent
    text: Take part?
  - block: questions
    id: about
    title: About you
    fields:
      - {name: age, label: "How old are you?", kind: number, minimum: 18, maximum: 99}
      - name: country
        label: Where do you live?
        kind: dropdown
        options: [Germany, {value: CH, label: Switzerland}, Elsewhere]
      - name: devices
        label: Which of these do you use every day?
        kind: multi-select
        maximum: 2
        order: shuffled
        options: [Phone, Tablet, A laptop or a desktop computer]
      - {name: mood, label: "How do you feel now?", kind: slider, labels: [Very bad, Very good]}
      - name: matters
        label: What matters most in a reply? Put these in order.
        kind: ranking
        options: [Warmth, Advice, Honesty]
      - name: habits
        label: How often do you do these?
        kind: matrix
        options: [Never, Sometimes, Often]
        rows:
          - {value: listen, label: "I listen to friends."}
          - {value: talk, label: "I talk about me."}
      - {name: diary, label: "Anything else?", kind: open-text, required: false, maximum_words: 60}
  - block: rate
    shows: [situation, utterance]
    layout: matrix
    questions:
      - {name: why, label: "What made you rate it so?", kind: open-text, minimum_words: 2}
      - name: traits
        label: What fits this reply?
        kind: multi-select
        required: false
        options: [Kind, Rushed]
  - block: compare
    shows: [situation]
    question: Which reply shows more empathy?
  - block: debrief
    text: Thank you
"""

ABOUT = {
    "age": "30",
    "country": "CH",
    "devices.Phone": "Phone",
    "devices.Tablet": "Tablet",
    "mood": "70",
    "matters.Warmth": "2",
    "matters.Advice": "3",
    "matters.Honesty": "1",
    "habits.listen": "Often",
    "habits.talk": "Never",
}
"""What a form of the page `about` sends."""
STORED = {
    "age": 30,
    "country": "CH",
    "devices": ["Phone", "Tablet"],
    "mood": 70,
    "matters": {"Warmth": 2, "Advice": 3, "Honesty": 1},
    "habits": {"listen": "Often", "talk": "Never"},
}
"""What the lab stores of it."""
