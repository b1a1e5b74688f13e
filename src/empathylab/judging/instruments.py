"""What a judge is asked: the study's own dimensions and instructions, or the lab's.

A study that a lab has run carries its words: they are read from the protocol that was frozen at its
launch, so that the judge reads what the raters read. A released file has few: its points are its
own, but the instruction, and the question where it is not known, are those below.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from empathylab.errors import InputError, UnknownName
from empathylab.files import packaged_table
from empathylab.store.judged_responses import JudgedStudy

SHOWN = ("title", "situation", "context", "utterance")
"""What is shown of a situation, as far as it has it, where the study does not say.

Not the emotion: nobody confirmed it, and respondents are not told it.
"""

_DEFAULT = packaged_table("empathylab.judging", "default.toml")
INSTRUCTION: str = _DEFAULT["instruction"]
"""Where a study has no instruction of its own; written for the lab."""


@dataclass(frozen=True, slots=True)
class JudgedDimension:
    """What a response is rated on, point by point."""

    name: str
    question: str
    values: tuple[float, ...]
    labels: tuple[str, ...]
    """Of each value, as it is shown; a point without a word bears its number."""
    descriptors: tuple[str, ...] = ()
    """What each point means; none where the instruction explains them."""

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
        known = {dimension.name: dimension for dimension in self.dimensions}
        for name in names:
            if name not in known:
                raise UnknownName("dimension", name, known, where=where)
        kept = tuple(
            dimension for dimension in self.dimensions if not names or dimension.name in names
        )
        return dataclasses.replace(self, dimensions=kept)


DIMENSIONS = {
    dimension["name"]: JudgedDimension(
        dimension["name"],
        dimension["question"],
        tuple(map(float, range(1, len(_DEFAULT["degrees"]) + 1))),
        tuple(_DEFAULT["degrees"]),
        tuple(dimension["descriptors"]),
    )
    for dimension in _DEFAULT["dimensions"]
}
"""The lab's own dimensions, written for it and not validated."""
_OWN_REPLY = re.compile(
    r",? compared (?:with|to) how you (?:yourself )?would have (?:replied|said)"
)


def _asked(question: str) -> str:
    """The question without a comparison with the rater's own reply.

    A judge that is asked for one is invited to prefer replies like its own.
    """
    return _OWN_REPLY.sub("", question)


def default_instrument(names: Sequence[str] = ()) -> Instrument:
    """The lab's instrument: empathy, or the dimensions of those names."""
    whole = Instrument("default", INSTRUCTION, SHOWN, tuple(DIMENSIONS.values()))
    return whole.only(names or ("empathy",), where="--dimension")


def study_instrument(study: JudgedStudy, names: Sequence[str] = ()) -> Instrument:
    """The study's instrument, with all of its dimensions or those of these names."""
    instrument = _worded(study) if "blocks" in study.protocol else _released(study)
    narrowed = instrument.only(names, where=f"study {study.name}")
    for dimension in narrowed.dimensions:
        _refuse_unpointed(dimension, study.name)
    return narrowed


def _refuse_unpointed(dimension: JudgedDimension, study: str) -> None:
    where = f"study {study}, dimension {dimension.name}"
    if len(dimension.values) < 2:
        raise InputError(
            "the scale is not made of points, so a judge cannot choose one",
            where=where,
            remedy="Name other dimensions with --dimension.",
        )
    if len({label.casefold() for label in dimension.labels}) < len(dimension.labels):
        raise InputError(
            "two points have the same name",
            where=where,
            got=", ".join(dimension.labels),
            remedy="Name other dimensions with --dimension.",
        )


def _released(study: JudgedStudy) -> Instrument:
    dimensions = tuple(
        JudgedDimension(
            name=dimension["name"],
            question=_asked(dimension.get("question") or _question(dimension["name"])),
            values=tuple(float(value) for value in dimension["values"]),
            labels=_labels(dimension["values"], dimension["labels"], ""),
        )
        for dimension in study.protocol.get("dimensions", ())
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
    rate = next((block for block in reversed(blocks) if block["block"] == "rate"), None)
    if rate is None:
        raise InputError(
            "nobody rates responses in this study, so there is nothing to judge",
            where=f"study {study.name}",
            remedy="Name a study with a block `rate`, or a set with --set.",
        )
    asked = rate.get("dimensions") or [dimension["name"] for dimension in protocol["dimensions"]]
    dimensions = tuple(
        JudgedDimension(
            name=dimension["name"],
            question=_asked(_in_language(dimension["question"], language)),
            values=tuple(float(value) for value in dimension["values"]),
            labels=_labels(dimension["values"], dimension["labels"], language),
        )
        for dimension in protocol["dimensions"]
        if dimension["name"] in asked
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
            yield from (_in_language(page, language).strip() for page in block.get("pages", ()))
            yield from (_example(example, language) for example in block.get("examples", ()))
    yield _in_language(rate.get("text", ""), language).strip()


def _example(example: Mapping[str, Any], language: str) -> str:
    lines = [
        "## Example",
        f"<situation>\n{_in_language(example['situation'], language).strip()}\n</situation>",
    ]
    if "reply" in example:
        lines.append(f"<reply>\n{_in_language(example['reply'], language).strip()}\n</reply>")
    if "rating" in example:
        lines.append(f"Rating: {_in_language(example['rating'], language).strip()}")
    lines.append(_in_language(example["explanation"], language).strip())
    return "\n".join(lines)


def _in_language(text: str | Mapping[str, str], language: str) -> str:
    if isinstance(text, str):
        return text
    return text.get(language) or next(iter(text.values()))


def _labels(values: Sequence[float], labels: Sequence[Any], language: str) -> tuple[str, ...]:
    """How the points are shown: by their words, or by their numbers where a point has none."""
    words = [_in_language(label, language).strip() if label else "" for label in labels] or [
        ""
    ] * len(values)
    return tuple(word or f"{value:g}" for word, value in zip(words, values, strict=True))
