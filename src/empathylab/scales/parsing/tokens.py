"""A free answer as tokens: digits of every script folded to ours, item words and labels known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from empathylab.scales.answer_languages import answer_languages
from empathylab.scales.definition import Scale

Kind = Literal["number", "decimal", "numeral", "anchor", "words", "text", "mark", ""]

NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER_WORDS = {
    **{
        word: number
        for language in answer_languages().values()
        for word, number in language.number_words
    },
    **{word: number for number, word in enumerate(NUMERALS)},
}
_NUMBER_WORD = "|".join(sorted(map(re.escape, NUMBER_WORDS), key=len, reverse=True))
_LONGEST_NUMBER = 6
"""Digits beyond which a number is surely no answer and no item."""

_KEYCAPS = re.compile("(?:[0-9]\ufe0f?\u20e3)+")
_ARROW = re.compile(r"[-=]{1,2}>|[→⇒➔➜⟶]")
_OUTER_QUOTE = re.compile(r"(?<![^\W_])'|'(?![^\W_])")
_ITEM_FORMS = tuple(
    pattern for language in answer_languages().values() for pattern in language.item_forms
)
# Chinese, Japanese and Korean put no spaces around figures.
_BESIDE_FIGURES = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3])(?=\d)"
    r"|(?<=\d)(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3])"
)
_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)


class Token(NamedTuple):
    """A piece of a line."""

    kind: Kind
    """`decimal` is a number that is not whole or absurdly long; `text` is a word of no meaning."""
    text: str
    number: int
    """The value of a number, numeral or anchor; the position of an item's words; else 0."""
    spaced: bool
    """Whether white space, or the start of the line, comes before it."""


Line = list[Token]


def kind_at(line: Line, index: int) -> Kind:
    """The kind of that token; '' after the end of the line."""
    return line[index].kind if index < len(line) else ""


def text_at(line: Line, index: int) -> str:
    """The text of that token; '' after the end of the line."""
    return line[index].text if index < len(line) else ""


def skip_marks(line: Line, index: int) -> int:
    """The index of the next token that is no punctuation."""
    while kind_at(line, index) == "mark":
        index += 1
    return index


class Lexicon:
    """What a scale's answers may be made of: item words by position shown, labels by value."""

    def __init__(self, scale: Scale, order: Sequence[int]) -> None:
        words = scale.words or ()
        shown = enumerate(order, start=1) if words else ()
        self.words = _unique((_phrase(words[item - 1]), position) for position, item in shown)
        anchors = _unique((_phrase(label), value) for value, label in scale.anchors.items())
        self.anchors = {label: value for label, value in anchors.items() if label not in self.words}
        self.scale = scale
        self.positions = len(order)
        self._pattern = re.compile(
            "|".join(
                [
                    *_alternatives("words", self.words),
                    *_alternatives("anchor", self.anchors),
                    r"(?P<number>(?:(?<![\w)\]])[+-])?\d+(?:\.\d+)?(?![^\W_]))",
                    rf"(?P<numeral>(?<![^\W_])(?:{_NUMBER_WORD})(?![\w']))",
                    r"(?P<prefix>(?<![^\W_])(?:q|item|question|statement|no)(?=\d))",
                    r"(?P<text>[^\W_]+(?:'[^\W_]+)*)",
                    r"(?P<mark>[^\s\w])",
                    r"(?P<line>\n)",
                ]
            )
        )

    def lines(self, text: str) -> list[Line]:
        """The tokens of each line that has any."""
        lines: list[Line] = [[]]
        end = 0
        for match in self._pattern.finditer(fold(text)):
            if match.lastgroup == "line":
                lines.append([])
            else:
                lines[-1].append(self._token(match, match.start() > end or not lines[-1]))
            end = match.end()
        return [line for line in lines if line]

    def _token(self, match: re.Match[str], spaced: bool) -> Token:
        text = match[0]
        match match.lastgroup:
            case "words":
                return Token("words", text, self.words[" ".join(text.split())], spaced)
            case "anchor":
                return Token("anchor", text, self.anchors[" ".join(text.split())], spaced)
            case "number":
                whole = _whole(text)
                return Token("decimal" if whole is None else "number", text, whole or 0, spaced)
            case "numeral":
                return Token("numeral", text, NUMBER_WORDS[text], spaced)
            case "mark":
                return Token("mark", text, 0, spaced)
            case _:
                return Token("text", text, 0, spaced)


def fold(text: str) -> str:
    """The text in lower case, with one spelling for digits, dashes, quotes, arrows and spaces."""
    text = _BREAK.sub("\n", text)
    text = _KEYCAPS.sub(lambda run: "".join(re.findall(r"\d", run[0])) + ". ", text)
    text = text.translate(_FOLDED).lower()
    text = _ARROW.sub("=", text)
    if not text.isascii():
        for form in _ITEM_FORMS:
            text = form.sub(r" \1. ", text)
        text = _BESIDE_FIGURES.sub(" ", text)
    return _OUTER_QUOTE.sub(" ", text)


class _Folding(dict[int, str]):
    """A translation table for `str.translate` that works out each character once."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _folded(chr(code))
        return folded


def _folded(char: str) -> str:
    if "！" <= char <= "～":
        return _FOLDED[ord(char) - 0xFEE0]
    if char in _SPELLINGS:
        return _SPELLINGS[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category == "No":
        return _enclosed(char)
    if category in ("Zl", "Zp"):
        return "\n"
    if category in ("Zs", "Cf", "Cc"):
        return " "
    return "-" if category == "Pd" else char


def _enclosed(char: str) -> str:
    """Circled and bracketed numbers as '3. '; superscripts and fractions as they are."""
    number = unicodedata.numeric(char)
    plain = number.is_integer() and "<su" not in unicodedata.decomposition(char)
    return f" {int(number)}. " if plain else char


_FOLDED = _Folding()
_SPELLINGS = (
    dict.fromkeys('*`_\\{}"“”„«»\t', " ")
    | dict.fromkeys("‘’ʼ", "'")
    | dict.fromkeys("、،", ",")
    | {"\n": "\n", "\r": "\n", "\ufe0f": "", "。": ".", "٫": ".", "−": "-", "🔟": "10. "}
)


def _phrase(words: str) -> str:
    """The words as tokens show them, without closing punctuation."""
    return " ".join(fold(words).split()).strip(".,;:!? ")


def _unique(phrases: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Phrases with a letter in them that stand for one number only."""
    pairs = [pair for pair in phrases if re.search(r"[^\W\d_]", pair[0])]
    seen = [phrase for phrase, _ in pairs]
    return {phrase: number for phrase, number in pairs if seen.count(phrase) == 1}


def _alternatives(kind: Kind, phrases: Iterable[str]) -> list[str]:
    """A pattern for the phrases, the longest first, or nothing."""
    escaped = [
        r"[^\S\n]+".join(re.escape(word) for word in phrase.split())
        for phrase in sorted(phrases, key=len, reverse=True)
    ]
    return [rf"(?P<{kind}>(?<![^\W_])(?:{'|'.join(escaped)})(?![^\W_]))"] if escaped else []


def _whole(text: str) -> int | None:
    digits, _, fraction = text.partition(".")
    if fraction.strip("0") or len(digits) > _LONGEST_NUMBER:
        return None
    return int(digits)
