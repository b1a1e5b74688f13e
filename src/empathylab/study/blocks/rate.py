"""Rate: responses, rated one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from empathylab.file_models import Flag, Words, unknown
from empathylab.study.assignment.seeded_random import turned
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.dimensions import Dimension
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Asked, Body, Option, Part, in_tables
from empathylab.study.blocks.steps import RatedItem, Results, Step
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import WorkBlock
from empathylab.yaml_documents import Path


class Rate(WorkBlock):
    """Responses, rated one at a time."""

    block: Literal["rate"]
    dimensions: tuple[Words, ...] = ()
    """Names of the study's dimensions; empty: all."""
    back: Flag = True
    """Whether an earlier rating may be looked at and changed."""
    text: Text | None = None
    layout: Literal["matrix"] | None = None
    """`matrix`: dimensions with the same labels stand in one table."""

    rates_responses: ClassVar[bool] = True

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Its dimensions are the study's."""
        known = [dimension.name for dimension in study.dimensions]
        for number, name in enumerate(self.dimensions):
            if name not in known:
                raise unknown("dimension", name, known, at=(*at, "dimensions", number))
        super().check_fit(study, at)

    def own_names(self, study: StudyRules) -> Sequence[str]:
        """Of the dimensions."""
        return [dimension.name for dimension in self.rated(study)]

    def rated(self, study: StudyRules) -> tuple[Dimension, ...]:
        """The dimensions that it asks for, in the study's order."""
        if not self.dimensions:
            return study.dimensions
        return tuple(
            dimension for dimension in study.dimensions if dimension.name in self.dimensions
        )

    def may_revisit(self, step: Step) -> bool:
        """Where the study lets people go back."""
        return self.back

    def item_body(self, view: PageView) -> Body:
        """The situation, the response, and a question per dimension."""
        replies = tuple(
            Part("chat" if reply.chat else "reply", reply.text, reply) for reply in view.replies
        )
        asks: tuple[Asked, ...] = tuple(_asked(item, view) for item in self.rated(view.path.study))
        if self.layout == "matrix":
            asks = tuple(in_tables(asks))
        return Body(view.localized(self.text), (*self.situation_parts(view), *replies), asks)

    def read_item(self, form: FormReader, path: ParticipantPath) -> None:
        """A point of every dimension."""
        for dimension in self.rated(path.study):
            if dimension.input == "slider":
                form.position(dimension.name, dimension.positions, required=True)
            else:
                form.whole(dimension.name, dimension.values)

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """One rating per item and dimension, and the answers to further questions."""
        ratings = tuple(self._ratings(path, slot, answers))
        return replace(super().results(path, slot, answers), ratings=ratings)

    def _ratings(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Iterator[RatedItem]:
        language = path.study.languages[0]
        for step, (item,) in self.shown_items(path, slot):
            for dimension in self.rated(path.study):
                value = answers[step.key][dimension.name]
                label = dict(zip(dimension.values, dimension.labels, strict=True)).get(value)
                label_text = None if label is None else label.in_language(language)
                yield RatedItem(step, item, dimension.name, value, label_text)

    def analysis_command(self, study: str) -> str | None:
        """How the arms compare."""
        return f"empathylab analyze ratings --study {study}"


def _asked(dimension: Dimension, view: PageView) -> Asked:
    pairs = zip(dimension.values, dimension.labels, strict=True)
    options = tuple(Option(str(value), view.localized(label)) for value, label in pairs)
    path, question = view.path, view.localized(dimension.question)
    if dimension.direction == "random" and turned(
        path.study.seed, "side", dimension.name, path.person
    ):
        options = options[::-1]
    if dimension.input == "slider":
        return Asked(dimension.name, "slider", question, options, step=dimension.step or 1)
    return Asked(dimension.name, "choice", question, options)
