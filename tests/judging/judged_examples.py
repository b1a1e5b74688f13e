"""Tables of people and scripted judges, whose leanings are known because they are made here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[np.float64]

RESPONDENTS = ("kin/writer", "rival/writer", "human")
JUDGE = "kin/judge"
EMOTIONS = ("afraid", "joyful", "proud", "sad")


class Replies:
    """Three respondents' replies to situations: how good and how long each is."""

    def __init__(self, seed: int, situations: int = 60, better: float = 0.2) -> None:
        self.rng = np.random.default_rng(seed)
        self.situations = situations
        self.situation = np.repeat(np.arange(situations), len(RESPONDENTS))
        self.respondent = np.tile(np.arange(len(RESPONDENTS)), situations)
        size = len(self.situation)
        # One respondent writes longer, and people like length a little: neither is a judge's bias.
        self.log_words = self.rng.normal(3.5, 0.5, size) + 0.3 * (self.respondent == 0)
        self.quality = (
            3
            + self.rng.normal(0, 0.7, size)
            + 0.3 * (self.log_words - 3.5)
            + better * (self.respondent == 0)
        )

    def people(self, raters: int = 40, per_reply: int = 2) -> pl.DataFrame:
        """Ratings by people, who are milder or stricter and scatter."""
        mild = self.rng.normal(0, 0.4, raters)
        rows = []
        for _ in range(per_reply):
            who = self._dealt(raters, len(rows) and rows[-1]["number"].to_numpy())
            seen = self.quality + mild[who] + self.rng.normal(0, 0.7, len(who))
            rows.append(self._rows(seen).with_columns(number=pl.Series(who)))
        told = pl.format("p{}", "number").alias("rater")
        kind = pl.lit("person").alias("rater_kind")
        return pl.concat(rows).with_columns(told, kind).drop("number")

    def judge(
        self,
        name: str = JUDGE,
        *,
        length: float = 0.0,
        own: float = 0.0,
        scatter: float = 0.7,
        scale: float = 1.0,
    ) -> pl.DataFrame:
        """Ratings by a judge that adds so much for twice the words, or for its own family.

        Below 1 its `scale` is narrower than people's, above 1 wider.
        """
        seen = 3 + scale * (self.quality - 3) + self.rng.normal(0, scatter, len(self.quality))
        seen = seen + length * (self.log_words - 3.5) / np.log(2) + own * (self.respondent == 0)
        return self._rows(seen).with_columns(rater=pl.lit(name), rater_kind=pl.lit("model"))

    def pairs(self, name: str = JUDGE, *, first: float = 0.0) -> pl.DataFrame:
        """Choices between two respondents' replies, in both orders; `first` draws to the first."""
        quality = self.quality.reshape(self.situations, len(RESPONDENTS))
        rows = []
        for a, b in ((1, 2), (2, 1)):
            apart = quality[:, a] - quality[:, b] + first
            wins = apart + self.rng.normal(0, 1, self.situations) > 0
            rows.append(
                pl.DataFrame(
                    {
                        "situation": [f"s{number}" for number in range(self.situations)],
                        "first": RESPONDENTS[a],
                        "second": RESPONDENTS[b],
                        "outcome": np.where(wins, "first", "second"),
                        "rater": name,
                        "rater_kind": "model",
                    }
                )
            )
        return pl.concat(rows)

    def _dealt(self, raters: int, taken: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """A rater for each reply, never one that has it already."""
        drawn = self.rng.integers(1, raters, len(self.quality))
        return np.asarray((np.asarray(taken) + drawn) % raters)

    def _rows(self, seen: Array) -> pl.DataFrame:
        names = np.array(RESPONDENTS)
        emotion = np.array(EMOTIONS)[self.situation % len(EMOTIONS)]
        return pl.DataFrame(
            {
                "situation": [f"s{number}" for number in self.situation],
                "respondent": names[self.respondent],
                "words": np.rint(np.exp(self.log_words)),
                "emotion": emotion,
                "valence": np.where(np.isin(emotion, ("joyful", "proud")), "positive", "negative"),
                "rating": np.clip(np.rint(seen), 1, 5),
            }
        )


def table(*parts: pl.DataFrame) -> pl.DataFrame:
    """The parts one below the other; what one lacks is null there."""
    return pl.concat(parts, how="diagonal")


def panel_of_experts(seed: int, judge: Callable[[Array], Array], replies: int = 60) -> pl.DataFrame:
    """Three people who all rated the same replies, and a judge that sees how good they are."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, replies)
    raters = {
        f"expert{number}": quality + rng.normal(0, 0.6, replies) for number in range(1, 4)
    } | {"judge": judge(quality)}
    return pl.concat(
        pl.DataFrame(
            {
                "situation": [f"s{number}" for number in range(replies)],
                "rater": name,
                "rater_kind": "model" if name == "judge" else "person",
                "rating": np.clip(np.rint(values), 1, 5),
            }
        )
        for name, values in raters.items()
    )
