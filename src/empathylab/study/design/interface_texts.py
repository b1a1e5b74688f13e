"""The words that pages say of themselves, as they ship and as a study may bring its own.

They are in `web/interface/`, one file per language; a study's file can hold others under its key
`interface`, in the same shape, for a language that nobody has translated yet or for other words.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml

from empathylab.file_models import unknown, wrong
from empathylab.yaml_documents import Path

ENGLISH = "en"
Tree = Mapping[str, Any]
"""Texts by name, or further tables of such."""


@functools.cache
def shipped_languages() -> tuple[str, ...]:
    """The languages that the interface is written in."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in _folder().iterdir()))


@functools.cache
def shipped_words(language: str) -> Tree:
    """The interface in one of those languages."""
    words: Tree = yaml.safe_load(_folder().joinpath(f"{language}.yaml").read_text("utf-8"))
    return words


def interface_words(language: str, own: Mapping[str, Tree]) -> Tree:
    """The interface in a language: a study's own words over ours, and English where none are."""
    short = language.partition("-")[0].lower()
    words = shipped_words(short if short in shipped_languages() else ENGLISH)
    return _over(words, own[language]) if language in own else words


def untranslated(language: str, own: Mapping[str, Tree]) -> int:
    """How many texts of the interface people read in English although they read that language."""
    if language.partition("-")[0].lower() in shipped_languages():
        return 0
    there = {name for name, _ in _leaves(own.get(language, {}))}
    return sum(name not in there for name, _ in _leaves(shipped_words(ENGLISH)))


def read_interface(texts: Any, languages: Sequence[str]) -> dict[str, Tree]:
    """The texts that a study brings, by language, checked against the English ones."""
    if not isinstance(texts, Mapping) or not texts:
        raise wrong("a table from each language to its texts")
    for language in texts:
        if language not in languages:
            raise unknown("language of the study", str(language), languages, at=(language,))
    english = shipped_words(ENGLISH)
    return {name: _read(own, english, (name,)) for name, own in texts.items()}


def _read(texts: Any, english: Tree, at: Path) -> Tree:
    if not isinstance(texts, Mapping) or not texts:
        raise wrong("a table of texts", at=at)
    words: dict[str, Any] = {}
    for name, own in texts.items():
        here = (*at, name)
        if name not in english:
            raise unknown("text of the interface", str(name), english, at=here)
        original = english[name]
        is_table = isinstance(original, Mapping)
        words[name] = _read(own, original, here) if is_table else _text(own, original, here)
    return words


def _text(own: Any, original: str, at: Path) -> str:
    written = str(getattr(own, "written", own)).strip()
    if own is None or isinstance(own, Mapping | list) or not written:
        raise wrong("text that is not empty", at=at)
    try:
        same = _blanks(written) == _blanks(original)
    except ValueError:
        same = False
    if not same:
        wanted = ", ".join(f"{{{blank}}}" for blank in sorted(_blanks(original))) or "no braces"
        raise wrong(f"a text with {wanted}", "Write each in braces, as in English.", at=at)
    return written


def _blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _leaves(words: Tree, path: str = "") -> Iterator[tuple[str, str]]:
    for name, word in words.items():
        if isinstance(word, dict):
            yield from _leaves(word, f"{path}{name}.")
        else:
            yield path + name, word


def _over(below: Tree, above: Tree) -> Tree:
    return {
        name: (_over(word, above[name]) if isinstance(word, dict) else above[name])
        if name in above
        else word
        for name, word in below.items()
    }


def _folder() -> Any:
    # By its path: to import the pages would need a web server.
    return files("empathylab.study").joinpath("web", "interface")
