"""Blocks in which the participant's batch of items is worked through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from empathylab.situations import Situation
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    PageView,
    ParticipantPath,
    Step,
)
from empathylab.study.blocks.pages import Body, Part
from empathylab.study.blocks.texts import refuse_repeated

Shown = Literal["emotion", "topic", "title", "situation", "utterance", "context"]


def _each_once(shows: tuple[Shown, ...]) -> tuple[Shown, ...]:
    refuse_repeated(shows, "entries")
    return shows


Shows = Annotated[tuple[Shown, ...], Field(min_length=1), AfterValidator(_each_once)]


class WorkBlock(Block):
    """One page per item of the participant's batch, after a note where texts may distress."""

    shows: Shows = ("title", "situation", "context", "utterance")

    is_work: ClassVar[bool] = True
    unique: ClassVar[bool] = True

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """The items in order, with the pages of other blocks that stand among them."""
        items = path.study.items_per_rater if path.items is None else path.items
        if path.study.content_note:
            yield Step(f"{self.id}/note", self.id, "note")
        guests = [one for one in path.study.blocks if one.shown_in == self.id and one is not self]
        for number in range(1, items + 1):
            key = f"{self.id}/{number}"
            yield Step(key, self.id, self.kind, number, items, shows_item=True)
            for guest in guests:
                yield from guest.steps_inside(self.id, number, items)

    def may_revisit(self, step: Step) -> bool:
        """The note may be read again."""
        return step.page == "note"

    def body(self, view: PageView) -> Body:
        """The note, or the item."""
        if view.step.page == "note":
            note = view.path.study.content_note
            return Body(parts=(Part("note", view.said(note)),) if note else ())
        return self.item_body(view)

    def item_body(self, view: PageView) -> Body:
        """What the page of one item shows and asks."""
        return Body(parts=self.situation_parts(view))

    def situation_parts(self, view: PageView) -> tuple[Part, ...]:
        """The situation, as far as the block shows it."""
        if view.situation is None:
            return ()
        return tuple(_situation_parts(view.situation, self.shows))


def _situation_parts(situation: Situation, shows: tuple[Shown, ...]) -> Iterator[Part]:
    for one in shows:
        if one == "situation":
            yield Part("situation", situation.text)
        elif one == "context":
            yield from (Part("context", turn) for turn in situation.context)
        elif (value := getattr(situation, one)) is not None:
            yield Part(one, value)
