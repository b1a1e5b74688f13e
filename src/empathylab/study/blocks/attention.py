"""Attention: a question that shows whether a participant reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Whole, Words, misfit, unknown, wrong
from empathylab.study.assignment.seeded_random import shuffled
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    Outcome,
    PageView,
    ParticipantPath,
    StudyRules,
)
from empathylab.study.blocks.pages import Body
from empathylab.study.blocks.questions.checks import CheckQuestion, OnFailure, require_answer
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import MOST_ITEMS
from empathylab.yaml_documents import Path

_FEWEST_OPTIONS = 2


class Attention(Block):
    """A question that shows whether a participant reads.

    Without a question of its own it asks one of the study's `attention_pool`, drawn for each
    participant; blocks that draw never ask the same one.
    """

    block: Literal["attention"]
    question: Text | None = None
    options: tuple[Text, ...] = ()
    answer: Words | None = None
    """The right option, in the study's first language."""
    explanation: Text | None = None
    on_failure: OnFailure = "continue"
    inside: Words | None = None
    """The block among whose items it stands; None: a page of its own, where it is listed."""
    after: Annotated[Whole, Field(ge=1, le=MOST_ITEMS)] | None = None
    """After how many items of that block."""

    checks_attention: ClassVar[bool] = True

    @model_validator(mode="after")
    def _own_question_is_whole(self) -> Self:
        if self.question is None and self.answer is None and not self.options:
            return self
        for key in ("question", "options", "answer"):
            if not getattr(self, key):
                raise misfit(f"the key {key!r} is missing", f"Add {key}.")
        if len(self.options) < _FEWEST_OPTIONS:
            raise wrong(f"a list of {_FEWEST_OPTIONS} or more", at=("options",))
        require_answer(self.options, self.answer or "")
        return self

    @property
    def own_check(self) -> CheckQuestion | None:
        """Its own question; None where it draws one."""
        if self.question is None or self.answer is None:
            return None
        return CheckQuestion.model_construct(
            question=self.question,
            options=self.options,
            answer=self.answer,
            explanation=self.explanation,
        )

    def asked(self, path: ParticipantPath) -> tuple[int | None, CheckQuestion]:
        """The question for a participant, and which of the pool it is, counted from 1."""
        if self.own_check is not None:
            return None, self.own_check
        study = path.study
        numbers = range(1, len(study.attention_pool) + 1)
        drawn = shuffled(numbers, study.seed, "attention", path.person)
        number = drawn[[block.id for block in drawing(study)].index(self.id)]
        return number, study.attention_pool[number - 1]

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
        """The block that it stands in has so many items, and the pool enough questions."""
        if self.own_check is None and len(study.attention_pool) < len(drawing(study)):
            raise misfit(
                f"the attention_pool has {len(study.attention_pool)} questions for "
                f"{len(drawing(study))} checks that draw one",
                "Give the block a question, options and answer, or add questions to the pool.",
                at=at,
            )
        if self.inside is None or self.after is None:
            return
        known = [block.id for block in study.blocks if block.is_work and not block.evokes]
        if self.inside not in known:
            raise unknown("block with several items", self.inside, known, at=(*at, "inside"))
        most = study.items_per_rater
        if self.after >= most:
            raise misfit(
                f"'after' must be less than the {most} items of a batch",
                "Lower it, or remove 'inside' and 'after' to give the check its own page.",
                at=(*at, "after"),
                got=self.after,
            )

    def notes(self, batch_sizes: Sequence[int]) -> Iterable[str]:
        """Where a batch is shorter than planned, the check closes it."""
        if self.after is not None and batch_sizes and self.after >= min(batch_sizes):
            yield f"In the smallest batches, the check {self.id!r} comes after the last item."

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
        _, question = self.asked(view.path)
        return Body(asks=(question.asked("question", view.localized),))

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """An option; of a question from the pool also which it is, and whether it is right."""
        number, question = self.asked(path)
        question.read_answer(form, "question")
        if number is not None and "question" in form.values:
            right = form.values["question"] == question.right_option
            form.values |= {"check": number, "right": right}

    def passed(self, given: Mapping[str, Any]) -> bool:
        """Whether the right option was chosen."""
        if self.own_check is None:
            return bool(given.get("right"))
        return bool(given.get("question") == self.own_check.right_option)

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of `early_end`."""
        return ("failed-attention",) if self.on_failure == "end" else ()

    def early_end(self, answers: Answers) -> Outcome | None:
        """Failing ends the study, where the block says so."""
        failed = self.id in answers and not self.passed(answers[self.id])
        return "failed-attention" if failed and self.on_failure == "end" else None


def drawing(study: StudyRules) -> list[Attention]:
    """The checks that draw a question from the pool."""
    checks = (block for block in study.blocks if isinstance(block, Attention))
    return [block for block in checks if block.own_check is None]
