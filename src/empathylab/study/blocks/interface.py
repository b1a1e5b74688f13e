"""What a block type is: one class that knows everything about its kind of page.

A block type is a subclass of `Block`: a pydantic model of its entry in the study file, with
methods for its steps, page content, answer check, stored results, export columns and simulated
answers. Every method has a default, so a new type says only what is special about it. The rest of
the code asks these methods and never which type a block is; `registry.register` adds a type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from empathylab.file_models import FileModel
from empathylab.scales import Scale
from empathylab.situations import Situation
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.dimensions import Dimension
from empathylab.study.blocks.forms import FormReader, Given
from empathylab.study.blocks.pages import Body, ShownReply
from empathylab.study.blocks.questions.checks import CheckQuestion
from empathylab.study.blocks.questions.conditions import ConditionText, Values, condition
from empathylab.study.blocks.questions.interface import Question, Thing
from empathylab.study.blocks.steps import Results, Step
from empathylab.study.blocks.texts import Identifier, Text
from empathylab.study.live.conversations import LiveDesk
from empathylab.study.live.settings import Live
from empathylab.study.live.turns import Conversation
from empathylab.table_specs import ColumnSpec
from empathylab.yaml_documents import Path

Outcome = Literal[
    "completed",
    "no-consent",
    "screened-out",
    "full",
    "failed-comprehension",
    "failed-attention",
    "withdrawn",
    "timed-out",
    "interrupted",
    "safety",
]
Answers = Mapping[str, Mapping[str, Any]]
"""By a page's key, the values that were accepted; an empty table for a page that was only read."""


class StudyRules(Protocol):
    """What a block may know of its study."""

    @property
    def seed(self) -> int: ...
    @property
    def languages(self) -> tuple[str, ...]: ...
    @property
    def blocks(self) -> tuple[Block, ...]: ...
    @property
    def live(self) -> Live | None: ...
    @property
    def dimensions(self) -> tuple[Dimension, ...]: ...
    @property
    def attention_pool(self) -> tuple[CheckQuestion, ...]: ...
    @property
    def content_note(self) -> Text | None: ...
    @property
    def title(self) -> Text: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def items_per_rater(self) -> int: ...
    @property
    def replies_together(self) -> int: ...
    @property
    def blocks_before_place(self) -> frozenset[str]: ...
    def block(self, block_id: str) -> Block: ...


@dataclass(frozen=True, slots=True)
class ParticipantPath:
    """A study as one participant goes through it."""

    study: StudyRules
    scales: Mapping[str, Scale] = field(hash=False)
    """By the names that the study uses."""
    items: int | None = None
    """In the participant's slot; None before they have one."""
    person: str = ""
    """Their key, which orders and sides are drawn by."""


@dataclass(frozen=True, slots=True)
class PageView:
    """All that a block needs to fill one of its pages."""

    path: ParticipantPath
    step: Step
    language: str
    situation: Situation | None = None
    replies: tuple[ShownReply, ...] = ()
    """Of the items that the page shows."""
    answers: Answers = field(default_factory=dict, hash=False)
    """What the participant has answered so far."""
    conversation: Conversation | None = None
    """Of a page with live replies; None in previews."""

    def localized(self, text: Text | None) -> str:
        """The text in the participant's language; empty where there is none."""
        return "" if text is None else text.in_language(self.language)

    def in_order(self, things: Sequence[Thing], *parts: object) -> tuple[Thing, ...]:
        """The things in the order that is drawn for the participant."""
        return shuffled(things, self.path.study.seed, *parts, self.path.person)


def person_values(blocks: Iterable[Block], answers: Answers) -> dict[str, Any]:
    """The answers to the questions about the participant, by name, for conditions."""
    return {
        question.name: given[question.name]
        for block in blocks
        if (given := answers.get(block.id))
        for question in block.person_fields
        if question.name in given
    }


def shown_blocks(study: StudyRules, answers: Answers) -> tuple[Block, ...]:
    """The blocks that someone with these answers sees, as far as the answers decide it."""
    blocks = study.blocks
    for block in blocks:  # a plain loop: every request comes here several times
        if block.show_if is not None:
            values = person_values(blocks, answers)
            return tuple(block for block in blocks if block.is_shown(values))
    return blocks


class BotForm(Protocol):
    """The form of a page as a simulated participant reads it."""

    @property
    def step(self) -> str: ...


class Block(FileModel):
    """One block of a study; block types derive from it."""

    block: str
    """Its type; a subclass narrows it to a literal."""
    id: Identifier
    title: Text | None = None
    show_if: ConditionText | None = None
    """A condition on earlier answers; without it, everybody sees the block."""

    position: ClassVar[Literal["first", "last"] | None] = None
    """Where in the study it must stand; None: anywhere between."""
    unique: ClassVar[bool] = False
    """Whether a study has at most one."""
    is_work: ClassVar[bool] = False
    """Whether it shows the items of the participant's batch."""
    rates_responses: ClassVar[bool] = False
    """Whether the items are responses to rate; else they are situations."""
    rates_by_dimension: ClassVar[bool] = True
    """Whether responses are rated on the study's dimensions."""
    is_own_experience: ClassVar[bool] = False
    """Whether its work is about what the participant went through, not about situations."""
    is_live: ClassVar[bool] = False
    """Whether its page shows a conversation with the participant."""
    evokes: ClassVar[bool] = False
    """Whether it puts the participant into a situation."""
    checks_attention: ClassVar[bool] = False
    holds_comments: ClassVar[bool] = False
    """Whether its answer `comment` is free text that may identify someone."""

    @property
    def kind(self) -> str:
        """The block's type."""
        return self.block

    def is_shown(self, values: Values) -> bool:
        """Whether someone with these answers sees the block."""
        return self.show_if is None or condition(self.show_if).holds(values)

    def conditions(self) -> Iterator[tuple[str, str, bool]]:
        """The conditions in its entry: their key, their text, and whether they go by its own
        answers too."""
        if self.show_if is not None:
            yield "show_if", self.show_if, False

    @property
    def reveals_deception(self) -> bool:
        """Whether it reveals what participants were not told before."""
        return False

    # The study file

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Raises where the block does not fit the study; `at` is its place in the file."""

    def notes(self, batch_sizes: Sequence[int]) -> Iterable[str]:
        """Remarks about the block for the plan of the study."""
        return ()

    # Steps

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """The block's pages in order; one page by default."""
        yield Step(self.id, self.id, self.kind)

    def steps_inside(self, host: str, item: int, items: int) -> Iterator[Step]:
        """Pages that the block puts into another one, after one of its items."""
        return iter(())

    @property
    def shown_in(self) -> str:
        """The block among whose pages this one's are shown: itself by default."""
        return self.id

    def may_revisit(self, step: Step) -> bool:
        """Whether an answered page may be shown again and changed."""
        return False

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes that `early_end` can give."""
        return ()

    @property
    def screening(self) -> str | None:
        """The condition under which someone cannot take part; nobody has a place before it."""
        return None

    def early_end(self, answers: Answers) -> Outcome | None:
        """Why the study ends after these answers, if it does."""
        return None

    # Pages and answers

    def body(self, view: PageView) -> Body:
        """What one of the block's pages shows and asks."""
        return Body()

    def follow(self, desk: LiveDesk, step: Step, answers: Answers) -> Conversation:
        """Of a live block: the conversation that the page shows, which may begin now."""
        return desk.read(desk.opened(step.key))

    def offered(self, step: Step, conversation: Conversation, values: Given) -> Given:
        """Of a live block: the values that its page lets the participant send now."""
        return values

    def converse(self, desk: LiveDesk, step: Step, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Of a live block: says what was answered; returns what else is stored with the answer."""
        return {}

    def minimum_seconds(self, step: Step) -> int:
        """How long the page must be looked at."""
        return 0

    def words_to_write(self) -> int:
        """The fewest words of an answer in free text, for the estimate of the duration."""
        return 0

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """Checks the submitted answers of a page."""

    @property
    def own_check(self) -> CheckQuestion | None:
        """Of an attention check: its question, where everybody is asked the same."""
        return None

    def passed(self, given: Mapping[str, Any]) -> bool:
        """Of an attention check: whether the answer is right."""
        return True

    @classmethod
    def bot_answers(cls, form: BotForm) -> Mapping[str, str]:
        """Answers that a simulated participant must give; the others it makes up itself."""
        return {}

    # Results

    def withdraws(self, answers: Answers) -> bool:
        """Whether the participant asks on one of its pages to have all answers deleted."""
        return False

    @property
    def person_fields(self) -> tuple[Question, ...]:
        """The questions about the participant that it asks."""
        return ()

    @property
    def item_questions(self) -> tuple[Question, ...]:
        """The questions about items that it asks, apart from ratings."""
        return ()

    @property
    def free_answers(self) -> frozenset[str]:
        """The names of answers in free text that may identify someone and are not its results."""
        questions = (*self.person_fields, *self.item_questions)
        return frozenset(question.name for question in questions if question.is_free)

    @property
    def uses_scale(self) -> str | None:
        """The scale that it asks, if any."""
        return None

    @property
    def bundled_scales(self) -> tuple[Scale, ...]:
        """Scales that come with the block type and need not be in the lab."""
        return ()

    @property
    def is_outcome(self) -> bool:
        """Whether its answers are results, which nobody sees while the study runs."""
        return self.rates_responses

    def details(self, answers: Answers) -> Mapping[str, Any]:
        """What is stored about the participant: columns of the table of raters."""
        return {}

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """The columns that `details` fills, for the data dictionary."""
        return ()

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """The ratings, scales and replies to store once the participant has finished."""
        return Results()

    def analysis_command(self, study: str) -> str | None:
        """The command that analyses its results, if there is one."""
        return None
