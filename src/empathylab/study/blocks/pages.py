"""What a page is given: all that a rater may learn, and nothing that tells the arm.

A page never gets a response's arm, respondent, slot or situation id; what comes back with the form
is the page's key, which counts the pages of its block.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from empathylab.scales import Scale

_MOST_IN_ROW = 7
"""Points of a scale."""

Role = Literal[
    "emotion",
    "topic",
    "title",
    "situation",
    "context",
    "utterance",
    "reply",
    "chat",
    "first",
    "second",
    "rating",
    "note",
    "details",
    "label",
    "story",
    "shared",
    "talk",
]
InputKind = Literal[
    "choice",
    "choices",
    "dropdown",
    "line",
    "matrix",
    "message",
    "number",
    "paragraph",
    "preference",
    "ranking",
    "slider",
]


@dataclass(frozen=True, slots=True)
class Input:
    """A kind of input; `templates/asks.html.j2` draws it and `bots/behaviours.py` fills it in."""

    description: str
    """For previews."""
    seconds: float
    """About how long an answer takes, after reading; an assumption, measured on nobody.

    Of a matrix for each row, of a ranking for each entry.
    """


INPUTS: dict[InputKind, Input] = {
    "choice": Input("a choice", 4.0),
    "choices": Input("several choices", 8.0),
    "dropdown": Input("a choice from a list", 6.0),
    "line": Input("a line", 8.0),
    "matrix": Input("a choice in each row", 4.0),
    "message": Input("a message", 30.0),
    "number": Input("a number", 5.0),
    "paragraph": Input("free words", 60.0),
    "preference": Input("the better of two replies", 6.0),
    "ranking": Input("a rank for each item", 5.0),
    "slider": Input("a point on a line", 5.0),
}


@dataclass(frozen=True, slots=True)
class ShownReply:
    """A reply as a page gets it: a text, or a conversation."""

    text: str
    chat: tuple[tuple[str, str], ...] = ()
    """Who speaks, `person` or `respondent`, and what they say; nothing else is told of them."""
    rated_turn: bool = False
    """Whether the last turn is what is rated, not the whole conversation."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text on the page and what it is."""

    role: Role
    text: str
    reply: ShownReply | None = None
    """The conversation that is shown in place of the text, where it is one."""


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
    kind: InputKind
    label: str
    options: tuple[Option, ...] = ()
    """Of a slider, the labelled points: the two ends, and those between."""
    required: bool = True
    rows: tuple[Option, ...] = ()
    """Of a matrix."""
    step: int = 1
    """Of a slider."""

    @property
    def parts(self) -> int:
        """How many answers it takes."""
        return {"matrix": len(self.rows), "ranking": len(self.options)}.get(self.kind, 1)

    def one_by_one(self) -> Iterator[Asked]:
        """The questions that `in_tables` put into one table; itself where it is no such table."""
        if self.name:
            yield self
        else:
            for row in self.rows:
                yield Asked(row.value, "choice", row.label, self.options, self.required)


def in_tables(asks: Iterable[Asked]) -> Iterator[Asked]:
    """The questions, with those that follow each other and have the same options in one table."""
    for (kind, options), group in itertools.groupby(asks, key=lambda ask: (ask.kind, ask.options)):
        together = list(group)
        if kind == "choice" and len(together) > 1:
            rows = tuple(Option(ask.name, ask.label) for ask in together)
            yield Asked("", "matrix", "", options, rows=rows)
        else:
            yield from together


def questionnaire(scale: Scale, items: Iterable[int]) -> tuple[Asked, ...]:
    """The items of a scale: in one table where its points fit into the row of a phone."""
    words = scale.require_words()
    options = tuple(
        Option(str(value), scale.anchors.get(value, ""))
        for value in range(scale.minimum, scale.maximum + 1)
    )
    asks = (Asked(f"item-{item}", "choice", words[item - 1], options) for item in items)
    return tuple(in_tables(asks) if len(options) <= _MOST_IN_ROW else asks)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A question of a check that was answered wrongly the last time."""

    question: str
    answer: str
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class LivePage:
    """How a page follows a conversation."""

    shown: int
    """How many turns it shows; the browser looks for more."""
    waiting: bool
    """Whether a reply is to come, before which there is nothing to answer."""
    seconds: float
    """Until it is worth looking again."""
    ahead: int = 0
    """In the waiting room: how many people came before."""
    can_end: bool = False
    """Whether the participant may end the conversation."""
    ended: str = ""
    """Why there is nothing more to say; empty while there is."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a block puts on one of its pages."""

    text: str = ""
    """Markdown."""
    parts: tuple[Part, ...] = ()
    asks: tuple[Asked, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    live: LivePage | None = None
    title: str = ""
    """In place of the block's."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page as a rater may see it."""

    page: str
    number: int
    of: int
    title: str
    text: str
    """Markdown."""
    parts: tuple[Part, ...] = ()
    asks: tuple[Asked, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    reply: tuple[int, int] | None = None
    """Which of how many replies to the same situation."""
    least_seconds: int = 0
    live: LivePage | None = None
