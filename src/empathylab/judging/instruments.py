"""What a judge is asked: the study's own dimensions and instructions, or the lab's.

A study that a lab has run carries its words: they are read from the protocol that was frozen at its
launch, so that the judge reads what the raters read. A released file has few: its points are its
own, but the instruction, and the question where it is not known, are those below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.errors import InputError, UnknownName
from empathylab.store.judged_responses import JudgedStudy

SHOWN = ("emotion", "title", "situation", "context", "utterance")
"""What is shown of a situation, as far as it has it, where the study does not say."""

_DEGREES = ("Not at all", "Slightly", "Moderately", "Very", "Extremely")


@dataclass(frozen=True, slots=True)
class JudgedDimension:
    """What a response is rated on, point by point."""

    name: str
    question: str
    values: tuple[float, ...]
    labels: tuple[str, ...]
    """Of each value, as it is shown; a point without a word bears its number."""

    def value_of(self, label: str) -> float:
        """The value of the point that is shown so."""
        return self.values[self.labels.index(label)]


@dataclass(frozen=True, slots=True)
class Instrument:
    """The instruction and the dimensions, and what of a situation is shown."""

    id: str
    instruction: str
    """Markdown, as raters read it."""
    shows: tuple[str, ...]
    dimensions: tuple[JudgedDimension, ...]

    def only(self, names: Sequence[str], *, where: str) -> Instrument:
        """The instrument with the dimensions of those names; all where none is named."""
        known = {one.name: one for one in self.dimensions}
        for name in names:
            if name not in known:
                raise UnknownName("dimension", name, known, where=where)
        kept = tuple(one for one in self.dimensions if not names or one.name in names)
        return dataclasses.replace(self, dimensions=kept)


def _degrees(name: str, question: str) -> JudgedDimension:
    values = tuple(float(number) for number in range(1, len(_DEGREES) + 1))
    return JudgedDimension(name, question, values, _DEGREES)


DIMENSIONS = {
    one.name: one
    for one in (
        _degrees("empathy", "How empathetic is the reply?"),
        _degrees("understanding", "How well does the reply grasp what the person went through?"),
        _degrees("feeling", "How much does the reply share in what the person feels?"),
        _degrees("caring", "How much does the reply show the wish that the person may be well?"),
        _degrees("helpfulness", "How helpful would the reply be to the person?"),
    )
}
"""The lab's own dimensions, written for it and not validated."""

INSTRUCTION = """\
Somebody tells of something that moves them, and somebody replies. A reply can be empathetic in
three ways: it understands (it shows that the other's view of things has been grasped), it feels
with them (it shows that their feeling has arrived, be it glad or sad), and it cares (it shows the
wish that they may be well). A good reply need not do all three, and a short one can do more than
a long one.

Judge the reply itself, not its spelling, and not whether you would have acted like the person.
There are no right answers; say how the reply seems to you."""
"""Where a study has no instruction of its own; written for the lab."""


def default_instrument(names: Sequence[str] = ()) -> Instrument:
    """The lab's instrument: empathy, or the dimensions of those names."""
    whole = Instrument("default", INSTRUCTION, SHOWN, tuple(DIMENSIONS.values()))
    return whole.only(names or ("empathy",), where="--dimension")


def study_instrument(study: JudgedStudy, names: Sequence[str] = ()) -> Instrument:
    """The study's instrument, with all of its dimensions or those of these names."""
    found = _worded(study) if "blocks" in study.protocol else _released(study)
    narrowed = found.only(names, where=f"study {study.name}")
    for one in narrowed.dimensions:
        _refuse_unpointed(one, study.name)
    return narrowed


def _refuse_unpointed(one: JudgedDimension, study: str) -> None:
    where = f"study {study}, dimension {one.name}"
    if len(one.values) < 2:
        raise InputError(
            "the scale is not made of points, so a judge cannot choose one",
            where=where,
            remedy="Name other dimensions with --dimension.",
        )
    if len({label.casefold() for label in one.labels}) < len(one.labels):
        raise InputError(
            "two points are called alike",
            where=where,
            got=", ".join(one.labels),
            remedy="Name other dimensions with --dimension.",
        )


def _released(study: JudgedStudy) -> Instrument:
    dimensions = tuple(
        JudgedDimension(
            name=one["name"],
            question=one.get("question") or _question(one["name"]),
            values=tuple(float(value) for value in one["values"]),
            labels=_labels(one["values"], one["labels"], ""),
        )
        for one in study.protocol.get("dimensions", ())
    )
    return Instrument(f"study {study.name}", INSTRUCTION, SHOWN, dimensions)


def _question(dimension: str) -> str:
    if dimension in DIMENSIONS:
        return DIMENSIONS[dimension].question
    return f"How do you rate the reply on this: {dimension.replace('_', ' ')}?"


def _worded(study: JudgedStudy) -> Instrument:
    protocol = study.protocol
    language = protocol["languages"][0]
    blocks: Sequence[Mapping[str, Any]] = protocol["blocks"]
    rate = next((one for one in reversed(blocks) if one["block"] == "rate"), None)
    if rate is None:
        raise InputError(
            "nobody rates responses in this study, so there is nothing to judge",
            where=f"study {study.name}",
            remedy="Name a study with a block `rate`, or a set with --set.",
        )
    asked = rate.get("dimensions") or [one["name"] for one in protocol["dimensions"]]
    dimensions = tuple(
        JudgedDimension(
            name=one["name"],
            question=_said(one["question"], language),
            values=tuple(float(value) for value in one["values"]),
            labels=_labels(one["values"], one["labels"], language),
        )
        for one in protocol["dimensions"]
        if one["name"] in asked
    )
    text = "\n\n".join(part for part in _instruction(blocks, rate, language) if part)
    return Instrument(
        f"study {study.name}", text or INSTRUCTION, tuple(rate.get("shows", ())), dimensions
    )


def _instruction(
    blocks: Iterable[Mapping[str, Any]], rate: Mapping[str, Any], language: str
) -> Iterable[str]:
    """What raters read before the first reply: the tutorials, and the text above each rating.

    Consent and debriefing are left out: they speak of people's rights, and may tell who replied.
    """
    for block in blocks:
        if block["block"] == "tutorial":
            yield from (_said(page, language).strip() for page in block.get("pages", ()))
            yield from (_example(one, language) for one in block.get("examples", ()))
    yield _said(rate.get("text", ""), language).strip()


def _example(example: Mapping[str, Any], language: str) -> str:
    lines = [
        "## Example",
        f"<situation>\n{_said(example['situation'], language).strip()}\n</situation>",
    ]
    if "reply" in example:
        lines.append(f"<reply>\n{_said(example['reply'], language).strip()}\n</reply>")
    if "rating" in example:
        lines.append(f"Rating: {_said(example['rating'], language).strip()}")
    lines.append(_said(example["explanation"], language).strip())
    return "\n".join(lines)


def _said(text: str | Mapping[str, str], language: str) -> str:
    if isinstance(text, str):
        return text
    return text.get(language) or next(iter(text.values()))


def _labels(values: Sequence[float], labels: Sequence[Any], language: str) -> tuple[str, ...]:
    """How the points are shown: by their words, or by their numbers where a point has none."""
    words = [_said(one, language).strip() if one else "" for one in labels] or [""] * len(values)
    return tuple(word or f"{value:g}" for word, value in zip(words, values, strict=True))
