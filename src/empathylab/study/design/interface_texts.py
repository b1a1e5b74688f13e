"""The words that pages say of themselves, as they ship and as a study may bring its own.

They are in `web/interface/`, one file per language; a study's file can hold others under its key
`interface`, in the same shape, for a language that nobody has translated yet or for other words.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import yaml

from empathylab.errors import InputError, UnknownName
from empathylab.study.design.entries import Entry, Table

ENGLISH = "en"
Tree = Mapping[str, Any]
"""Texts by name, or further tables of such."""


@functools.cache
def shipped_languages() -> tuple[str, ...]:
    """The languages that the interface is written in."""
    return tuple(sorted(one.name.removesuffix(".yaml") for one in _folder().iterdir()))


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


def read_interface(table: Table, languages: tuple[str, ...]) -> dict[str, Tree]:
    """The words that a study brings, by language, checked against the English ones."""
    entry = table.get("interface")
    if entry is None:
        return {}
    found: dict[str, Tree] = {}
    for language, one in entry.pairs("a table from each language to its words").items():
        if language not in languages:
            raise UnknownName("language of the study", language, languages, where=one.where)
        found[language] = _read(one, shipped_words(ENGLISH))
    return found


def _read(entry: Entry, english: Tree) -> Tree:
    words: dict[str, Any] = {}
    for name, one in entry.pairs("a table of words").items():
        if name not in english:
            raise UnknownName("text of the interface", name, english, where=one.where)
        original = english[name]
        words[name] = _read(one, original) if isinstance(original, dict) else _text(one, original)
    return words


def _text(entry: Entry, original: str) -> str:
    written = entry.text()
    try:
        same = _blanks(written) == _blanks(original)
    except ValueError:
        same = False
    if not same:
        wanted = ", ".join(f"{{{one}}}" for one in sorted(_blanks(original))) or "no braces"
        raise InputError(
            f"{entry.key!r} must hold {wanted}",
            where=entry.where,
            got=written,
            remedy="Write each in braces, as the English text does.",
        )
    return written


def _blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _leaves(words: Tree, path: str = "") -> Iterator[tuple[str, str]]:
    for name, one in words.items():
        if isinstance(one, dict):
            yield from _leaves(one, f"{path}{name}.")
        else:
            yield path + name, one


def _over(below: Tree, above: Tree) -> Tree:
    return {
        name: (_over(one, above[name]) if isinstance(one, dict) else above[name])
        if name in above
        else one
        for name, one in below.items()
    }


def _folder() -> Any:
    # By its path: to import the pages would need a web server.
    return files("empathylab.study").joinpath("web", "interface")
