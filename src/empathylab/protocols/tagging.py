"""Tagging: a model names the tactics of empathic language in sentences, in the rules' place.

Each sentence is a request of its own: its tags do not hang on its neighbours, the run can go on
where it was stopped, and sentences that were tagged before are not asked again when another
respondent joins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from empathylab.models import Completion, Message, Model, Parameters
from empathylab.runs import Answered, Job, Limits, Plan, Reading, Request, Tally, run
from empathylab.runs.ledger import Asked
from empathylab.runs.plans import storable_text
from empathylab.scales.parsing.json_answers import json_object_in
from empathylab.scales.presentation import object_schema
from empathylab.store import Lab
from empathylab.store.inserts import hash_of
from empathylab.store.schema import answers, runs
from empathylab.style.tactics.rules import Tactic, tactic_rules

PROTOCOL = "tag"
NONE = "none"
_PLACES = ("first", "second", "third")
_MAX_TOKENS = 60


@dataclass(frozen=True, slots=True)
class TaggingTemplate:
    """How a sentence is put to the model."""

    id: str
    version: int
    system: str
    """May use {tactics}, a line for each."""
    question: str
    """May use {sentence}."""


TACTIC_TAGGER = TaggingTemplate(
    id="tactic-tagger",
    version=1,
    system=(
        "You read single sentences from replies to people who told about something in their lives "
        "and name the tactics of empathic language that a sentence uses. The tactics are:\n"
        "{tactics}\n"
        "Answer with one JSON object with the keys first, second and third: the sentence's tactics "
        f'in the order in which they occur in it, and "{NONE}" where there are no more.'
    ),
    question="The sentence: {sentence}",
)


@dataclass(frozen=True, slots=True)
class Tagging:
    """What a tagging run is to do."""

    sentences: tuple[str, ...]
    """Each one once."""
    tactics: tuple[Tactic, ...]
    template: TaggingTemplate = TACTIC_TAGGER

    @property
    def names(self) -> list[str]:
        """The tactics' names."""
        return [tactic.name for tactic in self.tactics]

    def settings(self) -> dict[str, object]:
        """All that a reader needs to repeat the run."""
        return {
            "situations": "none: sentences of replies",
            "situation_ids": [],
            "tactics": {tactic.name: tactic.meaning for tactic in self.tactics},
            "sentences": len(self.sentences),
            "temperature": 0,
            "template": dataclasses.asdict(self.template),
        }


def plan_tagging(tagging: Tagging) -> Plan:
    """The run's requests: a sentence each."""
    listed = "\n".join(f"- {tactic.name}: {tactic.meaning}" for tactic in tagging.tactics)
    system = Message("system", tagging.template.system.format(tactics=listed))
    place = {"type": "string", "enum": [*tagging.names, NONE]}
    # Strict modes want every key required and refuse limits on lists, so places stand for a list.
    schema = object_schema({name: dict(place) for name in _PLACES})
    parameters = Parameters(temperature=0, max_tokens=_MAX_TOKENS, schema=schema)
    requests = [
        Request(
            key=sentence_key(sentence),
            messages=(
                system,
                Message("user", tagging.template.question.format(sentence=storable_text(sentence))),
            ),
            parameters=parameters,
        )
        for sentence in tagging.sentences
    ]
    return Plan(PROTOCOL, tagging.settings(), requests, TaggingInterpreter(tuple(tagging.names)))


def sentence_key(sentence: str) -> str:
    """The key of the sentence's request."""
    return hash_of(sentence)[:24]


@dataclass(frozen=True, slots=True)
class TaggingInterpreter:
    """Reads answers as tactics; the answers themselves are all that is stored."""

    tactics: tuple[str, ...]

    def read(self, _request: Request, completion: Completion) -> Reading:
        if completion.refusal or completion.finish_reason == "content_filter":
            return Reading("refusal", "the endpoint refused the sentence")
        tags, problem = read_tags(completion.text, self.tactics)
        if problem is None:
            return Reading("valid", None, tags)
        if completion.finish_reason == "length":
            return Reading("truncated", f"cut off at the token limit; {problem}")
        return Reading("unparseable", problem)

    def record(self, connection: Connection, answered: Sequence[Answered]) -> None:
        """Nothing beside the answers, which are stored already."""


def read_tags(text: str, tactics: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """The tactics that an answer names, each once, and what is wrong with it, if anything."""
    answer = json_object_in(text)
    if answer is None:
        return (), "no JSON object in the answer"
    known = {name.lower(): name for name in tactics}
    tags: dict[str, None] = {}
    for place in _PLACES:
        if place not in answer:
            return (), f"the key {place!r} is missing"
        named = str(answer[place] or NONE).strip().lower()
        if named == NONE:
            continue
        if named not in known:
            return (), f"{answer[place]!r} is not a tactic"
        tags[known[named]] = None
    return tuple(tags), None


@dataclass(slots=True)
class ModelTagger:
    """A tagger for `style.tactics` that asks a model, and keeps every answer in the lab."""

    lab: Lab
    model: Model
    limits: Limits = field(default_factory=Limits)
    observe: Callable[[Tally], None] | None = None
    tallies: list[Tally] = field(default_factory=list)
    """Of the runs so far; `missing` counts sentences without an answer."""
    unread: int = 0
    """Sentences whose answer could not be read: they count as without a tactic."""

    def __call__(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        different = tuple(dict.fromkeys(sentences))
        plan = plan_tagging(Tagging(different, tactic_rules().tactics))
        job = Job(self.model, [plan], limits=self.limits)
        self.tallies += run(self.lab, [job], observe=self.observe)
        asked = Asked(self.model.identity).fingerprints(plan)
        answered = _answers(self.lab, set(asked.values()))
        tags = {key: tags for key, tags in answered.items() if tags is not None}
        self.unread += sum(answer is None for answer in answered.values())
        return [tags.get(sentence_key(sentence), ()) for sentence in sentences]


def _answers(lab: Lab, fingerprints: set[str]) -> dict[str, tuple[str, ...] | None]:
    """By sentence key, the tactics of the newest answer to these requests; None if unreadable."""
    query = (
        select(answers.c.key, answers.c.fingerprint, answers.c.text, answers.c.outcome)
        .join(runs, runs.c.id == answers.c.run_id)
        .where(runs.c.protocol == PROTOCOL)
        .order_by(answers.c.id)
    )
    names = [tactic.name for tactic in tactic_rules().tactics]
    with lab.reading() as connection:
        return {
            row.key: read_tags(row.text, names)[0] if row.outcome == "valid" else None
            for row in connection.execute(query)
            if row.fingerprint in fingerprints
        }
