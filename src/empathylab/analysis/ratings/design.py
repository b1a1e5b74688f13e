"""The design of a rated study, recognised from who rated what, and its reference arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from empathylab.analysis.json_values import json_value
from empathylab.errors import UnknownName
from empathylab.stats.arms.within import Unit

Kind = Literal["single arm", "between", "within", "mixed"]
PEOPLE = "human"
_PEOPLE_NAMES = ("human", "humans", "people", "person")
REPLY = "reply_id"
"""The column that says which reply was rated."""
_PLURALS = {"rater": "raters", "situation": "situations", "reply": "replies"}
_FEW_RATINGS = 1.5
"""Per rater and arm; with fewer, most raters rate an arm once."""
_MOST_EXCEPTIONS = 0.1
"""Up to this proportion of raters or replies may deviate from the design: dropouts, repeats."""


@dataclass(frozen=True, slots=True)
class RatingsDesign:
    """Who rated what."""

    kind: Kind
    """`between`: a rater saw one arm; `within`: several; `mixed`: some raters one, some several."""
    arms: tuple[str, ...]
    """The reference first."""
    dimensions: tuple[str, ...]
    ratings: int
    raters: int
    raters_per_arm: Mapping[str, int]
    ratings_per_rater: float
    """Mean number of replies that a rater rated."""
    ratings_per_rater_and_arm: float
    """Mean number of replies of one arm that a rater of this arm rated."""
    situations: int
    shared_situations: float
    """Proportion of situations that were rated in two or more arms."""
    replies: int
    ratings_per_reply: float
    """Mean number of raters per reply."""
    shared_replies: float
    """Proportion of replies with two or more raters."""
    pairing: Unit | None
    """What pairs the arms; None where nothing does."""

    @property
    def rated_replies(self) -> int:
        """How often a rater rated a reply, on one dimension or several."""
        return round(self.raters * self.ratings_per_rater)

    @property
    def replies_vary(self) -> bool:
        """Whether differences between the replies of one arm can be estimated."""
        return self.shared_replies > _MOST_EXCEPTIONS and self.shared_situations > 0

    @property
    def second_cluster(self) -> str | None:
        """The column whose values cluster ratings beside raters; None where raters alone do.

        Where replies have several ratings, a test must not take them as the only ones of interest.
        Replies to one situation share what it calls for, in all arms, so situations are the
        clusters, also where each arm has its own. If there is only one situation, its replies are.
        """
        if self.shared_replies <= _MOST_EXCEPTIONS:
            return None
        return "situation" if self.situations > 1 else REPLY

    @property
    def freedom_of_replies(self) -> int:
        """The degrees of freedom with which the model estimates how much replies vary.

        From situations of several arms, or between the situations of one arm.
        """
        arms, beside = len(self.arms), self.situations - 1
        crossed = min(self.replies - arms - beside, (arms - 1) * beside)
        return max(crossed, self.situations - arms)

    @property
    def clusters(self) -> str:
        """What the clustered test clusters by, in words."""
        words = {None: "rater", "situation": "rater and situation", REPLY: "rater and reply"}
        return words[self.second_cluster]

    @property
    def clusters_text(self) -> str:
        """`raters and situations`."""
        return " and ".join(_PLURALS[cluster] for cluster in self.clusters.split(" and "))

    @property
    def raters_vary_by_arm(self) -> bool:
        """Whether differences between raters in their response to the arms can be estimated."""
        return self.kind in ("within", "mixed") and self.ratings_per_rater_and_arm >= _FEW_RATINGS

    @property
    def fewest_raters(self) -> int:
        """Raters of the arm with the fewest."""
        return min(self.raters_per_arm.values(), default=0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        document: dict[str, Any] = json_value(self)
        return document | {
            "replies_vary": self.replies_vary,
            "raters_vary_by_arm": self.raters_vary_by_arm,
        }


def recognise_design(ratings: pl.DataFrame, reference: str) -> RatingsDesign:
    """The design of these ratings, by their columns rater, arm, situation, dimension, response.

    A reply is a response, or an arm's reply to a situation where responses are not numbered. Up to
    a tenth of the raters, or of the ratings, may deviate: a study between subjects stays one if a
    few raters saw two arms.
    """
    arms = [reference, *sorted(set(ratings["arm"].unique().to_list()) - {reference})]
    dimensions = ratings["dimension"].unique(maintain_order=True).to_list()
    reply = REPLY
    rated = with_replies(ratings).select("rater", "arm", "situation", reply).unique()
    by_rater = rated.group_by("rater").agg(pl.col("arm").n_unique(), replies=pl.len())
    by_reply = rated.group_by(reply).agg(pl.col("rater").n_unique())
    by_situation = rated.group_by("situation").agg(pl.col("arm").n_unique())
    by_arm = dict(rated.group_by("arm").agg(pl.col("rater").n_unique()).iter_rows())
    return RatingsDesign(
        kind=_kind(by_rater, len(arms)),
        arms=tuple(arms),
        dimensions=tuple(dimensions),
        ratings=ratings.height,
        raters=by_rater.height,
        raters_per_arm={arm: by_arm[arm] for arm in arms},
        ratings_per_rater=rated.height / by_rater.height,
        ratings_per_rater_and_arm=rated.height / rated.select("rater", "arm").n_unique(),
        situations=by_situation.height,
        shared_situations=_proportion(by_situation["arm"] > 1),
        replies=by_reply.height,
        ratings_per_reply=rated.height / by_reply.height,
        shared_replies=_proportion(by_reply["rater"] > 1),
        pairing=pairing_unit(ratings) if len(arms) > 1 else None,
    )


def with_replies(ratings: pl.DataFrame) -> pl.DataFrame:
    """The ratings with a column for the reply: the response, or the arm's reply to a situation."""
    own = pl.concat_str("arm", "situation", separator="\x1f")
    if "response" in ratings.columns:
        own = pl.coalesce(pl.col("response").cast(pl.String), own)
    return ratings.with_columns(own.alias(REPLY))


def _proportion(flags: pl.Series) -> float:
    return int(flags.sum()) / len(flags)


def _kind(by_rater: pl.DataFrame, arms: int) -> Kind:
    if arms < 2:
        return "single arm"
    # A rater who left after one reply cannot have seen two arms.
    active = by_rater.filter(pl.col("replies") > 1)
    if active.is_empty():
        return "between"
    several = _proportion(active["arm"] > 1)
    given = _proportion(by_rater["arm"].repeat_by(by_rater["replies"]).explode() > 1)
    if min(several, given) <= _MOST_EXCEPTIONS:
        return "between"
    return "within" if several >= 1 - _MOST_EXCEPTIONS else "mixed"


def pairing_unit(ratings: pl.DataFrame) -> Unit:
    """What pairs the arms: the finest unit in which most ratings have one of another arm beside.

    Raters and situations where raters rated several arms' replies to the same situation; else
    raters, who then saw several arms; else situations.
    """
    units: tuple[tuple[Unit, list[str]], ...] = (
        ("rater and situation", ["rater", "situation"]),
        ("rater", ["rater"]),
    )
    for unit, keys in units:
        paired = ratings.select((pl.col("arm").n_unique().over(keys) > 1).mean()).item()
        if paired is not None and paired > 0.5:
            return unit
    return "situation"


@dataclass(frozen=True, slots=True)
class ReferenceArm:
    """The arm that the others are compared with."""

    name: str
    assumed: bool
    """No arm was named and none shows people's replies, so the first arm was taken."""
    by_name: bool = False
    """Whether the first arm is the first by name: a table lists no order of arms."""


def reference_arm(
    given: str | None, rated: Sequence[str], arms: pl.DataFrame | None = None
) -> ReferenceArm:
    """The reference: the arm given, else the one whose respondent is people, else the first.

    `arms` has the columns arm and kind in the order of the study. Without it people's arm is the
    one called human, people or person, and the first arm is the first by name: the order of the
    rows never counts.
    """
    if given is not None:
        if given not in rated:
            raise UnknownName("arm", given, rated)
        return ReferenceArm(given, assumed=False)
    listed = [] if arms is None else arms.filter(pl.col("arm").is_in(list(rated))).rows(named=True)
    people = [row["arm"] for row in listed if row["kind"] == "human"]
    if arms is None:
        people = sorted(arm for arm in rated if arm.strip().lower() in _PEOPLE_NAMES)
    order = [*(row["arm"] for row in listed), *sorted(rated)]
    if PEOPLE in rated:
        return ReferenceArm(PEOPLE, assumed=False)
    if people:
        return ReferenceArm(people[0], assumed=False)
    return ReferenceArm(order[0], assumed=True, by_name=not listed)
