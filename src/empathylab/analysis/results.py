"""What every analysis returns: a recognised design, a chosen model, conclusions and caveats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import polars as pl

from empathylab.analysis.json_values import finite, json_value
from empathylab.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["better", "worse", "different", "equivalent", "inconclusive", "descriptive"]
Unit = Literal["log-odds", "points", "percentage points", "proportion", "correlation", "none"]

ALPHA = 0.05
"""Below it a p value, corrected where there are several, counts as a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """One sentence, and the numbers that it states; None for NaN and infinity."""

    kind: Kind
    sentence: str
    """The sentence that command line, report, exports and notebooks print."""
    subject: str
    """Who or what it is about: an arm, a respondent, a judge."""
    reference: str | None = None
    """What the subject is compared with."""
    dimension: str | None = None
    subset: str | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    unit: Unit = "none"
    p: float | None = None
    p_adjusted: float | None = None
    n: int | None = None
    model: str | None = None
    """The model or test behind the numbers."""
    basis: str | None = None
    """What it rests on: how many ratings, raters, situations."""
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("estimate", "low", "high", "p", "p_adjusted"):
            object.__setattr__(self, name, finite(getattr(self, name)))

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"caveats": list(self.caveats)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The model behind the main conclusions, and why it was chosen."""

    name: str
    formula: str | None = None
    reason: str = ""
    dropped: tuple[str, ...] = ()
    """What was tried first and simplified, with the reason."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"dropped": list(self.dropped)}


@runtime_checkable
class AnalysisResult(Protocol):
    """The shape that all topics share; each adds its own estimates."""

    @property
    def design(self) -> Mapping[str, Any]:
        """The design that was recognised, as plain values."""

    @property
    def model(self) -> ModelChoice | None:
        """The model that was chosen; None where the topic needs none."""

    @property
    def conclusions(self) -> Sequence[Conclusion]:
        """One sentence each, the headline first."""

    @property
    def caveats(self) -> Sequence[str]:
        """What limits all conclusions, the most important first."""

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The estimates as frames, by name."""

    def to_frame(self) -> pl.DataFrame:
        """The main estimates, one row each."""

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""

    def summary(self) -> str:
        """Conclusions and caveats as text."""


class Result:
    """Gives a result its summary, its charts, and its form in a notebook or as a pandas frame.

    Charts and HTML are presentation, so they are loaded only where they are asked for
    (docs/decisions/0026-charts-of-results.md).
    """

    __slots__ = ()
    main_table: ClassVar[str] = ""
    """The table that `to_frame` returns; empty for the conclusions."""

    if TYPE_CHECKING:
        # Only for the type checker: a dataclass would take a property of its base for the default
        # of a field of that name.
        @property
        def conclusions(self) -> Sequence[Conclusion]:
            """One sentence each, the headline first."""

        @property
        def caveats(self) -> Sequence[str]:
            """What limits all conclusions, the most important first."""

        @property
        def tables(self) -> Mapping[str, pl.DataFrame]:
            """The estimates as frames, by name."""

    def to_frame(self) -> pl.DataFrame:
        """The main estimates, one row each: the conclusions, where a topic gives nothing else."""
        if self.main_table:
            return self.tables[self.main_table]
        return conclusions_frame(self.conclusions)

    def stated(self) -> dict[str, Any]:
        """Conclusions and caveats, as the document of every topic has them."""
        return {"conclusions": json_value(self.conclusions), "caveats": list(self.caveats)}

    def summary(self) -> str:
        """Conclusions and caveats as text."""
        return summary_text(self.conclusions, self.caveats)

    def plot(self, name: str | None = None) -> Any:
        """The chart of that name as an Altair chart, which a notebook shows; without one, the
        first. An unknown name raises an error that lists the names."""
        return import_module("empathylab.report.figures").plot(self, name)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas frame."""
        return to_pandas(self.to_frame())

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """What IPython shows in a terminal: its fields would fill pages."""
        printer.text(self.summary())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        html: str = import_module("empathylab.report.notebook").result_html(self)
        return html


def summary_text(conclusions: Sequence[Conclusion], caveats: Sequence[str]) -> str:
    """Conclusions line by line, then the caveats."""
    lines = [str(conclusion) for conclusion in conclusions]
    lines += [f"Caveat: {caveat}" for caveat in caveats]
    return "\n".join(lines)


def row_frames(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, pl.DataFrame]:
    """Rows as frames, by name; types come from all rows."""
    return {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in tables.items()}


def conclusions_frame(conclusions: Sequence[Conclusion]) -> pl.DataFrame:
    """One row per conclusion; caveats joined."""
    schema = {
        "kind": pl.String,
        "dimension": pl.String,
        "subject": pl.String,
        "reference": pl.String,
        "subset": pl.String,
        "estimate": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "unit": pl.String,
        "p": pl.Float64,
        "p_adjusted": pl.Float64,
        "n": pl.Int64,
        "model": pl.String,
        "basis": pl.String,
        "caveats": pl.String,
        "sentence": pl.String,
    }
    rows = [
        conclusion.to_dict() | {"caveats": " ".join(conclusion.caveats)}
        for conclusion in conclusions
    ]
    return pl.DataFrame(rows, schema=schema)
