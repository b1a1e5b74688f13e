"""Scales on two occasions: which can be compared, and how their verdicts changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import polars as pl

from empathylab.analysis.drift.occasions import Occasion
from empathylab.analysis.drift.shifts import Shift, VerdictChange
from empathylab.analysis.json_values import picked
from empathylab.analysis.text.notes import note_text
from empathylab.stats.over_time import score_shifts


def comparable_scores(
    before: Occasion, after: Occasion
) -> tuple[pl.DataFrame, pl.DataFrame, list[tuple[str, str]]]:
    """The scores of both occasions that may be compared, and what may not, with its reason."""
    versions = [_versions(side) for side in (before, after)]
    shared = sorted(versions[0].keys() & versions[1].keys())
    unlike = [key for key in shared if versions[0][key] != versions[1][key]]
    problems = [
        (
            f"{respondent}, {scale}",
            (
                f"the scale is not the same: {_named(versions[0][respondent, scale])} before, "
                f"{_named(versions[1][respondent, scale])} after; its scores are not compared"
            ),
        )
        for respondent, scale in unlike
    ]
    problems += _one_sided(before, after, versions)
    keep = pl.DataFrame(
        [key for key in shared if key not in unlike],
        schema={"respondent": pl.String, "scale": pl.String},
        orient="row",
    )
    frames = [
        side.scores.join(keep, on=["respondent", "scale"], how="semi", maintain_order="left")
        for side in (before, after)
    ]
    return frames[0], frames[1], problems


def scale_shifts(
    before: pl.DataFrame, after: pl.DataFrame, *, confidence: float
) -> Iterator[Shift]:
    """How each subscale moved: at baseline, after situations, and the change between them."""
    for score in score_shifts(before, after, confidence=confidence):
        figures = dataclasses.asdict(score.shift)
        details = {"paired": figures.pop("paired"), "note": note_text(score.shift.note) or None}
        del figures["df"], figures["note"]
        yield Shift(
            about=picked(score, "respondent scale subscale measure emotion"),
            **figures,
            details=details,
            p_holm=score.p_holm,
            p_bh=score.p_bh,
        )


def verdict_changes(before: Occasion, after: Occasion) -> Iterator[VerdictChange]:
    """The verdicts of those who answered a scale on both occasions."""
    later = {
        (verdict.respondent, verdict.scale): verdict.validity.verdict for verdict in after.verdicts
    }
    measured_again = set(after.administrations.select("respondent", "scale").iter_rows())
    for verdict in before.verdicts:
        key = (verdict.respondent, verdict.scale)
        if key in later and key in measured_again:
            about = {"respondent": verdict.respondent, "scale": verdict.scale}
            yield VerdictChange(about, verdict.validity.verdict, later[key])


def _versions(occasion: Occasion) -> dict[tuple[str, str], frozenset[tuple[int, str]]]:
    """By respondent and scale, the versions and fingerprints of the scale that was given."""
    given = occasion.administrations.select("respondent", "scale", "scale_row").unique()
    known = given.join(occasion.scale_versions.drop("scale"), on="scale_row")
    return {
        (str(key[0]), str(key[1])): frozenset(part.select("version", "fingerprint").iter_rows())
        for key, part in known.group_by("respondent", "scale")
    }


def _named(versions: frozenset[tuple[int, str]]) -> str:
    return " and ".join(f"version {number} ({mark[:8]})" for number, mark in sorted(versions))


def _one_sided(
    before: Occasion,
    after: Occasion,
    versions: list[dict[tuple[str, str], frozenset[tuple[int, str]]]],
) -> list[tuple[str, str]]:
    """Scales that a respondent measured on both occasions answered on one only."""
    both = set(before.respondents) & set(after.respondents)
    missing = []
    for here, there, when in ((0, 1, "before"), (1, 0, "after")):
        for respondent, scale in sorted(versions[here].keys() - versions[there].keys()):
            if respondent in both:
                missing.append((f"{respondent}, {scale}", f"the scale was answered {when} only"))
    return missing
