"""In which language a text is written, by its script and its most common words.

The rule can be read and checked by hand: letters of a script that the expected language does not
use, or clearly more of another language's most common words. Where neither says enough, as in short
texts, nothing is claimed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from empathylab.files import packaged_table

_LANGUAGES = packaged_table("empathylab.protocols", "languages.toml")
LANGUAGE_NAMES = {code: str(language["name"]) for code, language in _LANGUAGES.items()}
_WORDS_OF = {
    code: frozenset(language["words"].split())
    for code, language in _LANGUAGES.items()
    if "words" in language
}

# What begins the names of letters that are used as signs, whatever the language.
_NO_SCRIPT = ("FULLWIDTH", "HALFWIDTH", "MATHEMATICAL", "MODIFIER", "MICRO", "UNKNOWN")

_LEAST_LETTERS = 6
_LEAST_WORDS = 8
_FOREIGN_SHARE = 0.25
_LEAST_HITS = 3
_HIT_SHARE = 0.2


def language_code(language: str) -> str:
    """The code alone, in small letters: `pt` for `pt-BR`."""
    return re.split(r"[-_]", language.lower())[0]


def departs_from(text: str, language: str) -> str | None:
    """How the text departs from that language, in words; None if it does not, or is undecided.

    `language` is a code such as `en` or `pt-BR`; one that the rule does not know is undecided.
    """
    code = language_code(language)
    if code not in _LANGUAGES:
        return None
    rule, expected = _LANGUAGES[code], LANGUAGE_NAMES[code]
    letters = Counter(script for script in map(_script, text) if script)
    total = sum(letters.values())
    foreign = {script: n for script, n in letters.items() if script not in rule["scripts"]}
    if total >= _LEAST_LETTERS and sum(foreign.values()) >= _FOREIGN_SHARE * total:
        script = max(foreign, key=lambda name: foreign[name])
        shown = "Chinese" if script == "CJK" else script.capitalize()
        return f"a quarter or more is in {shown} letters, not in {expected}"
    needed = rule.get("needed")
    if needed and total >= 2 * _LEAST_LETTERS and letters.keys().isdisjoint(needed):
        return f"it is in Chinese, not in {expected}"
    if code not in _WORDS_OF:
        return None
    other = _likeliest(text, code)
    return other and f"it is in {LANGUAGE_NAMES[other]}, not in {expected}"


def _likeliest(text: str, expected: str) -> str | None:
    """The language whose common words are clearly more than the expected one's."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower().replace("’", "'"))
    if len(words) < _LEAST_WORDS:
        return None
    # Each word once: "ha ha ha ha" is not Spanish.
    different = set(words)
    hits = {code: len(different & common) for code, common in _WORDS_OF.items()}
    best = max(hits, key=lambda code: hits[code])
    enough = hits[best] >= max(_LEAST_HITS, _HIT_SHARE * len(different))
    return best if enough and 2 * hits[expected] < hits[best] else None


@cache
def _script(character: str) -> str | None:
    """The script of a letter: the first word of its name in Unicode."""
    if not character.isalpha():
        return None
    if character.isascii():
        return "LATIN"
    script = unicodedata.name(character, "UNKNOWN").split()[0]
    return None if script in _NO_SCRIPT else script
