"""The title of the report: the question that a lab answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.headlines.scales import main_changes
from empathylab.analysis.text.apa import listed
from empathylab.analysis.text.names import PEOPLE, name_of

_MOST_NAMED = 2


def question(data: LabOverview) -> str:
    """The question that the lab answers, with the names of one or two models."""
    if data.recipients and not (data.ratings or data.preferences or data.scores):
        return "How do people feel about the replies that they get?"
    if not data.respondents:
        return "Nothing has been measured yet"
    compared = _compared(data)
    names = [name for name in compared if name != PEOPLE]
    who = f"{len(names)} models"
    if len(names) <= _MOST_NAMED:
        who = listed(_short(names)) if names else "people"
    if data.preferences and not data.ratings:
        whose = names if len(names) <= _MOST_NAMED else [f"{len(names)} models"]
        people = [name_of(PEOPLE)] if PEOPLE in compared else []
        return f"Whose replies do people prefer: {listed([*_short(whose), *people], 'or')}?"
    are, do = ("is", "does") if len(names) == 1 else ("are", "do")
    beside = " compared with people" if names and PEOPLE in compared else ""
    if data.ratings or data.scores:
        return f"How empathetic {are} {who}{beside}?"
    if _talked(data):
        return f"How does a person feel after talking with {who}?"
    if data.conversations is not None and not (data.appraisal.changes or data.lengths):
        return f"How {do} {who} talk with people?"
    verb = "react" if data.appraisal.changes else "reply"
    comma = "," if beside else ""
    return f"How {do} {who} {verb} to emotional situations{comma}{beside}?"


def _compared(data: LabOverview) -> list[str]:
    """The respondents that the first topic compares; other topics may have more."""
    names: Iterable[str] = data.respondents
    if data.ratings:
        names = data.ratings[0].arms
    elif data.preferences:
        names = data.preferences[0].fitted.names
    elif data.scores:
        names = (item.respondent for item in data.scores[0].respondents)
    elif talked := _talked(data):
        names = talked
    elif changes := main_changes(data):
        names = (change.respondent for part in changes.values() for change in part)
    return list(dict.fromkeys(PEOPLE if name in data.people else name for name in names))


def _talked(data: LabOverview) -> list[str]:
    """The respondents with a conversation that has ended."""
    talks = data.conversations
    return [] if talks is None else [item.respondent for item in talks.respondents if item.n]


def _short(names: Sequence[str]) -> list[str]:
    """Without a provider that is known, where the names stay different; `mine/chat` stays whole."""
    from empathylab.models import known_families  # loads the HTTP client

    known = known_families()
    short = [
        name.rsplit("/", 1)[-1] or name if name.partition("/")[0] in known else name
        for name in names
    ]
    return short if len(set(short)) == len(short) else list(names)
