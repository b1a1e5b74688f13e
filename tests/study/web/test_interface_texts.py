"""The interface says the same in every language that it knows."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, get_args

import pytest

from empathylab.errors import InputError, UnknownName
from empathylab.study import parse_study
from empathylab.study.blocks.forms import Code, problem
from empathylab.study.design.interface_texts import shipped_words, untranslated
from empathylab.study.design.protocol import to_dict
from empathylab.study.design.reading import study_from_dict
from empathylab.study.web.interface_texts import words_in
from tests.study.examples import BETWEEN, altered
from tests.study.web.desk import Desk
from tests.study.web.raters import Visitor, app_of

FOLDER = files("empathylab.study.web").joinpath("interface")
LANGUAGES = sorted(path.name.partition(".")[0] for path in FOLDER.iterdir())


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
    own = dict(texts(shipped_words(language)))
    english = dict(texts(shipped_words("en")))
    assert own.keys() == english.keys()
    assert all(own.values())
    assert {name: blanks(one) for name, one in own.items()} == {
        name: blanks(one) for name, one in english.items()
    }


def test_french_punctuation_never_starts_a_line() -> None:
    french = dict(texts(shipped_words("fr")))
    assert [text for text in french.values() if re.search(r"« | [:;?!»%]", text)] == []


def test_a_language_nobody_has_translated_is_english() -> None:
    assert vars(words_in("fi")) == vars(words_in("en"))
    assert vars(words_in("de-AT")) == vars(words_in("de"))


@pytest.mark.parametrize(
    ("link", "header", "button"),
    [("/", "de-CH,en;q=0.5", "Weiter"), ("/", "fi", "Continue"), ("/?language=de", "", "Weiter")],
)
def test_a_page_comes_in_the_language_that_was_asked_for(
    link: str, header: str, button: str
) -> None:
    study = altered(parse_study(BETWEEN), languages=("en", "de"))
    desk = Desk(study)
    visitor = Visitor(app_of(desk), **{"Accept-Language": header})
    page = visitor.get(link)
    visitor.close()
    assert f">{button}</button>" in page.text


NUMBERS = {"least": 3, "most": 9.5, "step": 2}
FINNISH = BETWEEN.replace("languages: [en]", "languages: [fi]") + (
    "interface:\n"
    "  fi:\n"
    "    go_on: Jatka\n"
    "    progress: '{percent} % tehty'\n"
    "    problems: {missing: Vastaa tähän.}\n"
    "    pages: {completed: {title: Kiitos}}\n"
)


@pytest.mark.parametrize("code", get_args(Code))
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_can_be_said_in_every_language(language: str, code: Code) -> None:
    said = words_in(language).problem_text(problem(code, **NUMBERS))
    assert said
    assert "{" not in said


def test_a_problem_is_said_in_the_language_of_the_page() -> None:
    study = altered(parse_study(BETWEEN), languages=("en", "de"))
    visitor = Visitor(app_of(Desk(study)), **{"Accept-Language": "de"})
    page = visitor.send(visitor.get("/"))
    visitor.close()
    assert "Bitte beantworten Sie diese Frage." in page.text


def test_a_study_brings_words_for_a_language_of_its_own() -> None:
    study = parse_study(FINNISH)
    words = words_in("fi", study.interface)
    assert (words.go_on, words.back) == ("Jatka", "Back")
    assert words.problem_text(problem("missing")) == "Vastaa tähän."
    assert (words.pages["completed"].title, words.pages["full"].title) == (
        "Kiitos",
        words_in("en").pages["full"].title,
    )
    visitor = Visitor(app_of(Desk(study)))
    page = visitor.send(visitor.get("/"))
    visitor.close()
    assert ">Jatka</button>" in page.text
    assert "Vastaa tähän." in page.text


def test_a_studys_own_words_survive_the_lab() -> None:
    study = parse_study(FINNISH)
    assert study_from_dict(to_dict(study)) == study


def test_words_that_are_still_english_are_counted() -> None:
    study = parse_study(FINNISH)
    english = len(dict(texts(shipped_words("en"))))
    assert untranslated("fi", study.interface) == english - 4
    assert untranslated("de-AT", {}) == 0


def test_an_unknown_text_of_the_interface_is_refused_at_its_line() -> None:
    with pytest.raises(UnknownName, match=r"line \d+.*: .*'go_no'. Did you mean 'go_on'"):
        parse_study(FINNISH.replace("go_on:", "go_no:"), file="study.yaml")


def test_words_of_a_language_that_the_study_has_not_are_refused() -> None:
    with pytest.raises(UnknownName, match="language of the study 'fi'"):
        parse_study(FINNISH.replace("[fi]", "[en]"))


@pytest.mark.parametrize("wrong", ["{percnt} % tehty", "tehty", "{percent} {", "{} {percent}"])
def test_words_with_other_blanks_are_refused(wrong: str) -> None:
    with pytest.raises(InputError, match=r"'interface.fi.progress' must be a text with {percent}"):
        parse_study(FINNISH.replace("{percent} % tehty", wrong))
