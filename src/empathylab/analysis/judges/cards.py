"""A judge's card: how it compares with people, and whether it may stand in for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from empathylab.stats.agreement import Coefficient
from empathylab.stats.judges.annotators import AlternativeAnnotatorTest
from empathylab.stats.judges.calibration import (
    CalibrationCurve,
    CalibrationScores,
    Confusion,
    Measured,
    OrdinalMap,
)
from empathylab.stats.judges.preference_agreement import PreferenceAgreement

Decision = Literal["may", "not", "cannot tell"]
BiasName = Literal["length", "self_preference", "position", "scale_order", "valence", "emotion"]

LEVEL = 0.05
"""A bias is said to be found where its corrected p lies below."""
_NOT_FOR = {
    "length": "comparing replies of different length",
    "self_preference": "comparing its own family with others",
    "position": "choosing between two replies shown in one order only",
    "scale_order": "ratings on a scale shown in one direction only",
    "valence": "comparing positive with negative situations",
}


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """How much a judge leans one way, beyond people."""

    name: BiasName
    about: str
    """Toward what: a family's respondents, an emotion …; empty where the name says it."""
    estimate: float
    """Points of the scale (length: per doubling of the words; scale order: toward the end shown
    first); position: the share above one half of the reply shown first. NaN where it cannot be
    told; `note` says why."""
    low: float
    high: float
    p: float
    p_corrected: float
    """Holm, over the judge's biases on this dimension; emotions are a family of their own."""
    n: int
    note: str = ""

    @property
    def found(self) -> bool:
        """Whether the corrected test says that there is one."""
        return self.p_corrected < LEVEL


@dataclass(frozen=True, slots=True)
class Stability:
    """How far a judge says the same of a response when it is asked again."""

    alpha: Coefficient
    """Krippendorff's, ordinal, the repeats taken as raters."""
    same: float
    """Share of responses of which all repeats say the same."""
    sd: float
    """The standard deviation of one response's repeats, in points of the scale, pooled."""
    responses: int
    """Asked about more than once."""
    repeats: float
    """Times a response was asked about, on average."""
    turned: bool = False
    """Whether the scale was shown with its lowest and with its highest point first."""


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """What is known of a judge on one dimension."""

    judge: str
    dimension: str
    n: int
    """Responses that both the judge and people rated."""
    n_ratings: int
    """People's ratings of them."""
    n_situations: int
    n_people: int
    respondents: tuple[str, ...]
    """Who wrote those responses."""
    weighted_kappa: Coefficient
    """Quadratic, of the judge's value with the median of people's."""
    weighted_kappa_ranks: Coefficient
    """The same with the values that occur one step apart, as papers often have it."""
    spearman: Coefficient
    spearman_within: float
    """The mean over respondents: what is left once it is known who wrote the reply. NaN where there
    is one respondent only, or the judge says the same of all replies of each."""
    spearman_within_low: float
    """The lower end of its interval; NaN where there is none."""
    people_kappa: float
    """Mean weighted kappa of two people; NaN where no two share enough responses."""
    judge_person_kappa: float
    """The same of the judge with one person."""
    people_are: str
    """Experts, skilled or crowd: the reason for ε."""
    epsilon: float
    alt_test: AlternativeAnnotatorTest | None
    constant_passes: bool | None
    """Whether a judge that always says people's commonest rating would pass the same test: single
    ratings scatter, and a value in the middle is often nearer to the others than a person is. None
    where nobody was tested."""
    over_constant: Measured | None
    """How much nearer the judge is to single ratings than that constant: the mean difference of
    their squared distances. None where nobody was tested."""
    untested: str
    """Why there is no test, or nobody was tested in it; empty where there is a verdict."""
    biases: tuple[JudgeBias, ...]
    emotions: tuple[JudgeBias, ...]
    """How far each emotion's replies are rated above or below people's, against the others."""
    stability: Stability | None
    """None where nothing was asked twice."""
    same_over_orders: float
    """Share of pairs shown in both orders in which the same reply is preferred; NaN without any."""
    confusion: Confusion | None
    """None for ratings in many degrees."""
    curve: CalibrationCurve | None
    map: OrdinalMap | None
    scores: CalibrationScores | None
    points: tuple[float, ...] = ()
    """Of the scale, where it has few."""
    preferences: PreferenceAgreement | None = None
    """How often the reply is preferred that people rate higher; None where it chose nothing."""
    members: tuple[str, ...] = ()
    """Of a panel: whose mean it is."""
    kin: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a panel: each member that has respondents of its own family here, with these."""

    @property
    def follows_people(self) -> bool:
        """Whether the judge's values rise with people's, beyond chance."""
        return self.spearman.low > 0

    @property
    def foretells(self) -> bool:
        """Whether people's ratings are foretold better from the judge than from their shares."""
        return self.scores is not None and self.scores.gain.low > 0

    @property
    def knows_only_who(self) -> bool:
        """Whether there are several respondents, and nothing is shown to be known within them."""
        return len(self.respondents) > 1 and not self.spearman_within_low > 0

    @property
    def decision(self) -> Decision:
        """Whether the judge may stand in for people.

        By the alternative annotator test, and only where the judge is shown to know something: one
        that says the same of nearly everything can pass the test, and tells nothing.
        """
        if self.alt_test is None or not self.alt_test.comparisons:
            return "cannot tell"
        return "may" if self.alt_test.passes and not self.unshown else "not"

    @property
    def unshown(self) -> str:
        """What must be shown besides the test and is not; empty where nothing is missing."""
        if not self.follows_people:
            return "its values are not shown to rise with people's"
        if not self.foretells:
            return "it is not shown to foretell people's ratings better than the bare shares do"
        if self.constant_passes and not (self.over_constant and self.over_constant.low > 0):
            return (
                "it is not shown to be nearer to people than a judge that always says their "
                "commonest rating"
            )
        return ""

    @property
    def not_for(self) -> tuple[str, ...]:
        """What the judge must not be used for, by what was found and by what is not shown."""
        return tuple(self._limits())

    def _limits(self) -> Iterator[str]:
        if self.knows_only_who:
            yield "comparing replies of one respondent"
        yield from (_NOT_FOR[one.name] for one in self.biases if one.found)
        if odd := [one.about for one in self.emotions if one.found]:
            yield f"comparing {', '.join(odd)} with other emotions"

    @property
    def verdict(self) -> str:
        """The decision in plain words."""
        if self.decision == "cannot tell":
            return f"cannot tell: {self.untested}"
        if self.decision == "not" and self.alt_test is not None and self.alt_test.passes:
            return f"not: it passes at ε = {self.epsilon:g}, but {self.unshown}"
        if self.decision == "not":
            return f"not: it is not shown to do as well as people at ε = {self.epsilon:g}"
        limits = f", but not for {' or '.join(self.not_for)}" if self.not_for else ""
        return f"may stand in for people here at ε = {self.epsilon:g}{limits}"

    def bias(self, name: BiasName) -> JudgeBias | None:
        """The bias of that name; None where it was not looked at."""
        return next((one for one in self.biases if one.name == name), None)
