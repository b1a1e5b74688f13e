"""Labels cut short between signs, before Vega cuts them.

Vega counts the halves of an emoji as signs of their own. Where it cuts one in two, what is left is
no text, and drawing stops. So in a chart with such signs labels are cut here, and Vega cuts none.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import regex

_USUAL = 180
"""Pixels that Vega gives a label by default."""
_WIDTH = 0.55
"""Of a letter, as a share of its height."""
_SHORTEST = 8
_FREE = {"labelLimit": 0, "titleLimit": 0}


def whole_signs(spec: dict[str, Any], *, height: float) -> dict[str, Any]:
    """The specification with labels that fit, if any sign in it could be cut in two.

    `height` is that of the labels, in pixels. Labels that would look the same are numbered.
    """
    if not _has_halves(json.dumps(spec, ensure_ascii=False)):
        return spec
    room = max(_limits(spec), default=_USUAL)
    texts = dict.fromkeys(_data_texts(spec))
    short = _shortened(list(texts), max(_SHORTEST, int(room / (height * _WIDTH))))
    chart: dict[str, Any] = _replaced(spec, short)
    config = chart.get("config", {})
    free = {part: {**config.get(part, {}), **_FREE} for part in ("axis", "legend", "header")}
    title = {"title": {**config.get("title", {}), "limit": 0}}
    chart["config"] = config | free | title
    return chart


def cut_short(text: str, most: int) -> str:
    """The text, or as many of its whole signs as fit with an ellipsis; wide ones count twice."""
    signs = regex.findall(r"\X", text)
    widths = [_wide(sign) for sign in signs]
    if sum(widths) <= most:
        return text
    kept, used = [], 1
    for sign, width in zip(signs, widths, strict=True):
        used += width
        if used > most:
            break
        kept.append(sign)
    return "".join(kept).rstrip() + "…"


def _wide(sign: str) -> int:
    wide = _has_halves(sign) or unicodedata.east_asian_width(sign[0]) in "WF"
    return 2 if wide else 1


def _has_halves(text: str) -> bool:
    return any(ord(sign) > 0xFFFF for sign in text)


def _shortened(texts: list[str], most: int) -> dict[str, str]:
    """What to write instead of the texts that Vega could cut in a sign."""
    taken, found = set(texts), {}
    for text in texts:
        if not _has_halves(text) or (cut := cut_short(text, most)) == text:
            continue
        name, count = cut, 1
        while name in taken:
            count += 1
            name = f"{cut} {count}"
        taken.add(name)
        found[text] = name
    return found


def _data_texts(value: Any) -> Iterator[str]:
    """The texts in the chart's data, of which labels are made."""
    if isinstance(value, list):
        for part in value:
            yield from _data_texts(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _texts(part) if name in ("data", "datasets") else _data_texts(part)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _limits(spec: dict[str, Any]) -> Iterator[float]:
    """The room of the labels of axes, in pixels, where the chart gives it."""
    for unit in spec.get("layer", [spec]):
        for channel in unit.get("encoding", {}).values():
            axis = channel.get("axis") if isinstance(channel, dict) else None
            if isinstance(axis, dict) and axis.get("labelLimit", 0) > 0:
                yield axis["labelLimit"]


def _replaced(value: Any, texts: dict[str, str]) -> Any:
    """The same with other texts, wherever they stand, and without limits at which Vega cuts."""
    if isinstance(value, dict):
        return {
            name: 0 if name in _FREE or _is_expression(name, part) else _replaced(part, texts)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_replaced(part, texts) for part in value]
    return texts.get(value, value) if isinstance(value, str) else value


def _is_expression(name: str, part: Any) -> bool:
    """Whether it is the room of a text in a chart, which a chart computes."""
    return name == "limit" and isinstance(part, dict)
