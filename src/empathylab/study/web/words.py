"""What the pages say of themselves, read from `interface/`; all other texts are the study's."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

import yaml


@dataclass(frozen=True, slots=True)
class Said:
    """A page that is none of the study's."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """The interface in one language."""

    go_on: str
    back: str
    optional: str
    progress: str
    problem: str
    problem_one: str
    problem_many: str
    stay: str
    keys: str
    keys_off: str
    keys_on: str
    offline: str
    wait: str
    content_note: str
    help: str
    contact: str
    leave: str
    moved: str
    answer: str
    leave_keep: str
    leave_delete: str
    leave_stay: str
    try_again: str
    reload: str
    code: str
    return_to: str
    return_work: str
    counts: Mapping[str, str] = field(hash=False)
    """Which of several, by the kind of page."""
    parts: Mapping[str, str] = field(hash=False)
    """Headings, by a part's role."""
    closed: Mapping[str, str] = field(hash=False)
    """Headings, by the reason why somebody has no place."""
    pages: Mapping[str, Said] = field(hash=False)


def words_in(language: str) -> Words:
    """The interface in that language; in English where nobody has translated it yet."""
    known = _known()
    short = language.partition("-")[0].lower()
    return _read(short if short in known else "en")


@functools.cache
def _known() -> frozenset[str]:
    folder = files("empathylab.study.web").joinpath("interface")
    return frozenset(one.name.partition(".")[0] for one in folder.iterdir())


@functools.cache
def _read(language: str) -> Words:
    folder = files("empathylab.study.web").joinpath("interface")
    given = yaml.safe_load(folder.joinpath(f"{language}.yaml").read_text(encoding="utf-8"))
    pages = {name: Said(**page) for name, page in given.pop("pages").items()}
    return Words(pages=pages, **given)
