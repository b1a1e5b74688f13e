"""The console's words: English in the templates and modules, other languages in `texts/`.

A text is its own key. `text` marks one in a module, so that a test finds it; `{name}` stands for a
value.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import yaml
from markupsafe import Markup
from starlette.requests import Request

from empathylab.errors import UserError
from empathylab.study.web.interface_texts import asked_language

LANGUAGES = {"en": "English", "zh": "中文"}
COOKIE = "console-language"


def text(words: str) -> str:
    """The words as they are; marks them as a text of the console."""
    return words


def console_language(request: Request) -> str:
    """The language that was chosen, or that the browser asks for first."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else asked_language(request, tuple(LANGUAGES))


@functools.cache
def translations(language: str) -> dict[str, str]:
    """By the English text, the text in that language; empty for English."""
    if language == "en":
        return {}
    file = files("empathylab.study.web.console").joinpath("texts", f"{language}.yaml")
    loaded: dict[str, str] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


def translated(language: str, words: str, **values: object) -> str:
    """The words in that language with their values; English where nobody has translated them."""
    translation = translations(language).get(words, words)
    return translation.format(**values) if values else translation


def translated_html(language: str, words: str, **values: object) -> Markup:
    """The same for words with HTML in them; values are escaped."""
    # The words are ours; only values can hold what others wrote.
    return Markup(translated(language, words)).format(**values)  # noqa: S704


def translated_error(language: str, error: UserError) -> str:
    """What is wrong and how to fix it, in that language."""
    if language == "en":
        return str(error)
    return f"{translated(language, error.what)}。{translated(language, error.remedy)}"
