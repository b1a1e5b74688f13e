"""One sentence per dimension that people rated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from empathylab.analysis.overview.levels import RatingLevel, rating_levels
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.results import Conclusion
from empathylab.analysis.text.apa import counted, listed
from empathylab.analysis.text.names import differs, first_capital, name_of, owner, was
from empathylab.analysis.text.numbers import number, signed

_COUNTS = {"better": "rated higher", "worse": "rated lower", "equivalent": "equivalent"}


def rating_headlines(study: RatingsResult) -> Iterator[Conclusion]:
    """One conclusion per dimension."""
    levels = rating_levels(study)
    for dimension in study.dimensions:
        mine = {level.arm: level for level in levels if level.dimension == dimension}
        compared = [
            conclusion
            for conclusion in study.conclusions
            if (conclusion.dimension, conclusion.subset) == (dimension, "all")
            and conclusion.reference is not None
        ]
        found = [
            _headline([item for item in compared if item.subject == arm])
            for arm in dict.fromkeys(item.subject for item in compared)
        ]
        if len(found) == 1:
            yield _one_arm(found[0], mine)
        elif found:
            yield _many_arms(found, mine)
        else:
            yield from (_alone(level) for level in mine.values())


def _headline(conclusions: Sequence[Conclusion]) -> Conclusion:
    """The arm's first conclusion, or the same one in points where it is in log-odds.

    Where the test in points does not agree with the first conclusion, that one stays.
    """
    first = conclusions[0]
    points = ("points", "percentage points")
    return next(
        (
            conclusion
            for conclusion in conclusions
            if conclusion.unit in points and conclusion.kind == first.kind
        ),
        first,
    )


def _one_arm(found: Conclusion, levels: dict[str, RatingLevel]) -> Conclusion:
    arm, other = found.subject, str(found.reference)
    lead = {
        "better": f"{was(arm)} rated higher than {name_of(other)}",
        "worse": f"{was(arm)} rated lower than {name_of(other)}",
        "equivalent": f"{name_of(arm)} and {name_of(other)} are equivalent",
    }.get(found.kind, f"It is unclear whether {differs(arm)} from {name_of(other)}")
    text = f"{lead} on {found.dimension}"
    mine, reference = levels.get(arm), levels.get(other)
    if mine and reference:
        text += f": {_level(mine)}, {owner(other)} {_level(reference, unit=False)}"
    sentence = f"{text} ({_difference(found)}{_rests_on(found)})."
    return replace(found, sentence=first_capital(sentence))


def _many_arms(found: Sequence[Conclusion], levels: dict[str, RatingLevel]) -> Conclusion:
    reference = str(found[0].reference)
    parts = []
    for kind, said in _COUNTS.items():
        if count := sum(item.kind == kind for item in found):
            parts.append(f"{count} {'was' if count == 1 else 'were'} {said}")
    if rest := sum(item.kind not in _COUNTS for item in found):
        parts.append(f"{rest} {'does' if rest == 1 else 'do'} not clearly differ")
    lead = (
        f"Of {len(found)} arms compared with {name_of(reference)} on {found[0].dimension}, "
        f"{listed(parts)}."
    )
    if rest == len(found):
        none = "Neither of 2 arms" if rest == 2 else f"None of {rest} arms"
        lead = f"{none} clearly differs from {name_of(reference)} on {found[0].dimension}."
    order = sorted(found, key=lambda item: -_height(levels, item))
    best, last = order[0], order[-1]
    ratings = sum(level.n for level in levels.values())
    sentence = (
        f"{lead} Highest: {name_of(best.subject)}{_at(levels, best)} "
        f"({_difference(best)}); lowest: {name_of(last.subject)}{_at(levels, last)}; "
        f"{counted(ratings, 'rating')}."
    )
    kinds = {item.kind for item in found}
    return replace(
        best, kind=best.kind if len(kinds) == 1 else "descriptive", sentence=sentence, subject="all"
    )


def _height(levels: dict[str, RatingLevel], found: Conclusion) -> float:
    level = levels.get(found.subject)
    return level.estimate if level else found.estimate or 0.0


def _at(levels: dict[str, RatingLevel], found: Conclusion) -> str:
    level = levels.get(found.subject)
    return f", {_level(level)}" if level else ""


def _level(level: RatingLevel, *, unit: bool = True) -> str:
    if level.good is None:
        return f"mean {number(level.estimate, 2)}" if unit else number(level.estimate, 2)
    text = f"{number(100 * level.estimate)}%"
    return f"{text} rated {level.good}" if unit else text


def _difference(found: Conclusion) -> str:
    if found.estimate is None:
        return "no estimate"
    if found.unit == "log-odds":
        return _odds_ratio(found)
    digits = 2 if found.unit == "points" else 1
    return f"difference {signed(found.estimate, digits)} points, {_interval(found, digits)}"


def _odds_ratio(found: Conclusion) -> str:
    """The odds of a higher rating, divided by the reference's."""
    ratio = f"odds ratio of a higher rating {number(math.exp(found.estimate or 0.0), 2)}"
    if found.low is None or found.high is None:
        return f"{ratio}, no interval"
    low, high = (number(math.exp(end), 2) for end in (found.low, found.high))
    return f"{ratio}, 95% CI {low} to {high}"


def _interval(found: Conclusion, digits: int) -> str:
    if found.low is None or found.high is None:
        return "no interval"
    return f"95% CI {signed(found.low, digits)} to {signed(found.high, digits)}"


def _rests_on(found: Conclusion) -> str:
    return f"; {found.basis.split(';')[0]}" if found.basis else ""


def _alone(level: RatingLevel) -> Conclusion:
    """A single arm: nothing to compare with."""
    ends = ""
    if math.isfinite(level.low):
        times, digits, sign = (100, 1, "%") if level.good else (1, 2, "")
        ends = (
            f"95% CI {number(times * level.low, digits)}{sign} to "
            f"{number(times * level.high, digits)}{sign}; "
        )
    rests = f"{counted(level.n, 'rating')} by {counted(level.raters, 'rater')}"
    return Conclusion(
        kind="descriptive",
        sentence=first_capital(
            f"{owner(level.arm)} replies: {_level(level)} on {level.dimension} ({ends}{rests}). "
            "There is no other arm to compare with."
        ),
        subject=level.arm,
        dimension=level.dimension,
        estimate=level.estimate,
        low=level.low,
        high=level.high,
        unit="proportion" if level.good else "points",
        n=level.n,
        basis=rests,
    )
