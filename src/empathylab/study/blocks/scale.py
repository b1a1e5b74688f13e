"""Scale: a questionnaire that participants answer about themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from empathylab.file_models import Whole, Words, misfit
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.assignment.slots import Slot, evenly
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, Block, PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Body, Part, questionnaire
from empathylab.study.blocks.steps import AnsweredScale, Results, Step
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import WorkBlock
from empathylab.yaml_documents import Path


class ScaleBlock(Block):
    """A questionnaire that participants answer about themselves."""

    block: Literal["scale"]
    scale: Words
    phase: Literal["default", "evoked"] = "default"
    """`evoked`: after a situation has been imagined."""
    order: Literal["printed", "shuffled"] = "printed"
    per_page: Annotated[Whole, Field(ge=1)] | None = None
    """Items on a page; None: all on one."""
    text: Text | None = None
    """In place of the scale's own instruction."""

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """The evoked phase needs a situation that was imagined before."""
        before = study.blocks[: study.blocks.index(self)]
        if self.phase == "evoked" and not any(item.evokes for item in before):
            raise misfit(
                "a scale is asked in the phase 'evoked' after a situation has been imagined",
                "Put a block imagine before it, or remove the phase.",
                at=at,
            )

    @property
    def uses_scale(self) -> str:
        """Its scale."""
        return self.scale

    @property
    def is_outcome(self) -> bool:
        """After a situation, how people feel is a result."""
        return self.phase == "evoked"

    def analysis_command(self, study: str) -> str | None:
        """How feelings changed."""
        command = "empathylab analyze appraisal --respondent human"
        return command if self.phase == "evoked" else None

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """As many pages as the items need."""
        items: Sequence[int] = range(1, path.scales[self.scale].items + 1)
        if self.order == "shuffled":
            items = shuffled(items, path.study.seed, "scale", self.id, path.person)
        pages = evenly(items, self.per_page or len(items))
        # It is answered after the situation that was imagined last, which stays in view.
        last = path.study.items_per_rater if path.items is None else path.items
        shows = (last,) if self.phase == "evoked" else ()
        for number, page in enumerate(pages, start=1):
            key = self.id if len(pages) == 1 else f"{self.id}/{number}"
            yield Step(key, self.id, "scale", number, len(pages), tuple(page), shows)

    def may_revisit(self, step: Step) -> bool:
        """While the participant is in the questionnaire."""
        return True

    def body(self, view: PageView) -> Body:
        """The items of the page."""
        scale = view.path.scales[self.scale]
        text = view.localized(self.text) if self.text else scale.instruction
        return Body(text, self._imagined(view), questionnaire(scale, view.step.entries))

    def _imagined(self, view: PageView) -> tuple[Part, ...]:
        """The situation as the block before showed it, where the questions are about it."""
        if self.phase != "evoked":
            return ()
        blocks = view.path.study.blocks
        before = (block for block in reversed(blocks[: blocks.index(self)]) if block.evokes)
        block = next(before, None)
        return block.situation_parts(view) if isinstance(block, WorkBlock) else ()

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """A point of the scale for every item."""
        scale = path.scales[self.scale]
        for item in step.entries:
            form.whole(f"item-{item}", range(scale.minimum, scale.maximum + 1))

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """The answers with the order of the items."""
        pages = list(self.steps(path, answers))
        values = {
            item: float(answers[page.key][f"item-{item}"])
            for page in pages
            for item in page.entries
        }
        order = tuple(item for page in pages for item in page.entries)
        situation = slot.items[-1].situation if self.phase == "evoked" else None
        return Results(scales=(AnsweredScale(self.scale, self.phase, situation, order, values),))
