"""Questions as they are drawn: their points, rows, layout and keys, with what was answered."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from empathylab.study.blocks.pages import Asked, Option, PageContent
from empathylab.study.web.forms import ANSWER
from empathylab.study.web.interface_texts import Words
from empathylab.study.web.markdown import inline_html


@dataclass(frozen=True, slots=True)
class Point:
    """An option as it is drawn."""

    value: str
    label: Markup
    key: str
    """The key that chooses it; empty where none does."""
    end: str = ""
    """What stands below the row of points, where only some points have words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a question as it is drawn."""

    name: str
    label: Markup
    value: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class RenderedQuestion:
    """A question as the template shows it."""

    name: str
    kind: str
    label: Markup
    required: bool
    value: str
    error: str
    layout: str
    points: tuple[Point, ...] = ()
    rows: tuple[Row, ...] = ()
    """Of a matrix and of a ranking: what is answered one by one."""
    step: int = 1
    chosen: frozenset[str] = frozenset()
    """Of several choices."""

    @property
    def problems(self) -> Iterator[tuple[str, Markup, str]]:
        """What is wrong, with its answer or with rows of it: where, with what, and the message."""
        if self.error:
            listed = self.points and self.kind not in ("slider", "dropdown")
            yield f"{self.name}-1" if listed else self.name, self.label, self.error
        for number, row in enumerate(self.rows):
            if row.error:
                yield f"{self.name}-{number * len(self.points) + 1}", row.label, row.error

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most that a slider gives, whichever way it is turned."""
        ends = int(self.points[0].value), int(self.points[-1].value)
        return min(ends), max(ends)


@dataclass(frozen=True, slots=True)
class Filled:
    """What is put into a page's form."""

    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    errors: Mapping[str, str] = field(default_factory=dict, hash=False)
    came_from: str = ""
    notice: str = ""


def drawn_question(
    words: Words, content: PageContent, asked: Asked, filled: Filled
) -> RenderedQuestion:
    """A question of a page, with what was answered to it and what is wrong with that."""
    if asked.kind == "preference":
        named = (Option(option.value, words.preference[option.value]) for option in asked.options)
        asked = dataclasses.replace(asked, kind="choice", options=tuple(named))
    if content.page == "debrief":
        labels = {"keep": words.keep_data, "withdraw": words.withdraw_data}
        chosen = tuple(Option(option.value, labels[option.value]) for option in asked.options)
        asked = dataclasses.replace(asked, options=chosen)
    names = {asked.name, *(row.value for row in asked.rows if not asked.name)}
    given = any(name.partition(".")[0] in names for name in filled.values)
    if not given and not filled.errors:
        return _blank(asked, content.page)
    value = filled.values.get(asked.name)
    whole = isinstance(value, str | int | float)
    return dataclasses.replace(
        _blank(asked, content.page),
        value=str(value) if whole else "",
        error=filled.errors.get(asked.name, ""),
        rows=tuple(_rows(asked, content.page, filled)),
        chosen=frozenset(
            option.value for option in asked.options if _part(asked, option.value, filled.values)
        ),
    )


@functools.lru_cache(maxsize=512)
def _blank(asked: Asked, page: str) -> RenderedQuestion:
    """A question that nobody has answered yet, as everybody sees it."""
    return RenderedQuestion(
        ANSWER + (asked.name or "ratings"),
        asked.kind,
        _as_html(page)(asked.label or ""),
        asked.required,
        "",
        "",
        _layout(asked, page),
        _points(asked, page),
        tuple(_rows(asked, page, Filled())),
        asked.step,
    )


def _rows(asked: Asked, page: str, filled: Filled) -> Iterator[Row]:
    html = _as_html(page)
    for part in asked.options if asked.kind == "ranking" else asked.rows:
        name = f"{asked.name}.{part.value}" if asked.name else part.value
        value = _part(asked, part.value, filled.values)
        yield Row(ANSWER + name, html(part.label), value, filled.errors.get(name, ""))


def _part(asked: Asked, part: str, values: Mapping[str, Any]) -> str:
    """What was answered in one part of a question: as it was sent, or as it is stored."""
    sent = values.get(f"{asked.name}.{part}" if asked.name else part)
    if sent is None:
        stored = values.get(asked.name)
        if isinstance(stored, Mapping):
            sent = stored.get(part)
        elif isinstance(stored, list | tuple) and part in stored:
            sent = part
    return "" if sent is None or isinstance(sent, list) else str(sent)


def _points(asked: Asked, page: str) -> tuple[Point, ...]:
    html = _as_html(page)
    labelled = any(option.label for option in asked.options)
    layout = _layout(asked, page)
    below = layout in ("ends", "compact")
    return tuple(
        Point(
            option.value,
            html(option.value if below else option.label or option.value),
            _key(number, option.value, labelled=labelled and layout != "compact")
            if asked.kind == "choice" or layout == "compact"
            else "",
            html(option.label) if below and option.label else "",
        )
        for number, option in enumerate(asked.options, start=1)
    )


def _as_html(page: str) -> Callable[[str], Markup]:
    """How texts of questions are shown: an item of a scale is no Markdown."""
    return escape if page == "scale" else inline_html


def _key(number: int, value: str, *, labelled: bool) -> str:
    """The key of a point: its place as it is seen, or its number where all points show numbers."""
    key = str(number) if labelled else value
    return key if len(key) == 1 and key.isdecimal() else ""


def _layout(asked: Asked, page: str) -> str:
    """The layout of options: points in a row, labels in a row where they are short, else a list.

    A questionnaire is `compact`: its points are numbers, explained once above and at the ends.
    """
    if asked.kind == "matrix" and page in ("scale", "norm"):
        return "compact"
    labels = [option.label for option in asked.options]
    if asked.kind != "choice" or not any(labels):
        return "points"
    if labels[0] and labels[-1] and not all(labels):
        return "ends"
    row = page in ("scale", "rate", "norm", "compare") and 2 <= len(labels) <= 7
    return "row" if row else "list"
