"""Interface texts of the pages, read from `interface/`; all other texts are the study's."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request

from empathylab.study.blocks.forms import Problem
from empathylab.study.design.interface_texts import Tree, interface_words


@dataclass(frozen=True, slots=True)
class PageText:
    """A page that is none of the study's."""

    title: str
    text: str


class Words:
    """The interface in one language: the texts of its file in `interface/`, as attributes.

    What is not listed here is a plain text.
    """

    speakers: Mapping[str, str]
    """Who speaks in a conversation."""
    chat: Mapping[str, str]
    """Of conversations with the participant."""
    preference: Mapping[str, str]
    """The answers to a comparison of two replies."""
    counts: Mapping[str, str]
    """Which of several, by the kind of page."""
    parts: Mapping[str, str]
    """Headings, by a part's role."""
    problems: Mapping[str, str]
    """What is wrong with an answer, by the problem's code."""
    closed: Mapping[str, PageText]
    """By the reason why someone cannot take part."""
    pages: Mapping[str, PageText]

    def __init__(self, texts: Tree) -> None:
        vars(self).update(texts)
        for part in ("pages", "closed"):
            setattr(self, part, {name: PageText(**page) for name, page in texts[part].items()})

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"the interface has no text {name!r}")

    @property
    def for_guests(self) -> str:
        """What someone cannot do in another browser than the one in which they began."""
        return f"{self.pages['leave-guest'].text} {self.other_browser}"

    def problem_text(self, problem: Problem) -> str:
        """What is wrong with an answer, in this language."""
        return self.problems[problem.code].format(**problem.numbers)


_NOTHING: Mapping[str, Tree] = {}
_own: dict[tuple[int, str], tuple[Mapping[str, Tree], Words]] = {}
"""Words of studies that bring their own; each keeps its mapping, so that its id stays taken."""


def words_in(language: str, own: Mapping[str, Tree] = _NOTHING) -> Words:
    """The interface in that language; in English where nobody has translated it yet.

    `own` are a study's own words, by language.
    """
    if language not in own:
        return _ours(language)
    key = id(own), language
    if key not in _own:
        _own[key] = own, Words(interface_words(language, own))
    return _own[key][1]


@functools.lru_cache(maxsize=200)
def _ours(language: str) -> Words:
    return Words(interface_words(language, _NOTHING))


_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})
_OWN_NAMES = {
    "ar": "العربية",
    "cs": "Čeština",
    "da": "Dansk",
    "de": "Deutsch",
    "en": "English",
    "es": "Español",
    "fa": "فارسی",
    "fi": "Suomi",
    "fr": "Français",
    "he": "עברית",
    "hi": "हिन्दी",
    "id": "Bahasa Indonesia",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "ru": "Русский",
    "sv": "Svenska",
    "tr": "Türkçe",
    "uk": "Українська",
    "ur": "اردو",
    "vi": "Tiếng Việt",
    "zh": "中文",
}


def direction(language: str) -> str:
    """The writing direction of a language, as HTML's `dir` names it."""
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def own_name(language: str) -> str:
    """The name of a language in that language, such as `Deutsch` or `Português (BR)`."""
    short, _, region = language.partition("-")
    name = _OWN_NAMES.get(short.lower(), short)
    return f"{name} ({region})" if region else name


def asked_language(request: Request, known: Sequence[str]) -> str:
    """The one of the known languages that the link or the browser asks for first."""
    spoken = request.headers.get("accept-language", "")[:200].split(",")
    browser = (entry.partition(";")[0].strip() for entry in spoken)
    for item in (request.query_params.get("language", ""), *browser):
        for language in known:
            if item and item.lower().partition("-")[0] == language.lower().partition("-")[0]:
                return language
    return known[0]
