"""A judge's card: how it compares with people, and whether it can replace human raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from empathylab.stats.agreement import Coefficient
from empathylab.stats.estimates import Estimate
from empathylab.stats.judges.annotators import AlternativeAnnotatorTest
from empathylab.stats.judges.calibration import (
    CalibrationCurve,
    CalibrationScores,
    Confusion,
    OrdinalMap,
)
from empathylab.stats.judges.preference_agreement import PreferenceAgreement

Decision = Literal["may", "not", "cannot tell"]
Perspective = Literal["onlookers", "recipients", "onlookers and recipients"]
Shortfall = Literal["association", "prediction", "constant"]
BiasName = Literal["length", "self_preference", "position", "scale_order", "valence", "emotion"]

LEVEL = 0.05
"""A bias counts as found where its corrected p is below."""


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """How much a judge favours something, beyond people."""

    name: BiasName
    about: str
    """Toward what: a family's respondents, an emotion …; empty where the name says it."""
    estimate: float
    """Points of the scale (length: per doubling of the words; scale order: toward the end shown
    first); position: the proportion above one half of the reply shown first. NaN where it cannot
    be estimated; `note` says why."""
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
    """How consistent a judge is when it is asked again about the same response."""

    alpha: Coefficient
    """Krippendorff's, ordinal, the repeats taken as raters."""
    same: float
    """Proportion of responses that get the same rating in all repeats."""
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
    """The mean over respondents: the correlation among replies of one author. NaN with a single
    respondent, or where the judge gives all replies of each the same rating."""
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
    """Whether a judge that always gives people's most common rating would pass the same test:
    single ratings vary, and a value in the middle is often nearer to the others than a person is.
    None where no person was tested."""
    over_constant: Estimate | None
    """How much nearer the judge is to single ratings than that constant: the mean difference of
    their squared distances. None where no person was tested."""
    untested: str
    """Why there is no test, or no person was tested in it; empty where there is a verdict."""
    biases: tuple[JudgeBias, ...]
    emotions: tuple[JudgeBias, ...]
    """How much each emotion's replies are rated above people's, compared with the others."""
    stability: Stability | None
    """None where nothing was asked twice."""
    same_over_orders: float
    """Proportion of pairs shown in both orders in which the same reply is preferred; NaN without
    any."""
    confusion: Confusion | None
    """None for ratings in many degrees."""
    curve: CalibrationCurve | None
    map: OrdinalMap | None
    scores: CalibrationScores | None
    points: tuple[float, ...] = ()
    """Of the scale, where it has few."""
    preferences: PreferenceAgreement | None = None
    """How often the reply is preferred that people rate higher; None where it chose nothing."""
    compared_with: Perspective = "onlookers"
    """Whose ratings the judge is compared with: people who read a reply to another person, or the
    people whom the reply was for."""
    members: tuple[str, ...] = ()
    """Of a panel: whose mean it is."""
    own_families: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a panel: each member that has respondents of its own family here, with these."""

    @property
    def follows_people(self) -> bool:
        """Whether the judge's values rise with people's, beyond chance."""
        return self.spearman.low > 0

    @property
    def predicts(self) -> bool:
        """Whether the judge predicts people's ratings better than their base rates do."""
        return self.scores is not None and self.scores.gain.low > 0

    @property
    def knows_only_author(self) -> bool:
        """Whether there are several respondents, and no association is shown within them."""
        return len(self.respondents) > 1 and not self.spearman_within_low > 0

    @property
    def decision(self) -> Decision:
        """Whether the judge can replace human raters.

        By the alternative annotator test, and only where the judge is shown to know something: a
        judge that gives nearly everything the same rating can pass the test without information.
        """
        if self.alt_test is None or not self.alt_test.comparisons:
            return "cannot tell"
        return "may" if self.alt_test.passes and self.shortfall is None else "not"

    @property
    def shortfall(self) -> Shortfall | None:
        """What must be shown besides the test and is not; None where nothing is missing."""
        if not self.follows_people:
            return "association"
        if not self.predicts:
            return "prediction"
        if self.constant_passes and not (self.over_constant and self.over_constant.low > 0):
            return "constant"
        return None

    def bias(self, name: BiasName) -> JudgeBias | None:
        """The bias of that name; None where it was not tested."""
        return next((bias for bias in self.biases if bias.name == name), None)
