"""Judges on two occasions: agreement with people, and whether they can replace human raters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from statistics import NormalDist

import polars as pl

from empathylab.analysis.drift.shifts import Shift, VerdictChange, clustered_shift, corrected
from empathylab.analysis.judges.calibration import CalibrationPlan, calibrate
from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.frames import JudgedRatings, judge_rows, judged_from_lab
from empathylab.analysis.text.notes import OCCASIONS, note_text
from empathylab.errors import UserError
from empathylab.stats.agreement import Coefficient
from empathylab.stats.arms import clustered_difference
from empathylab.store import Lab
from empathylab.store.judgements import lab_judgements

Problems = list[tuple[str, str]]
_KEY = ["situation", "respondent", "text"]
"""What identifies a response in two labs, whose numbers differ."""
_REPEATED = "all its ratings are identical on both occasions, and count once"


def judged_between(
    lab: Lab, study: str, *, since: datetime | None, until: datetime | None
) -> JudgedRatings | None:
    """The judges' ratings of the study's responses within that time; None where there are none.

    People's ratings count whenever they were given.
    """
    try:
        whole = judged_from_lab(lab, study)
    except UserError:
        return None
    if since is not None or until is not None:
        judgements = lab_judgements(lab, study, since=since, until=until)
        judges = judge_rows(judgements.filter(pl.col("value").is_not_null()))
        whole = replace(whole, judges=judges, comparisons=whole.comparisons.clear())
    return None if whole.judges.is_empty() else whole


def judge_shifts(
    before: dict[str, JudgedRatings], after: dict[str, JudgedRatings], *, confidence: float
) -> tuple[list[Shift], list[VerdictChange], Problems]:
    """Judges that rated a study's responses on both occasions, by study and dimension.

    The measure `agreement` is weighted kappa with the median of people; `distance` the judge's
    distance from it, in points, over the responses that it judged on both occasions. Verdicts say
    whether the judge can replace human raters: `may`, `not` or `cannot tell`.
    """
    shifts: list[Shift] = []
    verdicts: list[VerdictChange] = []
    problems: Problems = []
    for study, earlier in before.items():
        later = after.get(study)
        if later is None:
            continue
        if dict(earlier.scales) != dict(later.scales):
            problems.append((f"judges of {study}", "the scale is not the same"))
            continue
        cards = [_cards(item, confidence) for item in (earlier, later)]
        for key, first in cards[0].items():
            second = cards[1].get(key)
            if second is None:
                continue
            about = {"study": study, "judge": key[0], "dimension": key[1]}
            verdict = VerdictChange(about, first.decision, second.decision)
            if _same(key, earlier, later):
                problems.append((_named(study, key), _REPEATED))
                # Other people's ratings may have changed the verdict.
                verdicts += [verdict] if verdict.changed else []
                continue
            verdicts.append(verdict)
            shifts.append(_agreement(about, first, second, confidence))
            shifts += _distance(about, earlier, later, confidence)
        problems += _once(study, cards)
    return corrected(shifts), verdicts, problems


def _once(study: str, cards: list[dict[tuple[str, str], JudgeCard]]) -> Iterator[tuple[str, str]]:
    for own, other, when in ((cards[0], cards[1], "before"), (cards[1], cards[0], "after")):
        for key in own:
            if key not in other:
                yield _named(study, key), f"it judged {when} only"


def _named(study: str, key: tuple[str, str]) -> str:
    return f"judge {key[0]} of {study}, {key[1]}"


def _same(key: tuple[str, str], before: JudgedRatings, after: JudgedRatings) -> bool:
    """Whether the judge gave the same ratings to the same responses, so that both are one."""
    return _ratings(before, *key).equals(_ratings(after, *key))


def _ratings(judged: JudgedRatings, judge: str, dimension: str) -> pl.DataFrame:
    rated = judged.judges.filter(judge=judge, dimension=dimension).select("response", "rating")
    known = rated.join(judged.responses.select("response", *_KEY), on="response")
    return known.select(*_KEY, "rating").sort(*_KEY, "rating")


def _cards(judged: JudgedRatings, confidence: float) -> dict[tuple[str, str], JudgeCard]:
    try:
        cards = calibrate(judged, CalibrationPlan(confidence=confidence))
    except UserError:
        return {}
    return {(card.judge, card.dimension): card for card in cards}


def _agreement(
    about: dict[str, str], first: JudgeCard, second: JudgeCard, confidence: float
) -> Shift:
    """Both kappas, and their difference as that of two independent samples.

    Where the same responses were judged, the interval is wider than it need be.
    """
    one, other = first.weighted_kappa, second.weighted_kappa
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    se = math.hypot(_error(one, z), _error(other, z))
    moved = other.estimate - one.estimate
    p = math.nan
    if se > 0 and math.isfinite(moved):
        p = 2 * NormalDist().cdf(-abs(moved) / se)
    return Shift(
        about={**about, "measure": "agreement"},
        before=one.estimate,
        after=other.estimate,
        difference=moved,
        low=moved - z * se,
        high=moved + z * se,
        p=p,
        n_before=first.n,
        n_after=second.n,
        details={"note": None},
    )


def _error(kappa: Coefficient, z: float) -> float:
    """By the longer side of the interval: the shorter one may end at 1 or −1, where kappa does."""
    return max(kappa.estimate - kappa.low, kappa.high - kappa.estimate) / z


def _distance(
    about: dict[str, str], before: JudgedRatings, after: JudgedRatings, confidence: float
) -> Iterator[Shift]:
    """The judge's distance from people, over what it judged twice; nothing without any.

    Situations are the units.
    """
    parts = [_distances(item, about["judge"], about["dimension"]) for item in (before, after)]
    both = parts[0].join(parts[1], on=_KEY, nulls_equal=True, suffix="_after")
    if both.is_empty():
        return
    n = both.height
    test = clustered_difference(
        pl.concat([both["distance"], both["distance_after"]]),
        [False] * n + [True] * n,
        pl.concat([both["situation"], both["situation"]]),
        confidence=confidence,
    )
    means = [float(both[name].mean()) for name in ("distance", "distance_after")]  # type: ignore[arg-type]
    note = note_text(test.note, **OCCASIONS) or None
    yield clustered_shift({**about, "measure": "distance"}, means, (n, n), test, note=note)


def _distances(judged: JudgedRatings, judge: str, dimension: str) -> pl.DataFrame:
    """By response, the judge's distance in points from the median of people."""
    rated = judged.judges.filter(judge=judge, dimension=dimension)
    own = rated.group_by("response", maintain_order=True).agg(value=pl.col("rating").median())
    people = (
        judged.people.filter(dimension=dimension)
        .group_by("response")
        .agg(median=pl.col("rating").median())
    )
    return (
        own.join(people, on="response", maintain_order="left")
        .join(judged.responses, on="response", maintain_order="left")
        .with_columns(distance=(pl.col("value") - pl.col("median")).abs())
        .unique(_KEY, keep="first", maintain_order=True)
        .select(*_KEY, "distance")
    )
