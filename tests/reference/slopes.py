"""Writes slopes.csv: ratings by 24 raters of 3 arms in 16 situations, with slopes that vary.

Run in this folder: python slopes.py && Rscript slopes.R
"""

import numpy as np
import polars as pl

generator = np.random.default_rng(20260115)
rater, situation = np.repeat(np.arange(24), 16), np.tile(np.arange(16), 24)
arm = generator.integers(0, 3, size=len(rater))
x = generator.normal(2.0, 1.5, size=len(rater)).round(3)
root = np.array([[0.9, 0, 0], [-0.3, 0.7, 0], [0.2, 0.3, 0.6]])
by_rater = generator.normal(size=(24, 3)) @ root.T
by_situation = generator.normal(size=(16, 2)) * [0.6, 0.35]
slopes = np.column_stack([np.ones(len(rater)), arm == 1, arm == 2])
latent = 0.5 * (arm == 1) + 0.9 * (arm == 2) + 0.3 * (x - 2)
latent += (slopes * by_rater[rater]).sum(axis=1)
latent += by_situation[situation, 0] + by_situation[situation, 1] * (x - 2)
score = 3 + latent + generator.normal(size=len(rater))
ordinal = latent + generator.logistic(size=len(rater))
pl.DataFrame(
    {
        "rater": [f"r{item}" for item in rater],
        "situation": [f"s{item}" for item in situation],
        "arm": np.array(["a", "b", "c"])[arm],
        "x": x,
        "when": 1_700_000_000 + (x * 1000).astype(int),
        "score": score.round(4),
        "rating": 1 + (ordinal[:, None] > np.array([-1.5, -0.2, 1.1])).sum(axis=1),
    }
).write_csv("slopes.csv")
