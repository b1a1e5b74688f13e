"""The items' wording, read from files that users have.

Three kinds of file are understood:

- EmotionBench's `questionnaires.json`: a list of questionnaires, each with `name`, `questions`,
  `scale`, `reverse`, `compute_mode` and `categories`. An unknown name becomes a new scale with
  the properties in the file.
- JSON of our own: `{"name": "TEQ", "items": {"1": "…", "2": "…"}}`, or a list of such objects;
  `items` may also be a plain list.
- CSV with the columns `scale`, `item`, `text`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from empathylab.errors import InputError, UnknownName
from empathylab.file_models import FileModel, Whole, validate
from empathylab.files import read_json, read_text
from empathylab.scales.definition import (
    Scale,
    builtin_scales,
    find_scale,
    scale_from_dict,
)
from empathylab.scales.fields import ItemNumbers, NumberedTexts, Text
from empathylab.yaml_documents import Document

_COLUMNS = ("scale", "item", "text")
_RULES = {"SUM": "sum", "SUM*2": "double-sum", "AVG": "mean", "MEAN": "mean"}
_FROM_TO = re.compile(r"from (-?\d{1,4}) to (-?\d{1,4})")


class _Wording(FileModel):
    """An entry of our own JSON."""

    name: Text
    items: NumberedTexts


class _Category(BaseModel, frozen=True):
    cat_name: Text
    cat_questions: ItemNumbers


class _Questionnaire(BaseModel, frozen=True):
    """An entry of EmotionBench's `questionnaires.json`; what it holds beyond this is not read."""

    name: Text
    questions: NumberedTexts
    compute_mode: Literal["SUM", "SUM*2", "AVG", "MEAN"]
    scale: Whole
    """The lowest plus the highest answer."""
    reverse: ItemNumbers
    categories: tuple[_Category, ...]
    inner_setting: Any = ""
    prompt: Any = ""


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
        got="a folder" if path.is_dir() else path.suffix or "no ending",
        remedy="Name a file that ends in .json or .csv.",
    )


def with_words(scale: Scale, words: Sequence[str]) -> Scale:
    """The scale with that wording of items 1, 2, 3 …"""
    if len(words) != scale.items:
        raise InputError(
            f"{scale.id} has {scale.items} items",
            got=f"{len(words)} texts",
            remedy="Give the wording of every item, once.",
        )
    return scale.model_copy(update={"words": tuple(words)})


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
    if not isinstance(entry, Mapping):
        raise InputError(
            "this must be a table of keys and values",
            where=where,
            got=type(entry).__name__,
            remedy="Give it the keys name, items.",
        )
    wording = validate(_Wording, Document(entry, where))
    scale = _known_scale(wording.name, scales, where)
    return _checked(scale, wording.items, source, where)


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
        raise InputError(
            "the file has only a header line", where=path.name, remedy="Add the items."
        )
    return [_checked(scales[name], items, path.name, path.name) for name, items in texts.items()]


def _questionnaire(
    entry: Mapping[str, object], scales: Mapping[str, Scale], source: str, where: str
) -> WordingFor:
    """The wording of one of EmotionBench's questionnaires, or a new scale."""
    questionnaire = validate(_Questionnaire, Document(entry, where))
    scale = find_scale(questionnaire.name, scales.values())
    if scale is None:
        scale = _new_scale(questionnaire, source, where)
        words = _checked(scale, questionnaire.questions, source, where).words
        return WordingFor(scale.id, words, source, with_words(scale, words))
    if frozenset(questionnaire.reverse) != scale.reversed:
        raise InputError(
            f"'reverse' must be the reversed items of {scale.id}, {sorted(scale.reversed)}",
            where=where,
            got=entry["reverse"],
            remedy="The file contains another version of the scale. Give it another name.",
        )
    return _checked(scale, questionnaire.questions, source, where)


def _new_scale(questionnaire: _Questionnaire, source: str, where: str) -> Scale:
    items = len(questionnaire.questions)
    minimum, maximum = _stated_range(questionnaire, where)
    subscales, covers_all = [], False
    for part in questionnaire.categories:
        numbers = sorted(part.cat_questions)
        if numbers == list(range(1, items + 1)):
            covers_all = True
        else:
            subscales.append({"id": _slug(part.cat_name), "name": part.cat_name, "items": numbers})
    table = {
        "id": _slug(questionnaire.name),
        "version": 1,
        "name": questionnaire.name,
        "citation": f"Not stated in {source}.",
        "licence": f"Not stated in {source}; ask the scale's authors before you publish its items.",
        "instruction": "Answer each of the following.",
        "minimum": minimum,
        "maximum": maximum,
        "items": items,
        "reversed": list(questionnaire.reverse),
        "rule": _RULES[questionnaire.compute_mode],
        "subscales": subscales,
        "total": covers_all or not subscales,
    }
    return scale_from_dict(table, where=where)


def _stated_range(questionnaire: _Questionnaire, where: str) -> tuple[int, int]:
    """The range that the prompts state; `scale` must be its ends' sum, as reversal uses it."""
    for text in (questionnaire.inner_setting, questionnaire.prompt):
        for match in _FROM_TO.finditer(str(text)):
            low, high = int(match[1]), int(match[2])
            if low + high == questionnaire.scale and low < high:
                return low, high
    raise InputError(
        "'scale' must be lowest plus highest answer, with 'from LOWEST to HIGHEST' in "
        "'inner_setting' or 'prompt'",
        where=where,
        got=questionnaire.scale,
        remedy="State the range there, or write your own scale file.",
    )


def _known_scale(name: str, scales: Mapping[str, Scale], where: str) -> Scale:
    scale = find_scale(name, scales.values())
    if scale is None:
        raise UnknownName(
            "scale", name, scales, where=where, remedy="A new scale needs a scale file first."
        )
    return scale


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
