"""The plan of an analysis: what follows from the table and the study before anything is tested."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.entry import doubtful_entries
from empathylab.analysis.ratings.design import (
    RatingsDesign,
    ReferenceArm,
    pairing_unit,
    recognise_design,
    reference_arm,
    with_replies,
)
from empathylab.analysis.ratings.looks import Look, current_look
from empathylab.analysis.ratings.model import (
    DimensionModel,
    RandomTerm,
    dimension_models,
    random_terms,
)
from empathylab.analysis.ratings.scales import (
    StudyScales,
    Thresholds,
    checked_margins,
    study_scales,
)
from empathylab.columns import in_case_of, other_values
from empathylab.errors import InputError
from empathylab.situations.sources.rating_tables import KNOWN_LABELS, points_of
from empathylab.situations.sources.released import Dimension
from empathylab.stats.arguments import require_columns
from empathylab.stats.arms import (
    ArmComparison,
    PairedComparison,
    compare_arms,
    compare_paired_arms,
)
from empathylab.stats.arms.means import MeanComparison, compare_means
from empathylab.store.ratings import Study
from empathylab.tables import missing_as_null

_NEEDED = ("rater", "arm", "situation", "rating")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which ratings are compared, and how; its methods compare a part of them."""

    ratings: pl.DataFrame
    """The complete ratings of people, with a dimension and a reply each."""
    incomplete: int
    """Rows that were excluded because something is missing."""
    missing_ratings: Mapping[str, tuple[int, int]]
    """Rows without a rating, and all rows, of each arm."""
    doubtful: tuple[str, ...]
    """What may be typing errors, a sentence each."""
    study: Study
    reference: ReferenceArm
    arms: tuple[str, ...]
    """The reference first, then as they occur."""
    scales: StudyScales
    margins: Mapping[str, float]
    design: RatingsDesign
    look: Look | None

    @property
    def terms(self) -> tuple[RandomTerm, ...]:
        """The random effects of the mixed models."""
        return random_terms(self.design)

    @property
    def _cluster(self) -> str:
        return self.design.second_cluster or ""

    def models(self, part: pl.DataFrame) -> tuple[DimensionModel, ...]:
        """The mixed models of each dimension."""
        continuous = self.scales.continuous.items()
        return dimension_models(part, continuous, self.reference.name, self.terms)

    def compared(self, part: pl.DataFrame) -> ArmComparison:
        """Good ratings of each arm against the reference."""
        if not self.scales.counted:
            return ArmComparison(self.reference.name, {}, (), (), (), {}, 0.95, "rater")
        return compare_arms(
            self._counted(part),
            self.scales.counted,
            reference=self.reference.name,
            cluster=self._cluster,
        )

    def means(self, part: pl.DataFrame) -> tuple[MeanComparison, ...]:
        """Means of each arm against the reference, where a dimension is compared by them."""
        return tuple(
            compare_means(
                part.filter(dimension=name),
                dimension=name,
                reference=self.reference.name,
                cluster=self._cluster,
            )
            for name in self.scales.continuous
            if name in self.scales.by_mean
        )

    def paired(self) -> PairedComparison | None:
        """Arms compared within raters or situations; None where the study does not pair them."""
        if self.study.design != "within" or not self.scales.counted or len(self.arms) < 2:
            return None
        counted = self._counted(self.ratings)
        unit = pairing_unit(counted)
        return compare_paired_arms(
            counted, self.scales.counted, unit=unit, reference=self.reference.name
        )

    def _counted(self, part: pl.DataFrame) -> pl.DataFrame:
        return part.filter(pl.col("dimension").is_in(list(self.scales.counted)))


def planned(
    frame: pl.DataFrame,
    *,
    study: Study | None,
    arms: pl.DataFrame | None,
    raters: pl.DataFrame | None,
    reference: str | None,
    good_from: Thresholds,
    margin: Thresholds,
    running: bool,
    levels: Sequence[str] = (),
) -> Plan:
    """The plan for a table of ratings; the arguments are those of `from_table`."""
    frame, points = _coded(frame, levels)
    whole = _checked(frame, study, raters)
    ratings = whole.drop_nulls(_NEEDED)
    if ratings.is_empty():
        raise InputError("there are no ratings", remedy="Collect or import ratings first.")
    declared = study or _inferred(ratings, points)
    rated = ratings["arm"].unique(maintain_order=True).to_list()
    against = reference_arm(reference, rated, arms)
    scales = study_scales(declared, ratings, good_from)
    margins = checked_margins(margin, declared.margins, scales)
    design = recognise_design(ratings, against.name)
    return Plan(
        ratings=with_replies(ratings),
        incomplete=whole.height - ratings.height,
        missing_ratings=_missing_ratings(whole),
        doubtful=()
        if study is not None
        else doubtful_entries(ratings, inferred_scale=not (points or levels)),
        study=declared,
        reference=against,
        arms=(against.name, *(name for name in rated if name != against.name)),
        scales=scales,
        margins=margins,
        design=design,
        look=current_look(declared.looks, design.rated_replies, running=running),
    )


def _coded(frame: pl.DataFrame, levels: Sequence[str]) -> tuple[pl.DataFrame, dict[str, float]]:
    """The frame with ratings as numbers, and the named points of the scale: 1, 2, 3 … for words."""
    if "rating" not in frame.columns:
        return frame, {}
    words = missing_as_null(frame.select("rating"))["rating"]
    words = words.cast(pl.String).str.strip_chars()
    given = {word.lower() for word in words.drop_nulls()}
    known = (known for known in KNOWN_LABELS if given <= {word.lower() for word in known})
    labels = tuple(levels) or next(known, ())
    if not given or not labels:
        return frame, {}
    with contextlib.suppress(ValueError):
        return frame, {label: float(label) for label in labels}
    words = in_case_of(words, labels)
    wrong = words.filter(words.is_not_null() & ~words.is_in(labels))
    if len(wrong):
        raise InputError(
            f"'rating' must be one of {', '.join(labels)}{other_values(wrong)}",
            got=wrong[0],
            remedy="Fix the rating, or name all of the scale's points with --levels, lowest first.",
        )
    points = {label: float(number) for number, label in enumerate(labels, start=1)}
    return frame.with_columns(rating=words.replace_strict(points, return_dtype=pl.Float64)), points


def _checked(frame: pl.DataFrame, study: Study | None, raters: pl.DataFrame | None) -> pl.DataFrame:
    """The rows of people, with a dimension each; some may be incomplete."""
    require_columns(frame, *_NEEDED)
    if "dimension" not in frame.columns:
        name = study.dimensions[0].name if study and study.dimensions else "rating"
        frame = frame.with_columns(dimension=pl.lit(name))
    texts = ("rater", "arm", "situation", "dimension")
    frame = frame.with_columns(missing_as_null(frame.select("rating")))
    _check_numbers(frame["rating"])
    rating = pl.col("rating").cast(pl.Float64).fill_nan(None)
    ratings = frame.with_columns(pl.col(texts).cast(pl.String), rating)
    if raters is not None and "kind" in raters.columns:
        people = raters.filter(kind="person")["rater"].implode()
        ratings = ratings.filter(pl.col("rater").is_in(people))
    return ratings


def _missing_ratings(rows: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Of each arm: rows without a rating, and all rows."""
    arms = rows.drop_nulls("arm").group_by("arm", maintain_order=True)
    counts = arms.agg(pl.col("rating").null_count().alias("missing"), pl.len())
    return {arm: (missing, size) for arm, missing, size in counts.iter_rows()}


def _check_numbers(given: pl.Series) -> None:
    numbers = given.cast(pl.Float64, strict=False)
    wrong = given.filter(
        (numbers.is_null() & given.is_not_null()) | numbers.is_infinite().fill_null(False)
    )
    if len(wrong):
        raise InputError(
            f"'rating' must contain finite numbers{other_values(wrong)}",
            got=wrong[0],
            remedy="Write numbers, or name the scale's points with --levels, lowest first.",
        )


def _inferred(ratings: pl.DataFrame, points: Mapping[str, float]) -> Study:
    """A study with the scales that were named, or that the ratings show."""
    named = (tuple(points.values()), tuple(points))
    dimensions = [
        Dimension(str(name), *named)
        if points
        else Dimension(str(name), tuple(points_of(set(part["rating"].drop_nulls()))))
        for (name,), part in ratings.group_by("dimension", maintain_order=True)
    ]
    several = ratings.group_by("rater").agg(pl.col("arm").n_unique())["arm"]
    design = "within" if (several > 1).any() else "between"
    return Study("table", "Ratings", design, tuple(dimensions), "closed")
