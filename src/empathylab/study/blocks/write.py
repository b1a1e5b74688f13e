"""Write: a reply to each situation, in the participant's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Flag, Whole, wrong
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Asked, Body
from empathylab.study.blocks.steps import Results, Step, WrittenReply
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import WorkBlock

_MOST_WORDS = 5000
_USUAL_MAXIMUM = 500


class Write(WorkBlock):
    """A reply to each situation, in the participant's own words."""

    block: Literal["write"]
    text: Text
    minimum_words: Annotated[Whole, Field(ge=1, le=_MOST_WORDS)] = 1
    maximum_words: Annotated[Whole, Field(ge=1, le=_MOST_WORDS)]
    """500, or the minimum where that is more, unless the file says otherwise."""
    back: Flag = True

    @model_validator(mode="before")
    @classmethod
    def _usual_maximum(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("maximum_words") is None:
            least = data.get("minimum_words")
            most = max(_USUAL_MAXIMUM, least if isinstance(least, int) else 1)
            return {**data, "maximum_words": min(most, _MOST_WORDS)}
        return data

    @model_validator(mode="after")
    def _minimum_is_below_maximum(self) -> Self:
        if self.maximum_words < self.minimum_words:
            raise wrong(f"{self.minimum_words} or more", at=("maximum_words",))
        return self

    def may_revisit(self, step: Step) -> bool:
        """Where the study lets people go back."""
        return self.back

    def item_body(self, view: PageView) -> Body:
        """The situation, and room for a reply."""
        asks = (Asked("reply", "paragraph", ""),)
        return Body(view.localized(self.text), self.situation_parts(view), asks)

    def words_to_write(self) -> int:
        """The shortest reply."""
        return self.minimum_words

    def own_names(self, study: StudyRules) -> Sequence[str]:
        """Of the reply."""
        return ("reply",)

    def read_item(self, form: FormReader, path: ParticipantPath) -> None:
        """A reply of the right length."""
        form.words("reply", least=self.minimum_words, most=self.maximum_words)

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """The replies, and the answers to further questions."""
        replies = tuple(
            WrittenReply(step, item.situation, answers[step.key]["reply"])
            for step, (item,) in self.shown_items(path, slot)
        )
        return replace(super().results(path, slot, answers), replies=replies)

    def analysis_command(self, study: str) -> str | None:
        """How people write."""
        return "empathylab analyze style"
