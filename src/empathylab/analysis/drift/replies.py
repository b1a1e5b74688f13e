"""Replies on two occasions: how many can be used, and how they are written."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl

from empathylab.analysis.drift.occasions import Occasion
from empathylab.analysis.drift.shifts import Shift, clustered_shift, corrected
from empathylab.analysis.text.notes import OCCASIONS, note_text
from empathylab.stats.arms import clustered_difference
from empathylab.style import features
from empathylab.style.differences import FeatureDifference, feature_differences

# Permutation tests features that never vary within an occasion; the t test does the others. Few
# situations need many permutations, or no p could be small enough for the correction.
_MANY_SITUATIONS = 300
_PERMUTATIONS = (19_999, 999)


def usable_shifts(
    before: Occasion, after: Occasion, *, confidence: float
) -> tuple[list[Shift], list[tuple[str, str]]]:
    """The proportions of replies that pass the checks, and what is not compared.

    Situations are the independent units.
    """
    shifts, problems = [], []
    for name in _both(before, after):
        sides, problem = _comparable(before, after, name)
        if problem:
            problems.append((f"{name}, replies", problem))
        if any(side.is_empty() for side in sides):
            continue
        usable = pl.concat([side["outcome"] == "valid" for side in sides])
        later = [False] * sides[0].height + [True] * sides[1].height
        places = pl.concat([side["situation"] for side in sides])
        test = clustered_difference(usable, later, places, confidence=confidence)
        proportions = [side.filter(outcome="valid").height / side.height for side in sides]
        note = note_text(test.note, **OCCASIONS, rating="reply", ratings="replies")
        shifts.append(
            clustered_shift(
                {"respondent": name, "measure": "usable"},
                proportions,
                [side.height for side in sides],
                test,
                situations=test.raters,
                note=note or None,
            )
        )
    return [replace(shift, p_bh=None) for shift in corrected(shifts)], problems


def feature_shifts(before: Occasion, after: Occasion, *, confidence: float) -> list[Shift]:
    """Every feature of those with usable replies to the same situations on both occasions.

    Corrected over all respondents and features.
    """
    columns = ["respondent", "situation", "sample", "text"]
    shifts = []
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
        differences = feature_differences(
            table, against="before", confidence=confidence, permutations=_PERMUTATIONS[many]
        )
        shifts += [_feature_shift(name, difference) for difference in differences]
    return corrected(shifts)


def _feature_shift(respondent: str, difference: FeatureDifference) -> Shift:
    return Shift(
        about={"respondent": respondent, "feature": difference.feature},
        before=difference.against_mean,
        after=difference.mean,
        difference=difference.difference,
        low=difference.low,
        high=difference.high,
        p=difference.p,
        n_before=difference.against_n,
        n_after=difference.n,
        details={"effect": difference.effect, "paired": difference.paired},
    )


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


def _both(before: Occasion, after: Occasion) -> list[str]:
    there = set(after.responses["respondent"])
    names = before.responses["respondent"].unique(maintain_order=True).to_list()
    return [name for name in names if name in there]
