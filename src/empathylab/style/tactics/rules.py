"""The rules that tell tactics of empathic language by their wording: data that code obeys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import polars as pl

from empathylab.errors import InputError, UnknownName

_FILE_KEYS = ("version", "language", "words", "tactic")
_KEYS = ("name", "meaning", "patterns", "unless", "examples", "counterexamples")
_AT_ONCE = 4
_ENGLISH = "en"
_SPELLINGS = (
    (r"\b(you|they)(re|ve|ll|d)\b", "${1}'${2}"),
    (r"\b(must|could|would|should|might)ve\b", "${1}'ve"),
    (r"\b(do|does|did|is|are|was|were|have|has|had|could|would|should|ca|wo|ai)nt\b", "${1}n't"),
    (r"\b(that|what|who|how|where|when|there|here|let|he|she)s\b", "${1}'s"),
    (r"\bi(m|ve)\b", "i'${1}"),
    (r"\b(?:u|ya)\b", "you"),
    (r"\bur\b", "your"),
)
_NAME = re.compile(r"(?<![?P])<(\w+)>")


@dataclass(frozen=True, slots=True)
class Tactic:
    """One tactic: where one of `patterns` is found and none of `unless`."""

    name: str
    meaning: str
    patterns: tuple[str, ...]
    unless: tuple[str, ...]
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TacticRules:
    """A set of tactics, in the order of the file."""

    language: str
    version: int
    tactics: tuple[Tactic, ...]

    @property
    def names(self) -> list[str]:
        """The tactics' names."""
        return [tactic.name for tactic in self.tactics]

    def positions(self, sentences: pl.Series) -> pl.DataFrame:
        """Per sentence and tactic, at which byte the tactic is first found; null where it is not.

        The rules read `plain_sentences`.
        """
        plain = plain_sentences(sentences, self.language).alias("sentence")
        return plain.to_frame().select(_position(tactic) for tactic in self.tactics)


def plain_sentences(sentences: pl.Series, language: str = _ENGLISH) -> pl.Series:
    """The sentences in lower case, with single spaces; in English with omitted apostrophes."""
    plain = (
        sentences.cast(pl.String)
        .str.to_lowercase()
        .str.replace_all("[’ʼ]", "'")
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
    )
    for pattern, written in _SPELLINGS if language == _ENGLISH else ():
        plain = plain.str.replace_all(pattern, written)
    return plain


def tactic_rules(path: Path | None = None) -> TacticRules:
    """The rules in the file, or the ones that come with the package (English).

    Every rule is tried on its own examples and counterexamples first, so that a slip of the pen
    in a pattern is an error at once.
    """
    if path is None:
        return _built_in_rules()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "the file cannot be read as UTF-8 text",
            where=str(path),
            got=str(error),
            remedy="Check the path, its permissions and how the file was saved.",
        ) from None
    return parse_tactic_rules(text, where=path.name)


@cache
def _built_in_rules() -> TacticRules:
    text = (files("empathylab.style") / "lists" / "tactics.toml").read_text(encoding="utf-8")
    return parse_tactic_rules(text, where="tactics.toml")


def parse_tactic_rules(text: str, *, where: str) -> TacticRules:
    """The rules that the TOML text holds, tried on their own examples."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"this is not TOML: {error}", where=where, remedy="Fix the file's syntax."
        ) from None
    for key in table:
        if key not in _FILE_KEYS:
            raise UnknownName("key", key, _FILE_KEYS, where=where)
    language = str(table.get("language", ""))
    words = _words(table.get("words", {}), where)
    entries = table.get("tactic", [])
    if not isinstance(entries, list) or not entries:
        raise InputError(
            "the file contains no tactics",
            where=where,
            remedy="Add a [[tactic]] table with name, meaning and patterns.",
        )
    tactics = tuple(
        _tactic(entry, words, language, f"{where} [[tactic]] {i}")
        for i, entry in enumerate(entries, 1)
    )
    rules = TacticRules(language, int(table.get("version", 1)), tactics)
    doubled = next((name for name in rules.names if rules.names.count(name) > 1), None)
    if doubled is not None:
        raise InputError(
            "two tactics have the same name",
            where=where,
            got=doubled,
            remedy="Put their patterns together, or rename one.",
        )
    _try_out(rules, where)
    return rules


def _words(table: object, where: str) -> dict[str, str]:
    if not isinstance(table, Mapping) or not all(isinstance(text, str) for text in table.values()):
        raise InputError(
            "'words' must be a table of texts",
            where=where,
            got=table,
            remedy='Write it as name = "first|second".',
        )
    return {name: f"(?:{text})" for name, text in table.items()}


def _tactic(entry: object, words: Mapping[str, str], language: str, where: str) -> Tactic:
    if not isinstance(entry, Mapping):
        raise InputError("a tactic must be a table", where=where, remedy="Write [[tactic]] above.")
    for key in entry:
        if key not in _KEYS:
            raise UnknownName("key", str(key), _KEYS, where=where)
    for key in ("name", "meaning"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(
                f"{key!r} must be text that is not empty",
                where=where,
                got=entry.get(key),
                remedy=f"Give the tactic a {key}.",
            )
    lists = {key: _texts(entry, key, where) for key in _KEYS[2:]}
    if not lists["patterns"]:
        raise InputError("'patterns' is empty", where=where, remedy="Add a regular expression.")
    for key in ("patterns", "unless"):
        lists[key] = tuple(_expand(pattern, words, where) for pattern in lists[key])
        for pattern in lists[key]:
            _require_pattern(pattern, where)
        if language == _ENGLISH:
            lists[key] = tuple(map(_ascii, lists[key]))
    return Tactic(entry["name"], entry["meaning"], **lists)


def _expand(pattern: str, words: Mapping[str, str], where: str) -> str:
    """The pattern with the words that each `<name>` stands for."""

    def listed(match: re.Match[str]) -> str:
        if match[1] not in words:
            raise UnknownName("name in [words]", match[1], list(words), where=where)
        return words[match[1]]

    return _NAME.sub(listed, pattern)


def _ascii(pattern: str) -> str:
    """The pattern with the letters and word boundaries of ASCII, found in half the time."""
    pattern = pattern.replace(r"[\w", "[0-9a-z_").replace(r"\w", "[0-9a-z_]")
    return pattern.replace(r"\b", r"(?-u:\b)")


def _texts(entry: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise InputError(
            f"{key!r} must be a list of texts, none of them empty",
            where=where,
            got=value,
            remedy=f"Correct {key} in the file.",
        )
    return tuple(value)


def _require_pattern(pattern: str, where: str) -> None:
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        reason = [line.strip() for line in str(error).splitlines() if line.startswith("error:")]
        raise InputError(
            f"a pattern is not a regular expression ({(reason or ['it cannot be read'])[-1]})",
            where=where,
            got=pattern,
            remedy="Use the Rust syntax, without look-ahead, look-behind and back-references.",
        ) from None


def _try_out(rules: TacticRules, where: str) -> None:
    for tactic in rules.tactics:
        for sentences, should in ((tactic.examples, True), (tactic.counterexamples, False)):
            series = pl.Series("sentence", sentences, dtype=pl.String)
            plain = plain_sentences(series, rules.language).alias("sentence").to_frame()
            matched = plain.select(_position(tactic)).to_series().is_not_null()
            for sentence, is_matched in zip(sentences, matched, strict=True):
                if is_matched != should:
                    raise InputError(
                        f"the rule for {tactic.name!r} {'misses' if should else 'finds'} "
                        f"{'its example' if should else 'its counterexample'}",
                        where=where,
                        got=sentence,
                        remedy="Change the pattern or the sentence.",
                    )


def _position(tactic: Tactic) -> pl.Expr:
    sentence = pl.col("sentence")
    # The engine looks for a few patterns by their letters; for many at once it cannot.
    few = [
        tactic.patterns[first : first + _AT_ONCE]
        for first in range(0, len(tactic.patterns), _AT_ONCE)
    ]
    place = pl.min_horizontal(sentence.str.find(_either(patterns)) for patterns in few)
    if tactic.unless:
        place = pl.when(~sentence.str.contains(_either(tactic.unless))).then(place)
    return place.alias(tactic.name)


def _either(patterns: tuple[str, ...]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)
