"""Golden results: what is stored of a command's JSON output, and how today's output is compared.

Stored form
- Numbers are rounded to 10 significant digits.
- Texts written by the program (notes, reasons, paragraphs) are not compared, because their wording
  may change. Only whether there is a text is kept: null, empty or `TEXT`; a list becomes `TEXTS`.
- Texts that come from the data (replies, phrases, words, factor names) become a short digest.
- What depends on the clock, the folder or the prompt's wording becomes `VARIES`.
- Of a list with more than `LONGEST` entries only every k-th and the last are kept, with the length.

Comparison
- Each stored key must be there; new keys are allowed. Lists keep their length and order.
- Integers, booleans, nulls and labels are equal. Other numbers agree to a relative 1e-6, or to
  1e-12 where the value is practically zero.
- Mixed models and the classifier of authors agree to 1e-4: where an optimiser stops depends on the
  linear algebra library.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST = 100
KEPT = 80
MOST_SHOWN = 40
TEXT, TEXTS, VARIES = "(text)", "(texts)", "(varies)"

PROSE = frozenset(
    {
        "doubtful",
        "good_for",
        "meaning",
        "not_for",
        "note",
        "notes",
        "paragraphs",
        "problem",
        "problems",
        "question",
        "reason",
        "reasons",
        "remedy",
        "rests_on",
        "title",
    }
)
DATA_TEXTS = frozenset(
    {
        "examples",
        "factor",
        "phrase",
        "situation_text",
        "term",
        "text",
        "utterance",
        "variants",
        "words",
    }
)
PROSE_PATHS = ("judges[].verdict", "exclusions.counts[].rule")
VARYING_PATHS = (
    "*mixed_model.seconds",
    "*mixed_models[].seconds",
    "sessions[].seconds",
    "sessions[].prompt_tokens",  # the prompt's wording
    "report",  # a path in the lab's folder
    "respondents[].judged_first",  # the day of the test
    "respondents[].judged_last",
)
OPTIMISED_PATHS = ("*mixed_model*", "*predictability*")

RELATIVE = 1e-6
RELATIVE_OPTIMISED = 1e-4
ABSOLUTE = 1e-12


def matches(path: str, patterns: Any) -> bool:
    """Whether a path without indices fits a pattern, in which `*` stands for anything."""
    return bool(_any_of(tuple(patterns)).fullmatch(_INDEX.sub("[]", path)))


_INDEX = re.compile(r"\[\d+\]")


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    if not patterns:
        return re.compile(r"(?!)")
    return re.compile("|".join(".*".join(map(re.escape, item.split("*"))) for item in patterns))


def digest(text: str) -> str:
    """A short fingerprint of a text that must not be stored."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:12]


def stored_form(value: Any, path: str = "", key: str = "") -> Any:
    """The part of a command's JSON that is stored and compared."""
    if matches(path, VARYING_PATHS):
        return VARIES
    if key in PROSE or matches(path, PROSE_PATHS):
        return _without_words(value, path)
    if isinstance(value, dict):
        return {
            name: stored_form(one, f"{path}.{name}".lstrip("."), name)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return _thinned([stored_form(one, f"{path}[{i}]", key) for i, one in enumerate(value)])
    if isinstance(value, str):
        return digest(value) if key in DATA_TEXTS else value
    if isinstance(value, float):
        return float(f"{value:.10g}")
    return value


def _without_words(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return TEXT if value else ""
    if isinstance(value, list):
        return TEXTS
    if isinstance(value, dict):
        return {name: _without_words(one, path) for name, one in value.items()}
    return value


def _thinned(values: list[Any]) -> Any:
    if len(values) <= LONGEST:
        return values
    step = math.ceil(len(values) / KEPT)
    places = sorted({*range(0, len(values), step), len(values) - 1})
    return {"length": len(values), "kept": {str(place): values[place] for place in places}}


def _is_thinned(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"length", "kept"}


def differences(
    golden: Any, today: Any, corrections: Mapping[str, str], case: str, path: str = ""
) -> Iterator[str]:
    """One line for each stored value that today's result lacks or changes."""
    if matches(f"{case}:{path}", corrections):
        return
    if _is_thinned(golden) and _is_thinned(today):
        if golden["length"] != today["length"]:
            yield f"{case}:{path} has {today['length']} entries; it had {golden['length']}"
            return
        for place, value in golden["kept"].items():
            now = today["kept"][place]
            yield from differences(value, now, corrections, case, f"{path}[{place}]")
    elif isinstance(golden, dict) and isinstance(today, dict):
        for name, value in golden.items():
            below = f"{path}.{name}".lstrip(".")
            if name in today:
                yield from differences(value, today[name], corrections, case, below)
            elif not matches(f"{case}:{below}", corrections):
                yield f"{case}:{below} is missing; it was {_short(value)}"
    elif isinstance(golden, list) and isinstance(today, list):
        if len(golden) != len(today):
            yield f"{case}:{path} has {len(today)} entries; it had {len(golden)}"
            return
        for place, (value, now) in enumerate(zip(golden, today, strict=True)):
            yield from differences(value, now, corrections, case, f"{path}[{place}]")
    elif not _same(golden, today, path):
        yield f"{case}:{path} is {_short(today)}; it was {_short(golden)}"


def summary(found: list[str]) -> str:
    """All differences in few lines: the first of each path, and how many there are."""
    by_path: dict[str, list[str]] = {}
    for line in found:
        by_path.setdefault(re.sub(r"\[\d+\]", "[]", line.split()[0]), []).append(line)
    lines = [
        lines[0] + (f" (and {len(lines) - 1} more like it)" if len(lines) > 1 else "")
        for lines in by_path.values()
    ]
    more = [f"and {len(lines) - MOST_SHOWN} more paths"] if len(lines) > MOST_SHOWN else []
    return "\n".join([f"{len(found)} differences:", *lines[:MOST_SHOWN], *more])


def _same(golden: Any, today: Any, path: str) -> bool:
    numbers = (int, float)
    if isinstance(golden, bool) or isinstance(today, bool):
        return golden is today
    if isinstance(golden, float) and isinstance(today, numbers):
        relative = RELATIVE_OPTIMISED if matches(path, OPTIMISED_PATHS) else RELATIVE
        return math.isclose(golden, today, rel_tol=relative, abs_tol=ABSOLUTE)
    return bool(golden == today)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
