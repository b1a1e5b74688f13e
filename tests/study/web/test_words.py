"""The interface says the same in every language that it knows."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import pytest

from empathylab.study import parse_study
from empathylab.study.web.words import words_in
from tests.study.examples import BETWEEN
from tests.study.web.desk import Desk
from tests.study.web.raters import Visitor, app_of

FOLDER = files("empathylab.study.web").joinpath("interface")
LANGUAGES = sorted(one.name.partition(".")[0] for one in FOLDER.iterdir())


def texts(given: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text with where it stands."""
    if isinstance(given, Mapping):
        for name, one in given.items():
            yield from texts(one, f"{path}/{name}")
    else:
        yield path, given


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_all_texts_with_the_same_blanks(language: str) -> None:
    own = dict(texts(dataclasses.asdict(words_in(language))))
    english = dict(texts(dataclasses.asdict(words_in("en"))))
    assert own.keys() == english.keys()
    assert all(own.values())
    assert {name: blanks(one) for name, one in own.items()} == {
        name: blanks(one) for name, one in english.items()
    }


def test_a_language_nobody_has_translated_is_english() -> None:
    assert words_in("fi") == words_in("en")
    assert words_in("de-AT") == words_in("de")


@pytest.mark.parametrize(
    ("link", "header", "button"),
    [("/", "de-CH,en;q=0.5", "Weiter"), ("/", "fi", "Continue"), ("/?language=de", "", "Weiter")],
)
def test_a_page_comes_in_the_language_that_was_asked_for(
    link: str, header: str, button: str
) -> None:
    study = dataclasses.replace(parse_study(BETWEEN), languages=("en", "de"))
    desk = Desk(study)
    visitor = Visitor(app_of(desk), **{"Accept-Language": header})
    page = visitor.get(link)
    visitor.close()
    assert f">{button}</button>" in page.text
