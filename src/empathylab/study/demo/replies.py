"""The replies of the demonstration study, as a file would bring them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from empathylab.situations import builtin_set
from empathylab.situations.sources.released import Release, Reply

SOURCE = "demo-replies"


@cache
def demo_release() -> Release:
    """The replies of all three manners of writing, with where they come from."""
    text = (files("empathylab.study.demo") / "replies.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    origin = {key: table[key] for key in ("version", "licence", "validated")}
    # A language model drafted them, so they are a model's; no name of one stands on them.
    names = {manner: f"demo/{manner}" for manner in table["respondents"]}
    replies = tuple(
        Reply(
            situation=situation,
            respondent=names[manner],
            text=of_manners[manner],
            details={"source": SOURCE, **origin, "manner": described},
        )
        for situation, of_manners in table["replies"].items()
        for manner, described in table["respondents"].items()
    )
    return Release(
        situation_set=builtin_set(table["situation_set"]),
        respondents=dict.fromkeys(names.values(), "model"),
        replies=replies,
        notes=(table["description"],),
    )
