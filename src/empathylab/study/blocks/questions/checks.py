"""Questions with one right answer, and checks that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import FileModel, Whole, Words, unknown, wrong
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.pages import Asked, Option
from empathylab.study.blocks.texts import Text, refuse_repeated

OnFailure = Literal["end", "continue"]
Localize = Callable[[Text | None], str]


class CheckQuestion(FileModel):
    """A question with one right answer."""

    question: Text
    options: tuple[Text, ...] = Field(min_length=2)
    answer: Words
    """The right option, in the study's first language."""
    explanation: Text | None = None
    """Shown after a wrong answer."""

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        require_answer(self.options, self.answer)
        return self

    @property
    def right_option(self) -> int:
        """The number of the right option, counted from 1."""
        return [option.versions[0][1] for option in self.options].index(self.answer) + 1

    def asked(self, name: str, localize: Localize) -> Asked:
        """The question on a page."""
        numbered = enumerate(self.options, start=1)
        options = tuple(Option(str(number), localize(option)) for number, option in numbered)
        return Asked(name, "choice", localize(self.question), options)

    def read_answer(self, form: FormReader, name: str) -> None:
        """Reads the number of the chosen option."""
        form.whole(name, range(1, len(self.options) + 1))


def require_answer(options: Sequence[Text], answer: str) -> None:
    """Raises where the right answer is not one of the options, each of which is there once."""
    known = [option.versions[0][1] for option in options]
    refuse_repeated(known, "options")
    if answer not in known:
        raise unknown("option", answer, known, at=("answer",), remedy="Copy the right option.")


class Check(FileModel):
    """A comprehension check."""

    questions: tuple[CheckQuestion, ...] = Field(min_length=1)
    attempts: Annotated[Whole, Field(ge=1, le=10)] = 2
    needed: Annotated[Whole, Field(ge=1)]
    """Right answers that are enough; all, unless the file says otherwise."""
    on_failure: OnFailure = "end"

    @model_validator(mode="before")
    @classmethod
    def _needs_all(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("needed") is None:
            questions = data.get("questions")
            count = len(questions) if isinstance(questions, list | tuple) else 0
            return {**data, "needed": max(1, count)}
        return data

    @model_validator(mode="after")
    def _can_be_passed(self) -> Self:
        if self.needed > len(self.questions):
            raise wrong(f"at most the number of questions, {len(self.questions)}", at=("needed",))
        return self

    def named_questions(self) -> Iterator[tuple[str, CheckQuestion]]:
        """The questions with the names under which forms send their answers."""
        for number, question in enumerate(self.questions, start=1):
            yield f"question-{number}", question

    def right_answers(self, values: Mapping[str, Any]) -> tuple[bool, ...]:
        """Whether each question was answered correctly."""
        return tuple(
            values.get(name) == question.right_option for name, question in self.named_questions()
        )

    def passed(self, values: Mapping[str, Any]) -> bool:
        """Whether enough questions were answered correctly."""
        return sum(self.right_answers(values)) >= self.needed
