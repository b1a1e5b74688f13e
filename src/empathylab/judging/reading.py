"""Reading a judge's answer: the points it names, or why there are none. Nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from empathylab.judging.prompts import REASON
from empathylab.models import Completion
from empathylab.models.reasoning import part_reasoning
from empathylab.scales.parsing.json_answers import Members, find_json
from empathylab.scales.refusals import looks_like_refusal

Options = Mapping[str, Sequence[str]]

_DEEPEST = 3
_LONGEST = 100_000
_MOST_SAID = 60


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What an answer says, and whether it can be used."""

    outcome: str
    """`valid`, or `empty`, `refusal`, `truncated`, `unparseable`, `incomplete`, `out_of_range`,
    `ambiguous`."""
    problem: str | None = None
    """One sentence on what is wrong; None if valid."""
    chosen: dict[str, str] = field(default_factory=dict)
    """By dimension, the point as it was shown; empty unless the outcome is `valid`."""
    said: str | None = None
    """The judge's own reason."""


def read_judgement(completion: Completion, options: Options) -> ReadAnswer:
    """What the answer chooses of the options, which are the points shown by dimension."""
    if completion.refusal:
        return ReadAnswer("refusal", "the endpoint marked the answer as a refusal")
    if completion.finish_reason == "content_filter":
        return ReadAnswer("refusal", "the endpoint's content filter stopped the answer")
    read = _read(completion.text, options)
    if read.outcome != "valid" and completion.finish_reason == "length":
        return ReadAnswer("truncated", f"cut off at the token limit; {read.problem}")
    return read


def _read(text: str, options: Options) -> ReadAnswer:
    if len(text) > _LONGEST:
        return ReadAnswer("unparseable", f"the answer is {len(text):,} characters long")
    answer = part_reasoning(text).text.strip()
    if not answer:
        return ReadAnswer("empty", "there is no text")
    names = {name.casefold(): name for name in options}
    objects = [item for block in find_json(answer) for item in _speaking(block.content, names)]
    if not objects:
        return _read_bare(answer, options)
    given: dict[str, list[object]] = {}
    reasons: list[str] = []
    for key, value in (member for item in objects for member in item):
        if (folded := key.strip().casefold()) in names:
            given.setdefault(names[folded], []).append(value)
        elif folded == REASON and isinstance(value, str):
            reasons.append(value.strip())
    chosen = {name: _chosen(name, given.get(name, []), shown) for name, shown in options.items()}
    for outcome in ("refusal", "ambiguous", "out_of_range", "incomplete"):
        problems = [p for kind, p in chosen.values() if kind == outcome]
        if problems:
            return ReadAnswer(outcome, "; ".join(problems))
    points = {name: point for name, (_, point) in chosen.items()}
    return ReadAnswer("valid", None, points, reasons[-1] if reasons else None)


def _speaking(content: object, names: Mapping[str, str], depth: int = 0) -> list[Members]:
    """The objects that name a dimension, wherever they are wrapped."""
    if not isinstance(content, Members):
        return []
    if any(key.strip().casefold() in names for key, _ in content):
        return [content]
    if depth == _DEEPEST:
        return []
    return [item for _, value in content for item in _speaking(value, names, depth + 1)]


def _chosen(name: str, given: Sequence[object], shown: Sequence[str]) -> tuple[str, str]:
    """`valid` and the point, or another outcome and what is wrong."""
    known = {_folded(point): point for point in shown}
    stated = [value for value in given if value is not None]
    if not stated:
        return "incomplete", f"no answer to {name}"
    if len({_folded(value) for value in stated}) > 1:
        return "ambiguous", f"{name} is answered in several ways"
    if (point := known.get(_folded(stated[0]))) is not None:
        return "valid", point
    words = str(stated[0])
    if looks_like_refusal(words):
        return "refusal", f"the answer to {name} declines to rate"
    return "out_of_range", f"{_cut(words)!r} is not a point of {name}"


def _read_bare(answer: str, options: Options) -> ReadAnswer:
    """A point and nothing else, where one is asked for; else why it cannot be used."""
    if len(options) == 1:
        ((name, shown),) = options.items()
        known = {_folded(point): point for point in shown}
        if (point := known.get(_folded(answer))) is not None:
            return ReadAnswer("valid", None, {name: point})
    if looks_like_refusal(answer):
        return ReadAnswer("refusal", "the answer declines to rate")
    return ReadAnswer("unparseable", "no JSON object in the answer names a dimension")


def _folded(value: object) -> str:
    """How a value is compared: 3, "3" and " 3. " are the same, and so are Good and good."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).strip(" \t\r\n\"'*.`").casefold().split())


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SAID else text[:_MOST_SAID] + "…"
