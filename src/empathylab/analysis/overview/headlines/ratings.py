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

_MOST_NAMED = 3
"""Arms that a sentence can name with their differences."""
_KINDS = (
    (("better",), "was rated higher than", "were rated higher than"),
    (("worse",), "was rated lower than", "were rated lower than"),
    (("different",), "differs from", "differ from"),
    (("equivalent",), "is equivalent to", "are equivalent to"),
    (("inconclusive", "descriptive"), "does not clearly differ from", "do not clearly differ from"),
)
"""Kinds of conclusion, and what they say of one arm and of several."""
_IN_SHORT = {
    "better": "ratings are higher than {}",
    "worse": "ratings are lower than {}",
    "different": "ratings differ from {}",
    "equivalent": "ratings are equivalent to {}",
    "inconclusive": "ratings do not clearly differ from {}",
}
_MOST_IN_SHORT = 4
"""Dimensions that a short sentence can name."""


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
        conclusions = [
            _headline([item for item in compared if item.subject == arm])
            for arm in dict.fromkeys(item.subject for item in compared)
        ]
        if len(conclusions) == 1:
            yield _one_arm(conclusions[0], mine)
        elif conclusions:
            yield _many_arms(conclusions, mine, _basis(study, dimension))
        else:
            yield from (_alone(level) for level in mine.values())


def other_dimensions(conclusions: Sequence[Conclusion]) -> str | None:
    """What conclusions say on their dimensions, in one short sentence; None without any."""
    by_result: dict[str, list[str]] = {}
    for conclusion in conclusions:
        if conclusion.reference is not None:
            result = _IN_SHORT.get(conclusion.kind, "there is no one result for all arms")
            said = result.format(owner(conclusion.reference))
            by_result.setdefault(said, []).append(str(conclusion.dimension))
    parts: list[str] = []
    for said, dimensions in by_result.items():
        named = listed(dimensions)
        if len(dimensions) > _MOST_IN_SHORT:
            named = f"{len(dimensions)} other dimensions"
        parts.append(f"{'on' if parts else 'On'} {named}, {said}")
    return f"{'; '.join(parts)}." if parts else None


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


def _one_arm(conclusion: Conclusion, levels: dict[str, RatingLevel]) -> Conclusion:
    arm, other = conclusion.subject, str(conclusion.reference)
    lead = {
        "better": f"{was(arm)} rated higher than {name_of(other)}",
        "worse": f"{was(arm)} rated lower than {name_of(other)}",
        "equivalent": f"{name_of(arm)} and {name_of(other)} are equivalent",
    }.get(conclusion.kind, f"It is unclear whether {differs(arm)} from {name_of(other)}")
    text = f"{lead} on {conclusion.dimension}"
    mine, reference = levels.get(arm), levels.get(other)
    if mine and reference:
        text += f": {_level(mine)}, {owner(other)} {_level(reference, unit=False)}"
    in_points = conclusion.estimate is not None and conclusion.unit != "log-odds"
    effect = f"{'difference ' if in_points else ''}{_effect(conclusion)}"
    sentence = f"{text} ({effect}{_rests_on(conclusion)})."
    return replace(conclusion, sentence=first_capital(sentence))


def _many_arms(
    conclusions: Sequence[Conclusion], levels: dict[str, RatingLevel], basis: str
) -> Conclusion:
    """Every arm by name with its difference; of many arms how many, and the two ends."""
    reference = name_of(str(conclusions[0].reference))
    order = sorted(conclusions, key=lambda item: -_height(levels, item))
    parts = []
    for kinds, singular, plural in _KINDS:
        if found := [item for item in order if item.kind in kinds]:
            who = f"{len(found)}"
            if len(order) <= _MOST_NAMED:
                who = listed([_named(item) for item in found])
            elif len(found) == len(order):
                who = f"all {who} arms"
            parts.append(f"{who} {singular if len(found) == 1 else plural} {reference}")
    ends = of = ""
    if len(order) > _MOST_NAMED:
        of = f"of {len(order)} arms " if len(parts) > 1 else ""
        ends = f": from {_named(order[0])} to {_named(order[-1])}"
    return replace(
        order[0],
        kind=order[0].kind if len(parts) == 1 else "descriptive",
        sentence=f"On {order[0].dimension}, {of}{listed(parts)}{ends}; {basis}.",
        subject="all",
        basis=basis,
    )


def _named(conclusion: Conclusion) -> str:
    return f"{name_of(conclusion.subject)} ({_effect(conclusion)})"


def _height(levels: dict[str, RatingLevel], conclusion: Conclusion) -> float:
    level = levels.get(conclusion.subject)
    return level.estimate if level else conclusion.estimate or 0.0


def _level(level: RatingLevel, *, unit: bool = True) -> str:
    if level.good is None:
        return f"mean {number(level.estimate, 2)}" if unit else number(level.estimate, 2)
    text = f"{number(100 * level.estimate)}%"
    return f"{text} rated {level.good}" if unit else text


def _effect(conclusion: Conclusion) -> str:
    """The difference from the reference with its interval."""
    if conclusion.estimate is None:
        return "no estimate"
    if conclusion.unit == "log-odds":
        return _odds_ratio(conclusion)
    digits = 2 if conclusion.unit == "points" else 1
    return f"{signed(conclusion.estimate, digits)} points, {_interval(conclusion, digits)}"


def _odds_ratio(conclusion: Conclusion) -> str:
    """The odds of a higher rating, divided by the reference's."""
    ratio = f"odds ratio of a higher rating {number(math.exp(conclusion.estimate or 0.0), 2)}"
    if conclusion.low is None or conclusion.high is None:
        return f"{ratio}, no interval"
    low, high = (number(math.exp(end), 2) for end in (conclusion.low, conclusion.high))
    return f"{ratio}, 95% CI {low} to {high}"


def _interval(conclusion: Conclusion, digits: int) -> str:
    if conclusion.low is None or conclusion.high is None:
        return "no interval"
    return f"95% CI {signed(conclusion.low, digits)} to {signed(conclusion.high, digits)}"


def _rests_on(conclusion: Conclusion) -> str:
    return f"; {conclusion.basis.split(';')[0]}" if conclusion.basis else ""


def _basis(study: RatingsResult, dimension: str) -> str:
    """How many ratings of all arms there are on a dimension, and by how many raters."""
    rated = study.ratings.filter(dimension=dimension).drop_nulls("rating")
    return f"{counted(rated.height, 'rating')} by {counted(rated['rater'].n_unique(), 'rater')}"


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
