"""Tell: the participant writes about an experience of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from empathylab.file_models import Flag, Whole, wrong
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import (
    Answers,
    Block,
    BotForm,
    Outcome,
    PageView,
    ParticipantPath,
)
from empathylab.study.blocks.pages import Asked, Body, Part
from empathylab.study.blocks.steps import Step
from empathylab.study.blocks.texts import Text
from empathylab.study.live.safety import crisis_words

STORY = "story"
"""The name of the answer."""
CRISIS = "crisis"
_MOST_CHARACTERS = 20_000
_BOT_STORY = (
    "Last week I missed a deadline at work and had to explain it in front of everybody. I felt "
    "small and alone, and I still think about it in the evening. It is hard because I had tried "
    "to do everything right this time."
)


class Tell(Block):
    """An experience of the participant's own, in their words."""

    block: Literal["tell"]
    text: Text
    prompts: tuple[Text, ...] = ()
    """Questions that help to write, shown as a list."""
    minimum_words: Annotated[Whole, Field(ge=1, le=2000)] = 30
    maximum_words: Annotated[Whole, Field(ge=1, le=5000)] = 500
    warn_details: Flag = True
    """Whether the page asks to leave out names, addresses and numbers."""

    is_work: ClassVar[bool] = True
    is_own_experience: ClassVar[bool] = True

    @model_validator(mode="after")
    def _minimum_is_below_maximum(self) -> Self:
        if self.maximum_words < self.minimum_words:
            raise wrong(f"{self.minimum_words} or more", at=("maximum_words",))
        return self

    def steps(self, path: ParticipantPath, answers: Answers) -> Iterator[Step]:
        """A note where the study has one, and the page to write on."""
        if path.study.content_note:
            yield Step(f"{self.id}/note", self.id, "note")
        yield Step(self.id, self.id, self.kind)

    def may_revisit(self, step: Step) -> bool:
        """The note may be read again."""
        return step.page == "note"

    def body(self, view: PageView) -> Body:
        """The note, or the prompts and room to write."""
        if view.step.page == "note":
            return Body(parts=(Part("note", view.localized(view.path.study.content_note)),))
        prompts = "\n".join(f"- {view.localized(prompt)}" for prompt in self.prompts)
        parts = (Part("details", ""),) if self.warn_details else ()
        text = f"{view.localized(self.text)}\n\n{prompts}".strip()
        return Body(text, parts, (Asked(STORY, "paragraph", ""),))

    def words_to_write(self) -> int:
        """The shortest story."""
        return self.minimum_words

    def read(self, form: FormReader, path: ParticipantPath, step: Step) -> None:
        """A story of the right length; words that speak of a crisis are kept with it."""
        if step.page == "note":
            return
        form.words(
            STORY,
            least=self.minimum_words,
            most=self.maximum_words,
            characters=_MOST_CHARACTERS,
        )
        note_crisis(form, STORY, path)

    @property
    def early_outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of `early_end`."""
        return ("safety",)

    def early_end(self, answers: Answers) -> Outcome | None:
        """A story that speaks of a crisis is answered with help, not by a study."""
        return "safety" if answers.get(self.id, {}).get(CRISIS) else None

    @classmethod
    def bot_answers(cls, form: BotForm) -> Mapping[str, str]:
        """Simulated participants tell all the same."""
        return {} if form.step.endswith("/note") else {STORY: _BOT_STORY}

    @property
    def free_answers(self) -> frozenset[str]:
        """The story."""
        return frozenset({STORY})

    @property
    def is_outcome(self) -> bool:
        """What people tell is not shown while the study runs."""
        return True


def note_crisis(form: FormReader, name: str, path: ParticipantPath) -> None:
    """Keeps, beside an answer in free text, the words in it that speak of a crisis."""
    live = path.study.live
    if (text := form.values.get(name)) and live is not None and live.crisis_words:
        languages = path.study.languages
        words = [word for language in languages for word in crisis_words(text, language)]
        if words:
            form.values[CRISIS] = list(dict.fromkeys(words))
