"""Which of a lab's runs are shown: of several that asked the same, one, and which one is explicit.

A pinned run comes first. Then the run over most situations, so that a later trial with a few of
them does not replace the result; of equals, those in the mode that was used first; of these, the
one used last. Results of two runs are never merged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.text.apa import listed

_KIND = ["respondent", "protocol", "instrument"]
_NOT_SHOWN = " is not shown: "


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of the matrix: how it was asked, and whether figures rest on it."""

    run: int
    name: str | None
    respondent: str
    protocol: str
    instrument: str
    """The scale with its version, the set of situations, or what a judge scored."""
    mode: str | None
    template: str | None
    situations: int
    """How many it was planned over."""
    situation_set: str | None
    temperature: float | None
    seed: int | None
    planned: int
    answered: int
    pinned: bool
    shown: bool
    reason: str | None
    """Why another run is shown in its place, in one sentence; None for a shown run."""


def selected_runs(runs: pl.DataFrame, *, first: Collection[int] = ()) -> pl.DataFrame:
    """One run of each respondent, protocol and instrument: pooling would count twice.

    `runs` comes from `runs_frame`, which puts the run used last at the end. The runs in `first`
    come before pinned ones.
    """
    shown = chosen_runs(_described(runs, first), _KIND)
    return runs.filter(pl.col("run").is_in(shown)).sort("run")


def run_matrix(runs: pl.DataFrame, *, first: Collection[int] = ()) -> tuple[RunRow, ...]:
    """Every run with how it was asked; runs of one respondent and instrument stand together."""
    described = _described(runs, first)
    chosen = described.filter(pl.col("run").is_in(chosen_runs(described, _KIND)))
    by_kind = {tuple(row[name] for name in _KIND): row for row in chosen.iter_rows(named=True)}
    rows = [
        _row(row, by_kind[tuple(row[name] for name in _KIND)])
        for row in described.sort("run").iter_rows(named=True)
    ]
    kinds = list(dict.fromkeys((row.respondent, row.protocol, row.instrument) for row in rows))
    places = {kind: place for place, kind in enumerate(kinds)}
    return tuple(sorted(rows, key=lambda row: places[row.respondent, row.protocol, row.instrument]))


def hidden_sentences(rows: Iterable[RunRow]) -> list[str]:
    """Why runs are not shown; those with the same reason are named together."""
    runs: dict[str, list[str]] = {}
    for row in rows:
        if row.reason is not None:
            runs.setdefault(row.reason.partition(_NOT_SHOWN)[2], []).append(str(row.run))
    return [
        f"Run {named[0]}{_NOT_SHOWN}{why}"
        if len(named) == 1
        else f"Runs {listed(named)} are not shown: {why}"
        for why, named in runs.items()
    ]


def chosen_runs(described: pl.DataFrame, kind: Collection[str]) -> list[int]:
    """The run of each kind that is shown, by the columns that `selected_runs` adds."""
    earliest = pl.col("mode").sort_by("run").first().over(*kind, "_situations")
    return (
        described.with_columns(_same_mode=pl.col("mode").eq_missing(earliest))
        .sort("_first", "pinned_at", "_situations", "_same_mode", "_used", nulls_last=False)
        .unique(list(kind), keep="last", maintain_order=True)["run"]
        .to_list()
    )


def run_label(settings: dict[str, Any]) -> str:
    """What distinguishes runs of the same instrument: mode, situations, template, temperature."""
    count = _situations(settings)
    parts = [
        settings.get("mode"),
        f"{count} situation{'s' * (count > 1)}" if count else None,
        _template(settings),
        f"temperature {settings['temperature']:g}" if "temperature" in settings else None,
        f"seed {settings['seed']}" if "seed" in settings else None,
    ]
    return ", ".join(part for part in parts if part)


def instrument_of(settings: dict[str, Any]) -> str:
    """What a run asked: the scale with its version, or the situations."""
    return str(settings.get("scale") or settings.get("situations"))


def _described(runs: pl.DataFrame, first: Collection[int]) -> pl.DataFrame:
    """The runs with the columns that the choice rests on."""
    settings = [json.loads(text) for text in runs["settings"]]
    described = runs.with_columns(
        pl.Series("instrument", list(map(instrument_of, settings)), dtype=pl.String),
        pl.Series("mode", [entry.get("mode") for entry in settings], dtype=pl.String),
        pl.Series("_situations", list(map(_situations, settings)), dtype=pl.Int64),
        pl.int_range(pl.len()).alias("_used"),
        pl.col("run").is_in(list(first)).alias("_first"),
    )
    if "answered" in runs.columns:
        answered = pl.min_horizontal("_situations", pl.col("answered").fill_null(0))
        described = described.with_columns(_situations=answered)
    if "pinned_at" not in runs.columns:
        described = described.with_columns(pinned_at=pl.lit(None, dtype=pl.Datetime("us", "UTC")))
    return described


def _row(row: dict[str, Any], shown: dict[str, Any]) -> RunRow:
    settings = json.loads(row["settings"])
    return RunRow(
        **{name: row[name] for name in ("run", "name", *_KIND, "mode", "planned")},
        template=_template(settings),
        situations=_situations(settings),
        situation_set=settings.get("situations"),
        temperature=settings.get("temperature"),
        seed=settings.get("seed"),
        answered=row["answered"] or 0,
        pinned=row["pinned_at"] is not None,
        shown=row["run"] == shown["run"],
        reason=None if row["run"] == shown["run"] else _reason(row, shown),
    )


def _reason(row: dict[str, Any], shown: dict[str, Any]) -> str:
    """Why another run is shown, by the first rule of `chosen_runs` that separates the two."""
    if shown["_first"] and not row["_first"]:
        why = "was asked for"
    elif shown["pinned_at"] is not None:
        why = "is pinned"
    elif shown["_situations"] > row["_situations"]:
        why = f"has answers to {shown['_situations']} situations, not {row['_situations']}"
    elif shown["mode"] != row["mode"]:
        why = f"is in the mode that was used first, {shown['mode']}"
    else:
        why = "was used last"
    return f"Run {row['run']}{_NOT_SHOWN}run {shown['run']} {why}."


def _situations(settings: dict[str, Any]) -> int:
    """Over how many situations a run was planned."""
    return len(settings.get("situation_ids") or ())


def _template(settings: dict[str, Any]) -> str | None:
    template = settings.get("template") or {}
    return f"{template['id']}@{template['version']}" if "id" in template else None
