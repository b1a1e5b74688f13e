"""How fast linear mixed models are fitted, beside lme4, and how the time grows with the study.

Prints `name value` lines. The study is simulated in the published two-arm design: each rater rates
ten situations in one arm, each situation is rated once in each arm; 4,000 ratings, then 400,000.
lme4 gets the same file in the same run, where R has it; both sides' best of several fits counts,
after a first one that loads code. Ours includes Satterthwaite's degrees of freedom, lme4's does
not; `speedup_over_lmertest` compares with R's summary that has them.
Left out: reading files and starting either language; R at 400,000 ratings.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from empathylab.stats.mixed.linear.model import lmm

FORMULA = "rating ~ source + (1|rater) + (1|situation)"
REPEATS = 7

IN_R = """
suppressMessages({library(lme4); library(lmerTest)})
study <- function(file) {
  d <- read.csv(file, colClasses = c(rating = "numeric"))
  for (name in c("source", "rater", "situation")) d[[name]] <- factor(d[[name]])
  d
}
seconds <- function(f, times) { f(); min(replicate(times, system.time(f())[["elapsed"]])) }
f <- rating ~ source + (1 | rater) + (1 | situation)
for (file in commandArgs(TRUE)) {
  d <- study(file)
  times <- if (nrow(d) > 10000) 2 else %d
  cat(seconds(function() lme4::lmer(f, d), times), "")
  cat(seconds(function() summary(lmerTest::lmer(f, d)), times), "")
}
"""


def two_arms(situations: int) -> pl.DataFrame:
    rng = np.random.default_rng(2024)
    situation = np.tile(np.arange(situations), 2)
    arm = np.repeat([0, 1], situations)
    rater = arm * (situations // 10) + situation // 10
    rating = 2.3 + 0.25 * arm + rng.normal(0, 0.2, situations // 5)[rater]
    rating += rng.normal(0, 0.1, situations)[situation] + rng.normal(0, 0.65, 2 * situations)
    return _named(rater, situation, arm, rating)


def fully_crossed(raters: int, situations: int) -> pl.DataFrame:
    rng = np.random.default_rng(2025)
    rater, situation = (axis.reshape(-1) for axis in np.indices((raters, situations)))
    rating = 3 + rng.normal(0, 0.5, raters)[rater] + rng.normal(0, 0.4, situations)[situation]
    return _named(rater, situation, situation % 2, rating + rng.normal(size=len(rater)))


def _named(
    rater: np.ndarray, situation: np.ndarray, arm: np.ndarray, rating: np.ndarray
) -> pl.DataFrame:
    columns = {"rater": rater, "situation": situation}
    return pl.DataFrame(
        {
            "source": np.where(arm == 1, "model", "human"),
            **{name: np.char.add(name[0], codes.astype(str)) for name, codes in columns.items()},
            "rating": rating,
        }
    )


def best_seconds(frame: pl.DataFrame, repeats: int) -> float:
    found = []
    for _ in range(repeats):
        begun = time.perf_counter()
        fit = lmm(frame, FORMULA)
        found.append(time.perf_counter() - begun)
        assert fit.converged
    return min(found)


def r_seconds(frames: list[pl.DataFrame]) -> list[float] | None:
    """Seconds of lmer and of lmerTest's summary for each frame; None where R has no lmerTest."""
    if not shutil.which("Rscript"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.csv" for number in range(len(frames))]
        for frame, file in zip(frames, files, strict=True):
            frame.write_csv(file)
        command = ["Rscript", "-e", IN_R % REPEATS, *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [float(part) for part in done.stdout.split()] if done.returncode == 0 else None


def main() -> None:
    small, crossed = two_arms(2_000), fully_crossed(200, 300)
    best_seconds(small, 1)
    ours, ours_crossed = best_seconds(small, REPEATS), best_seconds(crossed, 3)
    large = best_seconds(two_arms(200_000), 3)
    print(f"seconds_4000 {ours:.4f}")
    print(f"seconds_400000 {large:.3f}")
    print(f"growth_100x {large / ours:.1f}")
    print(f"seconds_crossed_200x300 {ours_crossed:.3f}")
    found = r_seconds([small, crossed])
    if found is None:
        print("left_out speedup_over_lme4 (Rscript with lmerTest is not installed)")
        return
    plain, with_df, crossed_plain, _ = found
    print(f"lme4_seconds_4000 {plain:.3f}")
    print(f"speedup_over_lme4 {plain / ours:.1f}")
    print(f"speedup_over_lmertest {with_df / ours:.1f}")
    print(f"speedup_over_lme4_crossed_200x300 {crossed_plain / ours_crossed:.1f}")


if __name__ == "__main__":
    main()
