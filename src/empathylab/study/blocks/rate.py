"""Rate: responses, rated one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from empathylab.file_models import Flag, Path, Words, unknown
from empathylab.study.assignment.seeded_random import turned
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.dimensions import Dimension
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    PageView,
    ParticipantPath,
    RatedItem,
    Results,
    Step,
    StudyRules,
)
from empathylab.study.blocks.pages import Asked, Body, Option, Part
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import WorkBlock


class Rate(WorkBlock):
    """Responses, rated one at a time."""

    block: Literal["rate"]
    dimensions: tuple[Words, ...] = ()
    """Names of the study's dimensions; empty: all."""
    back: Flag = True
    """Whether an earlier rating may be looked at and changed."""
    text: Text | None = None

    rates_responses: ClassVar[bool] = True

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """Its dimensions are the study's."""
        known = [one.name for one in study.dimensions]
        for number, name in enumerate(self.dimensions):
            if name not in known:
                raise unknown("dimension", name, known, at=(*at, "dimensions", number))

    def rated(self, study: StudyRules) -> tuple[Dimension, ...]:
        """The dimensions that it asks for, in the study's order."""
        if not self.dimensions:
            return study.dimensions
        return tuple(one for one in study.dimensions if one.name in self.dimensions)

    def may_revisit(self, step: Step) -> bool:
        """Where the study lets people go back."""
        return self.back

    def item_body(self, view: PageView) -> Body:
        """The situation, the response, and a question per dimension."""
        reply = () if view.reply is None else (Part("reply", view.reply),)
        asks = tuple(_asked(one, view) for one in self.rated(view.path.study))
        return Body(view.said(self.text), (*self.situation_parts(view), *reply), asks)

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """A point of every dimension."""
        if step.shows_item:
            for dimension in self.rated(path.study):
                form.whole(dimension.name, dimension.values)

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """One rating per item and dimension."""
        return Results(ratings=tuple(self._ratings(path, slot, answers)))

    def _ratings(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Iterator[RatedItem]:
        language = path.study.languages[0]
        for step in self.steps(path, answers):
            item = step.item(slot)
            if item is None:
                continue
            for dimension in self.rated(path.study):
                value = answers[step.key][dimension.name]
                label = dimension.labels[dimension.values.index(value)]
                said = None if label is None else label.said(language)
                yield RatedItem(step.key, item, dimension.name, value, said)

    def analysis_command(self, study: str) -> str | None:
        """How the arms compare."""
        return f"empathylab analyze ratings --study {study}"


def _asked(dimension: Dimension, view: PageView) -> Asked:
    pairs = zip(dimension.values, dimension.labels, strict=True)
    options = tuple(Option(str(value), view.said(label)) for value, label in pairs)
    path = view.path
    if dimension.direction == "random" and turned(
        path.study.seed, "side", dimension.name, path.person
    ):
        options = options[::-1]
    return Asked(dimension.name, "choice", view.said(dimension.question), options)
