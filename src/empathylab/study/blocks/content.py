"""What a page is given: all that a rater may learn, and nothing that tells the arm.

A page never gets a response's arm, respondent, slot or situation id; what must come back with the
form is an opaque id of its own for every person and page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from empathylab.situations import Situation
from empathylab.study.assignment.blinding import opaque_id
from empathylab.study.assignment.seeded_random import turned
from empathylab.study.blocks.check_results import right_answers
from empathylab.study.blocks.types import (
    Attention,
    Block,
    Check,
    Comment,
    Consent,
    Demographics,
    Field,
    Imagine,
    Question,
    Rate,
    ScaleBlock,
    Shown,
    Text,
    Tutorial,
    Write,
)
from empathylab.study.design.definition import Dimension, Study
from empathylab.study.session.flow import Course, Step

Role = Literal[
    "emotion", "topic", "title", "situation", "context", "utterance", "reply", "rating", "note"
]


@dataclass(frozen=True, slots=True)
class Part:
    """A text on the page and what it is."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Option:
    """What can be chosen."""

    value: str
    """What the form sends."""
    label: str
    """What is read; empty where a point bears its number only."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on the page."""

    name: str
    """Under which the form sends the answer."""
    kind: Literal["choice", "number", "line", "paragraph"]
    label: str
    options: tuple[Option, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page as a rater may see it."""

    token: str
    """Ties the form to this person and page."""
    page: str
    number: int
    of: int
    title: str
    text: str
    """Markdown."""
    parts: tuple[Part, ...] = ()
    asks: tuple[Asked, ...] = ()
    least_seconds: int = 0
    help: str = ""
    """Where to find help, in Markdown."""


def page_content(
    course: Course,
    step: Step,
    *,
    key: bytes,
    language: str,
    situation: Situation | None = None,
    reply: str | None = None,
    earlier: Mapping[str, Any] | None = None,
) -> PageContent:
    """The page of a step, for the course's person, in one of the study's languages.

    `situation` and `reply` are those of the person's item where the step is work; `earlier` are
    the values of the attempt before, where a check is tried again; `key` is the study's secret.
    """
    study = course.study
    block = study.block(step.block)
    said = _Said(language)
    return PageContent(
        token=opaque_id(key, "page", course.person, step.key),
        page=step.page,
        number=step.number,
        of=step.of,
        title=said(block.title) or said(study.title),
        text=_text(course, block, step, said),
        parts=(
            *_study_parts(study, block, step, said, earlier or {}),
            *_work_parts(block, step, situation, reply),
        ),
        asks=tuple(_asks(course, block, step, said)),
        least_seconds=block.seconds if isinstance(block, Imagine) and step.page != "note" else 0,
        help=said(study.help),
    )


class _Said:
    """Texts in one language."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, text: Text | None) -> str:
        return "" if text is None else text.said(self._language)


def _text(course: Course, block: Block, step: Step, said: _Said) -> str:
    if isinstance(block, Tutorial):
        return said(block.pages[step.number - 1]) if step.page == "reading" else ""
    if step.page == "note":
        return ""
    if isinstance(block, ScaleBlock) and block.text is None:
        return course.scales[block.scale].instruction
    return "" if isinstance(block, Attention) else said(block.text)


def _study_parts(
    study: Study, block: Block, step: Step, said: _Said, earlier: Mapping[str, Any]
) -> Iterator[Part]:
    if study.content_note and step.page in ("consent", "note"):
        yield Part("note", said(study.content_note))
    if not isinstance(block, Tutorial):
        return
    if step.page == "example":
        example = block.examples[step.number - 1]
        yield Part("situation", said(example.situation))
        if example.reply:
            yield Part("reply", said(example.reply))
        if example.rating:
            yield Part("rating", said(example.rating))
        yield Part("note", said(example.explanation))
    if block.check and step.page == "check" and earlier:
        right = right_answers(block.check, earlier)
        for question, is_right in zip(block.check.questions, right, strict=True):
            if not is_right and question.explanation:
                yield Part("note", said(question.explanation))


def _work_parts(
    block: Block, step: Step, situation: Situation | None, reply: str | None
) -> Iterator[Part]:
    if not isinstance(block, Rate | Imagine | Write) or step.page == "note":
        return
    if situation is not None:
        yield from _situation_parts(situation, block.shows)
    if isinstance(block, Rate) and reply is not None:
        yield Part("reply", reply)


def _situation_parts(situation: Situation, shows: tuple[Shown, ...]) -> Iterator[Part]:
    for one in shows:
        if one == "situation":
            yield Part("situation", situation.text)
        elif one == "context":
            yield from (Part("context", turn) for turn in situation.context)
        elif (value := getattr(situation, one)) is not None:
            yield Part(one, value)


def _asks(course: Course, block: Block, step: Step, said: _Said) -> Iterator[Asked]:
    if step.page == "note":
        return
    if isinstance(block, Consent):
        options = (Option("yes", said(block.agree)), Option("no", said(block.decline)))
        yield Asked("agree", "choice", "", options)
    elif isinstance(block, Demographics):
        yield from (_field(one, said) for one in block.fields)
    elif isinstance(block, ScaleBlock):
        yield from _scale_items(course, block, step)
    elif isinstance(block, Tutorial):
        if block.check and step.page == "check":
            yield from _check_questions(block.check, said)
    elif isinstance(block, Rate):
        for dimension in course.study.rated_dimensions(block):
            yield _dimension(course, dimension, said)
    elif isinstance(block, Imagine):
        if block.question:
            yield Asked("words", "paragraph", said(block.question))
    elif isinstance(block, Write):
        yield Asked("reply", "paragraph", "")
    elif isinstance(block, Attention):
        yield _question("question", block.question, said)
    elif isinstance(block, Comment):
        yield Asked("comment", "paragraph", "", required=block.required)


def _field(field: Field, said: _Said) -> Asked:
    pairs = zip(field.values, field.options, strict=True)
    options = tuple(Option(value, said(label)) for value, label in pairs)
    kinds: dict[str, Literal["choice", "number", "line"]] = {
        "choice": "choice",
        "number": "number",
        "text": "line",
    }
    return Asked(field.name, kinds[field.kind], said(field.label), options, field.required)


def _scale_items(course: Course, block: ScaleBlock, step: Step) -> Iterator[Asked]:
    scale = course.scales[block.scale]
    words = scale.require_words()
    options = tuple(
        Option(str(value), scale.anchors.get(value, ""))
        for value in range(scale.minimum, scale.maximum + 1)
    )
    for item in step.entries:
        yield Asked(f"item-{item}", "choice", words[item - 1], options)


def _check_questions(check: Check, said: _Said) -> Iterator[Asked]:
    for number, question in enumerate(check.questions, start=1):
        yield _question(f"question-{number}", question, said)


def _question(name: str, question: Question, said: _Said) -> Asked:
    options = tuple(
        Option(str(number), said(one)) for number, one in enumerate(question.options, start=1)
    )
    return Asked(name, "choice", said(question.question), options)


def _dimension(course: Course, dimension: Dimension, said: _Said) -> Asked:
    pairs = zip(dimension.values, dimension.labels, strict=True)
    options = tuple(Option(str(value), said(label)) for value, label in pairs)
    seed = course.study.seed
    if dimension.direction == "random" and turned(seed, "side", dimension.name, course.person):
        options = options[::-1]
    return Asked(dimension.name, "choice", said(dimension.question), options)
