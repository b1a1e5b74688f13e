"""Pages of a launched study with their items, and stored answers in the words of their page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from empathylab.study.blocks.content import page_content
from empathylab.study.blocks.interface import Answers
from empathylab.study.blocks.pages import PageContent, ShownReply
from empathylab.study.blocks.steps import Step
from empathylab.study.design.interface_texts import interface_words
from empathylab.study.live.turns import Conversation
from empathylab.study.session.flow import study_steps
from empathylab.study.session.launched import Launched


def step_content(
    launched: Launched,
    row: Any,
    step: Step,
    answers: Answers,
    conversation: Conversation | None = None,
) -> PageContent:
    """The page of a step as the participant in that row reads it."""
    language = row.language or launched.study.languages[0]
    situation, replies = None, list[ShownReply]()
    for item in step.items(launched.slot_of(row)):
        situation = launched.situations[item.situation]
        if item.arm is not None:
            response = launched.responses[item.situation, item.arm]
            text = _no_reply(launched, language) if response.withdrawn else response.text
            replies.append(ShownReply(text, response.chat, response.rated_turn))
    return page_content(
        launched.path_of(row),
        step,
        language=language,
        situation=situation,
        replies=replies,
        answers=answers,
        conversation=conversation,
    )


def _no_reply(launched: Launched, language: str) -> str:
    """What stands in place of a reply that was withdrawn; it does not say that it was."""
    return str(interface_words(language, launched.study.interface)["no_reply"])


class PageLabels:
    """The pages of one participant; `row` is their place and `given` all that they answered."""

    def __init__(self, launched: Launched, row: Any, given: Answers) -> None:
        self._launched, self._row, self._given = launched, row, given
        self._steps = {step.key: step for step in study_steps(launched.path_of(row), given)}

    def answers(self, step: str, given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Question and answer in words; by their stored names where the page is not known."""
        known_step = self._steps.get(step)
        if not given or known_step is None:
            return tuple((name, _answer_text(value, {})) for name, value in given.items())
        content = step_content(self._launched, self._row, known_step, self._given)
        questions = {item.name: item for asked in content.asks for item in asked.one_by_one()}
        pairs = []
        for name, value in given.items():
            question = questions.get(name)
            shown = () if question is None else (*question.options, *question.rows)
            options = {item.value: item.label for item in shown}
            label = question.label if question is not None and question.label else name
            pairs.append((label, _answer_text(value, options)))
        return tuple(pairs)


def _answer_text(value: Any, labels: Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return "; ".join(
            f"{labels.get(str(row)) or row}: {_answer_text(given, labels)}"
            for row, given in value.items()
        )
    values = value if isinstance(value, list | tuple) else [value]
    return ", ".join(labels.get(str(value)) or str(value) for value in values)
