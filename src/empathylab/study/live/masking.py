"""Personal details replaced before a text leaves for a model: names, numbers, addresses, links.

Everything happens on the server by patterns and short lists (`masking.toml`). They find what has
the form of a detail; an unusual name without a cue stays. That is why pages ask participants to
leave such details out, and why consent names who receives the text.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

_PLACEHOLDER = re.compile(r"\[(?:name|number|address|link) \d+\]")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without personal details."""

    text: str
    replaced: dict[str, str]
    """By placeholder, what it stands for."""

    def restored(self, text: str) -> str:
        """A reply to the masked text, with the participant's own words in place of placeholders."""
        return _PLACEHOLDER.sub(lambda found: self.replaced.get(found[0], found[0]), text)


def mask(text: str, language: str = "en") -> Masked:
    """The text with placeholders such as `[name 1]`; the same detail has the same placeholder."""
    placeholders: dict[tuple[str, str], str] = {}
    replaced: dict[str, str] = {}

    def placeholder(kind: str, found: re.Match[str]) -> str:
        detail = found["detail"]
        key = kind, detail.casefold()
        if key not in placeholders:
            number = sum(known == kind for known, _ in placeholders) + 1
            placeholders[key] = f"[{kind} {number}]"
            replaced[placeholders[key]] = detail
        before = found.start("detail") - found.start()
        after = found.end("detail") - found.start()
        return found[0][:before] + placeholders[key] + found[0][after:]

    for kind, pattern in _patterns(language.partition("-")[0].lower()):
        text = pattern.sub(functools.partial(placeholder, kind), text)
    return Masked(text, replaced)


@functools.cache
def _data() -> dict[str, Any]:
    text = (files("empathylab.study.live") / "masking.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@functools.cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Kinds of details with their patterns: the general ones, and those of a language."""
    data = _data()
    general = {kind: re.compile(pattern) for kind, pattern in data["patterns"].items()}
    own = data["languages"].get(language, data["languages"]["en"])
    found = [("link", general["link"])]
    found += [("address", re.compile(pattern)) for pattern in own.get("addresses", ())]
    found.append(("number", general["number"]))  # after addresses, which have numbers in them
    found += [("name", re.compile(pattern)) for pattern in own.get("names", ())]
    given = "|".join(sorted(data["given_names"], key=len, reverse=True))
    # A capitalised word after a given name is a surname, except where all nouns are capitalised.
    surname = r"(?:[ \t]+[A-ZÀ-Þ][\w'’-]+)?" if language == "en" else ""
    found.append(("name", re.compile(rf"\b(?P<detail>(?:{given}){surname})\b")))
    return tuple(found)
