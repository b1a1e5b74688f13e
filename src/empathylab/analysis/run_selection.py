"""Which of a lab's runs count: of several that asked the same, the one that was used last."""

from __future__ import annotations

import json

import polars as pl


def shown_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """The last run of each respondent, protocol and instrument: pooling would count twice.

    `runs` comes from `runs_frame`, which puts the one used last at the end.
    """
    settings = [json.loads(text) for text in runs["settings"]]
    instruments = [str(one.get("scale") or one.get("situations")) for one in settings]
    return (
        runs.with_columns(pl.Series("instrument", instruments, dtype=pl.String))
        .unique(["respondent", "protocol", "instrument"], keep="last", maintain_order=True)
        .drop("instrument")
        .sort("run")
    )
