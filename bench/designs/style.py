"""`analyze style`: who wrote a text, and which features go with ratings, where nothing does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from designs.simulation import Counts, names, rated
from empathylab.analysis.style.estimates import RatedStyle
from empathylab.analysis.style.prose import tested_relations
from empathylab.style.authorship.predictability import predictability
from empathylab.style.rating_relations import rating_relations


@dataclass(frozen=True, slots=True)
class AuthorshipDesign:
    """Respondents who draw their words, and how they begin, from the same frequencies."""

    name: str
    situations: int
    respondents: int = 2
    words: int = 30
    openings: int = 0
    """Phrases of eight words; every text begins with one of them."""

    def count(self, seed: int) -> Counts:
        """Whether authors seem to be identified, and whether the interval covers chance."""
        random = np.random.default_rng(seed)
        vocabulary = ["".join(random.choice(list("abcdefghiklmnoprstu"), 5)) for _ in range(300)]
        frequency = 1 / np.arange(1, 301)
        openings = [random.choice(vocabulary, 8) for _ in range(self.openings)]
        rows = []
        for situation in range(self.situations):
            topic = list(random.choice(vocabulary, 5))
            for respondent in range(self.respondents):
                drawn = random.choice(vocabulary, self.words, p=frequency / frequency.sum())
                words = [*drawn, *random.choice(topic, 8)]
                if openings:
                    words = [*openings[random.integers(self.openings)], *words]
                rows.append((f"s{situation}", f"r{respondent}", " ".join(words)))
        frame = pl.DataFrame(rows, ["situation", "respondent", "text"], orient="row")
        found = predictability(frame, with_ablations=False, seed=seed).full
        return {
            "false_positives": (int(found.above_chance), 1),
            "coverage": (int(found.low <= found.chance <= found.high), 1),
        }


@dataclass(frozen=True, slots=True)
class RelationsDesign:
    """Forty features, from frequent to rare, of replies whose ratings depend on none of them."""

    name: str
    situations: int
    raters: int
    respondents: int = 3
    features: int = 40

    def count(self, seed: int) -> Counts:
        """Whether any feature seems to be related to the ratings, where one can be tested."""
        random = np.random.default_rng(seed)
        situation, respondent = np.divmod(
            np.arange(self.situations * self.respondents), self.respondents
        )
        chances = np.geomspace(0.5, 0.005, self.features)
        # What a situation is about and who replies make a feature more or less likely.
        tilt = random.normal(0, 0.7, (self.situations, self.features))[situation]
        tilt += random.normal(0, 0.7, (self.respondents, self.features))[respondent]
        present = random.random(tilt.shape) < 1 / (1 + (1 / chances - 1) * np.exp(-tilt))
        marks = present * (1 + random.poisson(0.5, tilt.shape))
        features = pl.DataFrame(
            {f"f{number}": column for number, column in enumerate(marks.T)}
            | {
                "situation": names("s", situation),
                "respondent": names("r", respondent),
                "words": random.poisson(60, len(situation)),
            }
        )
        rater = np.repeat(np.arange(self.raters), 15)
        reply = np.concatenate(
            [random.choice(len(situation), 15, replace=False) for _ in range(self.raters)]
        )
        latent = random.normal(0, 0.7, self.raters)[rater] + random.logistic(size=len(rater))
        latent += random.normal(0, 0.5, self.situations)[situation[reply]]
        latent += random.normal(0, 0.5, len(situation))[reply]
        ratings = pl.DataFrame(
            {
                "situation": names("s", situation[reply]),
                "respondent": names("r", respondent[reply]),
                "rater": names("p", rater),
                "rating": rated(latent),
            }
        )
        columns = [f"f{number}" for number in range(self.features)]
        relations = tuple(rating_relations(features, ratings, columns=columns))
        tested, claimed = tested_relations(RatedStyle("", "", relations))
        return {
            "false_positives": (int(bool(claimed)), int(bool(tested))),
            "tested": (len(tested), self.features),
        }


DESIGNS = [
    AuthorshipDesign("authorship_40_situations", 40),
    AuthorshipDesign("authorship_100_situations", 100),
    AuthorshipDesign("authorship_4_respondents", 40, respondents=4),
    RelationsDesign("style_relations_60_situations_60_raters", 60, 60),
    RelationsDesign("style_relations_200_situations_100_raters", 200, 100),
    RelationsDesign("style_relations_30_situations_30_raters", 30, 30),
]
OPENINGS = [AuthorshipDesign("authorship_40_situations_6_openings", 40, openings=6)]
