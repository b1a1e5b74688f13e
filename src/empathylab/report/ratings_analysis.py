"""The analysis of a rated study: what the published one gives, and what should stand beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.errors import InputError, UnknownName
from empathylab.scales import builtin_scales, find_scale
from empathylab.stats.arms import (
    ArmComparison,
    PairedComparison,
    RatingScale,
    compare_arms,
    compare_paired_arms,
)
from empathylab.stats.comparability import RaterComparison, compare_raters
from empathylab.stats.exclusions import Rule, WithAndWithout, apply_exclusions, with_and_without
from empathylab.stats.inconsistency import Inconsistencies, inconsistencies
from empathylab.stats.mixed import Clmm, Lmm, clmm, lmm
from empathylab.store import Lab
from empathylab.store.lab_scales import lab_scales
from empathylab.store.rated import (
    Study,
    lab_study,
    rater_answers_frame,
    raters_frame,
    ratings_frame,
)
from empathylab.store.selections import lab_chosen_situations

# What is compared between the arms' raters, where a study knows it.
NUMBERS = ("age", "seconds")
PROPERTIES = (
    "sex",
    "gender",
    "country_of_residence",
    "country",
    "ethnicity_simplified",
    "ethnicity",
)
INCONSISTENCIES = "inconsistencies"


@dataclass(frozen=True, slots=True)
class DimensionModel:
    """A mixed model of one dimension's ratings."""

    dimension: str
    kind: str
    """`clmm` for ordered categories, `lmm` for a scale of degrees."""
    by_valence: bool
    """Whether arms may differ in another way for pleasant situations than for others."""
    model: Clmm | Lmm | None
    problem: str | None = None
    """Why there is no model."""


@dataclass(frozen=True, slots=True)
class RatingsAnalysis:
    """Everything `analyze ratings` gives."""

    study: Study
    reference: str
    ratings: pl.DataFrame
    comparison: ArmComparison
    paired: PairedComparison | None
    """Of a study within subjects, or where situations pair the arms."""
    models: tuple[DimensionModel, ...]
    raters: pl.DataFrame
    rater_comparison: RaterComparison | None
    """None where a rater saw several arms, or nothing is known about raters."""
    inconsistencies: Inconsistencies | None
    exclusions: WithAndWithout[ArmComparison] | None


def analyse_ratings(
    lab: Lab,
    study: str | None = None,
    *,
    reference: str | None = None,
    good_from: float | None = None,
    rules: Sequence[Rule] = (),
    compare: Sequence[str] = (),
    only: str | None = None,
) -> RatingsAnalysis:
    """The study's analysis; without a name, of the only study there is.

    `compare` names what to compare between the arms' raters beyond what is usual; `only` a set or
    a draw from one, to whose situations the analysis is narrowed.
    """
    chosen = lab_study(lab, study)
    ratings = ratings_frame(lab, chosen.name).filter(rater_kind="person")
    if only is not None:
        whole, situations = lab_chosen_situations(lab, only)
        keys = [one.id for one in situations]
        ratings = ratings.filter(pl.col("set") == whole.id, pl.col("situation").is_in(keys))
    if ratings.is_empty():
        raise InputError(
            "the study holds no rating by a person",
            where=f"study {chosen.name}" + (f", situations of {only}" if only else ""),
            remedy="Let people rate, or import ratings.",
        )
    arms = ratings["arm"].unique(maintain_order=True).to_list()
    against = _reference(reference, arms)
    scales = _scales(chosen, ratings, good_from)
    raters, contradictions = _raters(lab, chosen.name)

    def compared(frame: pl.DataFrame) -> ArmComparison:
        return compare_arms(frame, scales, reference=against)

    exclusions = None
    if rules:
        excluded = apply_exclusions(ratings, raters, rules)
        exclusions = with_and_without(ratings, excluded, compared)
    return RatingsAnalysis(
        study=chosen,
        reference=against,
        ratings=ratings,
        comparison=exclusions.everybody if exclusions else compared(ratings),
        paired=_paired(chosen, ratings, scales, against) if len(arms) > 1 else None,
        models=tuple(_models(ratings, scales, against)),
        raters=raters,
        rater_comparison=_compared_raters(raters, against, compare),
        inconsistencies=contradictions,
        exclusions=exclusions,
    )


def _reference(given: str | None, arms: Sequence[str]) -> str:
    if given is None:
        return "human" if "human" in arms else arms[0]
    if given not in arms:
        raise UnknownName("arm", given, arms)
    return given


def _scales(study: Study, ratings: pl.DataFrame, good_from: float | None) -> dict[str, RatingScale]:
    found = {}
    for one in study.dimensions:
        values = ratings.filter(dimension=one.name)["rating"]
        if values.is_empty():
            continue
        points = one.values
        if not points and good_from is None:
            raise InputError(
                f"the ratings of {one.name!r} are degrees, so none of them is the good one",
                where=f"study {study.name}",
                remedy="Say from which on a rating counts as good: --good-from 75",
            )
        ends = (float(values.min()), float(values.max()))  # type: ignore[arg-type]
        found[one.name] = RatingScale(
            one.name,
            points or ends,
            one.labels,
            good_from=good_from,
            continuous=not points,
        )
    return found


def _raters(lab: Lab, study: str) -> tuple[pl.DataFrame, Inconsistencies | None]:
    """The raters, with how often their answers contradict themselves where that can be said."""
    raters = raters_frame(lab, study).filter(kind="person")
    answers = rater_answers_frame(lab, study)
    known = lab_scales(lab)
    for (name,), group in answers.group_by("scale", maintain_order=True):
        scale = find_scale(str(name), known.values())
        if scale is None or not scale.reversed:
            continue
        wide = group.unique(["rater", "item"], keep="last").pivot(
            "item", index="rater", values="value", maintain_order=True
        )
        items = [str(item) for item in range(1, scale.items + 1)]
        if not set(items) <= set(wide.columns):
            continue
        found = inconsistencies(
            wide.select(items),
            reversed_items=sorted(scale.reversed),
            lowest=scale.minimum,
            highest=scale.maximum,
        )
        counts = wide.select("rater", pl.Series(INCONSISTENCIES, found.counts))
        return raters.join(counts, on="rater", how="left", maintain_order="left"), found
    return raters, None


def _paired(
    study: Study, ratings: pl.DataFrame, scales: Mapping[str, RatingScale], reference: str
) -> PairedComparison | None:
    if study.design != "within":
        return None
    return compare_paired_arms(ratings, scales, reference=reference)


def _models(
    ratings: pl.DataFrame, scales: Mapping[str, RatingScale], reference: str
) -> list[DimensionModel]:
    found = []
    for name, scale in scales.items():
        frame = ratings.filter(dimension=name)
        if frame["arm"].n_unique() < 2:
            continue
        found.append(_model(frame, name, scale, reference, by_valence=False))
        if frame["valence"].drop_nulls().n_unique() == 2:
            found.append(_model(frame, name, scale, reference, by_valence=True))
    return found


def _model(
    frame: pl.DataFrame, name: str, scale: RatingScale, reference: str, *, by_valence: bool
) -> DimensionModel:
    arms = "arm * valence" if by_valence else "arm"
    formula = f"rating ~ {arms} + (1|rater) + (1|situation)"
    options: dict[str, Any] = {"reference": {"arm": reference}}
    if by_valence:
        options["reference"]["valence"] = "negative"
    kind = "lmm" if scale.continuous else "clmm"
    try:
        model = (lmm if scale.continuous else clmm)(frame, formula, **options)
    except InputError as error:
        return DimensionModel(name, kind, by_valence, None, str(error))
    return DimensionModel(name, kind, by_valence, model)


def _compared_raters(
    raters: pl.DataFrame, reference: str, wanted: Sequence[str]
) -> RaterComparison | None:
    if raters["arm"].null_count() or raters["arm"].n_unique() < 2:
        return None
    told = [name for name in raters.columns if name not in ("rater", "kind", "arm", "ratings")]
    for name in wanted:
        if name not in told:
            raise UnknownName("column about raters", name, told)
    names = [*_usual(raters, told), *wanted]
    numeric = [name for name in dict.fromkeys(names) if raters[name].dtype.is_numeric()]
    categorical = [name for name in dict.fromkeys(names) if name not in numeric]
    if not names:
        return None
    return compare_raters(raters, numeric=numeric, categorical=categorical, reference=reference)


def _usual(raters: pl.DataFrame, told: Sequence[str]) -> list[str]:
    """Age, time, the scales' totals, contradictions; sex, country, ethnicity once each."""
    scales = builtin_scales()
    totals = [name for name in told if name in scales and raters[name].dtype.is_numeric()]
    properties = [name for name in PROPERTIES if name in told]
    pairs = (("ethnicity_simplified", "ethnicity"), ("country_of_residence", "country"))
    for simple, full in pairs:
        if simple in properties and full in properties:
            properties.remove(full)
    numbers = [name for name in (*NUMBERS, INCONSISTENCIES) if name in told]
    return [
        name
        for name in (*totals, *numbers, *properties)
        if raters[name].drop_nulls().n_unique() > 1
    ]
