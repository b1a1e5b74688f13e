"""Norm: situations described one at a time, by a word of one's own and a questionnaire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from empathylab.file_models import Words
from empathylab.scales import Scale, scales_in
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.forms import MOST_FIELD_CHARACTERS, FormReader
from empathylab.study.blocks.interface import Answers, PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Asked, Body, questionnaire
from empathylab.study.blocks.steps import AnsweredScale, Results
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import MOST_ITEMS, WorkBlock
from empathylab.table_specs import ColumnSpec

LABEL = "label"


@cache
def norm_scales() -> tuple[Scale, ...]:
    """The questionnaires about situations that ship, one for each list of emotions."""
    return scales_in("empathylab.study.blocks.norming")


class Norm(WorkBlock):
    """Situations described one at a time, by a word of one's own and a questionnaire."""

    block: Literal["norm"]
    scale: Words
    """With an item for each emotion: `norms-8`, `norms-32`, or one of the lab's own."""
    question: Text
    """Asks for the feeling in the participant's own words, before any word is suggested."""
    text: Text | None = None
    """In place of the scale's own instruction."""

    @property
    def uses_scale(self) -> str:
        """Its questionnaire."""
        return self.scale

    @property
    def bundled_scales(self) -> tuple[Scale, ...]:
        """`norms-8` and `norms-32`."""
        return norm_scales()

    @property
    def is_outcome(self) -> bool:
        """People's answers about the situations are the result."""
        return True

    def item_body(self, view: PageView) -> Body:
        """The situation, the feeling in one's own words, and the statements."""
        scale = view.path.scales[self.scale]
        asks = (
            Asked(LABEL, "line", view.localized(self.question)),
            *questionnaire(scale, range(1, scale.items + 1)),
        )
        text = view.localized(self.text) if self.text else scale.instruction
        return Body(text, self.situation_parts(view), asks)

    def own_names(self, study: StudyRules) -> Sequence[str]:
        """Of the word; statements are numbered."""
        return (LABEL,)

    def read_item(self, form: FormReader, path: ParticipantPath) -> None:
        """A word, and a point for every statement."""
        scale = path.scales[self.scale]
        form.free(LABEL, required=True, most=MOST_FIELD_CHARACTERS)
        for item in range(1, scale.items + 1):
            form.whole(f"item-{item}", range(scale.minimum, scale.maximum + 1))

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """One answered questionnaire per situation, in the order they were shown."""
        scales = tuple(self._answered(path, slot, answers))
        return replace(super().results(path, slot, answers), scales=scales)

    def _answered(
        self, path: ParticipantPath, slot: Slot, answers: Answers
    ) -> Iterator[AnsweredScale]:
        order = tuple(range(1, path.scales[self.scale].items + 1))
        for step, (item,) in self.shown_items(path, slot):
            values = {number: float(answers[step.key][f"item-{number}"]) for number in order}
            yield AnsweredScale(self.scale, "evoked", item.situation, order, values)

    def details(self, answers: Answers) -> Mapping[str, Any]:
        """The words of one's own, numbered as the situations were shown."""
        pages = {key.removeprefix(f"{self.id}/"): given for key, given in answers.items()}
        return {
            f"{LABEL}_{number}": given[LABEL]
            for number, given in sorted(pages.items())
            if number.isdigit() and LABEL in given
        }

    def columns(self, language: str) -> tuple[ColumnSpec, ...]:
        """One column per situation, for as many as a batch can have."""
        meaning = f"Asked: {self.question.in_language(language)} Of situation"
        return tuple(
            ColumnSpec(f"{LABEL}_{number}", "text", f"{meaning} {number}")
            for number in range(1, MOST_ITEMS + 1)
        )

    def analysis_command(self, study: str) -> str | None:
        """Which situations meet the criteria."""
        return f"empathylab analyze norming --study {study}"
