"""A rated study analysed, from the lab or from tables: the same steps for both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from empathylab.analysis.cache import cached
from empathylab.analysis.preregistration.deviations import preregistered
from empathylab.analysis.ratings.bayes import bayes_models
from empathylab.analysis.ratings.collection_periods import collection_periods
from empathylab.analysis.ratings.conclusions import conclusions, descriptions
from empathylab.analysis.ratings.design import (
    REPLY,
    RatingsDesign,
    pairing_unit,
    recognise_design,
    reference_arm,
    with_replies,
)
from empathylab.analysis.ratings.differences import comparisons
from empathylab.analysis.ratings.exclusions import check_rules, declared_rules, kept_ratings
from empathylab.analysis.ratings.looks import current_look
from empathylab.analysis.ratings.margins import checked_margins
from empathylab.analysis.ratings.model import (
    DimensionModel,
    Progress,
    dimension_models,
    model_choice,
    random_terms,
    with_intervals,
)
from empathylab.analysis.ratings.multiverse import Multiverse, multiverse
from empathylab.analysis.ratings.raters import (
    AnsweredScale,
    compared_raters,
    of_one_arm,
    with_contradictions,
)
from empathylab.analysis.ratings.result import RatingsResult
from empathylab.analysis.ratings.scales import StudyScales, Thresholds, study_scales
from empathylab.errors import InputError, UnknownName
from empathylab.protocols.reply_templates import told_fields
from empathylab.situations.sources.rating_tables import points_of
from empathylab.situations.sources.released import Dimension
from empathylab.stats.arms import (
    ArmComparison,
    PairedComparison,
    compare_arms,
    compare_paired_arms,
)
from empathylab.stats.arms.means import MeanComparison, compare_means
from empathylab.stats.raters.exclusions import Rule, apply_exclusions, with_and_without
from empathylab.store import Lab, responses_frame
from empathylab.store.ratings import (
    Study,
    arms_frame,
    lab_study,
    rater_answers_frame,
    raters_frame,
    ratings_frame,
)
from empathylab.store.scales import lab_scales
from empathylab.store.selections import resolve_situations
from empathylab.store.studies.added_arms import asked_by
from empathylab.store.studies.archive import any_study
from empathylab.store.studies.records import frozen_responses, frozen_situations
from empathylab.study.admin.embargo import is_running, require_closed
from empathylab.study.archives.packing import is_complete, read_protocol
from empathylab.study.design.material_notes import information_sentence

_NEEDED = ("rater", "arm", "situation", "rating")


def from_lab(
    lab: Lab,
    study: str | None = None,
    *,
    reference: str | None = None,
    good_from: Thresholds = None,
    margin: Thresholds = None,
    rules: Sequence[Rule] | None = None,
    compare: Sequence[str] = (),
    only: str | None = None,
    bootstrap: int = 0,
    spread: bool = False,
    specifications: bool = False,
    bayes: bool = False,
    peek: str | None = None,
    who: str = "researcher",
    progress: Progress | None = None,
) -> RatingsResult:
    """The study's ratings analysed; without a name, those of the lab's only study.

    `only` names a set or sample: the analysis uses only its situations. A study
    that this lab runs must be closed, unless there is a reason to `peek`, which the study's audit
    log keeps. The other options are those of `from_table`; without `rules` the study's own apply.
    Studies simulated for the bootstrap are kept in the lab, so that a stopped analysis resumes.
    """
    chosen = lab_study(lab, study)
    require_closed(lab, chosen, peek=peek, who=who)
    ratings = _ratings(lab, chosen, only)
    inputs: dict[str, Any] = {
        "study": chosen,
        "arms": arms_frame(lab, chosen.name),
        "raters": raters_frame(lab, chosen.name),
        "answers": rater_answers_frame(lab, chosen.name),
        "scales": list(lab_scales(lab).values()),
        "reference": reference,
        "good_from": good_from,
        "margin": margin,
        "rules": rules,
        "compare": compare,
        "bootstrap": bootstrap,
        "spread": spread,
        "specifications": specifications,
        "bayes": bayes,
        "unrated": _unrated(lab, ratings),
        "running": is_running(chosen),
    }
    # What a peek shows is not kept: the study's results are hidden until it is closed.
    if is_running(chosen):
        found = from_table(ratings, **inputs, progress=progress)
    else:
        found = cached(
            lab,
            "ratings",
            [ratings, inputs],
            lambda: from_table(ratings, **inputs, keep=lab, progress=progress),
        )
    return dataclasses.replace(
        found,
        information=_information(lab, chosen),
        preregistration=preregistered(lab, found),
    )


def _information(lab: Lab, study: Study) -> str:
    """What raters and respondents were shown; empty for ratings that came without the texts."""
    with lab.reading() as connection:
        row = any_study(connection, study.name)
        if not is_complete(row.protocol):
            return ""
        situations = list(frozen_situations(connection, row.id).values())
        prompts = {
            arm: asked_by(connection, [item.response for item in shown])
            for arm, shown in frozen_responses(connection, row.id).items()
        }
    protocol = read_protocol(
        row.protocol, where=f"study {row.name}", recruitment=row.protocol.get("recruitment")
    )
    return information_sentence(protocol, situations, prompts, told_fields)


def from_table(
    frame: pl.DataFrame,
    *,
    study: Study | None = None,
    arms: pl.DataFrame | None = None,
    raters: pl.DataFrame | None = None,
    answers: pl.DataFrame | None = None,
    scales: Iterable[AnsweredScale] = (),
    reference: str | None = None,
    good_from: Thresholds = None,
    margin: Thresholds = None,
    rules: Sequence[Rule] | None = None,
    compare: Sequence[str] = (),
    bootstrap: int = 0,
    spread: bool = False,
    specifications: bool = False,
    bayes: bool = False,
    unrated: Sequence[str] = (),
    running: bool = False,
    keep: Lab | None = None,
    progress: Progress | None = None,
) -> RatingsResult:
    """The ratings in a table analysed: columns rater, arm, situation, rating.

    dimension, emotion, valence and response are used where they are there. `study` holds the
    dimensions' scales; without it every whole number between the lowest and the highest rating is
    a point. `arms` has arm and kind, in the order of the study, and raters, ratings, first and
    last where known; `raters` a row per rater; `answers` (rater, scale, item, value) and `scales`
    what raters answered about themselves.

    `good_from` is the lowest good rating, or that of each dimension. `margin` is the smallest
    difference that matters, or that of each dimension: in points where means are compared, else
    in percentage points. `rules` exclude raters in a second analysis; `compare` names columns of
    `raters` to compare between arms beyond the usual ones. `running` says that the study still
    takes people: where it declared looks, this is one of them. `bootstrap` is the number of
    studies to simulate from each model for intervals; `spread` asks for profile intervals of
    standard deviations, `specifications` for the comparison under every reasonable choice,
    `bayes` for the posterior of every ordinal model (the extra `bayes`).
    `keep` is a lab that stores simulated studies; `progress` is called after each.
    """
    ratings, incomplete = _checked(frame, study, raters)
    declared = study or _inferred(ratings)
    rated = ratings["arm"].unique(maintain_order=True).to_list()
    against = reference_arm(reference, rated, arms)
    order = [against.name, *(name for name in rated if name != against.name)]
    of_study = study_scales(declared, ratings, good_from)
    margins = checked_margins(margin, declared.margins, of_study)
    design = recognise_design(ratings, against.name)
    look = current_look(declared.looks, design.rated_replies, running=running)
    known = list(scales)
    people = ratings.select("rater").unique(maintain_order=True) if raters is None else raters
    everybody, contradictions = with_contradictions(people, answers, known)
    present = of_one_arm(everybody, ratings)
    unmet: tuple[str, ...] = ()
    if rules is None:
        applied, unmet = declared_rules(declared, present, contradictions)
    else:
        applied = list(rules)
        check_rules(applied, present, contradictions, declared)

    # Where replies vary, a test must not take them as the only ones of interest.
    reply = REPLY if design.replies_vary else ""
    ratings = with_replies(ratings)

    def compared(part: pl.DataFrame) -> ArmComparison:
        return _compared(part, of_study, against.name, reply)

    exclusions, kept = None, None
    if applied:
        excluded = apply_exclusions(ratings, present, applied)
        kept = kept_ratings(excluded, ratings, against.name)
        exclusions = with_and_without(ratings, excluded, compared)
    terms = random_terms(design)
    continuous = list(of_study.continuous.items())
    models = dimension_models(ratings, continuous, against.name, terms)
    models = with_intervals(
        models, bootstrap=bootstrap, spread=spread, keep=keep, progress=progress
    )
    whole = exclusions.everybody if exclusions else compared(ratings)
    means = _means(ratings, of_study, against.name, reply)
    differences = comparisons(whole, means, of_study)
    return RatingsResult(
        study=declared,
        reference_arm=against,
        recognised=design,
        scales=of_study,
        model=model_choice(models, terms),
        conclusions=conclusions(differences, models, design, margins, look)
        if len(order) > 1
        else descriptions(whole, means, of_study),
        differences=tuple(differences),
        ratings=ratings,
        comparison=whole,
        means=means,
        paired=_paired(declared, ratings, of_study, against.name) if len(order) > 1 else None,
        models=models,
        raters=present,
        rater_comparison=compared_raters(
            present, against.name, [scale.id for scale in known], compare
        ),
        inconsistencies=contradictions,
        exclusions=exclusions,
        kept_models=() if kept is None else dimension_models(kept, continuous, against.name, terms),
        kept_means=() if kept is None else _means(kept, of_study, against.name, reply),
        raters_without_ratings=everybody.height - present.height,
        unrated=tuple(unrated),
        collected=collection_periods(arms, order),
        unmet_rules=unmet,
        incomplete_rows=incomplete,
        margins=margins,
        look=look,
        multiverse=_multiverse(ratings, kept, models, design, declared) if specifications else None,
        bayes=bayes_models(models, of_study, margins) if bayes else (),
    )


def _ratings(lab: Lab, study: Study, only: str | None) -> pl.DataFrame:
    ratings = ratings_frame(lab, study.name).filter(rater_kind="person")
    if ratings.is_empty():
        raise InputError(
            "the study has no ratings by people",
            where=f"study {study.name}",
            remedy="Let people rate, or import ratings."
            if study.dimensions
            else "It asks for none: `empathylab analyze appraisal` shows scales answered after "
            "situations, `empathylab analyze style` how people wrote.",
        )
    if only is None:
        return ratings
    whole, situations = resolve_situations(lab, only)
    keys = [situation.id for situation in situations]
    chosen = ratings.filter(pl.col("set") == whole.id, pl.col("situation").is_in(keys))
    if chosen.is_empty():
        rated = ", ".join(ratings["set"].unique(maintain_order=True))
        raise InputError(
            f"no reply to a situation of {only} was rated",
            where=f"study {study.name}",
            remedy=f"Choose a set or sample of the situations that were rated (set {rated}).",
        )
    return chosen


def _unrated(lab: Lab, ratings: pl.DataFrame) -> tuple[str, ...]:
    """Respondents who replied to the rated situations but were not rated."""
    places = ratings.select("set", "situation").unique()
    replies = responses_frame(lab).filter(outcome="valid").join(places, on=["set", "situation"])
    rated = {*ratings["respondent"], *ratings["arm"]}
    names = replies["respondent"].unique(maintain_order=True).to_list()
    return tuple(name for name in names if name not in rated)


def _checked(
    frame: pl.DataFrame, study: Study | None, raters: pl.DataFrame | None
) -> tuple[pl.DataFrame, int]:
    """The complete ratings of people, with a dimension each, and how many rows are incomplete."""
    for column in _NEEDED:
        if column not in frame.columns:
            raise UnknownName("column", column, frame.columns)
    if "dimension" not in frame.columns:
        name = study.dimensions[0].name if study and study.dimensions else "rating"
        frame = frame.with_columns(dimension=pl.lit(name))
    texts = ("rater", "arm", "situation", "dimension")
    _check_numbers(frame["rating"])
    rating = pl.col("rating").cast(pl.Float64).fill_nan(None)
    ratings = frame.with_columns(pl.col(texts).cast(pl.String), rating)
    if raters is not None and "kind" in raters.columns:
        people = raters.filter(kind="person")["rater"].implode()
        ratings = ratings.filter(pl.col("rater").is_in(people))
    complete = ratings.drop_nulls(_NEEDED)
    if complete.is_empty():
        raise InputError("there are no ratings", remedy="Collect or import ratings first.")
    return complete, ratings.height - complete.height


def _check_numbers(given: pl.Series) -> None:
    numbers = given.cast(pl.Float64, strict=False)
    wrong = given.filter(
        (numbers.is_null() & given.is_not_null()) | numbers.is_infinite().fill_null(False)
    )
    if len(wrong):
        raise InputError(
            "'rating' must contain finite numbers",
            got=wrong[0],
            remedy="Code the ratings as numbers, from worst to best.",
        )


def _inferred(ratings: pl.DataFrame) -> Study:
    """A study with the scales that the ratings show."""
    dimensions = [
        Dimension(str(name), tuple(points_of(set(part["rating"].drop_nulls()))))
        for (name,), part in ratings.group_by("dimension", maintain_order=True)
    ]
    several = ratings.group_by("rater").agg(pl.col("arm").n_unique())["arm"]
    design = "within" if (several > 1).any() else "between"
    return Study("table", "Ratings", design, tuple(dimensions), "closed")


def _compared(
    frame: pl.DataFrame, scales: StudyScales, reference: str, reply: str
) -> ArmComparison:
    if not scales.counted:
        return ArmComparison(reference, {}, (), (), (), {}, 0.95, "rater")
    counted = frame.filter(pl.col("dimension").is_in(list(scales.counted)))
    return compare_arms(counted, scales.counted, reference=reference, reply=reply)


def _means(
    frame: pl.DataFrame, scales: StudyScales, reference: str, reply: str
) -> tuple[MeanComparison, ...]:
    return tuple(
        compare_means(
            frame.filter(dimension=name), dimension=name, reference=reference, reply=reply
        )
        for name in scales.continuous
        if name in scales.by_mean
    )


def _multiverse(
    ratings: pl.DataFrame,
    kept: pl.DataFrame | None,
    models: Sequence[DimensionModel],
    design: RatingsDesign,
    study: Study,
) -> Multiverse:
    samples = {"nobody": ratings} | ({} if kept is None else {"by the rules": kept})
    points = {dimension.name: tuple(dimension.values) for dimension in study.dimensions}
    return multiverse(samples, models, design, points)


def _paired(
    study: Study, ratings: pl.DataFrame, scales: StudyScales, reference: str
) -> PairedComparison | None:
    if study.design != "within" or not scales.counted:
        return None
    counted = ratings.filter(pl.col("dimension").is_in(list(scales.counted)))
    unit = pairing_unit(counted)
    return compare_paired_arms(counted, scales.counted, unit=unit, reference=reference)
