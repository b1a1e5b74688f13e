"""People's ratings on two occasions, arm by arm and dimension by dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import polars as pl

from empathylab.analysis.drift.occasions import Occasion, RatedStudy
from empathylab.analysis.drift.shifts import Shift, clustered_shift, corrected
from empathylab.analysis.ratings.scales import StudyScales, study_scales
from empathylab.analysis.text.notes import note_text
from empathylab.stats.arms import clustered_difference
from empathylab.study.admin.embargo import is_running

_SIDES = (~pl.col("later"), pl.col("later"))


def rating_shifts(
    before: Occasion, after: Occasion, *, confidence: float
) -> tuple[list[Shift], list[tuple[str, str]]]:
    """Arms rated on both occasions, and studies that cannot be compared, with the reason.

    Where ratings are degrees their means are compared, else the proportions of the top category:
    over replies to the same situations, asked for with the same template, that were rated on both
    occasions. Tests are clustered by rater and by situation.
    """
    shifts: list[Shift] = []
    problems: list[tuple[str, str]] = []
    for name, earlier in before.studies.items():
        later = after.studies.get(name)
        why = "it exists on one occasion only" if later is None else _obstacle(earlier, later)
        if why or later is None:
            problems.append((f"study {name}", why))
            continue
        shifts += _arms(name, earlier, later, confidence)
        problems += [(f"study {name}, arm {arm}", why) for arm, why in _left_out(earlier, later)]
    problems += [
        (f"study {name}", "it exists on one occasion only")
        for name in after.studies
        if name not in before.studies
    ]
    return corrected(shifts), problems


def _obstacle(before: RatedStudy, after: RatedStudy) -> str:
    """Why the study's ratings cannot be compared; empty where they can."""
    if is_running(before.study) or is_running(after.study):
        return "it is still running, so its results are hidden"
    if before.undated and before.ratings.is_empty() and after.ratings.is_empty():
        return "its file does not record when people rated"
    if before.study.dimensions != after.study.dimensions:
        return "its dimensions or their scales differ"
    if before.ratings.is_empty() or after.ratings.is_empty():
        when = "before" if before.ratings.is_empty() else "after"
        return f"there is no rating {when} that the other occasion does not also have"
    return ""


def _arms(name: str, before: RatedStudy, after: RatedStudy, confidence: float) -> Iterator[Shift]:
    together = _together(before, after)
    scales = study_scales(before.study, together, None)
    for (arm, dimension), part in together.group_by("arm", "dimension", maintain_order=True):
        part = _comparable(part)
        if part["later"].n_unique() < 2:
            continue
        measure, values = _values(part, str(dimension), scales)
        sides = [values.filter(~part["later"]), values.filter(part["later"])]
        test = clustered_difference(
            values,
            part["later"],
            part["rater"],
            situations=part["situation"],
            confidence=confidence,
        )
        yield clustered_shift(
            {"study": name, "arm": str(arm), "dimension": str(dimension), "measure": measure},
            [float(side.mean()) for side in sides],  # type: ignore[arg-type]
            list(map(len, sides)),
            test,
            raters=test.raters,
            new_replies=_new_replies(part),
            note=note_text(test.note) or None,
        )


def _new_replies(part: pl.DataFrame) -> int:
    """Situations with a reply on the later occasion that the earlier one does not have."""
    here, there = (part.filter(side).select("situation", "text") for side in _SIDES)
    return there.join(here, on=["situation", "text"], how="anti")["situation"].n_unique()


def _comparable(part: pl.DataFrame) -> pl.DataFrame:
    """The ratings of replies to the same situations with the same template on both occasions.

    A template that is not recorded equals only another that is not.
    """
    return part.filter(pl.col("later").n_unique().over("situation", "prompt") == 2)


def _values(
    part: pl.DataFrame, dimension: str, scales: StudyScales
) -> tuple[Literal["good", "mean"], pl.Series]:
    scale = scales.counted.get(dimension)
    if scale is None or dimension in scales.averaged:
        return "mean", part["rating"]
    lowest = scale.values[-1] if scale.good_from is None else scale.good_from
    return "good", (part["rating"] >= lowest).cast(pl.Float64)


def _together(before: RatedStudy, after: RatedStudy) -> pl.DataFrame:
    sides = [
        side.ratings.with_columns(later=pl.lit(later))
        for side, later in ((before, False), (after, True))
    ]
    return pl.concat(sides)


def _left_out(before: RatedStudy, after: RatedStudy) -> Iterator[tuple[str, str]]:
    """By arm what is not compared: situations rated once, and those with another template."""
    for (arm,), part in _together(before, after).group_by("arm", maintain_order=True):
        if part["later"].n_unique() < 2:
            yield str(arm), f"it was rated {'after' if part['later'].all() else 'before'} only"
            continue
        once = part.filter(pl.col("later").n_unique().over("situation") < 2)
        shared = part.join(once, on="situation", how="anti", nulls_equal=True)
        kept = _comparable(shared)
        changed = shared.join(kept, on=["situation", "prompt"], how="anti", nulls_equal=True)
        reasons = []
        if shared.is_empty():
            reasons.append("no situation was rated on both occasions")
        elif once.height:
            count = once["situation"].n_unique()
            reasons.append(
                f"{count} situation{' was' if count == 1 else 's were'} rated on one occasion only"
            )
        if changed.height:
            count = changed["situation"].n_unique()
            to = "" if kept.is_empty() else f" to {count} situation{'s' * (count > 1)}"
            reasons.append(f"replies{to} were asked for with another template")
        if reasons:
            yield str(arm), "; ".join(reasons)
