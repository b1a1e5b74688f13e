"""How far raters agree: on the replies of a study, or in a table of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.results import Conclusion, Result
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number
from empathylab.errors import InputError
from empathylab.stats.agreement import Agreement, Coefficient, DimensionAgreement, agreement
from empathylab.store import Lab
from empathylab.store.ratings import lab_study, ratings_frame
from empathylab.study.admin.embargo import require_closed

_NAME = "Krippendorff's alpha"


@dataclass(frozen=True, slots=True)
class AgreementResult(Result):
    """Agreement per dimension, and per pair of raters and dimension."""

    found: Agreement
    bootstrap: int
    """Resamples behind the intervals; 0 for none."""
    seed: int

    @property
    def design(self) -> Mapping[str, Any]:
        """How many ratings there are of what, by dimension."""
        counts = ("n_raters", "n_situations", "n_clusters", "n_ratings", "dropped")
        return {
            dimension.dimension: {name: getattr(dimension, name) for name in counts}
            for dimension in self.found.dimensions
        }

    @property
    def model(self) -> None:
        """Coefficients need no model."""
        return

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """One for each dimension."""
        return tuple(map(_conclusion, self.found.dimensions))

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the coefficients."""
        notes = {
            note_text(coefficient.note)
            for dimension in self.found.dimensions
            for coefficient in (dimension.icc, dimension.krippendorff_alpha)
        }
        clusters = max((part.n_clusters or 0 for part in self.found.dimensions), default=0)
        allowed = [f"Intervals take {clusters} clusters of rated items into account."]
        return (*(allowed if clusters else []), *(f"{note}." for note in sorted(notes - {""})))

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The coefficients of dimensions and of pairs of raters."""
        rows = self.to_dict()
        kept = {
            name: [
                {
                    column: value
                    for column, value in row.items()
                    if not isinstance(value, dict | list)
                }
                for row in rows[name]
            ]
            for name in ("dimensions", "pairs")
        }
        return {
            name: pl.DataFrame(listed, infer_schema_length=None) for name, listed in kept.items()
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per dimension."""
        return self.tables["dimensions"]

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "dimensions": [_dimension_row(dimension) for dimension in self.found.dimensions],
            "pairs": [
                {
                    "dimension": pair.dimension,
                    "rater_a": pair.rater_a,
                    "rater_b": pair.rater_b,
                    "raters": [pair.rater_a, pair.rater_b],
                    "n": pair.n,
                    **_coefficients(pair),
                }
                for pair in self.found.pairs
            ],
            "bootstrap": self.bootstrap,
            "seed": self.seed,
        }


def from_lab(
    lab: Lab,
    study: str | None = None,
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    peek: str | None = None,
    who: str = "researcher",
) -> AgreementResult:
    """How far a closed study's raters agree on replies; an open one needs a reason to `peek`."""
    rated = lab_study(lab, study)
    require_closed(lab, rated, peek=peek, who=who)
    frame = ratings_frame(lab, rated.name)
    if not frame.group_by("response", "dimension").len().filter(pl.col("len") > 1).height:
        raise InputError(
            "no reply has ratings by two people",
            where=f"study {rated.name}",
            remedy="Agreement needs a study in which raters share replies.",
        )
    return from_table(frame, situation="response", bootstrap=bootstrap, seed=seed)


def from_table(
    frame: pl.DataFrame,
    *,
    situation: str = "situation",
    rater: str = "rater",
    dimension: str | None = None,
    rating: str = "rating",
    levels: Sequence[str | float] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    cluster: str | None = None,
) -> AgreementResult:
    """How far raters agree in a table with one rating per row.

    `situation` is the column of what was rated. Without `dimension`, the column of that name, or
    all rows together. `levels` are the categories from lowest to highest, where ratings are words.
    """
    if dimension is None and "dimension" in frame.columns:
        dimension = "dimension"
    found = agreement(
        frame,
        situation=situation,
        rater=rater,
        dimension=dimension,
        rating=rating,
        levels=levels,
        resamples=bootstrap,
        seed=seed,
        cluster=cluster,
    )
    return AgreementResult(found, bootstrap, seed)


def _conclusion(found: DimensionAgreement) -> Conclusion:
    alpha = found.krippendorff_alpha
    basis = (
        f"{counted(found.n_ratings, 'rating')} of {found.n_situations:,} situations or replies by "
        f"{counted(found.n_raters, 'rater')}"
    )
    estimate, low, high = json_value([alpha.estimate, alpha.low, alpha.high])
    if estimate is None:
        text = f"Agreement on {found.dimension} cannot be computed: {note_text(alpha.note)}"
    else:
        interval = "" if low is None else f", 95% CI [{number(low, 2)}, {number(high, 2)}]"
        text = f"Raters agree on {found.dimension} with {_NAME} = {number(estimate, 2)}{interval}"
    return Conclusion(
        kind="descriptive",
        sentence=f"{text} ({basis}).",
        subject="raters",
        dimension=found.dimension,
        estimate=estimate,
        low=low,
        high=high,
        n=found.n_ratings,
        model=f"{_NAME} (ordinal)",
        basis=basis,
    )


def _dimension_row(found: DimensionAgreement) -> dict[str, Any]:
    """One dimension's agreement as plain values; null where a figure is not defined."""
    parts = ("situation", "rater", "residual")
    return {
        **picked(
            found, "dimension n_raters n_situations n_clusters n_ratings dropped missing_share"
        ),
        **_coefficients(found),
        "icc_forms": _coefficients(found.icc_forms),
        "variance": {name: json_value(getattr(found.components, name)) for name in parts},
    }


def _coefficients(holder: Any) -> dict[str, Any]:
    """Every coefficient of a result: its estimate under its name, and the ends of its interval."""
    row: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for field in fields(holder):
        value = getattr(holder, field.name)
        if isinstance(value, Coefficient):
            row[field.name] = json_value(value.estimate)
            row[f"{field.name}_low"] = json_value(value.low)
            row[f"{field.name}_high"] = json_value(value.high)
            if value.note:
                notes[field.name] = note_text(value.note)
    return row | ({"notes": notes} if notes else {})
