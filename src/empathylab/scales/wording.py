"""The items' wording, read from files that users have.

Three kinds of file are understood:

- EmotionBench's `questionnaires.json`: a list of questionnaires, each with `name`, `questions`,
  `scale`, `reverse`, `compute_mode` and `categories`. One whose name is no known scale becomes a
  new scale, built from what the file says of it.
- JSON of our own: `{"name": "TEQ", "items": {"1": "…", "2": "…"}}`, or a list of such objects;
  `items` may also be a plain list.
- CSV with the columns `scale`, `item`, `text`.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from empathylab.errors import InputError, UnknownName
from empathylab.files import read_json, read_text
from empathylab.scales.definition import (
    Scale,
    builtin_scales,
    find_scale,
    scale_from_dict,
)
from empathylab.scales.fields import Fields

_COLUMNS = ("scale", "item", "text")
_RULES = {"SUM": "sum", "SUM*2": "double-sum", "AVG": "mean", "MEAN": "mean"}
_FROM_TO = re.compile(r"from (-?\d{1,4}) to (-?\d{1,4})")


@dataclass(frozen=True, slots=True)
class WordingFor:
    """The wording of one scale, as a file has it."""

    scale_id: str
    words: tuple[str, ...]
    """In the order of the items' numbers."""
    source: str
    """The file's name."""
    new_scale: Scale | None = None
    """The whole scale, wording included, where the file brings one that was not known."""


def read_wording(path: str | Path, *, known: Mapping[str, Scale] | None = None) -> list[WordingFor]:
    """The wordings in the file, checked against the `known` scales (those that ship, if None)."""
    path = Path(path)
    scales = builtin_scales() if known is None else known
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _from_csv(path, scales)
    if suffix == ".json":
        return _from_json(path, scales)
    raise InputError(
        "wording is read from JSON or CSV",
        where=path.name,
        got=path.suffix,
        remedy="Name the file something.json or something.csv.",
    )


def with_words(scale: Scale, words: Sequence[str], *, where: str | None = None) -> Scale:
    """The scale with that wording of items 1, 2, 3 …"""
    if len(words) != scale.items:
        raise InputError(
            f"{scale.id} has {scale.items} items",
            where=where,
            got=f"{len(words)} texts",
            remedy="Give the wording of every item, once.",
        )
    return dataclasses.replace(scale, words=tuple(words))


def _from_json(path: Path, scales: Mapping[str, Scale]) -> list[WordingFor]:
    content = read_json(path)
    wordings = []
    for number, entry in enumerate(content if isinstance(content, list) else [content], start=1):
        where = f"{path.name}, entry {number}" if isinstance(content, list) else path.name
        if isinstance(entry, Mapping) and "questions" in entry:
            wordings.append(_questionnaire(entry, scales, path.name, where))
        else:
            wordings.append(_small_json(entry, scales, path.name, where))
    if not wordings:
        raise InputError("the list is empty", where=path.name, remedy="Add a scale to the file.")
    return wordings


def _small_json(entry: object, scales: Mapping[str, Scale], source: str, where: str) -> WordingFor:
    fields = Fields(entry, where=where, required=("name", "items"))
    scale = _known_scale(fields.text("name"), scales, where)
    return _checked(scale, _numbered(fields, "items"), source, where)


def _from_csv(path: Path, scales: Mapping[str, Scale]) -> list[WordingFor]:
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    columns = [name.strip() for name in rows.fieldnames or ()]
    if sorted(columns) != sorted(_COLUMNS):
        raise InputError(
            f"the columns must be {', '.join(_COLUMNS)}",
            where=path.name,
            got=", ".join(columns),
            remedy="Name the columns in the first line.",
        )
    rows.fieldnames = columns
    texts: dict[str, dict[int, str]] = {}
    for row in rows:
        where = f"{path.name} line {rows.line_num}"
        scale = _known_scale((row["scale"] or "").strip(), scales, where)
        item, text = _item(row["item"], where), (row["text"] or "").strip()
        if item in texts.setdefault(scale.id, {}):
            raise InputError(
                f"{scale.id} already has a text for this item",
                where=where,
                got=item,
                remedy="Keep one line for each item.",
            )
        texts[scale.id][item] = text
    if not texts:
        raise InputError("there is no line but the first", where=path.name, remedy="Add the items.")
    return [_checked(scales[name], items, path.name, path.name) for name, items in texts.items()]


def _questionnaire(
    entry: Mapping[str, object], scales: Mapping[str, Scale], source: str, where: str
) -> WordingFor:
    """The wording of one of EmotionBench's questionnaires, or a new scale."""
    fields = Fields(
        entry,
        where=where,
        required=("name", "questions", "compute_mode", "scale", "reverse", "categories"),
        optional=tuple(entry),
    )
    name, texts = fields.text("name"), _numbered(fields, "questions")
    scale = find_scale(name, scales.values())
    if scale is None:
        scale = _new_scale(fields, len(texts), source)
        words = _checked(scale, texts, source, where).words
        return WordingFor(scale.id, words, source, dataclasses.replace(scale, words=words))
    if frozenset(fields.wholes("reverse")) != scale.reversed:
        raise fields.wrong(
            "reverse",
            f"the reversed items of {scale.id}, {sorted(scale.reversed)}",
            entry["reverse"],
            "The file holds another version of the scale; give it another name.",
        )
    return _checked(scale, texts, source, where)


def _new_scale(fields: Fields, items: int, source: str) -> Scale:
    name = fields.text("name")
    mode = fields.text("compute_mode")
    if mode not in _RULES:
        raise fields.wrong("compute_mode", f"one of {', '.join(_RULES)}", mode)
    minimum, maximum = _stated_range(fields)
    subscales, covers_all = [], False
    for table in fields.tables("categories"):
        part = Fields(
            table,
            where=fields.where,
            required=("cat_name", "cat_questions"),
            optional=tuple(table) if isinstance(table, Mapping) else (),
        )
        numbers = sorted(part.wholes("cat_questions"))
        if numbers == list(range(1, items + 1)):
            covers_all = True
        else:
            title = part.text("cat_name")
            subscales.append({"id": _slug(title), "name": title, "items": numbers})
    table = {
        "id": _slug(name),
        "version": 1,
        "name": name,
        "citation": f"Not stated in {source}.",
        "licence": f"Not stated in {source}; ask the scale's authors before you publish its items.",
        "instruction": "Answer each of the following.",
        "minimum": minimum,
        "maximum": maximum,
        "items": items,
        "reversed": list(fields.wholes("reverse")),
        "rule": _RULES[mode],
        "subscales": subscales,
        "total": covers_all or not subscales,
    }
    return scale_from_dict(table, where=fields.where)


def _stated_range(fields: Fields) -> tuple[int, int]:
    """The range that the prompts state; `scale` must be its ends' sum, as reversal uses it."""
    turned = fields.whole("scale")
    for key in ("inner_setting", "prompt"):
        for match in _FROM_TO.finditer(str(fields.table.get(key, ""))):
            low, high = int(match[1]), int(match[2])
            if low + high == turned and low < high:
                return low, high
    raise fields.wrong(
        "scale",
        "lowest plus highest answer, with 'from LOWEST to HIGHEST' in 'inner_setting' or 'prompt'",
        turned,
        "State the range there, or write a scale file of your own.",
    )


def _known_scale(name: str, scales: Mapping[str, Scale], where: str) -> Scale:
    scale = find_scale(name, scales.values())
    if scale is None:
        raise UnknownName(
            "scale", name, scales, where=where, remedy="A new scale needs a scale file first."
        )
    return scale


def _numbered(fields: Fields, key: str) -> dict[int, str]:
    """Texts by item number, from a table or a plain list."""
    if isinstance(fields.table[key], list):
        return dict(enumerate(fields.texts(key), start=1))
    return fields.labels(key)


def _item(number: str | None, where: str) -> int:
    try:
        return int(number or "")
    except ValueError:
        raise InputError(
            "'item' must be a whole number", where=where, got=number, remedy="Number the items."
        ) from None


def _checked(scale: Scale, texts: Mapping[int, str], source: str, where: str) -> WordingFor:
    expected = range(1, scale.items + 1)
    lacking = [str(item) for item in expected if not texts.get(item, "").strip()]
    extra = [str(item) for item in texts if item not in expected]
    if lacking or extra:
        faults = [f"no text for item {', '.join(lacking)}"] if lacking else []
        faults += [f"a text for item {', '.join(extra)}"] if extra else []
        raise InputError(
            f"{scale.id} has items 1 to {scale.items}",
            where=where,
            got=" and ".join(faults),
            remedy="Give the wording of every item, once.",
        )
    return WordingFor(scale.id, tuple(texts[item].strip() for item in expected), source)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
