"""How far raters agree: on the replies of a study, or in a table of ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.json_values import interval_columns, picked, scalars
from empathylab.analysis.results import Conclusion, Result, row_frames
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number
from empathylab.errors import InputError
from empathylab.stats.agreement import Agreement, Coefficient, DimensionAgreement, agreement
from empathylab.stats.arguments import require_columns
from empathylab.store import Lab
from empathylab.store.ratings import lab_study, ratings_frame
from empathylab.study.admin.embargo import require_closed

_NAME = "Krippendorff's alpha"
_PEOPLE = ("person", "human", "people")
_REPLY_COLUMNS = ("response", "reply", "arm", "respondent")
_REPLY = "reply (situation and arm)"
_APART = 0.2
_FEWEST_ITEMS = 6
"""With fewer, intervals of all raters' coefficients cover less than 93% (error-rates.md)."""
_FEWEST_SHARED = 50
"""With fewer, so do the large-sample intervals of a pair's kappas."""
_NOMINAL = (
    "Alpha and ICC give partial credit for close ratings, such as 4 and 5. Fleiss' kappa, "
    "Gwet's AC1 and percent agreement count exact agreement only, so they are lower on "
    "scales with many points."
)


@dataclass(frozen=True, slots=True)
class AgreementResult(Result):
    """Agreement per dimension, and per pair of raters and dimension."""

    main_table: ClassVar[str] = "dimensions"
    agreement: Agreement
    bootstrap: int
    """Resamples behind the intervals; 0 for none."""
    seed: int
    notes: tuple[str, ...] = ()
    """What limits the coefficients beside their own notes."""

    @property
    def design(self) -> Mapping[str, Any]:
        """How many ratings there are of what, by dimension."""
        counts = "n_raters n_situations n_clusters n_ratings dropped"
        return {part.dimension: picked(part, counts) for part in self.agreement.dimensions}

    @property
    def model(self) -> None:
        """Coefficients need no model."""
        return

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """One for each dimension."""
        return tuple(map(_conclusion, self.agreement.dimensions))

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the coefficients."""
        notes = {
            note_text(coefficient.note)
            for dimension in self.agreement.dimensions
            for coefficient in (dimension.icc, dimension.krippendorff_alpha)
        }
        clusters = max((part.n_clusters or 0 for part in self.agreement.dimensions), default=0)
        allowed = [f"Intervals take {clusters} clusters of rated items into account."]
        return (
            *self.notes,
            *(allowed if clusters else []),
            *self._narrow_intervals(),
            *([_NOMINAL] if any(map(_is_ordinal, self.agreement.dimensions)) else []),
            *(f"{note}." for note in sorted(notes - {""})),
        )

    def _narrow_intervals(self) -> Iterator[str]:
        """Which intervals cover too little, because there are few items."""
        parts = {part.dimension: part for part in self.agreement.dimensions}
        few = {
            name: part.krippendorff_alpha.n if part.n_clusters is None else part.n_clusters
            for name, part in parts.items()
            if math.isfinite(part.krippendorff_alpha.low)
        }
        if few and min(few.values()) < _FEWEST_ITEMS:
            name = min(few, key=lambda name: few[name])
            items = "items" if parts[name].n_clusters is None else "clusters of items"
            yield (
                f"With fewer than {_FEWEST_ITEMS} {items} ({name} has {few[name]}), intervals are "
                "too narrow: 95% intervals contain the true value in fewer than 95% of studies."
            )
        if any(
            pair.n < _FEWEST_SHARED and math.isfinite(pair.weighted_kappa.low)
            for pair in self.agreement.pairs
            if parts[pair.dimension].n_clusters is None
        ):
            yield (
                "Intervals of the kappas of two raters are too narrow if they share fewer than "
                f"{_FEWEST_SHARED} items."
            )

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The coefficients of dimensions and of pairs of raters."""
        rows, names = self.to_dict(), ("dimensions", "pairs")
        return row_frames({name: [scalars(row) for row in rows[name]] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "dimensions": list(map(_dimension_row, self.agreement.dimensions)),
            "pairs": [
                {
                    **picked(pair, "dimension rater_a rater_b"),
                    "raters": [pair.rater_a, pair.rater_b],
                    "n": pair.n,
                    **_coefficients(pair),
                }
                for pair in self.agreement.pairs
            ],
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            **self.stated(),
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
    """The agreement of a study's raters on replies; an open study needs a reason to `peek`."""
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
    arm: str | None = None,
) -> AgreementResult:
    """How far raters agree in a table with one rating per row.

    `situation` is the column of what was rated. With `arm`, each situation and arm together are a
    reply, and the intervals take situations as clusters. Without `dimension`, the column of that
    name, or all rows together. `levels` are the categories from lowest to highest, where ratings
    are words.
    """
    if dimension is None and "dimension" in frame.columns:
        dimension = "dimension"
    if arm is not None:
        require_columns(frame, situation, arm)
        both = pl.concat_str([pl.col(situation), pl.col(arm)], separator=", ")
        cluster = cluster or situation
        frame, situation = frame.with_columns(both.alias(_REPLY)), _REPLY
    agreed = agreement(
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
    notes = _different_replies(frame, {situation, arm, rater, dimension, rating}, situation)
    kinds = set(frame["rater_kind"].drop_nulls()) if "rater_kind" in frame.columns else set()
    if len(kinds) > 1:
        people = agreement(
            frame.filter(pl.col("rater_kind").is_in(_PEOPLE)),
            situation=situation,
            rater=rater,
            dimension=dimension,
            rating=rating,
            levels=levels,
            resamples=0,
            seed=seed,
        )
        notes = (*notes, _mixed_raters(people))
    return AgreementResult(agreed, bootstrap, seed, notes)


def _different_replies(
    frame: pl.DataFrame, used: set[str | None], situation: str
) -> tuple[str, ...]:
    """That what counts as one item is several replies, where another column says so."""
    for name in _REPLY_COLUMNS:
        if name in frame.columns and name not in used:
            replies = frame.group_by(situation).agg(pl.col(name).drop_nulls().n_unique())[name]
            if several := int((replies > 1).sum()):
                text = (
                    f"In {several} of {len(replies)} items the column {name} has several values. "
                    "If raters saw different replies there, these figures are not about agreement: "
                    f"name the column that identifies the reply, not {situation}."
                )
                return (text,)
    return ()


def _mixed_raters(people: Agreement) -> str:
    """That people and models are mixed, with how far people agree alone."""
    alone = [
        f"{number(part.krippendorff_alpha.estimate, 2)} on {part.dimension}"
        for part in people.dimensions
        if math.isfinite(part.krippendorff_alpha.estimate)
    ]
    text = "The column rater_kind contains people and models, and these figures mix them"
    return f"{text}; people alone: alpha {', '.join(alone)}." if alone else f"{text}."


def _is_ordinal(part: DimensionAgreement) -> bool:
    """Whether ordinal and nominal coefficients tell different stories."""
    return part.krippendorff_alpha.estimate - part.fleiss_kappa.estimate > _APART


def _conclusion(part: DimensionAgreement) -> Conclusion:
    alpha = part.krippendorff_alpha
    basis = (
        f"{counted(part.n_ratings, 'rating')} of {part.n_situations:,} situations or replies by "
        f"{counted(part.n_raters, 'rater')}"
    )
    if math.isnan(alpha.estimate):
        text = f"Agreement on {part.dimension} cannot be computed: {note_text(alpha.note)}"
    else:
        known = math.isfinite(alpha.low)
        ends = f", 95% CI [{number(alpha.low, 2)}, {number(alpha.high, 2)}]" if known else ""
        by_chance = alpha.low <= 0 or alpha.estimate <= 0
        lead = (
            f"Raters are not shown to agree on {part.dimension} beyond chance:"
            if by_chance
            else f"Raters agree on {part.dimension} with"
        )
        text = f"{lead} {_NAME} = {number(alpha.estimate, 2)}{ends}"
    return Conclusion(
        kind="descriptive",
        sentence=f"{text} ({basis}).",
        subject="raters",
        dimension=part.dimension,
        **picked(alpha, "estimate low high"),
        n=part.n_ratings,
        model=f"{_NAME} (ordinal)",
        basis=basis,
    )


def _dimension_row(part: DimensionAgreement) -> dict[str, Any]:
    """One dimension's agreement as plain values; null where a figure is not defined."""
    counts = "dimension n_raters n_situations n_clusters n_ratings dropped missing_share"
    return {
        **picked(part, counts),
        **_coefficients(part),
        "icc_forms": _coefficients(part.icc_forms),
        "variance": picked(part.components, "situation rater residual"),
    }


def _coefficients(holder: Any) -> dict[str, Any]:
    """Every coefficient of a result: its estimate under its name, and the ends of its interval."""
    row: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for field in fields(holder):
        value = getattr(holder, field.name)
        if isinstance(value, Coefficient):
            row |= interval_columns(field.name, value)
            if value.note:
                notes[field.name] = note_text(value.note)
    return row | ({"notes": notes} if notes else {})
