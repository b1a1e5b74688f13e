"""Scales as data that code obeys: what a scale is, where scales come from, how they are checked.

A scale file is TOML or JSON with these keys (those with * may be left out):

    id            lower-case letters, digits and hyphens
    version       whole number; raise it when anything that changes scores changes
    name, citation, licence
    emotion *     the emotion the scale belongs to
    instruction   what the respondent is asked to do, one or two sentences
    minimum, maximum
    anchors *     labels of the range: value = "label"; need not cover every value
    items         how many there are; they are numbered from 1
    reversed *    item numbers whose answer counts as minimum + maximum - answer
    rule          "sum", "double-sum" or "mean"
    subscales *   each with id, name, items
    total *       false where all items together make no score (PANAS); else there is a `total`
    words *       the items' wording, in order
    deviations *  what differs from the published instrument: what, source
    scorings *    other published scorings: id, name, source, and minimum, maximum, rule or total
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from empathylab.errors import InputError, UnknownName
from empathylab.file_models import FileModel, Flag, Whole, validate, wrong
from empathylab.files import packaged_tables, read_json, read_toml
from empathylab.plugins import plugin_parts, require_function, require_new
from empathylab.scales.fields import Id, ItemNumbers, ItemSet, Labels, Text, Texts
from empathylab.yaml_documents import Document

Rule = Literal["sum", "double-sum", "mean"]


class Subscale(FileModel):
    """Items that are scored together."""

    id: Id
    name: Text
    items: ItemNumbers

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.items:
            raise wrong("at least one item number", at=("items",))
        if self.id == "total":
            remedy = "The total is scored anyway; see the key 'total'."
            raise wrong("another word", remedy, at=("id",))
        return self


class Deviation(FileModel):
    """Where the file departs from the published instrument."""

    what: Text
    source: Text


class Scoring(FileModel):
    """Another published range or rule for the same items."""

    id: Id
    name: Text
    source: Text
    minimum: Whole | None = None
    maximum: Whole | None = None
    rule: Rule | None = None
    total: Flag | None = None


class Scale(FileModel):
    """A questionnaire: its range, its items, how it is scored, and its wording if that is known."""

    id: Id
    version: Whole
    name: Text
    citation: Text
    licence: Text
    minimum: Whole
    maximum: Whole
    anchors: Labels = Field(default_factory=dict)
    """Labels of the range; may be partial or empty."""
    items: Annotated[Whole, Field(ge=1)]
    """How many items there are; they are numbered from 1."""
    reversed: ItemSet = frozenset()
    """Items whose answer counts as minimum + maximum - answer."""
    rule: Rule
    emotion: Text | None = None
    subscales: tuple[Subscale, ...] = ()
    instruction: Text
    words: Texts | None = None
    """The wording of items 1, 2, 3 …, or None if the user has not brought it yet."""
    total: Flag = True
    """Whether all items together make a score, called `total`."""
    deviations: tuple[Deviation, ...] = Field(default=(), exclude=True)
    """What the file changes of the published instrument; no part of what is stored."""
    scorings: tuple[Scoring, ...] = Field(default=(), exclude=True)
    """Other published scorings, under names such as `gasp-means`; no part of what is stored."""

    def scored_as(self, scoring: Scoring) -> Scale:
        """The scale with the range and the rule of another scoring, under a name of its own."""
        named = {"id": f"{self.id}-{scoring.id}", "name": scoring.name, "scorings": ()}
        changes = {
            key: value
            for key in ("minimum", "maximum", "rule", "total")
            if (value := getattr(scoring, key)) is not None
        }
        low, high = (changes.get(key, getattr(self, key)) for key in ("minimum", "maximum"))
        ends = {self.minimum: low, self.maximum: high}
        anchors = {ends.get(value, value): label for value, label in self.anchors.items()}
        return self.model_copy(update={**named, **changes, "anchors": anchors})

    def __eq__(self, other: object) -> bool:
        # What is said about a scale is not stored with it, so it does not count here.
        return isinstance(other, Scale) and scale_to_dict(self) == scale_to_dict(other)

    def __hash__(self) -> int:
        return hash((self.id, self.version, self.words))

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.minimum >= self.maximum:
            raise wrong(f"less than 'maximum', which is {self.maximum}", at=("minimum",))
        for value in self.anchors:
            if not self.minimum <= value <= self.maximum:
                must = f"labels of values from {self.minimum} to {self.maximum}"
                raise wrong(must, at=("anchors",), got=value)
        self._check_items(sorted(self.reversed), ("reversed",))
        ids: set[str] = set()
        for number, part in enumerate(self.subscales):
            self._check_items(part.items, ("subscales", number, "items"))
            if part.id in ids:
                raise wrong("used once", at=("subscales", number, "id"))
            ids.add(part.id)
        if not self.total and not self.subscales:
            must = "true where there is no subscale, or nothing is scored"
            raise wrong(must, at=("total",))
        if self.words is not None and len(self.words) != self.items:
            must = f"{self.items} texts, one for each item"
            raise wrong(must, at=("words",), got=len(self.words))
        return self

    def _check_items(self, numbers: Iterable[int], at: tuple[str | int, ...]) -> None:
        for number in numbers:
            if not 1 <= number <= self.items:
                raise wrong(f"item numbers from 1 to {self.items}", at=at, got=number)

    def scored_parts(self) -> list[tuple[str, tuple[int, ...]]]:
        """What is scored, with its items: each subscale, then `total` where there is one."""
        parts = [(part.id, part.items) for part in self.subscales]
        return parts + ([("total", tuple(range(1, self.items + 1)))] if self.total else [])

    def require_words(self) -> tuple[str, ...]:
        """The wording of items 1, 2, 3 …; an error where it is not known."""
        if self.words is None:
            raise InputError(
                f"the wording of the {self.name} ({self.id}) is copyrighted and does not ship "
                "with EmpathyLab",
                remedy="Import it from your own file: empathylab scales import FILE",
            )
        return self.words


def builtin_scales() -> dict[str, Scale]:
    """The scales that ship with EmpathyLab, by id."""
    return dict(_shipped())


def known_scales() -> dict[str, Scale]:
    """The scales that ship and those of plugins, by id."""
    return builtin_scales() | _of_plugins()


def scale_plugin(name: str, part: Callable[[], Iterable[Scale]]) -> tuple[Scale, ...]:
    """The scales that the plugin's function returns; an error where it returns something else."""
    scales = tuple(require_function(name, part)())
    for scale in scales:
        if not isinstance(scale, Scale):
            raise TypeError(f"{name!r} must return scales, not {type(scale).__name__}")
        require_new(scale.id, _shipped())
    return scales


def builtin_scale(name: str) -> Scale:
    """The shipped scale of that id or full name, however it is spelled: 'dass-21', 'DASS21'."""
    scale = find_scale(name, _shipped().values())
    if scale is None:
        raise UnknownName("scale", name, _shipped())
    return scale


def find_scale(name: str, scales: Iterable[Scale]) -> Scale | None:
    """The scale whose id or full name is `name`, regardless of case, spaces and punctuation.

    `gasp-means` is the scale `gasp` in its scoring `means`.
    """
    wanted = _letters(name)
    known = list(scales)
    for scale in known:
        if wanted in (_letters(scale.id), _letters(scale.name)):
            return scale
    for scale in known:
        # A scale out of a lab does not carry its other scorings; the one that ships does.
        shipped = _shipped().get(scale.id, scale) if scale.scorings == () else scale
        for scoring in shipped.scorings:
            if wanted == _letters(f"{scale.id}-{scoring.id}"):
                return scale.scored_as(scoring)
    return None


def read_scale(path: str | Path) -> Scale:
    """The scale in a user's own TOML or JSON file, checked."""
    path = Path(path)
    readers = {".toml": read_toml, ".json": read_json}
    if path.suffix.lower() not in readers:
        raise InputError(
            "a scale file is TOML or JSON",
            where=path.name,
            got=path.suffix,
            remedy="Name the file something.toml or something.json.",
        )
    return scale_from_dict(readers[path.suffix.lower()](path), where=path.name)


def scale_to_dict(scale: Scale) -> dict[str, object]:
    """The scale as JSON can hold it; `scale_from_dict` reads it back."""
    table: dict[str, object] = {
        "id": scale.id,
        "version": scale.version,
        "name": scale.name,
        "citation": scale.citation,
        "licence": scale.licence,
        "instruction": scale.instruction,
        "minimum": scale.minimum,
        "maximum": scale.maximum,
        "anchors": {str(value): label for value, label in sorted(scale.anchors.items())},
        "items": scale.items,
        "reversed": sorted(scale.reversed),
        "rule": scale.rule,
        "subscales": [
            {"id": part.id, "name": part.name, "items": list(part.items)}
            for part in scale.subscales
        ],
        "total": scale.total,
    }
    if scale.emotion is not None:
        table["emotion"] = scale.emotion
    if scale.words is not None:
        table["words"] = list(scale.words)
    return table


def scale_from_dict(table: object, *, where: str = "scale") -> Scale:
    """The scale that a table from TOML or JSON describes, checked; `where` is named in errors."""
    if not isinstance(table, Mapping):
        raise InputError(
            "this must be a table of keys and values",
            where=where,
            got=type(table).__name__,
            remedy="Write `key = value` lines, or a JSON object.",
        )
    return validate(Scale, Document(table, where))


def scales_in(package: str, folder: str = "scales") -> tuple[Scale, ...]:
    """The scales in the TOML files of a package's folder, by the name of their file."""
    tables = packaged_tables(package, folder)
    return tuple(scale_from_dict(table, where=f"{name}.toml") for name, table in tables.items())


@functools.cache
def _shipped() -> dict[str, Scale]:
    return {scale.id: scale for scale in scales_in("empathylab.scales", "definitions")}


@functools.cache
def _of_plugins() -> dict[str, Scale]:
    added = plugin_parts("scales", scale_plugin)
    return {scale.id: scale for scales in added.values() for scale in scales}


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
