"""A rated study analysed, from the lab or from tables: the same steps for both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from empathylab.analysis.cache import cached_when_closed
from empathylab.analysis.preregistration.deviations import preregistered
from empathylab.analysis.ratings.bayes import bayes_models
from empathylab.analysis.ratings.collection_periods import collection_periods
from empathylab.analysis.ratings.conclusions import conclusions, descriptions
from empathylab.analysis.ratings.differences import comparisons
from empathylab.analysis.ratings.exclusions import check_rules, declared_rules, kept_ratings
from empathylab.analysis.ratings.model import (
    DimensionModel,
    Progress,
    model_choice,
    with_intervals,
)
from empathylab.analysis.ratings.multiverse import Multiverse, multiverse
from empathylab.analysis.ratings.plan import Plan, planned
from empathylab.analysis.ratings.raters import (
    compared_raters,
    of_one_arm,
    with_contradictions,
)
from empathylab.analysis.ratings.result import RatingsResult
from empathylab.analysis.ratings.scales import Thresholds
from empathylab.errors import InputError
from empathylab.protocols.reply_templates import prompt_fields
from empathylab.scales import Scale
from empathylab.stats.arms import ArmComparison
from empathylab.stats.questionnaires.inconsistency import Inconsistencies
from empathylab.stats.raters.exclusions import (
    Rule,
    WithAndWithout,
    apply_exclusions,
    with_and_without,
)
from empathylab.store import Lab, responses_frame
from empathylab.store.ratings import (
    Study,
    arms_frame,
    lab_study,
    preferences_frame,
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
    keep = None if is_running(chosen) else lab
    analyse = partial(from_table, ratings, **inputs, keep=keep, progress=progress)
    result = cached_when_closed(lab, chosen, "ratings", [ratings, inputs], analyse)
    return dataclasses.replace(
        result,
        information=_information(lab, chosen),
        preregistration=preregistered(lab, result),
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
    return information_sentence(protocol, situations, prompts, prompt_fields)


def from_table(
    frame: pl.DataFrame,
    *,
    study: Study | None = None,
    arms: pl.DataFrame | None = None,
    raters: pl.DataFrame | None = None,
    answers: pl.DataFrame | None = None,
    scales: Iterable[Scale] = (),
    reference: str | None = None,
    levels: Sequence[str] = (),
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
    """The analysis of a table of ratings: columns rater, arm, situation and rating.

    The columns dimension, emotion, valence and response are used if present. `study` defines the
    scales of the dimensions. Without it, `levels` names the points, lowest first, such as words;
    by default every whole number between the lowest and the highest rating is a point. `arms` has
    the columns arm and kind, in the order of the study, and raters, ratings, first and last if
    known. `raters` has a row per rater. `answers` (rater, scale, item, value) and `scales` are the
    raters' own questionnaires.

    `good_from` is the lowest good rating, for all dimensions or by dimension. `margin` is the
    smallest difference that matters: in points if means are compared, otherwise in percentage
    points. `rules` exclude raters in a second analysis. `compare` names further columns of
    `raters` to compare between arms. `running` says that the study is still open: if it declared
    looks, this is one of them. `bootstrap` is the number of studies to simulate from each model
    for intervals. `spread` adds profile intervals of standard deviations, `specifications` the
    comparison under every reasonable choice, and `bayes` the posterior of every ordinal model
    (needs the extra `bayes`). `keep` is a lab that stores simulated studies; `progress` is called
    after each.
    """
    plan = planned(
        frame,
        study=study,
        arms=arms,
        raters=raters,
        reference=reference,
        good_from=good_from,
        margin=margin,
        running=running,
        levels=levels,
    )
    answered = list(scales)
    people = _people(plan, raters, answers, answered, rules)
    exclusions, kept = _excluded(plan, people)
    whole = exclusions.everybody if exclusions else plan.compared(plan.ratings)
    means = plan.means(plan.ratings)
    differences = comparisons(whole, means, plan.scales)
    models = with_intervals(
        plan.models(plan.ratings), bootstrap=bootstrap, spread=spread, keep=keep, progress=progress
    )
    return RatingsResult(
        study=plan.study,
        reference_arm=plan.reference,
        recognised=plan.design,
        scales=plan.scales,
        model=model_choice(models, plan.terms),
        conclusions=conclusions(
            differences, models, plan.design, plan.margins, plan.scales, plan.look
        )
        if len(plan.arms) > 1
        else descriptions(whole, means, plan.scales),
        differences=tuple(differences),
        ratings=plan.ratings,
        comparison=whole,
        means=means,
        paired=plan.paired(),
        models=models,
        raters=people.present,
        rater_comparison=compared_raters(
            people.present, plan.reference.name, [scale.id for scale in answered], compare
        ),
        inconsistencies=people.contradictions,
        exclusions=exclusions,
        kept_models=() if kept is None else plan.models(kept),
        kept_means=() if kept is None else plan.means(kept),
        raters_without_ratings=people.without_ratings,
        unrated=tuple(unrated),
        collected=collection_periods(arms, plan.arms),
        unmet_rules=people.unmet_rules,
        incomplete_rows=plan.incomplete,
        missing_ratings=plan.missing_ratings,
        doubtful_entries=plan.doubtful,
        margins=plan.margins,
        look=plan.look,
        multiverse=_multiverse(plan, kept, models) if specifications else None,
        bayes=bayes_models(models, plan.scales, plan.margins) if bayes else (),
    )


class _People(NamedTuple):
    """The raters, and the rules by which some of them are excluded in a second analysis."""

    present: pl.DataFrame
    """Those with ratings."""
    without_ratings: int
    contradictions: Inconsistencies | None
    rules: Sequence[Rule]
    unmet_rules: tuple[str, ...]


def _people(
    plan: Plan,
    raters: pl.DataFrame | None,
    answers: pl.DataFrame | None,
    scales: Sequence[Scale],
    rules: Sequence[Rule] | None,
) -> _People:
    ratings = plan.ratings
    known = ratings.select("rater").unique(maintain_order=True) if raters is None else raters
    everybody, contradictions = with_contradictions(known, answers, scales)
    present = of_one_arm(everybody, ratings)
    unmet: tuple[str, ...] = ()
    if rules is None:
        rules, unmet = declared_rules(plan.study, present, contradictions)
    else:
        check_rules(rules, present, contradictions, plan.study)
    return _People(present, everybody.height - present.height, contradictions, rules, unmet)


def _excluded(
    plan: Plan, people: _People
) -> tuple[WithAndWithout[ArmComparison] | None, pl.DataFrame | None]:
    """The comparison with and without the excluded raters, and the ratings without theirs."""
    if not people.rules:
        return None, None
    excluded = apply_exclusions(plan.ratings, people.present, people.rules)
    kept = kept_ratings(excluded, plan.ratings, plan.reference.name)
    return with_and_without(plan.ratings, excluded, plan.compared), kept


def _more_ratings(study: Study) -> str:
    """How the study comes to have ratings."""
    if study.status == "closed":
        return "The study is closed: import ratings, or launch a new version of it"
    return "Let people rate, or import ratings"


def _ratings(lab: Lab, study: Study, only: str | None) -> pl.DataFrame:
    ratings = ratings_frame(lab, study.name).filter(rater_kind="person")
    if ratings.is_empty():
        compared = not preferences_frame(lab, study.name).is_empty()
        raise InputError(
            "the study has no ratings by people",
            where=f"study {study.name}",
            remedy="Its raters compared replies side by side: run `empathylab analyze preferences "
            f"--study {study.name}`."
            if compared
            else f"{_more_ratings(study)}; simulated raters do not count."
            if study.dimensions
            else (
                "This study collects none. `empathylab analyze appraisal` shows scales "
                "answered after situations; `empathylab analyze style` shows how people "
                "wrote."
            ),
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


def _multiverse(
    plan: Plan, kept: pl.DataFrame | None, models: Sequence[DimensionModel]
) -> Multiverse:
    samples = {"nobody": plan.ratings} | ({} if kept is None else {"by the rules": kept})
    points = {dimension.name: tuple(dimension.values) for dimension in plan.study.dimensions}
    return multiverse(samples, models, plan.design, points)
