"""Blocks in which the participant's batch of items is worked through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from empathylab.file_models import misfit
from empathylab.situations import Situation
from empathylab.study.assignment.slots import Item, Slot
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, Block, PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Body, Part
from empathylab.study.blocks.questions.interface import Question
from empathylab.study.blocks.questions.registry import AnyQuestion
from empathylab.study.blocks.steps import AnsweredQuestion, Results, Step
from empathylab.study.blocks.texts import refuse_repeated
from empathylab.yaml_documents import Path

MOST_ITEMS = 200
"""Of a batch, in situations."""
Shown = Literal["emotion", "topic", "title", "situation", "utterance", "context"]


def _each_once(shows: tuple[Shown, ...]) -> tuple[Shown, ...]:
    refuse_repeated(shows, "entries")
    return shows


Shows = Annotated[tuple[Shown, ...], Field(min_length=1), AfterValidator(_each_once)]


class WorkBlock(Block):
    """One page per item of the participant's batch, after a note where texts may distress."""

    shows: Shows = ("title", "situation", "context", "utterance")
    questions: tuple[AnyQuestion, ...] = ()
    """Asked about every item; what is to be compared between arms is a dimension."""

    is_work: ClassVar[bool] = True
    unique: ClassVar[bool] = True

    @model_validator(mode="after")
    def _questions_differ(self) -> Self:
        refuse_repeated([question.name for question in self.questions], "questions of the name")
        return self

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Its questions have names of their own."""
        names = self.own_names(study)
        for number, question in enumerate(self.questions):
            if question.name in names:
                raise misfit(
                    f"the page already asks {question.name!r}",
                    "Give the question another name.",
                    at=(*at, "questions", number, "name"),
                )

    def own_names(self, study: StudyRules) -> Sequence[str]:
        """The names under which the block's own questions are asked."""
        return ()

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """The items in order, with the pages of other blocks that stand among them."""
        if path.study.content_note:
            yield Step(f"{self.id}/note", self.id, "note")
        guests = [
            block for block in path.study.blocks if block.shown_in == self.id and block is not self
        ]
        pages = tuple(self.item_steps(path))
        if not guests:
            yield from pages
            return
        for number, page in enumerate(pages, start=1):
            yield page
            for guest in guests:
                yield from guest.steps_inside(self.id, number, len(pages))

    def item_steps(self, path: ParticipantPath) -> Iterator[Step]:
        """A page for each reply that is rated, or else for each situation."""
        items = path.study.items_per_rater if path.items is None else path.items
        together = path.study.replies_together
        every = 1 if self.rates_responses else together
        return iter(_item_steps(self.id, self.kind, items, together, every))

    def may_revisit(self, step: Step) -> bool:
        """The note may be read again."""
        return step.page == "note"

    def body(self, view: PageView) -> Body:
        """The note, or the item with the questions about it."""
        if view.step.page == "note":
            note = view.path.study.content_note
            return Body(parts=(Part("note", view.localized(note)),) if note else ())
        own = self.item_body(view)
        asks = tuple(question.asked(view) for question in self.questions)
        return replace(own, asks=(*own.asks, *asks))

    def item_body(self, view: PageView) -> Body:
        """What the page of one item shows and asks."""
        return Body(parts=self.situation_parts(view))

    def situation_parts(self, view: PageView) -> tuple[Part, ...]:
        """The situation, as far as the block shows it."""
        if view.situation is None:
            return ()
        shows = self.shows
        if self.rates_responses and any(reply.chat for reply in view.replies):
            # A conversation begins with it.
            shows = tuple(name for name in shows if name != "situation")
        return tuple(_situation_parts(view.situation, shows))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """The answers about an item."""
        if step.shows:
            self.read_item(form, path)
            for question in self.questions:
                question.read(form)

    def read_item(self, form: FormReader, path: ParticipantPath) -> None:
        """The answers to the block's own questions about an item."""

    @property
    def item_questions(self) -> tuple[Question, ...]:
        """Its questions."""
        return self.questions

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """The answers to the questions about each item."""
        return Results(
            answers=tuple(
                AnsweredQuestion(step, items, question.name, answers[step.key][question.name])
                for step, items in self.shown_items(path, slot)
                for question in self.questions
                if question.name in answers[step.key]
            )
        )

    def shown_items(
        self, path: ParticipantPath, slot: Slot
    ) -> Iterator[tuple[Step, tuple[Item, ...]]]:
        """The pages of items with what each shows."""
        for step in self.item_steps(path):
            yield step, step.items(slot)


@lru_cache(maxsize=256)  # every request asks for the pages of all items
def _item_steps(block: str, kind: str, items: int, together: int, every: int) -> tuple[Step, ...]:
    shown = range(1, items + 1, every)
    return tuple(
        Step(
            f"{block}/{number}",
            block,
            kind,
            number,
            len(shown),
            shows=(item,),
            reply=((item - 1) % together + 1, together) if every < together else None,
        )
        for number, item in enumerate(shown, start=1)
    )


def _situation_parts(situation: Situation, shows: tuple[Shown, ...]) -> Iterator[Part]:
    for name in shows:
        if name == "situation":
            yield Part("situation", situation.text)
        elif name == "context":
            yield from (Part("context", turn) for turn in situation.context)
        elif (value := getattr(situation, name)) is not None:
            yield Part(name, value)
