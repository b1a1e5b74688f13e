"""Dictionaries in the LIWC format, written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import InputError
from empathylab.style import Entry, Lexicon, read_dic, read_lexicon

GOOD = "%\n1\tgood\n22\tbad feelings\n%\nglad\t1\nsad*\t22\nkind of\t1\t22\n"


def read(tmp_path: Path, content: str | bytes, name: str = "own.dic") -> Lexicon:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_dic(path)


def test_a_dictionary_is_read_with_stems_and_phrases(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    assert found.categories == ("good", "bad feelings")
    assert found.columns == ("own:good", "own:bad feelings")
    assert found.entries == (
        Entry(("glad",), (0,)),
        Entry(("sad*",), (1,)),
        Entry(("kind", "of"), (0, 1)),
    )
    assert found.notes == ()


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\n\n"),
        GOOD.replace("\t", "\t\t"),
        GOOD.replace("1\tgood", "01\tgood"),
        GOOD.replace("\n", "  \n"),
    ],
    ids=["windows lines", "mark of order", "blank lines", "double tabs", "zeros", "spaces"],
)
def test_harmless_differences_do_not_matter(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == read(tmp_path, GOOD)


def test_spaces_in_place_of_tabs_are_read_as_tabs_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD.replace("\t", "    "))
    assert found.entries == read(tmp_path, GOOD).entries
    assert found.notes == ("own.dic: spaces were read as tabs (5 lines)",)


def test_a_word_that_comes_twice_has_the_categories_of_both(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD + "glad\t22\n")
    assert found.entries[0] == Entry(("glad",), (0, 1))
    assert found.notes == ("own.dic: the categories of repeated words were merged (1 line)",)


def test_conditional_entries_are_read_by_their_last_alternative(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD + "like\t(02 134)22/1\nthat\t<of>22/1\n")
    assert found.entries[-2:] == (Entry(("like",), (0,)), Entry(("that",), (0,)))
    assert "conditional entries" in found.notes[0]


def test_entries_without_a_word_are_said(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD + ":)\t1\n")
    assert len(found.entries) == 3
    assert found.notes == ("own.dic: entries without a word match nothing (1 line)",)


def test_an_old_windows_file_is_read_and_said(tmp_path: Path) -> None:
    found = read(tmp_path, (GOOD + "caf\u00e9\t1\n").encode("cp1252"))
    assert found.entries[-1] == Entry(("café",), (0,))
    assert "Windows-1252" in found.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "own.dic: the dictionary is empty"),
        ("1\tgood\n%\nglad\t1\n", "own.dic line 1: the first line must be a single %"),
        ("%\n1\tgood\nglad\t1\n", "own.dic: there is no second %"),
        ("%\n%\nglad\t1\n", "own.dic: there are no categories"),
        ("%\n1\tgood\n%\n", "own.dic: there are no words after the second %"),
        ("%\n1\tgood\n1\tbad\n%\nglad\t1\n", "own.dic line 3: the category's number or name"),
        ("%\n1\tgood\n2\tgood\n%\nglad\t1\n", "own.dic line 3: the category's number or name"),
        ("%\ngood\n%\nglad\t1\n", "own.dic line 2: a category is a number, a tab and a name"),
        ("%\n1\n%\nglad\t1\n", "own.dic line 2: a category is a number, a tab and a name"),
        ("%\n1\tgood\n%\nglad\t7\n", "own.dic line 4: 'glad' has a category .* got '7'"),
        ("%\n1\tgood\n%\nglad\tgood\n", "own.dic line 4: 'glad' has a category .* got 'good'"),
        ("%\n1\tgood\n%\nglad\n", "own.dic line 4: the word has no category; got 'glad'"),
        ("%\n1\tgood\n%\nglad\t1\n%\n", "own.dic line 5: there is a third %"),
        ("%\n1\tgood\n%\ngl*ad\t1\n", r"own.dic line 4: a star is allowed only at the end"),
        ("%\n1\tgood\n%\n*\t1\n", r"own.dic line 4: a star is allowed only at the end"),
    ],
)
def test_a_broken_dictionary_is_refused_with_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_dic(tmp_path / "none.dic")
    with pytest.raises(InputError, match=r"from .dic and .txt files; got '.csv'"):
        read_lexicon(tmp_path / "none.csv")
