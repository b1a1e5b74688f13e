"""What the pages say of themselves, read from `interface/`; all other texts are the study's."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from empathylab.study.blocks.forms import Problem
from empathylab.study.design.interface_texts import Tree, interface_words


@dataclass(frozen=True, slots=True)
class PageText:
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
    language: str
    moved: str
    answer: str
    no_reply: str
    leave_keep: str
    leave_delete: str
    leave_stay: str
    try_again: str
    reload: str
    code: str
    return_to: str
    return_work: str
    please_choose: str
    place: str
    tries_left: str
    rate_this: str
    wrong_answer: str
    details_warning: str
    look_again: str
    need_help: str
    stop: str
    keep_data: str
    withdraw_data: str
    speakers: Mapping[str, str] = field(hash=False)
    """Who speaks in a conversation."""
    chat: Mapping[str, str] = field(hash=False)
    """Of conversations with the participant."""
    preference: Mapping[str, str] = field(hash=False)
    """The answers to a comparison of two replies."""
    counts: Mapping[str, str] = field(hash=False)
    """Which of several, by the kind of page."""
    parts: Mapping[str, str] = field(hash=False)
    """Headings, by a part's role."""
    problems: Mapping[str, str] = field(hash=False)
    """What is wrong with an answer, by the problem's code."""
    closed: Mapping[str, PageText] = field(hash=False)
    """By the reason why someone has no place."""
    pages: Mapping[str, PageText] = field(hash=False)

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
        _own[key] = own, _words(interface_words(language, own))
    return _own[key][1]


@functools.lru_cache(maxsize=200)
def _ours(language: str) -> Words:
    return _words(interface_words(language, _NOTHING))


def _words(given: Tree) -> Words:
    rest = dict(given)
    pages, closed = (
        {name: PageText(**page) for name, page in rest.pop(part).items()}
        for part in ("pages", "closed")
    )
    return Words(pages=pages, closed=closed, **rest)


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
