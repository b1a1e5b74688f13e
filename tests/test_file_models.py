"""Files as models: types as written, and errors with file and line."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from empathylab.errors import UnknownName, UserError
from empathylab.file_models import (
    FileModel,
    Flag,
    Number,
    Whole,
    Words,
    misfit,
    plain,
    validate,
    wrong,
)
from empathylab.yaml_documents import Document, read_yaml


class Cat(FileModel):
    kind: Literal["cat"]
    lives: Annotated[Whole, Field(ge=1, le=9)] = 9


class Dog(FileModel):
    kind: Literal["dog"]
    good: Flag = True


class Home(FileModel):
    street: Words
    size: Number | None = None
    way: Literal["left", "right"] = "left"
    pets: tuple[Annotated[Cat | Dog, Field(discriminator="kind")], ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Home:
        if self.street == "nowhere":
            raise misfit("nobody lives there", "Move.", at=("street",), got=self.street)
        if len(self.pets) > 2:
            raise wrong("at most two pets", at=("pets", 2))
        return self


def read(text: str) -> Home:
    return validate(Home, read_yaml(text, file="home.yaml"))


def refused(text: str) -> str:
    with pytest.raises(UserError) as error:
        read(text)
    return str(error.value)


@pytest.mark.parametrize("written", ["No", "007", "1.10", "2024-01-01", "yes"])
def test_text_stays_as_it_is_written(written: str) -> None:
    assert read(f"street: {written}").street == written


def test_flags_and_numbers_are_read() -> None:
    home = read("street: a\nsize: 3\npets:\n  - {kind: dog, good: no}\n  - {kind: cat, lives: 7}")
    assert (home.size, home.pets) == (3.0, (Dog(kind="dog", good=False), Cat(kind="cat", lives=7)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sreet: a", "home.yaml line 1: there is no key 'sreet'. Did you mean 'street'?"),
        ("size: 1", "home.yaml line 1: the key 'street' is missing. Add street."),
        ("street:\n  - a", "line 1: 'street' must be text that is not empty; got 'a list'"),
        ("street: a\nsize: big", "line 2: 'size' must be a number; got 'big'"),
        ("street: a\nsize: .nan", "line 2: 'size' must be a number; got '.nan'"),
        ("street: a\nway: lft", "line 2, 'way': there is no way 'lft'. Did you mean 'left'?"),
        ("street: a\npets: 3", "line 2: 'pets' must be a list; got '3'"),
        ("street: a\npets:\n- {kind: cow}", "line 3, 'pets[1].kind': there is no kind 'cow'"),
        ("street: a\npets:\n- {lives: 1}", "line 3: 'pets[1]' must be a table with the key 'kind'"),
        ("street: a\npets:\n- kind: cat\n  lives: 10", "line 4: 'pets[1].lives' must be 9 or less"),
        ("street: a\npets:\n- kind: cat\n  lives: '3'", "'pets[1].lives' must be a whole number"),
        ("street: a\npets:\n- kind: cat\n  lives: yes", "'pets[1].lives' must be a whole number"),
        (
            "street: a\npets:\n- kind: dog\n  good: 1",
            "line 4: 'pets[1].good' must be true or false",
        ),
        ("street: a\npets:\n- kind: cat\n  livs: 1", "line 4: there is no key 'livs'"),
        ("street: nowhere", "line 1: nobody lives there; got 'nowhere'. Move."),
        ("street: a\nstreet: b", "line 2: the key 'street' is given twice; first in line 1"),
    ],
)
def test_an_error_names_line_value_and_remedy(text: str, message: str) -> None:
    assert message in refused(text)


def test_an_error_across_keys_is_placed_where_it_says() -> None:
    text = "street: a\npets:\n- {kind: dog}\n- {kind: dog}\n- {kind: cat}\n"
    assert refused(text).startswith("home.yaml line 5: 'pets[3]' must be at most two pets")


def test_an_empty_optional_key_counts_as_left_out() -> None:
    assert read("street: a\nway:\nsize:") == Home(street="a")


def test_plain_data_is_read_without_lines() -> None:
    document = Document({"street": "a", "way": "up"}, "the lab")
    with pytest.raises(UnknownName, match="^the lab, 'way': there is no way 'up'"):
        validate(Home, document)


def test_plain_values_forget_how_they_were_written() -> None:
    data = plain(read_yaml("{a: No, b: 007, c: [1.50, x]}", file="x").data)
    assert data == {"a": False, "b": 7, "c": [1.5, "x"]}
    assert [type(value) for value in (data["a"], data["b"], data["c"][0])] == [bool, int, float]
