"""`analyze changes`: an unchanged model rated on two occasions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from designs.simulation import Counts, names, rated
from empathylab.analysis.drift.analysis import compare
from empathylab.analysis.drift.occasions import Occasion, RatedStudy, occasion_of_tables
from empathylab.situations.sources.released import Dimension
from empathylab.store.ratings import Study

_STUDY = Study("study", "", "between", (Dimension("empathy", (1.0, 2.0, 3.0)),), "closed")
_SITUATIONS = 20


@dataclass(frozen=True, slots=True)
class ChangesDesign:
    """Raters of each occasion give ten ratings each of one model's replies to 20 situations."""

    name: str
    raters: int
    same_raters: bool = False
    new_replies: bool = False
    new_situations: int = 0
    """Of the later occasion; they are left out of the comparison, the others are shared."""
    reply_sd: float = 0.5
    rater_sd: float = 0.7
    situation_sd: float = 0.5
    occasion_sd: float = 0.3
    """Of a rater who rates on both occasions, by occasion."""

    def count(self, seed: int) -> Counts:
        """Whether the ratings seem to have changed, and whether the interval covers 0."""
        before, after = self._occasions(np.random.default_rng(seed))
        (found,) = compare(before, after).ratings
        return {
            "false_positives": (int(found.p_holm < 0.05), 1),
            "coverage": (int(found.low <= 0 <= found.high), 1),
        }

    def _occasions(self, random: np.random.Generator) -> tuple[Occasion, Occasion]:
        people = self.raters * (1 if self.same_raters else 2)
        places = _SITUATIONS + self.new_situations
        raters = random.normal(0, self.rater_sd, people)
        situations = random.normal(0, self.situation_sd, places)
        replies = random.normal(0, self.reply_sd, (places, 2))
        made = []
        for later in (0, 1):
            first = 0 if self.same_raters else later * self.raters
            rater = first + np.repeat(np.arange(self.raters), 10)
            shown = [random.permutation(_SITUATIONS)[:10] for _ in range(self.raters)]
            situation = np.concatenate(shown) + later * self.new_situations
            latent = raters[rater] + random.normal(0, self.occasion_sd, people)[rater]
            latent += situations[situation] + random.logistic(size=len(rater))
            latent += replies[situation, later * self.new_replies]
            frame = pl.DataFrame(
                {
                    "rater": names("r", rater),
                    "arm": "model",
                    "respondent": "model",
                    "set": "set",
                    "situation": names("s", situation),
                    "sample": later,
                    "prompt": "prompt",
                    "text": names("t", situation + places * later * self.new_replies),
                    "dimension": "empathy",
                    "rating": rated(latent),
                    "rated_at": None,
                }
            )
            made.append(_occasion(f"occasion {later + 1}", frame))
        return made[0], made[1]


def _occasion(title: str, ratings: pl.DataFrame) -> Occasion:
    nothing = pl.DataFrame({"respondent": [], "situation": [], "text": []})
    return replace(
        occasion_of_tables(nothing, title), studies={"study": RatedStudy(_STUDY, ratings, 0)}
    )


DESIGNS = [
    ChangesDesign("changes_same_replies", 30),
    ChangesDesign("changes_same_replies_same_raters", 30, same_raters=True),
    ChangesDesign("changes_new_replies", 30, new_replies=True),
    ChangesDesign("changes_new_replies_same_raters", 30, same_raters=True, new_replies=True),
    ChangesDesign("changes_new_replies_200_raters", 200, new_replies=True),
    ChangesDesign("changes_half_new_situations", 30, new_replies=True, new_situations=10),
    ChangesDesign("changes_half_new_situations_200_raters", 200, True, True, 10),
    ChangesDesign("changes_6_raters", 6, new_replies=True),
]
