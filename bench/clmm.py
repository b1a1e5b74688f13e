"""Fitting mixed models: against R's ordinal, with 100 times the ratings, and a connected design.

Prints `name value` lines. The ratings are the published two-arm file that EMPATHYLAB_SHARED_DATA
(or ../shared/data) holds, or simulated ones of the same design. 100 times the ratings are the same
ones over and over, under new raters and situations, so that both fits walk the same way. R is
measured here and now, its start and reading left out; without R and its package ordinal that
comparison is left out. In the connected design every reply has two ratings by raters drawn at
random, so that all raters and situations hang together; `seconds_100000` is its cumulative link
model with raters and situations, `growth_10x` that time over the time of a tenth of the ratings;
the lines with `replies` have a random intercept of replies too. Times are of the processor, which
is what an idle machine's clock shows, as all work is done on one thread; imports are left out,
reading the frame and the formula is not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from empathylab.stats.mixed import clmm, lmm

DEFAULT = Path(__file__).parents[1] / ".." / "shared" / "data"
FORMULA = "rating ~ source + (1|rater) + (1|situation)"
IN_R = """
suppressPackageStartupMessages(library(ordinal))
frame <- read.csv("{file}", stringsAsFactors = TRUE)
frame$rating <- factor(frame$rating)
frame$source <- factor(frame$source, unique(frame$source))
taken <- system.time(
  fit <- clmm(rating ~ source + (1 | rater) + (1 | situation), data = frame)
)
cat(sum(taken[1:2]), as.numeric(logLik(fit)))
"""


def main() -> None:
    frame = published()
    if frame is None:
        frame = simulated()
    clmm(frame, FORMULA)  # imports
    small, log_likelihood = timed(frame, times=5)
    print(f"ratings {frame.height}")
    print(f"clmm_seconds {small:.3f}")
    compare_with_r(frame, small, log_likelihood)
    large, _ = timed(repeated(frame, 100), times=2)
    print(f"clmm_seconds_100x {large:.2f}")
    print(f"growth_100x {large / small:.1f}")
    connected_designs()


def connected_designs() -> None:
    tenth, whole = connected(1_000), connected(10_000)
    for suffix, reply in (("", ""), ("_replies", " + (1|arm:situation)")):
        groups = f"arm + (1|rater) + (1|situation){reply}"
        for prefix, fit, response in (("", clmm, "rating"), ("lmm_", lmm, "points")):
            taken = []
            for frame in (tenth, whole):
                begun = time.process_time()
                found = fit(frame, f"{response} ~ {groups}")
                taken.append(time.process_time() - begun)
                assert found.converged
            print(f"{prefix}seconds_10000{suffix} {taken[0]:.2f}")
            print(f"{prefix}seconds_100000{suffix} {taken[1]:.2f}")
            print(f"{prefix}growth_10x{suffix} {taken[1] / taken[0]:.1f}")


def connected(situations: int) -> pl.DataFrame:
    """Five arms, two ratings of every reply, as many raters as situations, drawn at random."""
    generator = np.random.default_rng(1)
    reply = np.repeat(np.arange(situations * 5), 2)
    situation, arm = np.divmod(reply, 5)
    rater = generator.permutation(np.resize(np.arange(situations), len(reply)))
    latent = 0.2 * arm + 0.8 * generator.normal(size=situations)[rater]
    latent += 0.6 * generator.normal(size=situations)[situation]
    latent += 0.7 * generator.normal(size=situations * 5)[reply]
    points = latent + generator.normal(size=len(reply))
    latent += generator.logistic(size=len(reply))
    return pl.DataFrame(
        {
            "arm": np.array(list("ABCDE"))[arm],
            "rater": rater.astype(str),
            "situation": situation.astype(str),
            "points": points,
            "rating": 1 + (latent > -1) + (latent > 0.8),
        }
    )


def timed(frame: pl.DataFrame, times: int) -> tuple[float, float]:
    """The least time of several fits, and their log-likelihood."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        fit = clmm(frame, FORMULA)
        taken.append(time.process_time() - begun)
        assert fit.converged
    return min(taken), fit.log_likelihood


def compare_with_r(frame: pl.DataFrame, seconds: float, log_likelihood: float) -> None:
    if not shutil.which("Rscript"):
        print("# left out: speedup_over_r (no R here)")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        frame.write_csv(file)
        asked = ["Rscript", "-e", IN_R.format(file=file)]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        print("# left out: speedup_over_r (R has no package ordinal: apt install r-cran-ordinal)")
        return
    in_r, found = map(float, answer.stdout.split())
    assert abs(found - log_likelihood) < 0.01
    print(f"r_seconds {in_r:.2f}")
    print(f"speedup_over_r {in_r / seconds:.1f}")


def published() -> pl.DataFrame | None:
    folder = Path(os.environ.get("EMPATHYLAB_SHARED_DATA", DEFAULT))
    file = folder / "welivita" / "dataset_and_ratings.csv"
    if not file.is_file():
        print("# the published file is not here: simulated ratings of the same design instead")
        return None
    wide = pl.read_csv(file)
    arms = [name.removeprefix("rating_") for name in wide.columns if name.startswith("rating_")]
    return pl.concat(
        wide.select(
            source=pl.lit(arm),
            rater=pl.col(f"annotator_{arm}").cast(pl.String),
            situation=pl.col("dialog_id").cast(pl.String),
            rating=f"rating_{arm}",
        )
        for arm in arms
    )


def simulated() -> pl.DataFrame:
    """Two arms of 200 raters; ten situations to each pair of raters."""
    generator = np.random.default_rng(1)
    part, place = np.divmod(np.arange(4000), 20)
    arm = place // 10
    latent = 0.75 * arm + generator.logistic(size=4000)
    latent += 0.53 * generator.normal(size=400)[part * 2 + arm]
    return pl.DataFrame(
        {
            "source": np.where(arm == 0, "human", "model"),
            "rater": (part * 2 + arm).astype(str),
            "situation": (part * 10 + place % 10).astype(str),
            "rating": 1 + (latent > -1.75) + (latent > 0.07),
        }
    )


def repeated(frame: pl.DataFrame, times: int) -> pl.DataFrame:
    """The same ratings over and over, each time under new raters and situations."""
    again = pl.DataFrame({"time": [f"{number}-" for number in range(times)]})
    return again.join(frame, how="cross").select(
        "source",
        "rating",
        rater=pl.col("time") + pl.col("rater"),
        situation=pl.col("time") + pl.col("situation"),
    )


if __name__ == "__main__":
    main()
