"""EmotionBench's situations (Huang et al. 2024), read from the file its authors publish.

`situations.json` holds 428 situations. The published results use up to five of each factor and
number those by themselves: `Anger-0_scenario-3` of a result file need not be the fourth situation
of the first factor in `situations.json`. So there are two sets here: `emotionbench`, the file as
it is, and `emotionbench-tested`, the situations as the result files number and tell them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from empathylab.errors import InputError
from empathylab.situations.emotions import valence_of
from empathylab.situations.sets import Situation, SituationSet, builtin_set

SET_ID = "emotionbench"
TESTED_ID = "emotionbench-tested"
LICENCE = "GPL-3.0, for research use; from github.com/CUHK-ARISE/EmotionBench"

# The people's sheet uses other words for some emotions.
_WORDS = {"angry": "anger", "jealous": "jealousy"}

Factors = Mapping[str, tuple[str, ...]]
"""The factors of each emotion, in the published order."""


def emotion_word(name: str) -> str:
    """The project's word for an emotion, however a published file spells it."""
    word = name.strip().lower()
    return _WORDS.get(word, word)


def situation_id(emotion: str, factor: int, situation: int) -> str:
    """The id of a situation from its emotion and two numbers, both counted from 0."""
    return f"{emotion}-{factor}-{situation}"


def published_factors() -> Factors:
    """The factors of the eight emotions; EmpathyLab's own set names them in the same order."""
    return factors_of(builtin_set("appraisal"))


def factors_of(situations: Iterable[Situation]) -> Factors:
    """The factors of each emotion, in order of first appearance."""
    factors: dict[str, dict[str, None]] = {}
    for situation in situations:
        if situation.factor is not None and situation.emotion is not None:
            factors.setdefault(situation.emotion, {})[situation.factor] = None
    return {emotion: tuple(names) for emotion, names in factors.items()}


def factor_name(factors: Factors, emotion: str, number: int) -> str:
    """The factor's name; one that has none is called by its number."""
    names = factors.get(emotion, ())
    return names[number] if 0 <= number < len(names) else f"{emotion}-{number}"


def factor_label(factors: Factors, emotion: str, factor: str) -> str:
    """The factor as the published tables call it, `Anger-0`; unknown ones by their own name."""
    names = factors.get(emotion, ())
    return f"{emotion.capitalize()}-{names.index(factor)}" if factor in names else factor


def parse_emotionbench(text: str, *, where: str) -> SituationSet:
    """The set in the text of `situations.json`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"this is not JSON: {error}", where=where, remedy="Fix the file's syntax."
        ) from None
    situations: list[Situation] = []
    for entry in _list(data, "emotions", where):
        name = _text(entry, "name", where)
        emotion, here = emotion_word(name), f"{where}, emotion {name}"
        for number, factor in enumerate(_list(entry, "factors", here)):
            title = _text(factor, "name", f"{here}, factor {number}")
            place = f"{here}, factor {title}"
            situations += _situations(emotion, number, title, factor, place)
    if not situations:
        raise InputError("the file contains no situations", where=where, remedy="Check the file.")
    return SituationSet(
        id=SET_ID,
        version=1,
        title="EmotionBench: situations for eight emotions",
        language="en",
        licence=LICENCE,
        validated=True,
        description="The situations of Huang et al. (2024), Apathetic or Empathetic? Evaluating "
        "LLMs' Emotional Alignments with Humans, NeurIPS 2024, arXiv 2308.03656.",
        situations=tuple(situations),
    )


def _situations(
    emotion: str, factor: int, title: str, entry: Any, where: str
) -> Iterable[Situation]:
    for number, text in enumerate(_list(entry, "scenarios", where)):
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                f"scenario {number} must be text", where=where, got=text, remedy="Fix the file."
            )
        yield published_situation(emotion, factor, number, title, text.strip())


def published_situation(
    emotion: str, factor: int, number: int, title: str | None, text: str
) -> Situation:
    """One published situation."""
    return Situation(
        id=situation_id(emotion, factor, number),
        text=text,
        emotion=emotion,
        valence=valence_of(emotion) or "negative",
        factor=title,
    )


def tested_set(situations: Iterable[Situation]) -> SituationSet:
    """The situations of result files, as a set."""
    return SituationSet(
        id=TESTED_ID,
        version=1,
        title="EmotionBench: the situations of the published results",
        language="en",
        licence=LICENCE,
        validated=True,
        description="The situations that models and people answered in EmotionBench's released "
        "results, numbered as there: emotion, factor, situation, counted from 0.",
        situations=tuple(situations),
    )


def _list(entry: Any, key: str, where: str) -> list[Any]:
    values = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(values, list):
        raise InputError(
            f"there must be a list {key!r}",
            where=where,
            got=type(values).__name__,
            remedy="Use EmotionBench's situations.json as published.",
        )
    return values


def _text(entry: Any, key: str, where: str) -> str:
    text = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{key!r} must be text", where=where, got=text, remedy="Fix the file.")
    return text.strip()
