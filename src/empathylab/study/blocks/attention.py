"""Attention: a question that shows whether a participant reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Path, Whole, Words, misfit, unknown, wrong
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    Outcome,
    PageView,
    ParticipantPath,
    Step,
    StudyRules,
)
from empathylab.study.blocks.pages import Body
from empathylab.study.blocks.questions import OnFailure, Question

_MOST_ITEMS = 200


class Attention(Block, Question):
    """A question that shows whether a participant reads."""

    block: Literal["attention"]
    on_failure: OnFailure = "continue"
    inside: Words | None = None
    """The block among whose items it stands; None: a page of its own, where it is listed."""
    after: Annotated[Whole, Field(ge=1, le=_MOST_ITEMS)] | None = None
    """After how many items of that block."""

    checks_attention: ClassVar[bool] = True

    @model_validator(mode="after")
    def _inside_and_after(self) -> Self:
        if (self.inside is None) != (self.after is None):
            raise wrong(
                "given together with the other of 'inside' and 'after'",
                "Give both (a block's id, and after how many of its items), or neither.",
                at=("after" if self.inside else "inside",),
            )
        return self

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """The block that it stands in has so many items."""
        if self.inside is None or self.after is None:
            return
        known = [one.id for one in study.blocks if one.is_work and not one.evokes]
        if self.inside not in known:
            raise unknown("block with several items", self.inside, known, at=(*at, "inside"))
        most = study.items_per_rater
        if self.after >= most:
            raise misfit(
                f"'after' must be less than the {most} items of a batch",
                "Lower it, or take out 'inside' and 'after' for a page of its own.",
                at=(*at, "after"),
                got=self.after,
            )

    def notes(self, batch_sizes: Sequence[int]) -> Iterable[str]:
        """Where a batch is shorter than planned, the check closes it."""
        if self.after is not None and batch_sizes and self.after >= min(batch_sizes):
            yield f"In the smallest batches the check {self.id!r} comes after the last item."

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """A page of its own, unless it stands inside another block."""
        if self.inside is None:
            yield Step(self.id, self.id, self.kind)

    def steps_inside(self, host: str, item: int, items: int) -> Iterator[Step]:
        """After its item; after the last one where the batch is shorter than planned."""
        after = self.after or 0
        if after == item or (item == items and after > items):
            yield Step(self.id, self.id, self.kind)

    @property
    def shown_in(self) -> str:
        """The block that it stands in."""
        return self.inside or self.id

    def body(self, view: PageView) -> Body:
        """The question."""
        return Body(asks=(self.asked("question", view.said),))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """An option."""
        self.read_answer(form, "question")

    def passed(self, given: Mapping[str, Any]) -> bool:
        """Whether the right option was chosen."""
        return bool(given.get("question") == self.right_option)

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of `early_end`."""
        return ("failed-attention",) if self.on_failure == "end" else ()

    def early_end(self, answers: Answers) -> Outcome | None:
        """Failing ends the study, where the block says so."""
        failed = self.id in answers and not self.passed(answers[self.id])
        return "failed-attention" if failed and self.on_failure == "end" else None
