"""Runs of models, and imported files."""

from __future__ import annotations

import polars as pl

from empathylab.export.source import LabSource, with_sorted_keys
from empathylab.export.tables.columns import MOMENT
from empathylab.store.export_tables import import_table
from empathylab.table_specs import TableSpec, number, text, whole


def _runs(source: LabSource) -> pl.DataFrame:
    return without_secrets(source.runs).select(RUNS.names)


def without_secrets(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs with times as text and without passwords in the addresses of endpoints."""
    times = pl.col(pl.Datetime("us", "UTC")).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    settings = pl.col("settings").str.replace_all(r"://[^/@\s\"]+@", "://")
    return with_sorted_keys(runs.with_columns(times, settings), "settings")


RUNS = TableSpec[LabSource](
    "runs",
    "Runs of protocols against models, with their settings and versions",
    (
        whole("run", "The run's number"),
        text("protocol", "The protocol"),
        text("respondent", "The model that was asked"),
        text("settings", "All settings of the run, as a JSON object"),
        whole("planned", "How many requests it consists of"),
        text("software", "The version of EmpathyLab that made it"),
        text("started_at", "When it began, in UTC", values=MOMENT),
        text("finished_at", "When it was complete, in UTC", values=MOMENT),
        whole("answered", "How many requests have an answer"),
        whole("reused", "How many of those answers were reused from an earlier run"),
        whole("prompt_tokens", "Tokens of its own requests"),
        whole("completion_tokens", "Tokens of the answers to them"),
        number("cost", "What they cost, in US dollars; empty if the price is unknown"),
        whole("attempts", "How many requests were sent, retries included"),
        text("first_answer_at", "When the first answer came, in UTC", values=MOMENT),
        text("last_answer_at", "When the last answer came, in UTC", values=MOMENT),
        text("reported_model", "What the endpoint calls the model that answered"),
        text("name", "The name that a researcher gave the run"),
        text(
            "pinned_at",
            "When a researcher pinned it, so that results are shown from it, in UTC",
            values=MOMENT,
        ),
    ),
    _runs,
)

IMPORTS = TableSpec[LabSource](
    "imports",
    "Files that were imported into the lab",
    (
        text("kind", "What kind of file it was"),
        text("imported_from", "Its name"),
        text("fingerprint", "A hash of its content"),
    ),
    lambda source: import_table(source.connection),
)
