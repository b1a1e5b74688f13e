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
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from empathylab.errors import InputError, UnknownName
from empathylab.files import read_json, read_toml
from empathylab.scales.fields import Fields

Rule = Literal["sum", "double-sum", "mean"]

_REQUIRED = (
    "id",
    "version",
    "name",
    "citation",
    "licence",
    "instruction",
    "minimum",
    "maximum",
    "items",
    "rule",
)
_OPTIONAL = ("anchors", "emotion", "reversed", "subscales", "total", "words")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Subscale:
    """Items that are scored together."""

    id: str
    name: str
    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """A questionnaire: its range, its items, how it is scored, and its wording if that is known."""

    id: str
    version: int
    name: str
    citation: str
    licence: str
    minimum: int
    maximum: int
    anchors: Mapping[int, str] = field(hash=False)
    """Labels of the range; may be partial or empty."""
    items: int
    """How many items there are; they are numbered from 1."""
    reversed: frozenset[int]
    """Items whose answer counts as minimum + maximum - answer."""
    rule: Rule
    emotion: str | None
    subscales: tuple[Subscale, ...]
    instruction: str
    words: tuple[str, ...] | None
    """The wording of items 1, 2, 3 …, or None if the user has not brought it yet."""
    total: bool
    """Whether all items together make a score, called `total`."""

    def require_words(self) -> tuple[str, ...]:
        """The wording of items 1, 2, 3 …; an error where it is not known."""
        if self.words is None:
            raise InputError(
                f"the wording of the {self.name} ({self.id}) belongs to others and does not ship "
                "with EmpathyLab",
                remedy="Bring it from a file you have: empathylab scales import FILE",
            )
        return self.words


def builtin_scales() -> dict[str, Scale]:
    """The scales that ship with EmpathyLab, by id."""
    return dict(_shipped())


def builtin_scale(name: str) -> Scale:
    """The shipped scale of that id or full name, however it is spelled: 'dass-21', 'DASS21'."""
    found = find_scale(name, _shipped().values())
    if found is None:
        raise UnknownName("scale", name, _shipped())
    return found


def find_scale(name: str, scales: Iterable[Scale]) -> Scale | None:
    """The scale whose id or full name is `name`, regardless of case, spaces and punctuation."""
    wanted = _letters(name)
    return next((s for s in scales if wanted in (_letters(s.id), _letters(s.name))), None)


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
    fields = Fields(table, where=where, required=_REQUIRED, optional=_OPTIONAL)
    minimum, maximum = _range(fields)
    items = fields.whole("items")
    if items < 1:
        raise fields.wrong("items", "the number of items, at least 1", items)
    return Scale(
        id=_id(fields),
        version=fields.whole("version"),
        name=fields.text("name"),
        citation=fields.text("citation"),
        licence=fields.text("licence"),
        minimum=minimum,
        maximum=maximum,
        anchors=_anchors(fields, minimum, maximum),
        items=items,
        reversed=frozenset(_items(fields, "reversed", items)),
        rule=_rule(fields),
        emotion=fields.optional_text("emotion"),
        subscales=_subscales(fields, items),
        instruction=fields.text("instruction"),
        words=_words(fields, items),
        total=_total(fields),
    )


@functools.cache
def _shipped() -> dict[str, Scale]:
    folder = importlib.resources.files("empathylab.scales") / "definitions"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    scales = [
        scale_from_dict(tomllib.loads(file.read_text(encoding="utf-8")), where=file.name)
        for file in files
        if file.name.endswith(".toml")
    ]
    return {scale.id: scale for scale in scales}


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _id(fields: Fields) -> str:
    name = fields.text("id")
    if not _ID.fullmatch(name):
        raise fields.wrong("id", "lower-case letters, digits and hyphens", name)
    return name


def _range(fields: Fields) -> tuple[int, int]:
    minimum, maximum = fields.whole("minimum"), fields.whole("maximum")
    if minimum >= maximum:
        raise fields.wrong("minimum", f"less than 'maximum', which is {maximum}", minimum)
    return minimum, maximum


def _anchors(fields: Fields, minimum: int, maximum: int) -> dict[int, str]:
    anchors = fields.labels("anchors")
    for value in anchors:
        if not minimum <= value <= maximum:
            raise fields.wrong("anchors", f"labels of values from {minimum} to {maximum}", value)
    return anchors


def _rule(fields: Fields) -> Rule:
    name = fields.text("rule")
    for rule in get_args(Rule):
        if name == rule:
            return rule  # type: ignore[no-any-return]
    raise fields.wrong("rule", "sum, double-sum or mean", name)


def _items(fields: Fields, key: str, items: int) -> tuple[int, ...]:
    numbers = fields.wholes(key)
    for number in numbers:
        if not 1 <= number <= items:
            raise fields.wrong(key, f"item numbers from 1 to {items}", number)
    repeated = sorted({number for number in numbers if numbers.count(number) > 1})
    if repeated:
        raise fields.wrong(key, "item numbers, each once", repeated)
    return numbers


def _subscales(fields: Fields, items: int) -> tuple[Subscale, ...]:
    subscales: list[Subscale] = []
    for number, table in enumerate(fields.tables("subscales"), start=1):
        where = f"{fields.where}, subscale {number}"
        part = Fields(table, where=where, required=("id", "name", "items"))
        subscale = Subscale(_id(part), part.text("name"), _items(part, "items", items))
        if not subscale.items:
            raise part.wrong("items", "at least one item number", [])
        if subscale.id == "total":
            raise part.wrong(
                "id", "another word", "total", "The total is scored anyway; see the key 'total'."
            )
        if subscale.id in {earlier.id for earlier in subscales}:
            raise part.wrong("id", "used once", subscale.id)
        subscales.append(subscale)
    return tuple(subscales)


def _total(fields: Fields) -> bool:
    total = fields.flag("total", default=True)
    if not total and not fields.tables("subscales"):
        raise fields.wrong("total", "true where there is no subscale, or nothing is scored", total)
    return total


def _words(fields: Fields, items: int) -> tuple[str, ...] | None:
    if fields.table.get("words") is None:
        return None
    words = fields.texts("words")
    if len(words) != items:
        raise fields.wrong("words", f"{items} texts, one for each item", len(words))
    return words
