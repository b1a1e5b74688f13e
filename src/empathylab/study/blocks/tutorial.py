"""Tutorial: pages to read, worked examples, and a comprehension check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from empathylab.file_models import FileModel
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, Block, Outcome, PageView, ParticipantPath
from empathylab.study.blocks.pages import Body, Mistake, Part
from empathylab.study.blocks.questions.checks import Check
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text


class Example(FileModel):
    """A worked example: a situation, a reply, and why it is rated so."""

    situation: Text
    explanation: Text
    reply: Text | None = None
    rating: Text | None = None


class Tutorial(Block):
    """Pages to read, worked examples, and a comprehension check."""

    block: Literal["tutorial"]
    pages: tuple[Text, ...] = Field(min_length=1)
    examples: tuple[Example, ...] = ()
    check: Check | None = None

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """A second attempt at the check is there once the first has failed."""
        for number in range(1, len(self.pages) + 1):
            yield Step(f"{self.id}/{number}", self.id, "reading", number, len(self.pages))
        for number in range(1, len(self.examples) + 1):
            key = f"{self.id}/example/{number}"
            yield Step(key, self.id, "example", number, len(self.examples))
        if self.check:
            tried = self._attempts(answers)
            passed = bool(tried) and self.check.passed(tried[-1])
            shown = len(tried) if passed else min(len(tried) + 1, self.check.attempts)
            for number in range(1, shown + 1):
                yield Step(self._attempt(number), self.id, "check", number, self.check.attempts)

    def _attempt(self, number: int) -> str:
        return f"{self.id}/check/{number}"

    def _attempts(self, answers: Answers) -> list[Mapping[str, Any]]:
        most = self.check.attempts if self.check else 0
        keys = map(self._attempt, range(1, most + 1))
        return [answers[key] for key in keys if key in answers]

    def may_revisit(self, step: Step) -> bool:
        """What was read may be read again."""
        return step.page != "check"

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of `early_end`."""
        ends = self.check is not None and self.check.on_failure == "end"
        return ("failed-comprehension",) if ends else ()

    def early_end(self, answers: Answers) -> Outcome | None:
        """Failing every attempt ends the study, where the check says so."""
        if self.check is None or self.check.on_failure != "end":
            return None
        tried = self._attempts(answers)
        failed = len(tried) >= self.check.attempts and not self.check.passed(tried[-1])
        return "failed-comprehension" if failed else None

    def body(self, view: PageView) -> Body:
        """A page to read, an example, or the check with what was wrong before."""
        step = view.step
        if step.page == "reading":
            return Body(view.localized(self.pages[step.number - 1]))
        if step.page == "example":
            return Body(parts=_example_parts(self.examples[step.number - 1], view))
        if self.check is None:
            return Body()
        asks = tuple(
            question.asked(name, view.localized) for name, question in self.check.named_questions()
        )
        return Body(asks=asks, mistakes=tuple(self._mistakes(self.check, view)))

    def _mistakes(self, check: Check, view: PageView) -> Iterator[Mistake]:
        """What was not right in the attempt before."""
        before = view.answers.get(self._attempt(view.step.number - 1))
        if before is None:
            return
        rights = check.right_answers(before)
        for (name, question), right in zip(check.named_questions(), rights, strict=True):
            if not right:
                chosen = question.options[before[name] - 1]
                explanation = view.localized(question.explanation)
                yield Mistake(
                    view.localized(question.question), view.localized(chosen), explanation
                )

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """An option for every question of the check."""
        if step.page == "check" and self.check:
            for name, question in self.check.named_questions():
                question.read_answer(form, name)


def _example_parts(example: Example, view: PageView) -> tuple[Part, ...]:
    parts = [Part("situation", view.localized(example.situation))]
    if example.reply:
        parts.append(Part("reply", view.localized(example.reply)))
    if example.rating:
        parts.append(Part("rating", view.localized(example.rating)))
    return (*parts, Part("note", view.localized(example.explanation)))
