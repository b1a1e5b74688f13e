"""Templates of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from empathylab.errors import UserError
from empathylab.protocols import QUESTIONNAIRE, read_appraisal_template


def test_what_a_file_leaves_out_is_as_built_in(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('id = "mine"\nimagine = "Suppose: {situation}\\n"\n')
    template = read_appraisal_template(file)
    assert (template.id, template.imagine) == ("mine", "Suppose: {situation}\n")
    assert template.question == QUESTIONNAIRE.question


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id = ", "this is not TOML"),
        ('imagine = "{situation}"', "'id' is missing"),
        ('id = "x"\nimagin = "{situation}"', "Did you mean 'imagine'"),
        ('id = "x"\nimagine = "Suppose."', "'imagine' must contain {situation}"),
        ('id = "x"\nquestion = "{itms}"', "there is no placeholder 'itms'. Did you mean 'items'"),
        ('id = "x"\nquestion = "{items"', "a brace that is not closed"),
        ('id = "x"\nimagine = "{situation!r}"', "a placeholder with a format"),
        ('id = "x"\nsystem = 3', "'system' must be text; got '3'"),
        ('id = "x"\nversion = "two"', "'version' must be a whole number; got 'two'"),
    ],
)
def test_a_wrong_template_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_appraisal_template(file)
    assert sentence in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_appraisal_template(tmp_path / "none.toml")
