"""Measuring a held-out model by a judge and a tenth of the human ratings: does the interval cover?

Prints `name value` lines. The released ratings of Welivita & Pu: GPT-4's arm is held out. In each
of 200 draws a random tenth of its 2,000 ratings is taken; the style judge (`judging.style_judge`)
is trained on the human arm and that tenth, in five folds of the tenth, so that no reply is rated
by a judge that saw a rating of it; the prediction-powered estimate of GPT-4's share of Good is
compared with the share in all 2,000. These are all the ratings there are and the tenth is a simple
random sample of them, so the interval is that of a finite population.

`coverage` is the share of 95% intervals that hold the truth, `coverage_se` what chance alone does
to it in so many draws; `width_ratio` is our width over that of the tenth alone, on average;
`worth` how many more human ratings would have done the same, as a share; `trust` the mean λ.
`width_ratio_noise` is the same with the judge's ratings shuffled among the replies, which know
nothing: λ is found on the same ratings, so that even noise seems to help a little.
`judge_adds_something` is 1 where our width is below that, by more than two standard errors of the
mean difference. `coverage_command` is the coverage of the interval that `empathylab evaluate` gives
(of all replies and people like these, within the scale), here wider than need be, because the truth
is that of these 2,000 ratings.
`correlation` is that of the judge's chance of Good with Good over the replies left to it;
`cpu_seconds` what all of it took of one core.

Reads the folder that EMPATHYLAB_SHARED_DATA names, or ../shared/data; without the published file
it says so and ends. Left out: a language model as judge, which these machines do not have.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.analysis.judges.ordinal_ridge import fit_ordinal_ridge
from empathylab.analysis.judges.style_judge import PENALTY, style_text
from empathylab.stats.judges.prediction_powered import PredictionPowered, prediction_powered_mean

DEFAULT = Path(__file__).parents[1] / ".." / "shared" / "data"
DRAWS, SHARE, FOLDS, SEED = 200, 0.1, 5, 1
HELD_OUT, KNOWN = "chatgpt_empathy", "human"

Array = NDArray[np.float64]


class Draw(NamedTuple):
    """What one random tenth gave."""

    found: PredictionPowered
    noise: PredictionPowered
    """With the judge's ratings shuffled."""
    command: PredictionPowered
    """As the command computes it."""
    correlation: float


class Experiment:
    """The two arms, and the judge that is trained again on every draw."""

    def __init__(self, table: pl.DataFrame) -> None:
        rows = pl.concat(
            [
                table.select(
                    text=pl.col(f"response_{arm}"),
                    rating=pl.col(f"rating_{arm}").cast(pl.Float64),
                    rater=pl.col(f"annotator_{arm}").cast(pl.String),
                    held_out=pl.lit(arm == HELD_OUT),
                )
                for arm in (KNOWN, HELD_OUT)
            ]
        )
        # Another stream, so that the draws stay those of earlier reports.
        self.other = np.random.default_rng(SEED + 1)
        self.ratings = rows["rating"].to_numpy()
        self.raters = rows["rater"]
        self.good = (self.ratings == self.ratings.max()).astype(np.float64)
        held = rows["held_out"].to_numpy()
        self.known, self.held = np.flatnonzero(~held), np.flatnonzero(held)
        # Scales and weights of the predictors need no rating, so all texts may be looked at.
        self.matrix = style_text(rows).matrix(np.ones(len(rows), dtype=np.bool_))
        self.start = fit_ordinal_ridge(
            self.matrix[self.known], self.ratings[self.known], penalty=PENALTY
        )

    @property
    def truth(self) -> float:
        return float(self.good[self.held].mean())

    def draw(self, rng: np.random.Generator) -> Draw:
        """The estimate from one random tenth."""
        order = rng.permutation(self.held)
        size = round(SHARE * len(order))
        rated, unrated = order[:size], order[size:]
        chance = self._judged(rated, unrated)
        ratings = [*self.good[rated].tolist(), *[None] * len(unrated)]
        told = chance[order]
        frame = pl.DataFrame({"rating": ratings, "prediction": told, "situation": order})
        frame = frame.with_columns(rater=self.raters[order])
        shuffled = frame.with_columns(prediction=pl.Series(self.other.permutation(told)))
        correlation = np.corrcoef(chance[unrated], self.good[unrated])[0, 1]
        return Draw(
            found=prediction_powered_mean(frame, rater=None, situation=None, finite=True),
            noise=prediction_powered_mean(shuffled, rater=None, situation=None, finite=True),
            command=prediction_powered_mean(frame, limits=(0, 1)),
            correlation=float(correlation),
        )

    def _judged(self, rated: NDArray[np.int64], unrated: NDArray[np.int64]) -> Array:
        """The judge's chance of Good of each reply, by judges that saw no rating of it."""
        chance = np.zeros(len(self.good))
        fold = np.arange(len(rated)) % FOLDS
        for number in range(FOLDS):
            train = np.concatenate([self.known, rated[fold != number]])
            judge = fit_ordinal_ridge(
                *(self.matrix[train], self.ratings[train]),
                penalty=PENALTY,
                start=self.start,
                tolerance=1e-6,
            )
            out = rated[fold == number]
            chance[out] = judge.shares(self.matrix[out])[:, -1]
            chance[unrated] += judge.shares(self.matrix[unrated])[:, -1] / FOLDS
        return chance


def report(experiment: Experiment, draws: list[Draw], seconds: float) -> None:
    """Prints what the draws gave."""
    truth = experiment.truth
    covered = np.array([draw.found.low <= truth <= draw.found.high for draw in draws])
    alone = np.array([draw.found.people_low <= truth <= draw.found.people_high for draw in draws])
    command = np.array([draw.command.low <= truth <= draw.command.high for draw in draws])
    ratio = np.array([draw.found.width_ratio for draw in draws])
    noise = np.array([draw.noise.width_ratio for draw in draws])
    gain = noise - ratio
    adds = float(gain.mean()) > 2 * float(gain.std(ddof=1)) / len(gain) ** 0.5
    figures = {
        "draws": len(draws),
        "truth": f"{truth:.4f}",
        "mean_estimate": f"{np.mean([draw.found.estimate for draw in draws]):.4f}",
        "coverage": f"{covered.mean():.3f}",
        "coverage_se": f"{np.sqrt(0.95 * 0.05 / len(draws)):.3f}",
        "coverage_tenth_alone": f"{alone.mean():.3f}",
        "width": f"{np.mean([draw.found.high - draw.found.low for draw in draws]):.4f}",
        "width_tenth_alone": (
            f"{np.mean([draw.found.people_high - draw.found.people_low for draw in draws]):.4f}"
        ),
        "coverage_command": f"{command.mean():.3f}",
        "width_ratio": f"{ratio.mean():.4f}",
        "width_ratio_noise": f"{noise.mean():.4f}",
        "width_ratio_below_1": f"{(ratio < 1).mean():.3f}",
        "worth": f"{float((1 / ratio**2).mean() - 1):.4f}",
        "trust": f"{np.mean([draw.found.trust[0] for draw in draws]):.3f}",
        "correlation": f"{np.mean([draw.correlation for draw in draws]):.3f}",
        "judge_adds_something": int(adds),
        "cpu_seconds": f"{seconds:.0f}",
    }
    for name, value in figures.items():
        print(name, value)
    if not adds:
        print("# the judge adds nothing: report the tenth alone")


def main() -> None:
    folder = Path(os.environ.get("EMPATHYLAB_SHARED_DATA", DEFAULT))
    path = folder / "welivita" / "dataset_and_ratings.csv"
    if not path.is_file():
        print("# left out: the published file is not here")
        return
    begun = time.process_time()
    experiment = Experiment(pl.read_csv(path))
    rng = np.random.default_rng(SEED)
    draws = [experiment.draw(rng) for _ in range(DRAWS)]
    report(experiment, draws, time.process_time() - begun)


if __name__ == "__main__":
    main()
