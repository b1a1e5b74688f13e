"""Stored answers with the questions and labels that the participant read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from empathylab.study.blocks.content import page_content
from empathylab.study.blocks.interface import Answers, ParticipantPath
from empathylab.study.blocks.pages import PageContent
from empathylab.study.session.flow import study_steps
from empathylab.study.session.launched import Launched


class PageLabels:
    """The pages of one participant; `row` is their place and `given` all that they answered."""

    def __init__(self, launched: Launched, row: Any, given: Answers) -> None:
        self._launched, self._row, self._given = launched, row, given
        has_slot = row.arm is not None and row.slot is not None
        self._slot = launched.slots[row.arm][row.slot] if has_slot else None
        items = None if self._slot is None else len(self._slot.items)
        self._path = ParticipantPath(launched.study, launched.scales, items, row.person)
        self._steps = {step.key: step for step in study_steps(self._path, given)}

    def answers(self, step: str, given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Question and answer in words; by their stored names where the page is not known."""
        if not given:
            return ()
        content = self._content(step)
        asked = {} if content is None else {question.name: question for question in content.asks}
        found = []
        for name, value in given.items():
            question = asked.get(name)
            options = {} if question is None else {one.value: one.label for one in question.options}
            values = value if isinstance(value, list | tuple) else [value]
            said = ", ".join(options.get(str(one)) or str(one) for one in values)
            found.append((question.label if question and question.label else name, said))
        return tuple(found)

    def _content(self, key: str) -> PageContent | None:
        step, launched = self._steps.get(key), self._launched
        if step is None:
            return None
        situation = reply = None
        if step.shows_item:
            item = step.item(self._slot)
            if item is None:
                return None
            situation = launched.situations[item.situation]
            if item.arm is not None:
                reply = launched.responses[item.situation, item.arm].text
        return page_content(
            self._path,
            step,
            key=launched.secret,
            language=self._row.language or launched.study.languages[0],
            situation=situation,
            reply=reply,
            answers=self._given,
        )
