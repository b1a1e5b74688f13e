"""Replies on two occasions: how many can be used, and how they are written."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import polars as pl

from empathylab.analysis.drift.occasions import Occasion
from empathylab.stats.arms import ClusteredDifference, clustered_difference
from empathylab.stats.corrections import benjamini_hochberg, holm
from empathylab.style import features
from empathylab.style.differences import FeatureDifference, feature_differences

# Permutation tests features that never vary within an occasion; the t test does the others. Few
# situations need many permutations, or no p could be small enough for the correction.
_MANY_SITUATIONS = 300
_PERMUTATIONS = (19_999, 999)


@dataclass(frozen=True, slots=True)
class UsableShift:
    """The proportion of a respondent's replies that pass the checks, twice."""

    respondent: str
    before: float
    after: float
    n_before: int
    n_after: int
    difference: ClusteredDifference
    """With situations as the independent units."""
    p_holm: float = math.nan


@dataclass(frozen=True, slots=True)
class FeatureShift:
    """A feature of a respondent's style, twice; corrected over all respondents and features."""

    respondent: str
    difference: FeatureDifference


def usable_shifts(
    before: Occasion, after: Occasion, *, confidence: float
) -> tuple[list[UsableShift], list[tuple[str, str]]]:
    """The proportions of usable replies on both occasions, and what is not compared."""
    found, problems = [], []
    for name in _both(before, after):
        sides, problem = _comparable(before, after, name)
        if problem:
            problems.append((f"{name}, replies", problem))
        if any(side.is_empty() for side in sides):
            continue
        usable = pl.concat([side["outcome"] == "valid" for side in sides])
        later = [False] * sides[0].height + [True] * sides[1].height
        places = pl.concat([side["situation"] for side in sides])
        difference = clustered_difference(usable, later, places, confidence=confidence)
        found.append(
            UsableShift(
                name,
                before=_usable_proportion(sides[0]),
                after=_usable_proportion(sides[1]),
                n_before=sides[0].height,
                n_after=sides[1].height,
                difference=difference,
            )
        )
    corrected = holm([item.difference.p for item in found])
    found = [replace(one, p_holm=float(p)) for one, p in zip(found, corrected, strict=True)]
    return found, problems


def feature_shifts(before: Occasion, after: Occasion, *, confidence: float) -> list[FeatureShift]:
    """Every feature of those with usable replies to the same situations on both occasions."""
    columns = ["respondent", "situation", "sample", "text"]
    found = []
    for name in _both(before, after):
        sides = [
            side.filter(outcome="valid").with_columns(respondent=pl.lit(when)).select(columns)
            for side, when in zip(
                _comparable(before, after, name)[0][::-1], ("after", "before"), strict=True
            )
        ]
        if any(side.is_empty() for side in sides):
            continue
        table = features(pl.concat(sides))
        many = table["situation"].n_unique() > _MANY_SITUATIONS
        found += [
            FeatureShift(name, feature_difference)
            for feature_difference in feature_differences(
                table, against="before", confidence=confidence, permutations=_PERMUTATIONS[many]
            )
        ]
    return _corrected(found)


def _comparable(
    before: Occasion, after: Occasion, name: str
) -> tuple[tuple[pl.DataFrame, pl.DataFrame], str]:
    """A respondent's replies to the situations of both occasions, and what is not compared.

    Empty where the replies were asked for with another template: then the prompt differs, not the
    respondent.
    """
    one, two = (side.responses.filter(respondent=name) for side in (before, after))
    templates = [_templates(side, name) for side in (before, after)]
    if all(templates) and templates[0] != templates[1]:
        return (one.clear(), two.clear()), "they were asked for with another template"
    shared = pl.col("situation").is_in(list(set(one["situation"]) & set(two["situation"])))
    kept = one.filter(shared), two.filter(shared)
    if kept[0].is_empty():
        return kept, "no situation was replied to on both occasions"
    lost = sum(
        all_of["situation"].n_unique() - some["situation"].n_unique()
        for all_of, some in zip((one, two), kept, strict=True)
    )
    which = "situation was" if lost == 1 else "situations were"
    return kept, f"{lost} {which} replied to on one occasion only" if lost else ""


def _templates(side: Occasion, name: str) -> set[str]:
    """The templates of the respondent's replies; empty where they are not recorded."""
    runs = side.runs.filter(respondent=name, protocol="respond")
    settings = [json.loads(setting) for setting in runs["settings"]]
    return {
        json.dumps(setting["template"], sort_keys=True)
        for setting in settings
        if "template" in setting
    }


def _usable_proportion(responses: pl.DataFrame) -> float:
    return responses.filter(outcome="valid").height / responses.height


def _both(before: Occasion, after: Occasion) -> list[str]:
    there = set(after.responses["respondent"])
    names = before.responses["respondent"].unique(maintain_order=True).to_list()
    return [name for name in names if name in there]


def _corrected(found: list[FeatureShift]) -> list[FeatureShift]:
    p = [item.difference.p for item in found]
    return [
        FeatureShift(
            one.respondent,
            replace(one.difference, p_holm=float(strict), p_benjamini_hochberg=float(loose)),
        )
        for one, strict, loose in zip(found, holm(p), benjamini_hochberg(p), strict=True)
    ]
