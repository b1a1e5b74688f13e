"""The error tree and its sentences."""

from __future__ import annotations

import inspect

from empathylab import errors


def test_a_user_error_says_what_where_got_and_remedy() -> None:
    error = errors.InputError(
        "'rating' must be one of Bad, Okay, Good",
        where="ratings.csv row 41",
        got="godo",
        remedy="Fix the row.",
    )
    assert str(error) == (
        "ratings.csv row 41: 'rating' must be one of Bad, Okay, Good; got 'godo'. Fix the row."
    )


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = errors.UnknownName("provider", "opnai", ["openai", "openrouter", "groq"])
    assert "Did you mean 'openai'" in str(error)


def test_an_unknown_name_with_nothing_near_lists_what_there_is() -> None:
    error = errors.UnknownName("scale", "zzz", ["panas", "teq"])
    assert "Known: panas, teq." in str(error)


def test_a_missing_extra_names_its_install_command() -> None:
    error = errors.MissingExtra("xllamacpp", "local", "A local model")
    assert "pip install 'empathylab[local]'" in str(error)


def test_errors_the_user_can_fix_exit_with_2_and_others_with_1() -> None:
    assert errors.LabTooNew.exit_code == 2
    assert errors.ModelUnavailable.exit_code == 1


def test_the_drawn_tree_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    for name, value in vars(errors).items():
        if inspect.isclass(value) and issubclass(value, errors.EmpathyLabError):
            assert name in drawn, f"{name} is missing from the docstring"
            assert name in errors.__all__
