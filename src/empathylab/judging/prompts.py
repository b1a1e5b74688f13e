"""What a judge reads: the instruction, the situation and the reply, never who wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from empathylab.files import packaged_table
from empathylab.judging.instruments import Instrument, JudgedDimension
from empathylab.models import Message
from empathylab.scales.presentation import object_schema
from empathylab.situations import Situation

REASON = "reason"
PLACES = ("first", "second", "tie")


_TAGS = (
    *("reply", "first_reply", "second_reply", "situation", "person_said", "listener_said"),
    *("title", "context", "utterance", "emotion", "valence", "topic"),
)
_OWN_TAG = re.compile(rf"<(?=[\s/\\]*(?:{'|'.join(_TAGS)})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgeTemplate:
    """The words around a study's own: data with a version, stored with every run."""

    id: str
    version: int
    system: str
    """May use {instruction}."""
    ask: str
    """May use {questions}, {keys} and {reason}."""
    ask_reason: str


_TEMPLATES = packaged_table("empathylab.judging", "templates.toml")
RATER, CHOOSER = (JudgeTemplate(**_TEMPLATES[name]) for name in ("rater", "chooser"))


def rating_messages(
    template: JudgeTemplate,
    instrument: Instrument,
    dimensions: Sequence[JudgedDimension],
    situation: Situation,
    reply: str,
    *,
    turned: bool,
    reason: bool,
) -> tuple[Message, ...]:
    """One reply to be rated, on the dimensions in that order.

    `turned` shows the points from the highest to the lowest.
    """

    def points(dimension: JudgedDimension) -> str:
        step = -1 if turned else 1
        shown = list(map(_quoted, dimension.labels[::step]))
        if not dimension.descriptors:
            return f"{dimension.name}: {dimension.question}\nPoints: {', '.join(shown)}"
        described = zip(shown, dimension.descriptors[::step], strict=True)
        lines = "\n".join(f"{label}: {descriptor}" for label, descriptor in described)
        return f"{dimension.name}: {dimension.question}\nPoints:\n{lines}"

    questions = "\n\n".join(points(dimension) for dimension in dimensions)
    parts = [*_situation_parts(situation, instrument.shows), _tagged("reply", reply)]
    return _messages(template, instrument, parts, questions, dimensions, reason=reason)


def choosing_messages(
    template: JudgeTemplate,
    instrument: Instrument,
    situation: Situation,
    replies: tuple[str, str],
    *,
    reason: bool,
) -> tuple[Message, ...]:
    """Two replies to be compared, in that order."""
    dimensions = instrument.dimensions
    questions = "\n\n".join(f"{dimension.name}: {dimension.question}" for dimension in dimensions)
    first, second = replies
    parts = [
        *_situation_parts(situation, instrument.shows),
        _tagged("first_reply", first),
        _tagged("second_reply", second),
    ]
    return _messages(template, instrument, parts, questions, dimensions, reason=reason)


def answer_schema(options: dict[str, Sequence[str]], *, reason: bool) -> dict[str, object]:
    """The JSON schema of an answer: from each dimension to one of its points.

    All points are strings, also numbers: what is generated then always ends in a quotation mark.
    """
    properties: dict[str, object] = {REASON: {"type": "string"}} if reason else {}
    properties |= {name: {"type": "string", "enum": list(shown)} for name, shown in options.items()}
    return object_schema(properties)


def _messages(
    template: JudgeTemplate,
    instrument: Instrument,
    parts: Sequence[str],
    questions: str,
    dimensions: Sequence[JudgedDimension],
    *,
    reason: bool,
) -> tuple[Message, ...]:
    named = [_quoted(dimension.name) for dimension in dimensions]
    ask = template.ask.format(
        questions=questions,
        keys=f"the key {named[0]}" if len(named) == 1 else f"the keys {', '.join(named)}",
        reason=template.ask_reason if reason else "",
    )
    system = template.system.format(instruction=instrument.instruction)
    return Message("system", system), Message("user", "\n\n".join([*parts, ask]))


def _situation_parts(situation: Situation, shows: Sequence[str]) -> Iterator[str]:
    for show in shows:
        if show == "situation":
            yield _tagged("situation", situation.text)
        elif show == "context":
            # The person speaks first, then the two in turns.
            speakers = ("person_said", "listener_said")
            yield from (
                _tagged(speakers[place % 2], turn) for place, turn in enumerate(situation.context)
            )
        elif (value := getattr(situation, show)) is not None:
            yield _tagged(show, value)


def _tagged(tag: str, text: str) -> str:
    """The text between tags that it cannot leave: those it brings itself are no tags any more."""
    return f"<{tag}>\n{_OWN_TAG.sub('&lt;', text)}\n</{tag}>"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
