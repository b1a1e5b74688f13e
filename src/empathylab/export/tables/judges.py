"""The ratings and preferences of judge models."""

from __future__ import annotations

from empathylab.export.source import LabSource
from empathylab.export.tables.columns import (
    EMOTION,
    OUTCOME,
    REASON,
    REPEAT,
    RESPONSE,
    SET,
    SITUATION,
    VALENCE,
)
from empathylab.table_specs import TableSpec, flag, number, text, whole

_ABOUT = (
    text("judge", "The model that judged"),
    text("study", "The study whose responses were judged; empty if it was a set"),
    SET,
    SITUATION,
    EMOTION,
    VALENCE,
    text("topic", "The situation's topic"),
)
_ANSWER = (
    text("dimension", "What was judged"),
    REPEAT,
    whole("order", "The number of the order in which it was asked"),
    text(
        "probabilities",
        "The probability of each possible answer, as a JSON object, where it is known",
    ),
    number("entropy", "The entropy of the judge's answer, in bits"),
    number("mass", "The total probability of all possible answers"),
    text("said", "The judge's reason, where it was asked for one"),
    OUTCOME,
    REASON,
)
JUDGEMENTS = TableSpec[LabSource](
    "judgements",
    "One row per rating by a judge: its value for one response on one dimension, from the judge's "
    "last run",
    (
        *_ABOUT,
        RESPONSE,
        text("respondent", "Who wrote the response"),
        number("value", "The judge's rating; empty unless the outcome is valid"),
        text("label", "The label of that point"),
        number("expected", "The mean of the points, weighted by their probabilities"),
        flag("turned", "Whether the highest point was shown first"),
        whole("position", "The dimension's place among those asked at once, from 1"),
        *_ANSWER,
    ),
    lambda source: source.judgements,
)

PREFERENCES = TableSpec[LabSource](
    "preferences",
    "Which of two responses a judge model preferred, from the judge's last run",
    (
        *_ABOUT,
        whole("first_response", "The number of the response that was shown first"),
        whole("second_response", "The number of the response that was shown second"),
        text("first", "Who wrote the response that was shown first"),
        text("second", "Who wrote the response that was shown second"),
        text(
            "preferred",
            "Which was preferred; empty unless the outcome is valid",
            values="first; second; tie",
        ),
        *_ANSWER,
        text("pair", "The pair's name; both orders of a pair share it"),
    ),
    lambda source: source.preferences,
)
