"""The analysis of a rated study: what the published one gives, and what should stand beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.ratings.collection_periods import (
    Collected,
    collected_apart,
    collected_arms,
)
from empathylab.analysis.ratings.models import DimensionModel, dimension_models
from empathylab.analysis.ratings.scales import StudyScales, Thresholds, study_scales
from empathylab.errors import InputError, UnknownName, UserError
from empathylab.scales import builtin_scales, find_scale
from empathylab.stats.arms import (
    ArmComparison,
    PairedComparison,
    compare_arms,
    compare_paired_arms,
)
from empathylab.stats.arms.means import MeanComparison, compare_means
from empathylab.stats.arms.within import Unit
from empathylab.stats.questionnaires.inconsistency import Inconsistencies, inconsistencies
from empathylab.stats.raters.comparability import RaterComparison, compare_raters
from empathylab.stats.raters.exclusions import (
    Exclusions,
    FailedAttention,
    Inconsistent,
    Rule,
    WithAndWithout,
    apply_exclusions,
    rules_from,
    with_and_without,
)
from empathylab.store import Lab, responses_frame
from empathylab.store.ratings import (
    Study,
    lab_study,
    rater_answers_frame,
    raters_frame,
    ratings_frame,
)
from empathylab.store.scales import lab_scales
from empathylab.store.selections import resolve_situations
from empathylab.study.admin.embargo import require_closed

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
_OWN = ("rater", "kind", "arm", "ratings")


@dataclass(frozen=True, slots=True)
class RatingsAnalysis:
    """Everything `analyze ratings` gives."""

    study: Study
    reference: str
    ratings: pl.DataFrame
    comparison: ArmComparison
    """Of the dimensions whose good ratings are counted; empty where there is none."""
    paired: PairedComparison | None
    """Of a study within subjects."""
    models: tuple[DimensionModel, ...]
    raters: pl.DataFrame
    """Who gave at least one of the ratings."""
    rater_comparison: RaterComparison | None
    """None where a rater saw several arms, or nothing is known about raters."""
    inconsistencies: Inconsistencies | None
    exclusions: WithAndWithout[ArmComparison] | None
    means: tuple[MeanComparison, ...] = ()
    """Of dimensions rated in degrees, and of those in which every rating is the same."""
    kept_models: tuple[DimensionModel, ...] = ()
    """The models without the raters that the rules leave out."""
    kept_means: tuple[MeanComparison, ...] = ()
    raters_without_ratings: int = 0
    unrated: tuple[str, ...] = ()
    """Who replied to the rated situations, but has no rating in the study."""
    reference_assumed: bool = False
    """No reference was named and no arm is called human, so the first arm became it."""
    collected: tuple[Collected, ...] = ()
    """When each arm was rated."""
    unmet_rules: tuple[str, ...] = ()
    """Rules of the study's file that nothing in the data can be held against."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms with ratings, the reference first."""
        names = self.ratings["arm"].unique(maintain_order=True).to_list()
        return (self.reference, *(name for name in names if name != self.reference))

    @property
    def apart(self) -> bool:
        """Whether arms were rated at different times."""
        return collected_apart(self.collected)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions with ratings."""
        return tuple(self.ratings["dimension"].unique(maintain_order=True).to_list())


def analyse_ratings(
    lab: Lab,
    study: str | None = None,
    *,
    reference: str | None = None,
    good_from: Thresholds = None,
    rules: Sequence[Rule] | None = None,
    compare: Sequence[str] = (),
    only: str | None = None,
    peek: str | None = None,
    who: str = "researcher",
) -> RatingsAnalysis:
    """The study's analysis; without a name, of the only study there is.

    `good_from` is the lowest good rating of degrees, or of each dimension by name; without it
    degrees are compared by their means. `rules` say whom to leave out in a second look; without
    them the study's own, declared before its launch, do. `compare` names what to compare between
    the arms' raters beyond what is usual; `only` a set or a draw from one, to whose situations the
    analysis is narrowed. A study that this lab runs must be closed, unless there is a reason to
    `peek`, which the study's audit log keeps.
    """
    chosen = lab_study(lab, study)
    require_closed(lab, chosen, peek=peek, who=who)
    ratings = _ratings(lab, chosen, only)
    arms = ratings["arm"].unique(maintain_order=True).to_list()
    against = _reference(reference, arms)
    scales = study_scales(chosen, ratings, good_from)
    everybody, contradictions = study_raters(lab, chosen.name)
    raters = everybody.filter(pl.col("rater").is_in(ratings["rater"].unique().to_list()))
    if rules is None:
        applied, unmet = declared_rules(chosen, raters, contradictions)
    else:
        applied, unmet = list(rules), ()
        _check_rules(applied, raters, contradictions, chosen)

    def compared(frame: pl.DataFrame) -> ArmComparison:
        return _compared(frame, scales, against)

    exclusions, kept = None, None
    if applied:
        excluded = apply_exclusions(ratings, raters, applied)
        kept = _kept(excluded, ratings, against)
        exclusions = with_and_without(ratings, excluded, compared)
    degrees = list(scales.degrees.items())
    return RatingsAnalysis(
        study=chosen,
        reference=against,
        ratings=ratings,
        comparison=exclusions.everybody if exclusions else compared(ratings),
        paired=_paired(chosen, ratings, scales, against) if len(arms) > 1 else None,
        models=dimension_models(ratings, degrees, against),
        raters=raters,
        rater_comparison=_compared_raters(raters, against, compare),
        inconsistencies=contradictions,
        exclusions=exclusions,
        means=_means(ratings, scales, against),
        kept_models=() if kept is None else dimension_models(kept, degrees, against),
        kept_means=() if kept is None else _means(kept, scales, against),
        raters_without_ratings=everybody.height - raters.height,
        unrated=_unrated(lab, ratings),
        reference_assumed=reference is None and against != "human",
        unmet_rules=unmet,
        collected=collected_arms(lab, chosen.name, [against, *(a for a in arms if a != against)]),
    )


def _ratings(lab: Lab, study: Study, only: str | None) -> pl.DataFrame:
    ratings = ratings_frame(lab, study.name).filter(rater_kind="person")
    if ratings.is_empty():
        raise InputError(
            "the study holds no rating by a person",
            where=f"study {study.name}",
            remedy="Let people rate, or import ratings."
            if study.dimensions
            else "It asks for none: `empathylab analyze appraisal` shows scales answered after "
            "situations, `empathylab analyze style` how people wrote.",
        )
    if only is None:
        return ratings
    whole, situations = resolve_situations(lab, only)
    keys = [one.id for one in situations]
    chosen = ratings.filter(pl.col("set") == whole.id, pl.col("situation").is_in(keys))
    if chosen.is_empty():
        rated = ", ".join(ratings["set"].unique(maintain_order=True))
        raise InputError(
            f"nobody rated a reply to a situation of {only}",
            where=f"study {study.name}",
            remedy=f"Choose a set or draw of the situations that were rated (set {rated}).",
        )
    return chosen


def _reference(given: str | None, arms: Sequence[str]) -> str:
    if given is None:
        return "human" if "human" in arms else arms[0]
    if given not in arms:
        raise UnknownName("arm", given, arms)
    return given


def _compared(frame: pl.DataFrame, scales: StudyScales, reference: str) -> ArmComparison:
    if not scales.counted:
        return ArmComparison(reference, {}, (), (), (), {}, 0.95, "rater")
    counted = frame.filter(pl.col("dimension").is_in(list(scales.counted)))
    return compare_arms(counted, scales.counted, reference=reference)


def _means(frame: pl.DataFrame, scales: StudyScales, reference: str) -> tuple[MeanComparison, ...]:
    return tuple(
        compare_means(frame.filter(dimension=name), dimension=name, reference=reference)
        for name in scales.averaged
    )


def _kept(excluded: Exclusions, ratings: pl.DataFrame, reference: str) -> pl.DataFrame:
    kept = excluded.keep(ratings)
    lost = ratings["dimension"].unique().to_list()
    for name in lost:
        if not (kept.filter(dimension=name)["arm"] == reference).any():
            raise InputError(
                f"the exclusion rules leave no rating of {name} in the reference arm {reference!r}",
                remedy="Loosen them, choose another --reference, or look at --everybody.",
            )
    return kept


def declared_rules(
    study: Study, raters: pl.DataFrame, contradictions: Inconsistencies | None
) -> tuple[list[Rule], tuple[str, ...]]:
    """The study's own rules, and those of them that cannot be applied."""
    applied: list[Rule] = []
    unmet: list[str] = []
    for rule in rules_from(study.exclusions):
        try:
            _check_rules([rule], raters, contradictions, study)
        except UserError:
            unmet.append(str(rule))
        else:
            applied.append(rule)
    return applied, tuple(unmet)


def _check_rules(
    rules: Sequence[Rule],
    raters: pl.DataFrame,
    contradictions: Inconsistencies | None,
    study: Study,
) -> None:
    told = [name for name in raters.columns if name not in _OWN]
    for rule in rules:
        if isinstance(rule, Inconsistent) and contradictions is None:
            raise InputError(
                "no rater answered a questionnaire with reversed items, so contradictions cannot "
                "be counted",
                where=f"study {study.name}",
                remedy="Import the raters' answers, to the TEQ say, or leave out --inconsistent.",
            )
        if isinstance(rule, FailedAttention) and rule.column not in told:
            raise UnknownName("column about raters", rule.column, told, where=f"study {study.name}")


def _unrated(lab: Lab, ratings: pl.DataFrame) -> tuple[str, ...]:
    """Who replied to the rated situations but was not rated, by name."""
    places = ratings.select("set", "situation").unique()
    replies = responses_frame(lab).filter(outcome="valid").join(places, on=["set", "situation"])
    rated = {*ratings["respondent"], *ratings["arm"]}
    names = replies["respondent"].unique(maintain_order=True).to_list()
    return tuple(name for name in names if name not in rated)


def study_raters(lab: Lab, study: str) -> tuple[pl.DataFrame, Inconsistencies | None]:
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
    study: Study, ratings: pl.DataFrame, scales: StudyScales, reference: str
) -> PairedComparison | None:
    if study.design != "within" or not scales.counted:
        return None
    counted = ratings.filter(pl.col("dimension").is_in(list(scales.counted)))
    unit = pairing_unit(counted)
    return compare_paired_arms(counted, scales.counted, unit=unit, reference=reference)


def pairing_unit(ratings: pl.DataFrame) -> Unit:
    """What pairs the arms: the finest unit in which most ratings have one of another arm beside.

    Raters and situations where raters rated several arms' replies to the same situation; else
    raters, who then saw several arms; else situations.
    """
    units: tuple[tuple[Unit, list[str]], ...] = (
        ("rater and situation", ["rater", "situation"]),
        ("rater", ["rater"]),
    )
    for unit, keys in units:
        paired = ratings.select((pl.col("arm").n_unique().over(keys) > 1).mean()).item()
        if paired is not None and paired > 0.5:
            return unit
    return "situation"


def raters_compared(lab: Lab, study: str, arms: Sequence[str]) -> RaterComparison | None:
    """The raters of these arms, each arm's against the first's; None where too little is known."""
    raters, _ = study_raters(lab, study)
    # Whoever rated several arms has none here, and then nothing can be told apart.
    mine = pl.col("arm").is_in(list(arms)) | pl.col("arm").is_null()
    return _compared_raters(raters.filter(mine, pl.col("ratings") > 0), arms[0], ())


def _compared_raters(
    raters: pl.DataFrame, reference: str, wanted: Sequence[str]
) -> RaterComparison | None:
    if raters["arm"].null_count() or raters["arm"].n_unique() < 2:
        return None
    told = [name for name in raters.columns if name not in _OWN]
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
