"""What the report is made of: sections that hold sentences, charts, tables and folded parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with its title and what the reader must know about it."""

    name: str
    """What `result.plot` takes; one per result."""
    title: str
    spec: dict[str, Any] = field(repr=False)
    note: str = ""
    wide: bool = True
    """Whether it takes the whole row; small ones stand side by side."""


def optional_figure(
    name: str, title: str, spec: dict[str, Any] | None, note: str = "", *, wide: bool = True
) -> Iterator[Figure]:
    """The figure, where there is something to draw."""
    if spec is not None:
        yield Figure(name=name, title=title, spec=spec, note=note, wide=wide)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows with a title; those without a column have a dash there."""

    title: str
    rows: Sequence[Row] = field(repr=False)
    caption: str = ""
    examples: Sequence[tuple[str, str]] = ()
    """Terms, each with a sentence that holds it."""
    paper: bool = True
    """Whether `report --tables` writes it."""

    @property
    def filled(self) -> Sequence[Row]:
        """The rows, with all columns of any row in which some row has something."""
        first, *others = dict.fromkeys(name for row in self.rows for name in row) or [""]
        named = [name for name in others if any(_has(row.get(name)) for row in self.rows)]
        return [{name: row.get(name, "–") for name in (first, *named)} for row in self.rows]


@dataclass(frozen=True, slots=True)
class Text:
    """Paragraphs, or a list of sentences."""

    sentences: Sequence[str]
    kind: str = "text"
    """`text`, `note`, `list` or `caveats`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """A part with a template of its own, which gets `data`."""

    template: str
    data: Any = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Details that open on a click, or by a link to something in them."""

    id: str
    title: str
    blocks: Sequence[Block]
    tag: tuple[str, str] | None = None
    """A class and a word beside the title."""
    printed: bool = False
    """Whether printing opens it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading inside a section."""

    id: str
    title: str
    tag: tuple[str, str] | None = None
    """A class and a word beside the title."""


Block = Figure | Table | Text | Partial | Fold | Heading


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page with an entry in the contents."""

    id: str
    title: str
    blocks: Sequence[Block]
    lead: Sequence[str] = ()
    """The conclusions it opens with."""

    def walk(self) -> Iterator[Block]:
        """Every block, in the order of the page."""
        yield from _walk(self.blocks)

    def figures(self) -> list[Figure]:
        """The charts, in the order of the page."""
        return [block for block in self.walk() if isinstance(block, Figure)]

    def tables(self) -> list[Table]:
        """The tables with rows, in the order of the page."""
        return [block for block in self.walk() if isinstance(block, Table) and block.rows]


def _walk(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from _walk(block.blocks)


def kept(*blocks: Block | None) -> tuple[Block, ...]:
    """The blocks with something in them."""
    return tuple(block for block in blocks if block is not None and not _is_empty(block))


def _has(cell: object) -> bool:
    return cell not in (None, "", "–")


def _is_empty(block: Block) -> bool:
    if isinstance(block, Table):
        return not block.rows
    if isinstance(block, Text):
        return not block.sentences
    return isinstance(block, Fold) and not block.blocks


def slug(name: str) -> str:
    """The name as an id, or as part of a file's name on any machine."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "respondent"


def conclusions_fold(place: str, conclusions: Iterable[object]) -> Fold:
    """All conclusions of a result, a sentence each."""
    sentences = [str(conclusion) for conclusion in conclusions]
    return Fold(
        id=f"{place}-conclusions",
        title="All conclusions",
        blocks=kept(Text(sentences, "list")),
        printed=True,
    )
