"""Text: an answer in free words, on one line or on several."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Whole, wrong
from empathylab.study.blocks.forms import MOST_CHARACTERS, MOST_FIELD_CHARACTERS, FormReader
from empathylab.study.blocks.questions.interface import Constant, Question

_MOST_WORDS = 5000


class TextQuestion(Question):
    """A line of text."""

    kind: Literal["text"]

    input: ClassVar = "line"
    is_free: ClassVar[bool] = True

    def read(self, form: FormReader) -> None:
        """Text that is not too long."""
        form.free(self.name, required=self.required, most=MOST_FIELD_CHARACTERS)

    def can_meet(self, operator: str, constant: Constant) -> bool:
        """Any text can be written."""
        return operator in ("==", "!=") and isinstance(constant, str)


class OpenTextQuestion(Question):
    """Several lines of text."""

    kind: Literal["open-text"]
    minimum_words: Annotated[Whole, Field(ge=1, le=_MOST_WORDS)] = 1
    maximum_words: Annotated[Whole, Field(ge=1, le=_MOST_WORDS)] = 500

    input: ClassVar = "paragraph"
    is_free: ClassVar[bool] = True

    @model_validator(mode="after")
    def _minimum_is_below_maximum(self) -> Self:
        if self.maximum_words < self.minimum_words:
            raise wrong(f"{self.minimum_words} or more", at=("maximum_words",))
        return self

    def read(self, form: FormReader) -> None:
        """Text with a number of words within bounds."""
        form.words(
            self.name,
            least=self.minimum_words,
            most=self.maximum_words,
            required=self.required,
            characters=MOST_CHARACTERS,
        )
