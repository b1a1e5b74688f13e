"""Compare: two replies to the same situation side by side, and which of them is better."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from empathylab.file_models import Flag, misfit
from empathylab.store.ratings import PREFERENCE
from empathylab.study.assignment.seeded_random import turned
from empathylab.study.assignment.slots import Slot
from empathylab.study.blocks.forms import FormReader
from empathylab.study.blocks.interface import Answers, PageView, ParticipantPath, StudyRules
from empathylab.study.blocks.pages import Asked, Body, Option, Part, ShownReply
from empathylab.study.blocks.steps import AnsweredQuestion, Results, Step
from empathylab.study.blocks.texts import Text
from empathylab.study.blocks.work import WorkBlock
from empathylab.yaml_documents import Path

_SIDES = ("first", "second")
_TIE = "tie"


class Compare(WorkBlock):
    """Two replies to the same situation side by side; every pair of replies once."""

    block: Literal["compare"]
    question: Text
    """Which reply is better, and in what."""
    ties: Flag = True
    """Whether people may say that there is no difference."""
    back: Flag = True
    text: Text | None = None

    rates_responses: ClassVar[bool] = True
    rates_by_dimension: ClassVar[bool] = False

    def check_fit(self, study: StudyRules, at: Path) -> None:
        """There are two replies to each situation, or more."""
        if study.replies_together < 2:
            raise misfit(
                "a comparison needs several replies to the same situation",
                "Set design to within and replies_per_situation to all.",
                at=at,
            )
        super().check_fit(study, at)

    def own_names(self, study: StudyRules) -> Sequence[str]:
        """Of the preference."""
        return (PREFERENCE,)

    def item_steps(self, path: ParticipantPath) -> Iterator[Step]:
        """A page for every pair of replies; a draw decides which of them comes first."""
        study = path.study
        items = study.items_per_rater if path.items is None else path.items
        together = study.replies_together
        pairs = [
            pair
            for start in range(1, items + 1, together)
            for pair in itertools.combinations(range(start, start + together), 2)
        ]
        for number, pair in enumerate(pairs, start=1):
            key = f"{self.id}/{number}"
            shows = pair[::-1] if turned(study.seed, "sides", key, path.person) else pair
            yield Step(key, self.id, self.kind, number, len(pairs), shows=shows)

    def may_revisit(self, step: Step) -> bool:
        """Where the study lets people go back."""
        return self.back

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be answered."""
        return (*_SIDES, _TIE) if self.ties else _SIDES

    def item_body(self, view: PageView) -> Body:
        """The situation, both replies, and the question."""
        first, second = view.replies or (ShownReply(""), ShownReply(""))
        replies = (Part("first", first.text, first), Part("second", second.text, second))
        # The pages themselves name the options, as they name the replies.
        options = tuple(Option(choice, "") for choice in self.choices)
        asked = Asked(PREFERENCE, "preference", view.localized(self.question), options)
        return Body(view.localized(self.text), (*self.situation_parts(view), *replies), (asked,))

    def read_item(self, form: FormReader, path: ParticipantPath) -> None:
        """One of the replies, or neither."""
        form.option(PREFERENCE, self.choices)

    def results(self, path: ParticipantPath, slot: Slot, answers: Answers) -> Results:
        """The preferences, and the answers to further questions."""
        results = super().results(path, slot, answers)
        preferences = (
            AnsweredQuestion(step, items, PREFERENCE, answers[step.key][PREFERENCE])
            for step, items in self.shown_items(path, slot)
        )
        return replace(results, answers=(*preferences, *results.answers))

    def analysis_command(self, study: str) -> str | None:
        """Whose replies are preferred."""
        return f"empathylab analyze preferences --study {study}"
