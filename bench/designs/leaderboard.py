"""The leaderboard: ranks of five respondents, rated by separate or by shared raters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from designs.simulation import Counts, names, rated
from empathylab.analysis.benchmark.estimates import measured_by_people
from empathylab.analysis.benchmark.frames import ReferenceRatings
from empathylab.analysis.benchmark.ranking import Entry, ranked
from empathylab.situations.sources.released import Dimension
from empathylab.store.judged_responses import JudgedStudy

_DIMENSION = Dimension("empathy", (1.0, 2.0, 3.0), ("Bad", "Okay", "Good"))
_RESPONDENTS = 5


@dataclass(frozen=True, slots=True)
class LeaderboardDesign:
    """Five respondents reply to 20 situations; a shared rater rates four replies of each."""

    name: str
    raters: int
    """Of all respondents, or of each."""
    shared: bool = True
    steps: float = 0.5
    """Between the true levels of neighbours, where respondents are not equal."""
    rater_sd: float = 0.7
    situation_sd: float = 0.5
    reply_sd: float = 0.5
    by_respondent_sd: float = 0.3
    """Of a rater's leaning toward a respondent."""

    def count(self, seed: int) -> Counts:
        """Claims of equal respondents, and whether all ranks of unequal ones are true."""
        random = np.random.default_rng(seed)
        equal = ranked(self._entries(0.0, random))
        unequal = ranked(self._entries(self.steps, random)).entries
        true = [_RESPONDENTS - int(entry.respondent) for entry in unequal]
        held = [
            entry.rank_low <= rank <= entry.rank_high
            for entry, rank in zip(unequal, true, strict=True)
        ]
        width = sum(entry.rank_high - entry.rank_low for entry in unequal)
        return {
            "false_positives": (int(any(pair.differs for pair in equal.pairs)), 1),
            "rank_coverage": (int(all(held)), 1),
            "rank_width": (width, _RESPONDENTS),
        }

    def _entries(self, steps: float, random: np.random.Generator) -> list[Entry]:
        if self.shared:
            rater = np.repeat(np.arange(self.raters), 20)
            respondent = np.tile(np.arange(20) % _RESPONDENTS, self.raters)
        else:
            rater = np.repeat(np.arange(self.raters * _RESPONDENTS), 10)
            respondent = rater % _RESPONDENTS
        draws = [random.permutation(20) for _ in range(int(rater.max()) + 1)]
        situation = np.concatenate([draw[: len(rater) // len(draws)] for draw in draws])
        size = int(rater.max()) + 1
        latent = steps * respondent + random.normal(0, self.rater_sd, size)[rater]
        latent += random.normal(0, self.by_respondent_sd, (size, _RESPONDENTS))[rater, respondent]
        latent += random.normal(0, self.situation_sd, 20)[situation]
        latent += random.normal(0, self.reply_sd, (20, _RESPONDENTS))[situation, respondent]
        rating = rated(latent + random.logistic(size=len(rater)))
        people = pl.DataFrame(
            {
                "response": respondent * 20 + situation,
                "respondent": names("", respondent),
                "situation": names("s", situation),
                "emotion": None,
                "valence": None,
                "text": "",
                "rater": names("r", rater),
                "rating": rating,
                "top": (rating == 3).astype(float),
            }
        )
        reference = ReferenceRatings(JudgedStudy(1, "s", 1, {}), _DIMENSION, "between", people)
        return [
            Entry(name, measured_by_people(reference, name, parts=False), 20, *[None] * 4)
            for name in reference.respondents
        ]


DESIGNS = [
    LeaderboardDesign("leaderboard_20_separate_raters_each", 20, shared=False),
    *(LeaderboardDesign(f"leaderboard_{few}_shared_raters", few) for few in (4, 6, 10, 20, 40)),
]
