"""The names of respondents and arms as sentences say them: `people` for `human`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PEOPLE = "human"
_CAPITALS = ("people", "after", "of ", "with ")


def name_of(respondent: str) -> str:
    """`people` for people."""
    return "people" if respondent == PEOPLE else respondent


def names_of(respondents: Iterable[str]) -> list[str]:
    """The names in order, `people` for people."""
    return [name_of(respondent) for respondent in respondents]


def listed_some(respondents: Sequence[str], most: int = 5) -> str:
    """The names with commas; of very many the first ones, and how many more there are."""
    named = names_of(respondents)
    if len(named) <= most + 1:
        return ", ".join(named)
    return f"{', '.join(named[:most])} and {len(named) - most} more"


def owner(respondent: str) -> str:
    """`people's`, `gpt-4o's`."""
    name = name_of(respondent)
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def was(respondent: str) -> str:
    """`people were`, `gpt-4o was`."""
    return f"{name_of(respondent)} {'were' if respondent == PEOPLE else 'was'}"


def differs(respondent: str) -> str:
    """`people differ`, `gpt-4o differs`."""
    return f"{name_of(respondent)} {'differ' if respondent == PEOPLE else 'differs'}"


def first_capital(sentence: str) -> str:
    """The sentence; `people` at its beginning gets a capital, a model's name stays as it is."""
    return sentence[:1].upper() + sentence[1:] if sentence.startswith(_CAPITALS) else sentence
