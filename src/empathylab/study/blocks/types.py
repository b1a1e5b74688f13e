"""The blocks a study is made of: what each asks, in the order in which the file lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Kind = Literal[
    "consent",
    "demographics",
    "scale",
    "tutorial",
    "rate",
    "imagine",
    "write",
    "attention",
    "comment",
    "debrief",
]
OnFailure = Literal["end", "continue"]
Shown = Literal["emotion", "topic", "title", "situation", "utterance", "context"]


@dataclass(frozen=True, slots=True)
class Text:
    """What people read, in Markdown, in each language of the study."""

    versions: tuple[tuple[str, str], ...]
    """Pairs of language and text, in the order of the study's languages."""

    def said(self, language: str) -> str:
        """The text in that language; in the study's first where that is missing."""
        return dict(self.versions).get(language, self.versions[0][1])


@dataclass(frozen=True, slots=True)
class Question:
    """A question with one right answer."""

    question: Text
    options: tuple[Text, ...]
    answer: int
    """The right option, counted from 1."""
    explanation: Text | None = None
    """Shown after a wrong answer."""


@dataclass(frozen=True, slots=True)
class Field:
    """One question about the person."""

    name: str
    label: Text
    kind: Literal["choice", "number", "text"]
    values: tuple[str, ...] = ()
    """Of a choice: what is stored, and what quotas name."""
    options: tuple[Text, ...] = ()
    """Of a choice: what people read, in the order of the values."""
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a tutorial: a situation, a reply, and why it is rated so."""

    situation: Text
    reply: Text | None
    explanation: Text
    rating: Text | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A comprehension check."""

    questions: tuple[Question, ...]
    attempts: int
    needed: int
    """Right answers that are enough."""
    on_failure: OnFailure


@dataclass(frozen=True, slots=True)
class Consent:
    """Information, and the choice to take part or not."""

    kind: ClassVar[Kind] = "consent"
    id: str
    text: Text
    title: Text | None = None
    agree: Text | None = None
    decline: Text | None = None


@dataclass(frozen=True, slots=True)
class Demographics:
    """Questions about the person."""

    kind: ClassVar[Kind] = "demographics"
    id: str
    fields: tuple[Field, ...]
    title: Text | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class ScaleBlock:
    """A questionnaire, answered by the person about themselves."""

    kind: ClassVar[Kind] = "scale"
    id: str
    scale: str
    phase: Literal["default", "evoked"] = "default"
    """`evoked`: after a situation has been imagined."""
    order: Literal["printed", "shuffled"] = "printed"
    per_page: int | None = None
    """Items on a page; None: all on one."""
    title: Text | None = None
    text: Text | None = None
    """In place of the scale's own instruction."""


@dataclass(frozen=True, slots=True)
class Tutorial:
    """Pages to read, worked examples, and a comprehension check."""

    kind: ClassVar[Kind] = "tutorial"
    id: str
    pages: tuple[Text, ...]
    examples: tuple[Example, ...] = ()
    check: Check | None = None
    title: Text | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """Responses, rated one at a time."""

    kind: ClassVar[Kind] = "rate"
    id: str
    shows: tuple[Shown, ...]
    dimensions: tuple[str, ...]
    """Names of the study's dimensions; empty: all."""
    back: bool = True
    """Whether an earlier rating may be looked at and changed."""
    title: Text | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class Imagine:
    """A situation to put oneself into."""

    kind: ClassVar[Kind] = "imagine"
    id: str
    text: Text
    shows: tuple[Shown, ...]
    seconds: int = 0
    """The least time on the page."""
    question: Text | None = None
    """Asks for a few words of one's own about it."""
    title: Text | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """A reply to each situation, in the person's own words."""

    kind: ClassVar[Kind] = "write"
    id: str
    text: Text
    shows: tuple[Shown, ...]
    minimum_words: int = 1
    maximum_words: int = 500
    back: bool = True
    title: Text | None = None


@dataclass(frozen=True, slots=True)
class Attention:
    """An attention check: a question that shows whether somebody reads."""

    kind: ClassVar[Kind] = "attention"
    id: str
    question: Question
    on_failure: OnFailure = "continue"
    inside: str | None = None
    """The block among whose items it stands; None: a page of its own, where it is listed."""
    after: int | None = None
    """After how many items of that block."""
    title: Text | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """Room for free words."""

    kind: ClassVar[Kind] = "comment"
    id: str
    text: Text
    required: bool = False
    title: Text | None = None


@dataclass(frozen=True, slots=True)
class Debrief:
    """The last page: what it was about, thanks, and the way back to the platform."""

    kind: ClassVar[Kind] = "debrief"
    id: str
    text: Text
    title: Text | None = None


Block = (
    Consent
    | Demographics
    | ScaleBlock
    | Tutorial
    | Rate
    | Imagine
    | Write
    | Attention
    | Comment
    | Debrief
)
WorkBlock = Rate | Imagine | Write
BLOCKS: dict[str, type[Block]] = {
    one.kind: one
    for one in (
        Consent,
        Demographics,
        ScaleBlock,
        Tutorial,
        Rate,
        Imagine,
        Write,
        Attention,
        Comment,
        Debrief,
    )
}
