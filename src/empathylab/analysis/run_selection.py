"""Which of a lab's runs are shown: of several that asked the same, one, and which one is explicit.

A pinned run comes first. Then the run over most situations, so that a later trial with a few of
them does not replace the result; of equals, those in the mode that was used first; of these, the
one used last.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import polars as pl


def selected_runs(runs: pl.DataFrame, *, first: Collection[int] = ()) -> pl.DataFrame:
    """One run of each respondent, protocol and instrument: pooling would count twice.

    `runs` comes from `runs_frame`, which puts the run used last at the end. The runs in `first`
    come before pinned ones.
    """
    settings = [json.loads(text) for text in runs["settings"]]
    described = runs.with_columns(
        pl.Series(
            "instrument",
            [str(found.get("scale") or found.get("situations")) for found in settings],
            dtype=pl.String,
        ),
        pl.Series("mode", [found.get("mode") for found in settings], dtype=pl.String),
        pl.Series("_situations", list(map(_situations, settings)), dtype=pl.Int64),
        pl.int_range(pl.len()).alias("_used"),
        pl.col("run").is_in(list(first)).alias("_first"),
    )
    if "answered" in runs.columns:
        answered = pl.min_horizontal("_situations", pl.col("answered").fill_null(0))
        described = described.with_columns(_situations=answered)
    if "pinned_at" not in runs.columns:
        described = described.with_columns(pinned_at=pl.lit(None, dtype=pl.Datetime("us", "UTC")))
    shown = chosen_runs(described, ["respondent", "protocol", "instrument"])
    return runs.filter(pl.col("run").is_in(shown)).sort("run")


def chosen_runs(described: pl.DataFrame, kind: Collection[str]) -> list[int]:
    """The run of each kind that is shown, by the columns that `selected_runs` adds."""
    earliest = pl.col("mode").sort_by("run").first().over(*kind, "_situations")
    return (
        described.with_columns(_same_mode=pl.col("mode").eq_missing(earliest))
        .sort("_first", "pinned_at", "_situations", "_same_mode", "_used", nulls_last=False)
        .unique(list(kind), keep="last", maintain_order=True)["run"]
        .to_list()
    )


def _situations(settings: dict[str, Any]) -> int:
    """Over how many situations a run was planned."""
    return len(settings.get("situation_ids") or ())


def run_label(settings: dict[str, Any]) -> str:
    """What tells runs of the same instrument apart: mode, situations, template, temperature."""
    template = settings.get("template") or {}
    parts = [
        settings.get("mode"),
        f"{_situations(settings)} situations" if _situations(settings) else None,
        f"{template['id']}@{template['version']}" if "id" in template else None,
        f"temperature {settings['temperature']:g}" if "temperature" in settings else None,
        f"seed {settings['seed']}" if "seed" in settings else None,
    ]
    return ", ".join(part for part in parts if part)
