"""Overviews of labs of every kind, made from tables."""

from __future__ import annotations

import dataclasses
import itertools

import polars as pl

from empathylab.analysis import conversations, preferences, recipients, scores
from empathylab.analysis import ratings as rated_replies
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.scores import ScoresResult
from empathylab.judging.rubric import rubric
from empathylab.report import LabOverview, collect
from empathylab.situations.sources.released import Dimension
from empathylab.store import Lab
from empathylab.store.ratings import Study
from tests.helpers.labs import filled

WORDS = ("Bad", "Okay", "Good")


def rated(arms: int, dimensions: tuple[Dimension, ...]) -> RatingsResult:
    """People and so many models; each model is rated a little higher than the one before."""
    names = ["human", *(f"openai/a-model-with-a-long-name-{n}" for n in range(1, arms + 1))]
    rows = [
        {
            "rater": f"{arm}-{rater}",
            "arm": arm,
            "respondent": arm,
            "situation": f"s{situation}",
            "dimension": dimension.name,
            "rating": dimension.values[
                (rater + situation + rater * situation + place * (rater % 2))
                % len(dimension.values)
            ],
        }
        for place, arm in enumerate(names)
        for rater in range(8)
        for situation in range(6)
        for dimension in dimensions
    ]
    study = Study("study", "A study", "between", dimensions, "closed")
    return rated_replies.from_table(pl.DataFrame(rows), study=study)


def scored(respondents: int) -> ScoresResult:
    """Replies of so many respondents, scored by the rubric."""
    rows = [
        {
            "respondent": f"openai/model-{number}",
            "situation": f"s{situation}",
            "response": 10 * number + situation,
            "dimension": name,
            "value": 1.0 + (number + situation) % 5,
        }
        for number in range(respondents)
        for situation in range(4)
        for name in rubric().names
    ]
    return scores.from_table(pl.DataFrame(rows), judge="openai/judge")


def conversed() -> conversations.ConversationsAnalysis:
    """Three respondents with two simulators."""
    rows = [
        {
            "respondent": f"model-{who}",
            "simulator": f"openai/simulator-{simulator}",
            "persona": f"p{persona}",
            "final": 30.0 + 15 * who + 5 * simulator + 3 * persona,
        }
        for who in range(3)
        for simulator in range(2)
        for persona in range(6)
    ]
    return conversations.from_table(pl.DataFrame(rows))


def received() -> recipients.RecipientsResult:
    """Replies by AI and by people, with either label, rated by those who got them."""
    rows = [
        {
            "participant": f"p{number}",
            "response": ("ai", "human")[number % 2],
            "label": ("ai", "human")[number // 2 % 2],
            "heard": 3.0 + number % 2 + (number * 7 % 5) / 2,
        }
        for number in range(80)
    ]
    return recipients.from_table(pl.DataFrame(rows), outcomes=["heard"])


def preferred(arms: int) -> preferences.PreferencesResult:
    """Each of 30 raters compares all pairs of arms; the later arm is chosen twice out of three."""
    names = ["human", *(f"openai/a-model-with-a-long-name-{n}" for n in range(1, arms))]
    rows = []
    for rater, pair in itertools.product(range(30), itertools.combinations(names, 2)):
        shown = pair[:: 1 - 2 * (rater % 2)]
        outcome = "tie" if rater % 7 == 0 else pair[rater % 3 > 0]
        rows.append((f"r{rater}", f"s{rater % 6}", *shown, outcome))
    columns = ["rater", "situation", "first", "second", "outcome"]
    return preferences.from_table(pl.DataFrame(rows, schema=columns, orient="row"))


def lab_kinds(folder: Lab) -> dict[str, LabOverview]:
    """By name; the lab must be empty and is filled with scales and replies of one model."""
    none = collect(folder)
    filled(folder, situations=1)
    model = collect(folder)
    likert = tuple(
        Dimension(name, (1.0, 2.0, 3.0, 4.0, 5.0)) for name in ("warmth", "help", "tone", "trust")
    )
    words = (Dimension("empathy", (1.0, 2.0, 3.0), WORDS),)

    def with_ratings(result: RatingsResult) -> LabOverview:
        return dataclasses.replace(none, ratings=(result,), respondents=result.arms)

    def with_preferences(result: preferences.PreferencesResult) -> LabOverview:
        return dataclasses.replace(none, preferences=(result,), respondents=result.fitted.names)

    hundreds = scored(200)
    return {
        "none": none,
        "one model": model,
        "only scales": dataclasses.replace(model, situations=(), lengths=(), style=None),
        "only ratings": with_ratings(rated(1, words)),
        "four dimensions": with_ratings(rated(2, likert)),
        "ten models": with_ratings(rated(10, words)),
        "only conversations": dataclasses.replace(
            none, conversations=conversed(), respondents=("model-0", "model-1", "model-2")
        ),
        "only preferences": with_preferences(preferred(2)),
        "preferences of six": with_preferences(preferred(6)),
        "only recipients": dataclasses.replace(none, recipients=(received(),)),
        "only scores": dataclasses.replace(
            none, scores=(scored(1),), respondents=("openai/model-0",)
        ),
        "200 respondents": dataclasses.replace(
            none,
            scores=(hundreds,),
            respondents=tuple(respondent.respondent for respondent in hundreds.respondents),
        ),
    }
