"""What must not go on: a participant in crisis, or a model's reply that must not be shown.

The words are data, by language (`safety.toml`). They find what is said plainly and nothing else:
no list recognises every crisis, so help stays reachable on every page.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence

from empathylab.files import packaged_table
from empathylab.models import Completion
from empathylab.study.live.settings import Live
from empathylab.words import count_words

# Scripts in which words are not set apart by spaces, or have endings and articles attached.
_UNSPACED = re.compile(r"[\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ECHO = 0.6
_ECHO_WORDS = 8
_LEAK_WORDS = 12


def crisis_words(text: str, language: str) -> tuple[str, ...]:
    """The entries of the list for crises that the text contains, in the order of the list.

    English entries count in every language, because people mix languages.
    """
    return _found("crisis", text, language)


def unsafe_words(text: str, language: str) -> tuple[str, ...]:
    """The same of what nobody may say to a participant."""
    return _found("unsafe", text, language)


def unknown_languages(kind: str, languages: Sequence[str]) -> list[str]:
    """Those of the languages in which there is no list of that kind: only English ones count."""
    return [language for language in languages if _base(language) not in _lists()[kind]]


def reply_problem(
    live: Live, completion: Completion, message: str, prompt: str, language: str
) -> str | None:
    """Why a model's reply must not be shown: the name of the first check that it fails.

    `message` is what the participant wrote and `prompt` the model's instructions. An empty reply is
    never shown.
    """
    text = completion.text.strip()
    refused = bool(completion.refusal) or completion.finish_reason == "content_filter"
    if not text:
        return "refusal" if refused else "empty"
    fails = {
        "unsafe": lambda: bool(_found("unsafe", text, language)),
        "identity": lambda: bool(_found("identity", text, language)),
        "refusal": lambda: refused or bool(_found("refusal", text, language)),
        "echo": lambda: _overlap(text, message) > _ECHO,
        "length": lambda: (
            completion.finish_reason == "length" or count_words(text) > live.maximum_words
        ),
        "leak": lambda: _repeats(text, prompt),
    }
    return next((check for check in live.checks if fails[check]()), None)


def _found(kind: str, text: str, language: str) -> tuple[str, ...]:
    plain = _plain(text)
    lists = _lists()[kind]
    entries = dict.fromkeys((*lists.get(_base(language), ()), *lists["en"]))
    return tuple(entry for entry in entries if _pattern(entry).search(plain))


def _base(language: str) -> str:
    return language.partition("-")[0].lower()


def _lists() -> dict[str, dict[str, list[str]]]:
    return packaged_table("empathylab.study.live", "safety.toml")


@functools.cache
def _pattern(entry: str) -> re.Pattern[str]:
    """An entry as a pattern: `*` stands for the rest of a word; some scripts match anywhere."""
    plain = re.escape(_plain(entry)).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")
    return re.compile(plain if _UNSPACED.search(entry) else rf"\b{plain}\b")


def _plain(text: str) -> str:
    """The text in lower case, without the differences between apostrophes and between spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub("[\u2018\u2019\u02bc`´']", "", text).split())


def _units(text: str, size: int) -> Iterator[tuple[str, ...]]:
    """Every run of so many words, or characters of unspaced scripts."""
    words: Sequence[str] = re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|\w+", _plain(text))
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _overlap(text: str, other: str) -> float:
    """The proportion of the text's runs of words that the other text has, too."""
    runs = list(_units(text, _ECHO_WORDS))
    known = set(_units(other, _ECHO_WORDS))
    return sum(run in known for run in runs) / len(runs) if runs else 0.0


def _repeats(text: str, prompt: str) -> bool:
    """Whether the text repeats a passage of the instructions."""
    return not set(_units(text, _LEAK_WORDS)).isdisjoint(_units(prompt, _LEAK_WORDS))
