"""Personal details replaced before a text leaves for a model: names, numbers, addresses, links.

Everything happens on the server by patterns and short lists (`masking.toml`). They find what has
the form of a detail: an unusual name at the start of a sentence stays where nothing else in the
conversation shows that it is one. That is why pages ask participants to leave such details out,
and why consent names who receives the text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from empathylab.files import packaged_table

_PLACEHOLDER = re.compile(r"\[(?:name|number|address|link) \d+\]")
_LETTERS = [chr(code) for code in (*range(0x41, 0x250), *range(0x370, 0x530))]
_UPPER = "".join(letter for letter in _LETTERS if letter.isupper())
_LOWER = "".join(letter for letter in _LETTERS if letter.islower())
# Scripts that none of the languages with Latin letters is written in.
_OTHER_SCRIPT = "[\u0590-\u08ff\u0900-\u0fff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_LEAST_NAME = 3
"""Letters of a name that is looked for everywhere once it is known."""
Patterns = tuple[tuple[str, re.Pattern[str]], ...]


class Masks:
    """The placeholders of one conversation; the same detail has the same one in all its turns."""

    def __init__(self, language: str = "en", earlier: Iterable[str] = ()) -> None:
        self._patterns = _patterns(language.partition("-")[0].lower())
        self._placeholders: dict[tuple[str, str], str] = {}
        self._replaced: dict[str, str] = {}
        for text in earlier:
            self.mask(text)

    def mask(self, text: str) -> str:
        """The text with placeholders such as `[name 1]`."""
        for kind, pattern in self._patterns:
            text = pattern.sub(functools.partial(self._replace, kind), text)
        return self._known_names(text)

    def restored(self, text: str) -> str:
        """A reply, with the participant's own words in place of placeholders."""
        return _PLACEHOLDER.sub(lambda match: self._replaced.get(match[0], match[0]), text)

    def _replace(self, kind: str, match: re.Match[str]) -> str:
        start, end = (at - match.start() for at in match.span("detail"))
        return match[0][:start] + self._placeholder(kind, match["detail"]) + match[0][end:]

    def _placeholder(self, kind: str, detail: str) -> str:
        key = kind, detail.casefold()
        if key not in self._placeholders:
            number = sum(existing.startswith(f"[{kind} ") for existing in self._replaced) + 1
            self._placeholders[key] = placeholder = f"[{kind} {number}]"
            self._replaced[placeholder] = detail
            for part in detail.split() if kind == "name" else ():
                self._placeholders.setdefault((kind, part.casefold()), placeholder)
        return self._placeholders[key]

    def _known_names(self, text: str) -> str:
        """The text without names that a pattern has found elsewhere in the conversation."""
        names = [
            re.escape(name)
            for kind, name in self._placeholders
            if kind == "name" and len(name) >= _LEAST_NAME
        ]
        if not names:
            return text
        known = rf"(?<!\[)\b(?P<detail>{'|'.join(sorted(names, key=len, reverse=True))})\b"
        return re.sub(
            known,
            lambda match: match[0] if match[0].islower() else self._replace("name", match),
            text,
            flags=re.IGNORECASE,
        )


@functools.cache
def _patterns(language: str) -> Patterns:
    """Kinds of details with their patterns: the general ones, and those of a language."""
    data = packaged_table("empathylab.study.live", "masking.toml")
    own = data["languages"].get(language, data["languages"]["en"])
    name = rf"[{_UPPER}][{_LOWER}{_UPPER}'’-]*[{_LOWER}{_UPPER}]"
    # The words of a name are capitalised and no ordinary words, such as days.
    ordinary = "|".join(data["ordinary"] + own.get("ordinary", []))
    part = rf"(?!(?:{ordinary})\b)(?-i:{name})(?<!['’]s)"
    words = {"PART": part, "NAME": rf"{part}(?:[ \t]{part})?"}
    patterns = [("link", data["patterns"]["link"])]
    patterns += [("address", pattern) for pattern in own.get("addresses", ())]
    patterns.append(("number", data["patterns"]["number"]))  # after addresses: they have numbers
    patterns += [("name", _filled(pattern, words)) for pattern in own.get("names", ())]
    # A capitalised word after a given name is a surname, except where all nouns are capitalised.
    given = "|".join(sorted(data["given_names"], key=len, reverse=True))
    surname = "" if own.get("capital_nouns") else rf"(?:[ \t]{part})?"
    patterns.append(("name", rf"\b(?P<detail>(?:{given}){surname})\b"))
    if not own.get("unspaced") and not own.get("capital_nouns"):
        # Within a sentence: after a small letter, a number or a comma.
        inside = rf"(?<=[{_LOWER}0-9,;\]] )(?P<detail>{words['NAME']})\b"
        patterns.append(("name", inside))
    if not own.get("unspaced"):
        patterns.append(("name", rf"(?P<detail>{_OTHER_SCRIPT}+(?: {_OTHER_SCRIPT}+)?)"))
    return tuple((kind, re.compile(pattern)) for kind, pattern in patterns)


def _filled(pattern: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        pattern = pattern.replace(f"<{name}>", value)
    return pattern
