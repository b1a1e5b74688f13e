"""Which of a lab's runs are shown: of several that asked the same, the one used last."""

from __future__ import annotations

import json

import polars as pl


def selected_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """The last run of each respondent, protocol and instrument: pooling would count twice.

    `runs` comes from `runs_frame`, which puts the run used last at the end.
    """
    settings = [json.loads(text) for text in runs["settings"]]
    instruments = [str(setting.get("scale") or setting.get("situations")) for setting in settings]
    return (
        runs.with_columns(pl.Series("instrument", instruments, dtype=pl.String))
        .unique(["respondent", "protocol", "instrument"], keep="last", maintain_order=True)
        .drop("instrument")
        .sort("run")
    )
