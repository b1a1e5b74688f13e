"""Preregistered rules that exclude raters, and what they exclude.

A rule is plain data that can be written into a study's file and its report. Every rule looks at a
rater without knowing the arm, so that no rule can favour one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.stats.arguments import require_columns
from empathylab.stats.arms.contingency import ContingencyTest, independence_test

Result = TypeVar("Result")
_YES_AND_NO = {"true": "1", "false": "0", "yes": "1", "no": "0"}
SEVERAL_ARMS = "several arms"
"""Where raters who rated several arms are counted."""


@dataclass(frozen=True, slots=True)
class FailedAttention:
    """Excludes raters who failed more attention checks than allowed."""

    rule: ClassVar[str] = "failed attention"
    column: str = "failed_attention"
    """Of the raters: how many checks failed, or whether one did."""
    most: int = 0

    def flags(self, raters: pl.DataFrame) -> pl.Series:
        """True for raters to leave out, null where it is unknown."""
        return _numbers(raters, self.column) > self.most


@dataclass(frozen=True, slots=True)
class TooFast:
    """Excludes raters who took less than some seconds, or than a fraction of the median."""

    rule: ClassVar[str] = "too fast"
    column: str = "seconds"
    seconds: float | None = None
    fraction_of_median: float | None = None

    def __post_init__(self) -> None:
        given = [second for second in (self.seconds, self.fraction_of_median) if second is not None]
        if len(given) != 1 or given[0] <= 0:
            raise InputError(
                "the rule 'too fast' needs either seconds or a fraction of the median, above 0",
                got={"seconds": self.seconds, "fraction_of_median": self.fraction_of_median},
                remedy="Give one of the two.",
            )

    def flags(self, raters: pl.DataFrame) -> pl.Series:
        """True for raters to leave out; the median is that of all raters together."""
        times = _numbers(raters, self.column)
        if self.seconds is not None:
            return times < self.seconds
        median = times.median()
        if not isinstance(median, float) or self.fraction_of_median is None:
            return pl.repeat(None, raters.height, dtype=pl.Boolean, eager=True)
        return times < self.fraction_of_median * median


@dataclass(frozen=True, slots=True)
class StraightLining:
    """Excludes raters who (nearly) always gave the same rating, or gave it many times in a row."""

    rule: ClassVar[str] = "straight-lining"
    share: float | None = 1.0
    """Of a rater's ratings that are the same; None: no such limit."""
    longest: int | None = None
    """Ratings on end that are the same, in the order of the ratings; None: no such limit."""
    fewest: int = 5
    """Raters with fewer ratings are not judged."""

    def __post_init__(self) -> None:
        limits = self.share is not None and not 0 < self.share <= 1
        if limits or (self.longest is not None and self.longest < 2) or not self._limited:
            raise InputError(
                "the rule 'straight-lining' needs a share above 0 and up to 1, or a run of 2 or "
                "more",
                got={"share": self.share, "longest": self.longest},
                remedy="Give share, longest, or both.",
            )

    @property
    def _limited(self) -> bool:
        return self.share is not None or self.longest is not None

    def flags(self, raters: pl.DataFrame) -> pl.Series:
        """True for raters to leave out, null for those with too few ratings."""
        judged = raters["ratings"] >= self.fewest
        flagged = pl.repeat(False, raters.height, eager=True)
        if self.share is not None:
            flagged |= raters["same_share"] >= self.share
        if self.longest is not None:
            flagged |= raters["longest_run"] >= self.longest
        return pl.select(pl.when(judged).then(flagged)).to_series()


@dataclass(frozen=True, slots=True)
class Inconsistent:
    """Excludes raters whose questionnaire answers contradict each other too often."""

    rule: ClassVar[str] = "inconsistent"
    column: str = "inconsistencies"
    """Of the raters: as counted by `empathylab.stats.questionnaires.inconsistency`."""
    most: int = 4

    def flags(self, raters: pl.DataFrame) -> pl.Series:
        """True for raters to leave out, null where it is unknown."""
        return _numbers(raters, self.column) > self.most


@dataclass(frozen=True, slots=True)
class AutomationSigns:
    """Excludes raters with one of these signs of AI assistance or of a bot."""

    rule: ClassVar[str] = "automation signs"
    columns: ClassVar[dict[str, str]] = {
        "hidden field": "hidden_field",
        "paste": "pastes",
        "even typing": "even_typing",
        "instant page": "instant_pages",
    }
    signs: Sequence[str] = ("hidden field",)

    def __post_init__(self) -> None:
        given = [self.signs] if isinstance(self.signs, str) else list(self.signs)
        for sign in given:
            if sign not in self.columns:
                raise UnknownName("sign", str(sign), self.columns)
        if not given:
            raise InputError(
                "the rule 'automation signs' needs a sign",
                got=self.signs,
                remedy=f"Give some of: {', '.join(self.columns)}.",
            )
        object.__setattr__(self, "signs", tuple(given))

    def flags(self, raters: pl.DataFrame) -> pl.Series:
        """True for raters to exclude, null where none was seen and some were not observed."""
        flagged = pl.repeat(False, raters.height, dtype=pl.Boolean, eager=True)
        for sign in self.signs:
            flagged |= _numbers(raters, self.columns[sign]) > 0
        return flagged


Rule = FailedAttention | TooFast | StraightLining | Inconsistent | AutomationSigns
RULES: dict[str, type[Rule]] = {
    rule.rule: rule
    for rule in (FailedAttention, TooFast, StraightLining, Inconsistent, AutomationSigns)
}


@dataclass(frozen=True, slots=True)
class Excluded:
    """A rater who is left out."""

    rater: str
    arm: str
    reasons: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many raters of an arm a rule leaves out."""

    rule: Rule
    arm: str
    excluded: int
    only: int
    """Those that no other rule leaves out."""
    unknown: int
    """Kept, because the rule could not be applied to them."""


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What the rules leave out."""

    rules: tuple[Rule, ...]
    excluded: tuple[Excluded, ...]
    counts: tuple[RuleCount, ...]
    raters: Mapping[str, int]
    """By arm, before."""
    kept: Mapping[str, int]
    """By arm, after."""
    alike: ContingencyTest
    """Whether the arms lose equally many: an arm that loses more is no longer a random sample."""

    def keep(self, frame: pl.DataFrame, *, rater: str = "rater") -> pl.DataFrame:
        """The rows of the raters that are not left out."""
        names = [item.rater for item in self.excluded]
        return frame.filter(~pl.col(rater).cast(pl.String).is_in(names))


@dataclass(frozen=True, slots=True)
class WithAndWithout(Generic[Result]):
    """The same analysis of all raters and of those kept."""

    everybody: Result
    kept: Result
    exclusions: Exclusions


def apply_exclusions(
    ratings: pl.DataFrame,
    raters: pl.DataFrame,
    rules: Sequence[Rule],
    *,
    rater: str = "rater",
    arm: str = "arm",
    rating: str = "rating",
) -> Exclusions:
    """Which raters each rule excludes, by arm; the frames do not change.

    `raters` has a row per rater with the columns that the rules name; a rule that cannot be
    applied to a rater (a missing time) keeps the rater and counts it as unknown. Raters without an
    arm of their own, who rated several, are counted together.
    """
    require_columns(ratings, rater, rating)
    require_columns(raters, rater, arm)
    people = raters.with_columns(
        pl.col(rater).cast(pl.String), pl.col(arm).cast(pl.String).fill_null(SEVERAL_ARMS)
    ).join(_same_ratings(ratings, rater, rating), on=rater, how="left", maintain_order="left")
    flags = {rule: rule.flags(people) for rule in rules}
    arms = [str(person) for person in people[arm].unique(maintain_order=True)]
    reasons = [
        tuple(rule for rule, flagged in flags.items() if flagged[row])
        for row in range(people.height)
    ]
    excluded = tuple(
        Excluded(name, of_arm, why)
        for name, of_arm, why in zip(people[rater], people[arm], reasons, strict=True)
        if why
    )
    before = {item: int((people[arm] == item).sum()) for item in arms}
    lost = {arm: sum(other.arm == arm for other in excluded) for arm in arms}
    return Exclusions(
        tuple(rules),
        excluded,
        tuple(_counts(flags, people[arm].to_list(), reasons, arms)),
        before,
        {arm: before[arm] - lost[arm] for arm in arms},
        independence_test([[lost[arm], before[arm] - lost[arm]] for arm in arms] or [[0]]),
    )


def with_and_without(
    ratings: pl.DataFrame,
    exclusions: Exclusions,
    analysis: Callable[[pl.DataFrame], Result],
    *,
    rater: str = "rater",
) -> WithAndWithout[Result]:
    """The analysis of all ratings, and of those by raters who are kept."""
    kept = exclusions.keep(ratings, rater=rater)
    if kept.is_empty():
        raise InputError(
            "the exclusion rules leave no rating",
            remedy="Relax the rules; they may have been written for another study.",
        )
    return WithAndWithout(analysis(ratings), analysis(kept), exclusions)


def rules_from(declared: Iterable[Mapping[str, Any]]) -> list[Rule]:
    """The rules that a study's file declares: `{"rule": "too fast", "seconds": 120}` and so on."""
    rules = []
    for item in declared:
        name = str(item.get("rule", ""))
        if name not in RULES:
            raise UnknownName("exclusion rule", name, RULES)
        known = {field.name for field in dataclasses.fields(RULES[name])}
        given = {key: value for key, value in item.items() if key != "rule"}
        for key in given:
            if key not in known:
                raise UnknownName("setting", key, known, where=f"exclusion rule {name!r}")
        rules.append(RULES[name](**given))
    return rules


def declared(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """The rules as plain data, for a study's file or a report; `rules_from` reads it."""
    return [{"rule": rule.rule, **dataclasses.asdict(rule)} for rule in rules]


def _numbers(raters: pl.DataFrame, column: str) -> pl.Series:
    if column not in raters.columns:
        raise UnknownName("column", column, raters.columns, remedy="The exclusion rule needs it.")
    values = raters[column]
    if values.dtype == pl.String:
        values = values.str.strip_chars().str.to_lowercase().replace(_YES_AND_NO)
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() == len(numbers) and values.null_count() < len(values):
        raise InputError(
            f"the exclusion rule needs numbers, or yes and no, in {column!r}",
            got=raters[column].drop_nulls()[0],
            remedy="Name another column about the raters.",
        )
    return numbers


def _same_ratings(ratings: pl.DataFrame, rater: str, rating: str) -> pl.DataFrame:
    """By rater: how many ratings, the proportion of the most common, and the longest run."""
    values = ratings.select(pl.col(rater).cast(pl.String), value=pl.col(rating)).drop_nulls()
    return values.group_by(rater).agg(
        ratings=pl.len(),
        same_share=pl.col("value").unique_counts().max() / pl.len(),
        longest_run=pl.col("value").rle().struct.field("len").max(),
    )


def _counts(
    flags: Mapping[Rule, pl.Series],
    arm_of: Sequence[str],
    reasons: Sequence[tuple[Rule, ...]],
    arms: Sequence[str],
) -> Iterable[RuleCount]:
    for rule, flagged in flags.items():
        values = flagged.to_list()
        for arm in arms:
            rows = [row for row, one in enumerate(arm_of) if one == arm]
            yield RuleCount(
                rule,
                arm,
                sum(values[row] is True for row in rows),
                sum(reasons[row] == (rule,) for row in rows),
                sum(values[row] is None for row in rows),
            )
