"""The first conclusion of `analyze ratings`: arms compared between and within subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from designs.simulation import FIVE, THREE, Codes, Counts, names, rated
from empathylab.analysis.ratings import from_table

EFFECT = 0.6
Places = tuple[Codes, Codes, Codes]


@dataclass(frozen=True, slots=True)
class ArmsDesign:
    """Who rates what, and how much raters, situations and replies differ on the logit scale."""

    name: str
    raters: tuple[int, int]
    """Of each arm; within subjects the first number counts all."""
    ratings: int
    """Per rater; within subjects half of them of each arm."""
    situations: int = 0
    """0: as many as one arm has replies, if each is rated as often as `ratings_per_reply`."""
    ratings_per_reply: int = 1
    """Of every reply, by different raters, where `situations` is 0."""
    reply_sd: float = 0.0
    by_arm_sd: float = 0.0
    within: bool = False
    thresholds: tuple[float, ...] = THREE
    dimensions: int = 1
    rater_sd: float = 0.7
    situation_sd: float = 0.5

    def count(self, seed: int) -> Counts:
        """False positives without a difference, and coverage of a log-odds of 0.6.

        Of the first conclusion of each dimension, and false positives of the clustered test.
        """
        without, with_effect = (
            self._conclusions(0.0, seed),
            self._conclusions(EFFECT, seed + 500_000),
        )
        first, known = _firsts(without), _firsts(with_effect)
        covering = sum(
            found.unit == "log-odds" and found.low is not None and found.low <= EFFECT <= found.high
            for found in known
        )
        clustered = [found for found in without if found.model.startswith("cluster-robust")]
        return {
            "false_positives": (_claims(first), len(first)),
            "coverage": (covering, len(known)),
            "clustered_false_positives": (_claims(clustered), len(clustered)),
        }

    def _conclusions(self, effect: float, seed: int) -> list[Any]:
        """The conclusions on all situations."""
        result = from_table(self.simulated(effect, seed), reference="human")
        return [conclusion for conclusion in result.conclusions if conclusion.subset == "all"]

    def simulated(self, effect: float, seed: int) -> pl.DataFrame:
        """The ratings of one study."""
        random = np.random.default_rng(seed)
        places = self._assigned(random)
        return pl.concat(
            [self._drawn(places, effect, number, random) for number in range(self.dimensions)]
        )

    def _drawn(
        self, places: Places, effect: float, dimension: int, random: np.random.Generator
    ) -> pl.DataFrame:
        rater, arm, situation = places
        situations = int(situation.max()) + 1
        by_arm = random.normal(0, self.by_arm_sd, (int(rater.max()) + 1, 2))
        latent = (
            effect * arm
            + random.normal(0, self.rater_sd, int(rater.max()) + 1)[rater]
            + random.normal(0, self.situation_sd, situations)[situation]
            + random.normal(0, self.reply_sd, (situations, 2))[situation, arm]
            + by_arm[rater, arm]
            + random.logistic(size=len(rater))
        )
        return pl.DataFrame(
            {
                "rater": names("r", rater),
                "arm": np.array(["human", "model"])[arm],
                "situation": names("s", situation),
                "dimension": f"d{dimension}",
                "rating": rated(latent, self.thresholds).astype(np.int64),
            }
        )

    def _assigned(self, random: np.random.Generator) -> Places:
        """Rater, arm and situation of every rating."""
        raters, ratings = sum(self.raters), self.ratings
        rater = np.repeat(np.arange(raters), ratings)
        if self.within:
            arm = np.tile(np.repeat([0, 1], ratings // 2), raters)
        else:
            arm = (rater >= self.raters[0]).astype(np.int64)
        if self.situations:
            draws = [random.permutation(self.situations)[:ratings] for _ in range(raters)]
            return rater, arm, np.concatenate(draws)
        # Each arm's raters take the replies in turn, the second time others take them.
        situation = np.empty(len(rater), dtype=np.int64)
        for side in (0, 1):
            replies = int((arm == side).sum()) // self.ratings_per_reply
            turns = [random.permutation(replies) for _ in range(self.ratings_per_reply)]
            situation[arm == side] = np.concatenate(turns)
        return rater, arm, situation


def _firsts(conclusions: list[Any]) -> list[Any]:
    """The first conclusion of each dimension."""
    return list({conclusion.dimension: conclusion for conclusion in reversed(conclusions)}.values())


def _claims(conclusions: list[Any]) -> int:
    return sum(conclusion.kind in ("better", "worse") for conclusion in conclusions)


_SHARED: dict[str, Any] = {"situations": 20, "reply_sd": 0.5}
DESIGNS = [
    ArmsDesign("between_plain", (30, 30), 10),
    ArmsDesign("between_shared_replies_60x20", (30, 30), 20, **_SHARED),
    ArmsDesign("between_shared_replies_400x10", (200, 200), 10, **_SHARED),
    *(ArmsDesign(f"between_{few}_to_50_raters", (few, 50), 10) for few in (2, 3, 5, 10)),
    ArmsDesign("between_6_to_6_raters", (6, 6), 20),
    ArmsDesign("between_6_to_6_raters_shared_replies", (6, 6), 20, **_SHARED),
    ArmsDesign("within_30_raters", (30, 0), 20, by_arm_sd=0.4, within=True),
    ArmsDesign(
        "within_30_raters_shared_replies", (30, 0), 20, **_SHARED, by_arm_sd=0.4, within=True
    ),
    ArmsDesign("within_8_raters", (8, 0), 20, by_arm_sd=0.4, within=True),
    ArmsDesign("likert_between_plain", (30, 30), 10, thresholds=FIVE),
    ArmsDesign("likert_between_shared_replies_60x20", (30, 30), 20, **_SHARED, thresholds=FIVE),
    ArmsDesign("likert_between_3_to_50_raters", (3, 50), 10, thresholds=FIVE),
    ArmsDesign("likert_within_30_raters", (30, 0), 20, by_arm_sd=0.4, within=True, thresholds=FIVE),
    ArmsDesign("two_dimensions_between", (30, 30), 10, dimensions=2),
    ArmsDesign("between_two_ratings_per_reply", (200, 200), 10, ratings_per_reply=2, reply_sd=0.5),
]
FEW_RATINGS = [
    ArmsDesign("between_two_ratings_per_reply_60x10", (30, 30), 10, 0, 2, reply_sd=0.5),
    ArmsDesign("between_three_ratings_per_reply_60x12", (30, 30), 12, 0, 3, reply_sd=0.5),
]
FEW_SITUATIONS = [
    ArmsDesign(f"between_{few}_situations", (40, 40), few, few, reply_sd=0.8)
    for few in (2, 3, 4, 5, 6, 8)
]
